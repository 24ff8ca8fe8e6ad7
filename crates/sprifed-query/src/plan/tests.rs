//! A plan costs what it was asked to cost, admits what it planned, and survives being stored.

use proptest::prelude::*;
use sprifed_privacy::{Delta, Epsilon, Participation, Rho};

use super::*;
use crate::feature_set::FeatureSet;
use crate::limit::Limit;
use crate::model::ReleasedModel;
use crate::question::{ROW_BUCKETS, SCALE_BUCKETS};

pub(crate) fn planner(relation: Relation) -> Planner {
    Planner {
        origin: NoiseOrigin::Curator,
        relation,
        unit: PrivacyUnit::Record,
    }
}

pub(crate) fn mu(value: f64) -> Mu {
    Mu::try_from(value).expect("a legal cost")
}

pub(crate) fn gradient(n_features: u32) -> Question {
    Question::RowClippedGradient {
        model: ReleasedModel::default(),
        features: FeatureSet::all(n_features),
        row_norm: Limit::nearest(2.0),
        residual_limit: Limit::nearest(1.0),
    }
}

pub(crate) fn correlation(n_features: u32) -> Question {
    Question::ResponseCorrelation {
        features: FeatureSet::all(n_features),
        feature_limit: Limit::nearest(1.0),
        response_limit: Limit::nearest(1.0),
    }
}

pub(crate) fn scale() -> Question {
    Question::ResidualScale {
        model: ReleasedModel::default(),
        largest: Limit::nearest(4.0),
    }
}

/// A sum of two blocks, a choice and a box, over `n_features` features.
pub(crate) fn small_plan(n_features: u32, relation: Relation) -> Plan {
    let planner = planner(relation);
    let size = n_features as usize;
    let first = PlannedSum::new(
        "gradient and scale".to_owned(),
        vec![
            planner
                .ball("gradient", size, mu(0.3), Rounding::Dithered)
                .expect("a grid"),
            planner
                .ball("scale", SCALE_BUCKETS, mu(0.1), Rounding::Truncated)
                .expect("a grid"),
        ],
    );
    let range = RangeBound::try_from(0.5).expect("a legal range");
    let choice = planner.choice("a pick", size, range).expect("a choice");
    let last = PlannedSum::new(
        "correlation".to_owned(),
        vec![
            planner
                .boxed("correlation", size, 0, mu(0.2))
                .expect("a grid"),
        ],
    );
    let budget = ApproxDp::new(
        Epsilon::try_from(4.0).expect("a legal epsilon"),
        Delta::try_from(1e-5).expect("a legal delta"),
    );
    Plan {
        procedure: "test".to_owned(),
        origin: NoiseOrigin::Curator,
        relation,
        unit: PrivacyUnit::Record,
        budget,
        steps: vec![
            PlannedStep::Sum(first),
            PlannedStep::Choice(choice),
            PlannedStep::Sum(last),
        ],
    }
}

#[test]
fn a_planned_sum_refuses_a_question_of_the_wrong_size() {
    let plan = small_plan(5, Relation::ZeroOut);
    let (PlannedStep::Sum(first), PlannedStep::Sum(last)) = (&plan.steps[0], &plan.steps[2]) else {
        panic!("the first and last steps are sums");
    };
    assert!(first.admits(&[gradient(5), scale()]));
    assert!(
        first.admits(&[gradient(4), scale()]),
        "a ball has room for fewer"
    );
    assert!(!first.admits(&[gradient(6), scale()]));
    assert!(
        !first.admits(&[scale(), gradient(5)]),
        "fourteen buckets in room for five"
    );
    assert!(!first.admits(&[gradient(5)]));
    assert!(!first.admits(&[gradient(5), scale(), scale()]));
    assert!(!first.admits(&[]));
    assert!(last.admits(&[correlation(5)]));
    assert!(
        !last.admits(&[correlation(4)]),
        "a box is charged for every coordinate"
    );
    assert!(!last.admits(&[correlation(6)]));
    assert!(!first.admits(&[
        gradient(5),
        Question::RowScale {
            features: 5,
            largest: Limit::nearest(1.0)
        }
    ]));
    const { assert!(ROW_BUCKETS > SCALE_BUCKETS) };
}

#[test]
fn a_plan_survives_being_stored() {
    for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
        let plan = small_plan(7, relation);
        let stored = serde_json::to_string(&plan).unwrap();
        let read: Plan = serde_json::from_str(&stored).unwrap();
        assert_eq!(read, plan);
        assert_eq!(read.spending().unwrap(), plan.spending().unwrap());
    }
}

#[test]
fn a_question_survives_being_stored() {
    for question in [gradient(5), correlation(3), scale()] {
        let stored = serde_json::to_string(&question).unwrap();
        assert_eq!(serde_json::from_str::<Question>(&stored).unwrap(), question);
    }
}

#[test]
fn a_plan_counts_its_integers() {
    assert_eq!(
        small_plan(7, Relation::ZeroOut).coordinates(),
        7 + 14 + 7 + 7
    );
}

#[test]
fn a_range_too_small_to_be_written_down_is_refused() {
    let tiny = RangeBound::try_from(1e-6).unwrap();
    let refused = planner(Relation::ZeroOut)
        .choice("a pick", 10, tiny)
        .unwrap_err();
    assert!(refused.to_string().contains("a range between"), "{refused}");
}

/// μ of one block alone.
fn cost_of(block: &PlannedBlock, planner: Planner) -> f64 {
    let plan = SumPlan {
        blocks: vec![block.block.clone()],
        part: RecordPart::All,
    };
    plan.cost(planner.origin, planner.relation)
        .unwrap()
        .mu()
        .unwrap()
        .get()
}

proptest! {
    #[test]
    fn a_block_costs_no_more_than_was_asked(
        coordinates in 1usize..20_000,
        cost in prop_oneof![0.001f64..3.0, 3.0f64..30.0],
        replace in any::<bool>(),
        clients in 0u32..200,
        squares in 0u32..2,
    ) {
        let relation = if replace { Relation::ReplaceOne } else { Relation::ZeroOut };
        let origin = if clients < 10 {
            NoiseOrigin::Curator
        } else {
            NoiseOrigin::Shares(Participation::new(clients, clients - 2, 1).unwrap())
        };
        let planner = Planner { origin, relation, unit: PrivacyUnit::Record };
        for rounding in [Rounding::Dithered, Rounding::Truncated] {
            let block = planner.ball("ball", coordinates, mu(cost), rounding).unwrap();
            prop_assert!(cost_of(&block, planner) <= cost * (1.0 + 1e-12));
        }
        let block = planner.boxed("box", coordinates, squares, mu(cost)).unwrap();
        prop_assert!(cost_of(&block, planner) <= cost * (1.0 + 1e-12));
    }

    #[test]
    fn a_choice_costs_no_more_than_was_asked(
        range in 0.01f64..8.0,
        candidates in 1usize..100_000,
        replace in any::<bool>(),
    ) {
        let relation = if replace { Relation::ReplaceOne } else { Relation::ZeroOut };
        let asked = RangeBound::try_from(range).unwrap();
        let choice = planner(relation).choice("a pick", candidates, asked).unwrap();
        let line = LedgerLine::Selection(choice.purchase);
        let spending = Spending::default().and(line.expense(relation).unwrap()).unwrap();
        for (charged, times) in spending.selections() {
            prop_assert_eq!(*times, 1);
            prop_assert!(charged.get() <= range * (1.0 + 1e-9), "{charged} of {range}");
            prop_assert!(charged.get() >= range * 0.98, "{charged} of {range}");
        }
        let rho = Rho::try_from(range * range / 8.0).unwrap();
        prop_assert!(rho.get() > 0.0);
    }

    #[test]
    fn a_choice_among_trustees_costs_no_more_than_was_asked(
        range in 0.05f64..8.0,
        candidates in 1usize..100_000,
        replace in any::<bool>(),
    ) {
        let relation = if replace { Relation::ReplaceOne } else { Relation::ZeroOut };
        let asked = RangeBound::try_from(range).unwrap();
        let planner = Planner { origin: NoiseOrigin::Trustees, ..planner(relation) };
        for (law, steps) in [(SelectionLaw::Euler, 63), (SelectionLaw::FloorGumbel, 127)] {
            let choice = planner.choice_by(law, "a pick", candidates, asked).unwrap();
            prop_assert_eq!(choice.score_steps(), steps);
            prop_assert!((choice.score_block().steps - f64::from(steps)).abs() < 1e-9);
            let line = LedgerLine::Selection(choice.purchase);
            let spending = Spending::default().and(line.expense(relation).unwrap()).unwrap();
            prop_assert!(spending.parts().all(|part| part.cut_off() > 0.0));
            for (charged, _) in spending.selections() {
                prop_assert!(charged.get() <= range * (1.0 + 1e-9), "{charged} of {range}");
                prop_assert!(charged.get() >= range * 0.98, "{charged} of {range}");
            }
        }
        let chosen = planner.choice("a pick", candidates, asked).unwrap();
        prop_assert_eq!(chosen.purchase.law, SelectionLaw::Euler);
    }
}

#[test]
fn a_grid_finer_than_rounding_is_refused() {
    let huge = mu(1e7);
    let planner = planner(Relation::ZeroOut);
    let ball = planner
        .ball("ball", 3, huge, Rounding::Truncated)
        .unwrap_err();
    let boxed = planner.boxed("box", 3, 0, huge).unwrap_err();
    for refused in [ball, boxed] {
        assert!(
            refused.to_string().contains("at most 4194304 are possible"),
            "{refused}"
        );
    }
}

#[test]
fn a_choice_too_small_for_trustees_is_refused_with_what_is_possible() {
    let planner = Planner {
        origin: NoiseOrigin::Trustees,
        ..planner(Relation::ZeroOut)
    };
    let tiny = RangeBound::try_from(0.005).unwrap();
    let refused = planner.choice("a pick", 10, tiny).unwrap_err().to_string();
    assert!(
        refused.contains("a range between 0.0078125 and 128"),
        "{refused}"
    );
}
