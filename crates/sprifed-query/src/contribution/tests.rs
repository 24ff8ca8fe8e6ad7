//! The sensitivity of every question, by attack: whatever a privacy unit holds, it moves the
//! integer sum by no more than the plan says.

use core::ops::Range;

use proptest::prelude::*;
use sprifed_privacy::{Mu, NoiseOrigin, PrivacyUnit, Relation};

use super::*;
use crate::columns::{ColumnUnit, ReleasedColumns};
use crate::constant::Constant;
use crate::event_times::{ReleasedHazard, TIME_BINS};
use crate::feature_list::FeatureList;
use crate::feature_set::FeatureSet;
use crate::limit::Limit;
use crate::model::{LinearModel, ReleasedModel};
use crate::plan::Planner;
use crate::question::{Newest, Scales};
use crate::records::Records;
use crate::score_step::{Expectation, Link, ScoreStep};

mod work;

const N_FEATURES: u32 = 6;

/// Sites of which one does not exist, and which hold what the attack wants.
const SITES: Constant = Constant::Sites {
    first: N_FEATURES - 2,
    count: 3,
};

/// Which question this is; a new one must be listed in [`every_question`] too.
const fn place_of(question: &Question) -> usize {
    match question {
        Question::ResponseCorrelation { .. } => 0,
        Question::FeatureCorrelation { .. } => 1,
        Question::BoxedGradient { .. } => 2,
        Question::RowClippedGradient { .. } => 3,
        Question::ResidualScale { .. } => 4,
        Question::ResponseMean { .. } => 5,
        Question::SupportResponse { .. } => 6,
        Question::SupportRow { .. } => 7,
        Question::RowScale { .. } => 8,
        Question::SupportUpdate { .. } => 9,
        Question::SecondMoment { .. } => 10,
        Question::ResidualMoment { .. } => 11,
        Question::ColumnMeans { .. } => 12,
        Question::ColumnSquares { .. } => 13,
        Question::Standardised { .. } => 14,
        Question::ResidualSquare { .. } => 15,
        Question::ScoreGradient { .. } => 16,
        Question::ScoreCurvature { .. } => 17,
        Question::EventsInBins => 18,
        Question::LeftInBins { .. } => 19,
        Question::Martingale { .. } => 20,
    }
}

/// Every question, about features, some of which may not exist.
fn every_question(limit: f64, coefficient: f64, features: FeatureSet, last: u32) -> Vec<Question> {
    let model = ReleasedModel::from(LinearModel {
        intercept: 0.3,
        terms: vec![(1, coefficient), (last, -0.5)],
    });
    let scales = Scales {
        feature: Limit::nearest(limit),
        residual: Limit::nearest(limit),
    };
    vec![
        Question::ResponseCorrelation {
            features: features.clone(),
            feature_limit: Limit::nearest(limit),
            response_limit: Limit::nearest(limit),
        },
        Question::FeatureCorrelation {
            feature: last,
            features: features.clone(),
            feature_limit: Limit::nearest(limit),
        },
        Question::BoxedGradient {
            model: model.clone(),
            features: features.clone(),
            feature_limit: Limit::nearest(limit),
            residual_limit: Limit::nearest(limit),
        },
        Question::RowClippedGradient {
            model: model.clone(),
            features: features.clone(),
            row_norm: Limit::nearest(limit),
            residual_limit: Limit::nearest(limit),
        },
        Question::ResidualScale {
            model: model.clone(),
            largest: Limit::nearest(limit),
        },
        Question::ResponseMean {
            response_limit: Limit::nearest(limit),
        },
        Question::SupportResponse {
            feature: last,
            feature_limit: Limit::nearest(limit),
            response_limit: Limit::nearest(limit),
        },
        Question::SupportRow {
            support: FeatureList::of(&[0, 2, last]),
            feature_limit: Limit::nearest(limit),
        },
        Question::RowScale {
            features: N_FEATURES - 1,
            largest: Limit::nearest(limit),
        },
        Question::SupportUpdate {
            support: FeatureList::of(&[0, 2, last]),
            newest: Newest::One,
            constant: Constant::One,
            model: model.clone(),
            scales,
            residual_limit: Limit::nearest(3.0),
            norm: Limit::nearest(2.0),
        },
        Question::SecondMoment {
            support: FeatureList::of(&[0, last]),
            constant: Constant::One,
            model: model.clone(),
            scales,
            norm: Limit::nearest(1.5),
        },
        Question::SupportUpdate {
            support: FeatureList::of(&[0, 2]),
            newest: Newest::One,
            constant: SITES,
            model: model.clone(),
            scales,
            residual_limit: Limit::nearest(3.0),
            norm: Limit::nearest(2.0),
        },
        Question::SecondMoment {
            support: FeatureList::of(&[0, last]),
            constant: SITES,
            model: model.clone(),
            scales,
            norm: Limit::nearest(1.5),
        },
        Question::ResidualMoment {
            support: FeatureList::of(&[0, last]),
            constant: Constant::One,
            model: model.clone(),
            scales,
            norm: Limit::nearest(1.5),
        },
        Question::ResidualMoment {
            support: FeatureList::of(&[0, last]),
            constant: SITES,
            model: model.clone(),
            scales,
            norm: Limit::nearest(0.2),
        },
        Question::ColumnMeans {
            features: features.clone(),
            row_norm: Limit::nearest(limit),
        },
        Question::ColumnSquares {
            features: features.clone(),
            row_norm: Limit::nearest(limit),
        },
        Question::Standardised {
            columns: ReleasedColumns::new(features.clone(), |_| ColumnUnit {
                centre: coefficient,
                scale: Limit::nearest(limit),
            }),
            question: Box::new(Question::RowClippedGradient {
                model: model.clone(),
                features,
                row_norm: Limit::nearest(limit),
                residual_limit: Limit::nearest(limit),
            }),
        },
        Question::ResidualSquare {
            model: model.clone(),
            residual_limit: Limit::nearest(limit),
        },
        Question::ScoreGradient(step(&model, limit, last, Constant::One)),
        Question::ScoreCurvature(step(&model, limit, last, Constant::One)),
        Question::ScoreGradient(step(&model, limit, last, SITES)),
        Question::ScoreCurvature(step(&model, limit, last, SITES)),
        Question::ScoreGradient(of_events(&model, limit, last, coefficient)),
        Question::ScoreCurvature(of_events(&model, limit, last, coefficient)),
        Question::EventsInBins,
        Question::LeftInBins { risk: None },
        Question::LeftInBins {
            risk: Some(model.clone()),
        },
        Question::Martingale {
            hazard: ReleasedHazard::new(|_| coefficient),
            question: Box::new(Question::SupportUpdate {
                support: FeatureList::of(&[0, last]),
                newest: Newest::One,
                constant: Constant::One,
                model,
                scales,
                residual_limit: Limit::nearest(3.0),
                norm: Limit::nearest(2.0),
            }),
        },
    ]
}

fn step(model: &ReleasedModel, limit: f64, last: u32, constant: Constant) -> ScoreStep {
    ScoreStep {
        expects: Expectation::Response(Link::Logit),
        support: FeatureList::of(&[0, last]),
        constant,
        model: model.clone(),
        feature: Limit::nearest(limit),
        norm: Limit::nearest(1.2),
    }
}

/// The same about events, where each bin adds `hazard`.
fn of_events(model: &ReleasedModel, limit: f64, last: u32, hazard: f64) -> ScoreStep {
    ScoreStep {
        expects: Expectation::Events(ReleasedHazard::new(|_| hazard)),
        ..step(model, limit, last, Constant::One)
    }
}

/// How many coordinates of a question, the last ones, are never negative.
fn squares_of(question: &Question) -> u32 {
    match question {
        Question::SupportRow { .. } | Question::ResidualSquare { .. } => 1,
        Question::EventsInBins | Question::LeftInBins { .. } => TIME_BINS as u32,
        _ => 0,
    }
}

/// Every way in which a question can be planned.
fn every_block(question: &Question, cost: f64, relation: Relation) -> Vec<PlannedBlock> {
    let planner = Planner {
        origin: NoiseOrigin::Curator,
        relation,
        unit: PrivacyUnit::Record,
    };
    let cost = Mu::try_from(cost).unwrap();
    let size = question.coordinates();
    let squares = squares_of(question);
    vec![
        planner
            .ball("dithered", size, cost, Rounding::Dithered)
            .unwrap(),
        planner
            .ball("with room", size + 3, cost, Rounding::Dithered)
            .unwrap(),
        planner
            .ball("truncated", size, cost, Rounding::Truncated)
            .unwrap(),
        planner.boxed("boxed", size, squares, cost).unwrap(),
    ]
}

/// What an attacker may put into a record.
fn value() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -3.0f32..3.0,
        2 => any::<f32>(),
        1 => proptest::sample::select(vec![
            f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, f32::MIN_POSITIVE,
            1e-45, -1e-45, 0.0, -0.0, 1e20, -1e20, 2e19,
        ]),
    ]
}

/// The rows of one privacy unit: features and a response each.
fn rows(count: Range<usize>) -> impl Strategy<Value = Vec<(Vec<f32>, f32)>> {
    let row = (prop::collection::vec(value(), N_FEATURES as usize), value());
    prop::collection::vec(row, count)
}

type Units = Vec<Vec<(Vec<f32>, f32)>>;

/// The integers of every unit.
fn integers(units: &Units, asked: AskedBlock<'_>, seed: u64) -> Vec<Vec<i32>> {
    let features: Vec<f32> = units
        .iter()
        .flatten()
        .flat_map(|(features, _)| features.iter().copied())
        .collect();
    let responses: Vec<f32> = units
        .iter()
        .flatten()
        .map(|(_, response)| *response)
        .collect();
    let mut start = 0;
    let ranges = units.iter().map(|unit| {
        let range = start..start + unit.len();
        start = range.end;
        range
    });
    let records = Records::each_a_unit(&features, &responses, N_FEATURES as usize).unwrap();
    let records = records.grouped(ranges.collect()).unwrap();
    let contributor = Contributor::new(vec![asked], seed);
    let size = asked.planned.block.coordinates as usize;
    // The sum checks the bounds of each unit again, so it must not refuse.
    contributor
        .sum(&records, 0..units.len())
        .expect("every contribution fits its bounds");
    let of_unit = |unit: usize| {
        let (mut values, mut integers) = (vec![0.0; size], vec![0; size]);
        contributor.contribute(&records, unit, &mut values, &mut integers);
        integers
    };
    (0..units.len()).map(of_unit).collect()
}

fn squared_distance(left: &[i32], right: &[i32]) -> u128 {
    let moved = left
        .iter()
        .zip(right)
        .map(|(a, b)| i128::from(*a) - i128::from(*b));
    moved.map(|change| change.unsigned_abs().pow(2)).sum()
}

fn assert_within_bounds(planned: &PlannedBlock, integers: &[i32]) {
    let block = &planned.block;
    let most = block.bounds.coordinate_bound();
    assert!(
        integers
            .iter()
            .all(|value| u64::from(value.unsigned_abs()) <= most),
        "{block:?}"
    );
    if let IntegerBounds::Box { squares, .. } = block.bounds {
        let squares = &integers[integers.len() - squares as usize..];
        assert!(squares.iter().all(|square| *square >= 0), "{block:?}");
    }
}

/// Replaces or empties unit `changed` and looks at what moves.
fn attack(question: &Question, units: &Units, changed: usize, other: &Units, cost: f64) {
    let mut neighbour = units.clone();
    neighbour[changed].clone_from(&other[0]);
    for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
        for planned in &every_block(question, cost, relation) {
            let asked = AskedBlock { question, planned };
            let most = planned.block.squared_sensitivity(relation).unwrap();
            let before = integers(units, asked, 17);
            for seed in [17, 18] {
                let after = integers(&neighbour, asked, seed);
                for (index, (before, after)) in before.iter().zip(&after).enumerate() {
                    assert_within_bounds(planned, before);
                    assert_within_bounds(planned, after);
                    if index != changed && seed == 17 {
                        assert_eq!(before, after, "only unit {changed} changed: {question:?}");
                    }
                }
                let moved = match relation {
                    Relation::ZeroOut => squared_distance(&after[changed], &[0; 99]),
                    Relation::ReplaceOne => squared_distance(&before[changed], &after[changed]),
                };
                let name = &planned.block.name;
                assert!(
                    moved <= most,
                    "{moved} > {most} for {question:?}, {name}, {relation:?}"
                );
            }
        }
    }
}

#[test]
fn the_attack_knows_every_question() {
    let questions = every_question(1.0, 1.0, FeatureSet::all(N_FEATURES), 4);
    let places: Vec<usize> = questions.iter().map(place_of).collect();
    // Those that come in two forms are there twice.
    let expected = (0..11).chain(9..12).chain(11..18);
    let expected = expected.chain([16, 17, 16, 17, 18, 19, 19, 20]);
    assert_eq!(places, expected.collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_record_moves_no_sum_by_more_than_the_plan_says(
        units in prop::collection::vec(rows(1..2), 1..4),
        other in rows(1..2),
        changed in 0usize..4,
        limit in prop_oneof![0.1f64..4.0, Just(1e-30), Just(1e30), Just(f64::MAX)],
        coefficient in prop_oneof![-2.0f64..2.0, Just(1e300), Just(f64::NAN), Just(f64::INFINITY)],
        cost in prop_oneof![0.01f64..2.0, Just(1e-4), Just(50.0)],
    ) {
        let changed = changed % units.len();
        for question in every_question(limit, coefficient, FeatureSet::all(N_FEATURES), 4) {
            attack(&question, &units, changed, &vec![other.clone()], cost);
        }
    }

    #[test]
    fn a_client_moves_no_sum_by_more_than_the_plan_says_however_many_rows_it_has(
        units in prop::collection::vec(rows(1..5), 1..4),
        other in rows(1..7),
        changed in 0usize..4,
        limit in prop_oneof![0.1f64..4.0, Just(1e-30), Just(1e30)],
        cost in 0.01f64..2.0,
    ) {
        let changed = changed % units.len();
        for question in every_question(limit, 1.5, FeatureSet::except(N_FEATURES, &[2]), 4) {
            attack(&question, &units, changed, &vec![other.clone()], cost);
        }
    }

    #[test]
    fn records_narrower_than_the_question_move_no_sum_by_more_than_the_plan_says(
        units in prop::collection::vec(rows(1..3), 1..3),
        other in rows(1..3),
        missing in N_FEATURES..40,
        cost in 0.01f64..2.0,
    ) {
        let sets = [
            FeatureSet::all(missing + 1),
            FeatureSet::only(&[1, 3, missing]),
            FeatureSet::except(missing + 2, &[0, N_FEATURES + 1]),
        ];
        for features in sets {
            for question in every_question(1.0, 0.5, features, missing) {
                attack(&question, &units, 0, &vec![other.clone()], cost);
            }
        }
    }

    #[test]
    fn a_rounded_vector_is_accepted_only_within_its_norm(
        values in prop::collection::vec(-1.0f32..1.0, 1..300),
        length in 0.5f32..3.0,
        cost in 0.01f64..3.0,
        seed in any::<u64>(),
    ) {
        let planner = Planner {
            origin: NoiseOrigin::Curator,
            relation: Relation::ZeroOut,
            unit: PrivacyUnit::Record,
        };
        let cost = Mu::try_from(cost).unwrap();
        let planned = planner.ball("ball", values.len(), cost, Rounding::Dithered).unwrap();
        let norm = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        let values: Vec<f32> = values.iter().map(|value| value / norm * length).collect();
        let mut out = vec![0; values.len()];
        to_integers(&planned, &values, &mut Dither::of_unit(seed, 0), &mut out);
        let found = squared_distance(&out, &vec![0; out.len()]);
        prop_assert!(found <= planned.block.squared_sensitivity(Relation::ZeroOut).unwrap());
        // The fallbacks, truncation and silence, would show as a vector that is too short. The
        // squared norm of a rounded one spreads by at most its length.
        let steps = planned.steps * f64::from(length.min(1.0));
        prop_assert!(found as f64 > steps * steps - 6.0 * steps, "{found} of {}", steps * steps);
    }
}

#[test]
fn the_worst_record_reaches_exactly_what_a_box_is_charged_for() {
    let question = Question::ResponseCorrelation {
        features: FeatureSet::all(N_FEATURES),
        feature_limit: Limit::nearest(2.0),
        response_limit: Limit::nearest(3.0),
    };
    let unit = |response: f32| vec![vec![(vec![1e9; N_FEATURES as usize], response)]];
    for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
        let planned = every_block(&question, 0.4, relation).pop().unwrap();
        let asked = AskedBlock {
            question: &question,
            planned: &planned,
        };
        let most = planned.block.squared_sensitivity(relation).unwrap();
        let worst = integers(&unit(f32::MAX), asked, 1).pop().unwrap();
        let opposite = match relation {
            Relation::ZeroOut => vec![0; worst.len()],
            Relation::ReplaceOne => integers(&unit(-f32::MAX), asked, 1).pop().unwrap(),
        };
        assert_eq!(squared_distance(&worst, &opposite), most, "{relation:?}");
    }
}

#[test]
fn rounding_a_contribution_is_unbiased_in_a_box_and_in_a_ball() {
    let question = Question::ResponseCorrelation {
        features: FeatureSet::all(N_FEATURES),
        feature_limit: Limit::nearest(1.0),
        response_limit: Limit::nearest(1.0),
    };
    let row = vec![0.31, -0.77, 0.05, 0.0, 0.5, -0.123];
    let units = vec![vec![(row.clone(), 0.5)]];
    for planned in every_block(&question, 0.1, Relation::ZeroOut) {
        if planned.rounding == Rounding::Truncated {
            continue;
        }
        let asked = AskedBlock {
            question: &question,
            planned: &planned,
        };
        let mut means = [0.0; N_FEATURES as usize];
        for seed in 0..4000 {
            let found = integers(&units, asked, seed).pop().unwrap();
            for (mean, value) in means.iter_mut().zip(found) {
                *mean += f64::from(value) / 4000.0;
            }
        }
        for (mean, value) in means.iter().zip(&row) {
            // A rounding has standard deviation at most one half: six standard errors are 0.05.
            let expected = f64::from(*value) * 0.5 * planned.steps;
            assert!(
                (mean - expected).abs() < 0.05,
                "{mean} for {expected}: {planned:?}"
            );
        }
    }
}

#[test]
fn a_value_that_is_no_number_counts_as_zero_and_spoils_nothing_else() {
    for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for question in every_question(1.0, 0.5, FeatureSet::all(N_FEATURES), 4) {
            let rows = |third: f32| vec![vec![(vec![0.2, -0.4, third, 0.6, 0.1, 0.3], 0.7)]];
            for planned in every_block(&question, 0.5, Relation::ZeroOut) {
                let asked = AskedBlock {
                    question: &question,
                    planned: &planned,
                };
                let (found, zero) = (
                    integers(&rows(broken), asked, 3),
                    integers(&rows(0.0), asked, 3),
                );
                assert_eq!(found, zero, "{question:?}");
            }
        }
    }
}

#[test]
fn a_client_contributes_the_mean_of_its_records_however_many_there_are() {
    let question = Question::ResponseMean {
        response_limit: Limit::nearest(1.0),
    };
    let planned = &every_block(&question, 0.5, Relation::ZeroOut)[0];
    let asked = AskedBlock {
        question: &question,
        planned,
    };
    let row = |response: f32| (vec![0.0; N_FEATURES as usize], response);
    for count in [1, 10, 70_000] {
        let rows: Vec<_> = (0..count)
            .map(|index| row(if index % 2 == 0 { 0.6 } else { 0.2 }))
            .collect();
        let found = f64::from(integers(&vec![rows], asked, 5)[0][0]);
        let expected = if count == 1 { 0.6 } else { 0.4 };
        assert!(
            (found - expected * planned.steps).abs() < 2.0,
            "{count}: {found}"
        );
    }
}
