use core::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use sprifed_privacy::{Relation, SelectionPurchase};
use sprifed_query::{Question, Record};
use sprifed_recovery::test_support::{budget, legal_setting};
use sprifed_recovery::{CertifiedProcedure, Fit, Setting};

use super::*;
use crate::agreement::split_evenly;
use crate::embedded::all_present;
use crate::test_world::TestWorld;
use crate::trustee_step::proved_trustee_step;

fn setting(units: u32, features: u32, relation: Relation) -> Setting {
    Setting {
        n_records: units,
        n_features: features,
        sparsity: 2,
        budget: budget(20.0, 1e-6),
        relation,
        origin: NoiseOrigin::Trustees,
        feature_bound: 2.0,
        ..legal_setting()
    }
}

type Study<'a> = EmbeddedTrustees<'a, Part<'a, TestWorld>>;

/// A backend that computes every step a second time, in plain integers, from the same noise.
struct Checked<'a> {
    inner: Study<'a>,
    world: &'a TestWorld,
    steps: usize,
}

impl Checked<'_> {
    /// The exact sums over the clients that were present, and three noise shares for each.
    fn plainly(&self, step: usize, blocks: &[AskedBlock<'_>], noise: [Vec<i64>; 3]) -> Plain {
        let contributor = Contributor::new(blocks.to_vec(), self.inner.dither_seed(step));
        let sizes = blocks
            .iter()
            .map(|asked| asked.planned.block.coordinates as usize);
        let size = sizes.sum();
        let mut sums = vec![0i64; size];
        let (mut values, mut integers) = (vec![0.0; size], vec![0; size]);
        let number = u32::try_from(step).unwrap();
        for client in &self.inner.clients {
            if !(self.inner.attendance)(Phase::Upload, number, client.id) {
                continue;
            }
            let first = usize::try_from(client.first_unit).unwrap();
            for unit in first..first + client.records.n_units() {
                contributor.contribute(self.world, unit, &mut values, &mut integers);
                let added = sums.iter_mut().zip(&integers);
                added.for_each(|(sum, integer)| *sum += i64::from(*integer));
            }
        }
        let noise = (0..size).map(|place| noise.iter().map(|share| share[place]).sum());
        Plain {
            sums,
            noise: noise.collect(),
        }
    }

    fn permit<P: Purchase>(&self, purchase: P) -> Permit<P> {
        let plan = &self.inner.plan;
        let mut ledger = Ledger::open(plan.budget, plan.relation, plan.unit);
        ledger.spend("again", purchase).unwrap()
    }

    fn generator(&self, trustee: Trustee, step: usize) -> NoiseGenerator {
        self.inner.course.noise(trustee, step).unwrap()
    }
}

struct Plain {
    sums: Vec<i64>,
    noise: Vec<i64>,
}

impl SumBackend for Checked<'_> {
    type Error = TrusteesError;

    fn answer(&mut self, query: &SumQuery) -> Result<Answer, TrusteesError> {
        let step = query.step;
        let PlannedStep::Sum(planned) = self.inner.plan.steps[step].clone() else {
            panic!("a sum was planned")
        };
        let answer = self.inner.answer(query)?;
        let purchase = SumPurchase {
            plan: planned.to_sum_plan(),
            origin: NoiseOrigin::Trustees,
            unit: self.inner.plan.unit,
        };
        let noise = Trustee::ALL.map(|trustee| {
            let permit = self.permit(purchase.clone());
            let share = DrawnShare::for_sum(permit, &mut self.generator(trustee, step));
            share.unwrap().into_dealt()
        });
        let blocks = query.questions.iter().zip(&planned.blocks);
        let blocks: Vec<_> = blocks
            .map(|(question, planned)| AskedBlock { question, planned })
            .collect();
        let Plain { sums, noise } = self.plainly(step, &blocks, noise);
        let noisy = sums.iter().zip(&noise).map(|(sum, noise)| sum + noise);
        let noisy = PrivateSum::assume_opened_by_trustees(
            purchase.plan,
            noisy.collect(),
            Provenance::Simulated,
        );
        assert_eq!(answer, Answer::decode(&noisy.unwrap(), &planned, 3));
        self.steps += 1;
        Ok(answer)
    }
}

impl ChoiceBackend for Checked<'_> {
    fn choose(&mut self, query: &ChoiceQuery) -> Result<usize, TrusteesError> {
        let step = query.step;
        let PlannedStep::Choice(planned) = self.inner.plan.steps[step].clone() else {
            panic!("a choice was planned")
        };
        let index = self.inner.choose(query)?;
        let noise = Trustee::ALL.map(|trustee| {
            let permit: Permit<SelectionPurchase> = self.permit(planned.purchase);
            let mut generator = self.generator(trustee, step);
            let share = DrawnShare::for_choice(permit, trustee, &mut generator);
            share.unwrap().into_dealt()
        });
        let block = planned.score_block();
        let asked = [AskedBlock {
            question: &query.scores,
            planned: &block,
        }];
        let Plain { sums, noise } = self.plainly(step, &asked, noise);
        let noisy = sums.iter().zip(&noise);
        let noisy: Vec<i64> = noisy.map(|(u, noise)| (*u).max(-u - 1) + noise).collect();
        let largest = noisy.iter().max().unwrap();
        assert_eq!(Some(index), noisy.iter().position(|score| score == largest));
        self.steps += 1;
        Ok(index)
    }
}

fn open<'a>(
    world: &'a TestWorld,
    (procedure, setting): (CertifiedProcedure, &Setting),
    clients: u32,
    seed: u64,
    attendance: Box<Attendance<'a>>,
) -> Study<'a> {
    let units = split_evenly(setting.n_records, clients);
    let (plan, key) = (
        procedure.plan(setting).unwrap(),
        PartyKey::simulated(seed, 0),
    );
    EmbeddedTrustees::over(world, plan, units, &key, attendance).unwrap()
}

/// Runs a whole procedure, each step of it compared with plain integers.
fn checked_fit(
    (procedure, setting): (CertifiedProcedure, Setting),
    clients: u32,
    seed: u64,
    attendance: Box<Attendance<'_>>,
) -> (Fit, Vec<u32>) {
    let world = TestWorld::new(setting.n_records as usize, setting.n_features as usize);
    let inner = open(&world, (procedure, &setting), clients, seed, attendance);
    checked_run(&world, (procedure, setting), inner)
}

fn checked_run(
    world: &TestWorld,
    (procedure, setting): (CertifiedProcedure, Setting),
    inner: Study<'_>,
) -> (Fit, Vec<u32>) {
    let mut checked = Checked {
        inner,
        world,
        steps: 0,
    };
    let fit = procedure.run(&setting, &mut checked, |_| ()).unwrap();
    let Checked { inner, steps, .. } = checked;
    // Each step was opened by the trustees, and each was charged by all three of them.
    assert_eq!(steps, inner.plan.steps.len());
    assert_eq!(inner.parties.attempt(0).step as usize, steps);
    for ledger in &inner.ledgers {
        assert_eq!(ledger.record(), inner.ledger().record());
        assert_eq!(ledger.record().entries.len(), steps);
    }
    (fit, inner.present)
}

#[test]
fn a_whole_fit_by_argmax_finds_the_features() {
    let study = (
        CertifiedProcedure::ARGMAX,
        setting(400, 60, Relation::ZeroOut),
    );
    let (fit, present) = checked_fit(study, 40, 5, Box::new(all_present));
    let mut support = fit.model.support();
    support.sort_unstable();
    assert_eq!(support, TestWorld::SUPPORT);
    assert_eq!(fit.provenance, Some(Provenance::Simulated));
    assert!(present.iter().all(|present| *present == 40));
}

#[test]
fn the_same_key_makes_the_same_fit_and_another_key_another() {
    let fit = |seed| {
        let study = (
            CertifiedProcedure::ARGMAX,
            setting(60, 20, Relation::ReplaceOne),
        );
        checked_fit(study, 60, seed, Box::new(all_present)).0
    };
    assert_eq!(fit(1), fit(1));
    assert_ne!(fit(1).model, fit(2).model);
}

#[test]
fn a_client_that_is_absent_is_not_in_the_step_and_returns_later() {
    let study = (
        CertifiedProcedure::ARGMAX,
        setting(60, 20, Relation::ZeroOut),
    );
    let absent = |_: Phase, step: u32, client: ClientId| step != 1 || !(3..9).contains(&client.0);
    let (_, present) = checked_fit(study, 20, 5, Box::new(absent));
    assert_eq!(present.get(..3), Some([20, 14, 20].as_slice()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_step_of_every_procedure_goes_through_the_trustees(
        procedure in prop::sample::select(CertifiedProcedure::all().collect::<Vec<_>>()),
        relation in prop::sample::select(vec![Relation::ZeroOut, Relation::ReplaceOne]),
        clients in 1u32..30,
        seed in any::<u64>(),
    ) {
        let study = (procedure, setting(30, 19, relation));
        checked_fit(study, clients, seed, Box::new(all_present));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// No honest client is outside the balls of its blocks, or its records would be missing in a sum.
    #[test]
    fn proved_steps_with_verified_norms_give_the_same_sums_and_choices(
        procedure in prop::sample::select(CertifiedProcedure::all().collect::<Vec<_>>()),
        relation in prop::sample::select(vec![Relation::ZeroOut, Relation::ReplaceOne]),
        clients in 1u32..30,
        seed in any::<u64>(),
    ) {
        let study = (procedure, setting(30, 7, relation));
        let world = TestWorld::new(30, 7);
        let inner = open(&world, (procedure, &study.1), clients, seed, Box::new(all_present));
        checked_run(&world, study, inner.proved());
    }
}

/// A block with a bound of its norm is verified for each client, with the bound of its units.
#[test]
fn the_balls_of_a_plan_are_the_norms_that_are_verified() {
    let plan = CertifiedProcedure::ARGMAX
        .plan(&setting(60, 20, Relation::ZeroOut))
        .unwrap();
    let has_ball = |step: &PlannedStep| match step {
        PlannedStep::Sum(sum) => sum.blocks.iter().any(|planned| {
            matches!(
                planned.block.bounds,
                sprifed_privacy::IntegerBounds::Ball { .. }
            )
        }),
        PlannedStep::Choice(_) => false,
    };
    let clients: Vec<_> = (0..3).map(ClientId).collect();
    let mut balls = 0;
    for planned in &plan.steps {
        let step = proved_trustee_step(&plan, planned, &[20; 3]).unwrap();
        assert!(step.is_proved());
        assert_eq!(step.norm_circuit(&clients).is_some(), has_ball(planned));
        balls += usize::from(has_ball(planned));
    }
    assert!(balls > 0);
}

/// Counts how often records are read.
#[derive(Debug)]
struct Counting(TestWorld, AtomicUsize);

impl RecordSource for Counting {
    fn n_features(&self) -> usize {
        self.0.n_features()
    }

    fn n_units(&self) -> usize {
        self.0.n_units()
    }

    fn visit_unit(&self, unit: usize, visit: &mut dyn FnMut(Record<'_>)) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.visit_unit(unit, visit);
    }
}

fn first_choice(features: u32) -> Question {
    Question::ResponseCorrelation {
        features: sprifed_query::FeatureSet::all(features),
        feature_limit: sprifed_query::Limit::try_from(1.0).unwrap(),
        response_limit: sprifed_query::Limit::try_from(1.0).unwrap(),
    }
}

/// A plan of one choice, with this budget.
fn one_choice(epsilon: f64) -> Plan {
    let setting = setting(20, 30, Relation::ZeroOut);
    let mut plan = CertifiedProcedure::ARGMAX.plan(&setting).unwrap();
    let is_choice = |step: &PlannedStep| matches!(step, PlannedStep::Choice(_));
    plan.steps.retain(is_choice);
    plan.steps.truncate(1);
    plan.budget = budget(epsilon, 1e-6);
    plan
}

#[test]
fn no_record_is_read_before_all_three_ledgers_are_charged() {
    let world = Counting(TestWorld::new(20, 30), AtomicUsize::new(0));
    let key = PartyKey::simulated(1, 0);
    let ask = |epsilon: f64| {
        let charges_seen = |_: Phase, _: u32, _: ClientId| {
            assert_eq!(
                world.1.load(Ordering::Relaxed),
                0,
                "records come after attendance"
            );
            true
        };
        let (plan, units) = (one_choice(epsilon), vec![1; 20]);
        let mut study =
            EmbeddedTrustees::over(&world, plan, units, &key, Box::new(charges_seen)).unwrap();
        let query = ChoiceQuery {
            step: 0,
            scores: first_choice(30),
        };
        let chosen = study.choose(&query);
        (
            chosen,
            study
                .ledgers
                .each_ref()
                .map(|ledger| ledger.record().entries.len()),
        )
    };
    // The ledger refuses: nothing was read and nothing was charged.
    let (refused, charged) = ask(1e-3);
    assert!(
        matches!(refused, Err(TrusteesError::Ledger(_))),
        "{refused:?}"
    );
    assert_eq!((world.1.load(Ordering::Relaxed), charged), (0, [0; 3]));
    let (chosen, charged) = ask(20.0);
    assert!(chosen.is_ok(), "{chosen:?}");
    assert_eq!((world.1.load(Ordering::Relaxed), charged), (20, [1; 3]));
}

#[test]
fn a_step_without_clients_opens_nothing_and_is_paid_for() {
    let world = TestWorld::new(20, 30);
    let key = PartyKey::simulated(1, 0);
    let no_client = Box::new(|_: Phase, _: u32, _: ClientId| false);
    let mut study =
        EmbeddedTrustees::over(&world, one_choice(20.0), vec![1; 20], &key, no_client).unwrap();
    let query = ChoiceQuery {
        step: 0,
        scores: first_choice(30),
    };
    assert_eq!(
        study.choose(&query),
        Err(TrusteesError::NoClient { step: 0 })
    );
    assert_eq!(study.ledger().record().entries.len(), 1);
    // The step is over: it is not answered a second time on the same charge.
    assert!(matches!(
        study.choose(&query),
        Err(TrusteesError::NotPlanned { .. })
    ));
}

#[test]
fn what_was_not_planned_for_is_refused_before_anything_is_spent() {
    let world = TestWorld::new(20, 30);
    let key = PartyKey::simulated(1, 0);
    let open = |plan: Plan, units: Vec<u32>| {
        let part = Part::of(&world, 0..20);
        EmbeddedTrustees::open(vec![part], plan, units, &key, Box::new(all_present))
    };
    let refused = open(one_choice(20.0), vec![19]).unwrap_err();
    assert!(matches!(
        refused,
        TrusteesError::TooManyUnits {
            found: 20,
            required: 19,
            ..
        }
    ));
    let by_client = Plan {
        unit: PrivacyUnit::Client,
        ..one_choice(20.0)
    };
    let refused = open(by_client, vec![20]).unwrap_err();
    assert_eq!(
        refused,
        TrusteesError::Ungrouped {
            client: ClientId(0)
        }
    );
    let of_curator = Plan {
        origin: NoiseOrigin::Curator,
        ..one_choice(20.0)
    };
    let refused = open(of_curator, vec![20]).unwrap_err();
    assert_eq!(
        refused,
        TrusteesError::Step(IllegalTrusteeStep::OtherOrigin)
    );
    let mut study = open(one_choice(20.0), vec![20]).unwrap();
    let other = ChoiceQuery {
        step: 0,
        scores: first_choice(29),
    };
    assert!(matches!(
        study.choose(&other),
        Err(TrusteesError::NotPlanned { .. })
    ));
    let sum = SumQuery {
        step: 0,
        questions: vec![first_choice(30)],
    };
    assert!(matches!(
        study.answer(&sum),
        Err(TrusteesError::NotPlanned { .. })
    ));
    assert_eq!(study.ledger().spent(), None);
}
