//! The curator answers the plan, all of the plan, and nothing but the plan.

use proptest::prelude::*;
use sprifed_privacy::{ApproxDp, Delta, Epsilon, Participation, Relation};

use super::*;
use crate::limit::Limit;
use crate::plan::tests::{correlation, gradient, scale, small_plan};
use crate::question::Question;
use crate::records::Records;

const N_FEATURES: u32 = 5;

/// Forty records without much sense.
struct Table {
    features: Vec<f32>,
    responses: Vec<f32>,
}

impl Table {
    fn new() -> Self {
        let wave = |index: usize| ((index * 37 % 101) as f32 - 50.0) / 25.0;
        let features: Vec<f32> = (0..40 * N_FEATURES as usize).map(wave).collect();
        let responses = features
            .chunks(N_FEATURES as usize)
            .map(|row| row[1] - row[3])
            .collect();
        Self {
            features,
            responses,
        }
    }

    fn records(&self) -> Records<'_> {
        Records::each_a_unit(&self.features, &self.responses, N_FEATURES as usize).unwrap()
    }
}

fn open(table: &Table, plan: Plan, seed: u64) -> Curator<Records<'_>> {
    Curator::open(table.records(), plan, NoiseGenerator::simulated(seed)).unwrap()
}

fn first() -> SumQuery {
    SumQuery {
        step: 0,
        questions: vec![gradient(N_FEATURES), scale()],
    }
}

fn pick() -> ChoiceQuery {
    let scores = Question::BoxedGradient {
        model: crate::model::ReleasedModel::default(),
        features: crate::feature_set::FeatureSet::all(N_FEATURES),
        feature_limit: Limit::nearest(2.0),
        residual_limit: Limit::nearest(2.0),
    };
    ChoiceQuery { step: 1, scores }
}

fn last() -> SumQuery {
    SumQuery {
        step: 2,
        questions: vec![correlation(N_FEATURES)],
    }
}

/// All answers of a run, in order.
fn run_all(table: &Table, seed: u64) -> (Vec<Answer>, usize) {
    let mut curator = open(table, small_plan(N_FEATURES, Relation::ZeroOut), seed);
    let mut answers = vec![curator.answer(&first()).unwrap()];
    let index = curator.choose(&pick()).unwrap();
    answers.push(curator.answer(&last()).unwrap());
    (answers, index)
}

fn assert_refused(curator: &mut Curator<Records<'_>>, query: &SumQuery) {
    let before = (curator.ledger().record(), curator.next_step);
    let refused = curator.answer(query).unwrap_err();
    assert!(
        matches!(refused, CuratorError::NotPlanned { .. }),
        "{refused}"
    );
    assert_eq!((curator.ledger().record(), curator.next_step), before);
}

#[test]
fn steps_out_of_order_are_refused_and_change_nothing() {
    let table = Table::new();
    let mut curator = open(&table, small_plan(N_FEATURES, Relation::ZeroOut), 1);
    assert_refused(&mut curator, &last());
    let early = curator.choose(&pick()).unwrap_err();
    assert!(
        matches!(early, CuratorError::NotPlanned { step: 0, .. }),
        "{early}"
    );
    assert_refused(&mut curator, &SumQuery { step: 1, ..first() });
    curator.answer(&first()).unwrap();
    assert_refused(&mut curator, &SumQuery { step: 1, ..last() });
    assert_refused(&mut curator, &last());
}

#[test]
fn a_second_answer_to_the_same_step_is_refused() {
    let table = Table::new();
    let mut curator = open(&table, small_plan(N_FEATURES, Relation::ZeroOut), 1);
    curator.answer(&first()).unwrap();
    assert_refused(&mut curator, &first());
    curator.choose(&pick()).unwrap();
    let again = curator.choose(&pick()).unwrap_err();
    assert!(
        again.to_string().contains("step 2 of its plan is"),
        "{again}"
    );
    curator.answer(&last()).unwrap();
    assert_refused(&mut curator, &last());
    assert_refused(&mut curator, &SumQuery { step: 3, ..last() });
}

#[test]
fn questions_of_another_size_are_refused() {
    let table = Table::new();
    let mut curator = open(&table, small_plan(N_FEATURES, Relation::ZeroOut), 1);
    for questions in [
        vec![],
        vec![gradient(6), scale()],
        vec![gradient(5)],
        vec![scale(), scale()],
    ] {
        assert_refused(&mut curator, &SumQuery { step: 0, questions });
    }
    curator.answer(&first()).unwrap();
    let scores = correlation(4);
    let refused = curator
        .choose(&ChoiceQuery { step: 1, scores })
        .unwrap_err();
    assert!(
        refused.to_string().contains("a choice among 4"),
        "{refused}"
    );
}

#[test]
fn a_plan_for_noise_shares_is_refused() {
    let table = Table::new();
    let shares = NoiseOrigin::Shares(Participation::new(40, 30, 2).unwrap());
    let plan = Plan {
        origin: shares,
        ..small_plan(N_FEATURES, Relation::ZeroOut)
    };
    let refused = Curator::open(table.records(), plan, NoiseGenerator::simulated(1)).unwrap_err();
    assert!(
        matches!(refused, CuratorError::OtherOrigin { .. }),
        "{refused}"
    );
}

#[test]
fn a_plan_that_protects_clients_needs_records_grouped_by_client() {
    let table = Table::new();
    let plan = Plan {
        unit: PrivacyUnit::Client,
        ..small_plan(N_FEATURES, Relation::ZeroOut)
    };
    let open = |records| Curator::open(records, plan.clone(), NoiseGenerator::simulated(1));
    let refused = open(table.records()).unwrap_err();
    assert_eq!(refused, CuratorError::Ungrouped { records: 40 });
    let grouped = table
        .records()
        .grouped((0..10).map(|k| 4 * k..4 * k + 4).collect())
        .unwrap();
    let mut curator = open(grouped).unwrap();
    curator.answer(&first()).unwrap();
}

#[test]
fn the_ledger_ends_with_what_the_plan_says() {
    for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
        let table = Table::new();
        let plan = small_plan(N_FEATURES, relation);
        let mut curator = open(&table, plan.clone(), 1);
        assert_eq!(curator.ledger().spent(), None);
        curator.answer(&first()).unwrap();
        curator.choose(&pick()).unwrap();
        curator.answer(&last()).unwrap();
        assert_eq!(*curator.ledger().spending(), plan.spending().unwrap());
        let spent = curator.ledger().spent().unwrap();
        assert!(spent.epsilon().get() <= plan.budget.epsilon().get());
    }
}

#[test]
fn a_plan_above_its_budget_gets_no_answer_that_would_exceed_it() {
    let table = Table::new();
    let delta = Delta::try_from(1e-5).unwrap();
    let budget = ApproxDp::new(Epsilon::try_from(1.3).unwrap(), delta);
    let plan = Plan {
        budget,
        ..small_plan(N_FEATURES, Relation::ZeroOut)
    };
    let mut curator = open(&table, plan, 1);
    curator.answer(&first()).unwrap();
    let before = curator.ledger().record();
    let refused = curator.choose(&pick()).err().map(|error| error.to_string());
    let refused = refused.or_else(|| curator.answer(&last()).err().map(|error| error.to_string()));
    let refused = refused.expect("the budget does not suffice");
    assert!(refused.contains("but the budget is 1.3"), "{refused}");
    assert!(curator.ledger().spent().unwrap().epsilon().get() <= 1.3);
    assert!(curator.ledger().record().entries.len() >= before.entries.len());
}

#[test]
fn every_answer_says_that_its_noise_was_simulated() {
    let table = Table::new();
    let (answers, _) = run_all(&table, 4);
    assert!(
        answers
            .iter()
            .all(|answer| answer.provenance == Provenance::Simulated)
    );
    let plan = small_plan(N_FEATURES, Relation::ZeroOut);
    let secret = NoiseGenerator::assume_fresh_entropy([7; 32]);
    let mut curator = Curator::open(table.records(), plan, secret).unwrap();
    assert_eq!(
        curator.answer(&first()).unwrap().provenance,
        Provenance::Cryptographic
    );
}

#[test]
fn the_answers_of_a_seed_do_not_depend_on_the_number_of_threads() {
    let table = Table::new();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| run_all(&table, 9))
    };
    let alone = with(1);
    assert_eq!(alone, with(2));
    assert_eq!(alone, with(5));
    assert_ne!(alone.0, run_all(&table, 10).0);
}

#[test]
fn an_answer_is_the_sum_within_its_noise() {
    let table = Table::new();
    let mut exact = vec![0f32; N_FEATURES as usize];
    for record in table.records().iter() {
        correlation(N_FEATURES).add_contribution(record, &mut exact);
    }
    let (answers, index) = run_all(&table, 3);
    let block = &answers[1].blocks[0];
    assert!(index < N_FEATURES as usize);
    assert_eq!(block.values.len(), exact.len());
    for (found, expected) in block.values.iter().zip(&exact) {
        // Six standard deviations of the noise and of forty roundings.
        let error = (found - f64::from(*expected)).abs();
        assert!(
            error < 6.0 * block.noise_std_dev * 1.5,
            "{found} for {expected}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn hostile_records_never_make_the_curator_fail(
        features in prop::collection::vec(any::<f32>(), 5 * 8),
        responses in prop::collection::vec(any::<f32>(), 8),
    ) {
        let table = Table { features, responses };
        let (answers, index) = run_all(&table, 2);
        prop_assert!(index < 5);
        let mut values = answers.iter().flat_map(|answer| &answer.blocks).flat_map(|b| &b.values);
        prop_assert!(values.all(|value| value.is_finite()));
    }
}
