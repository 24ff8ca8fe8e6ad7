//! The amount of work does not depend on the values of a record, and no value stops the work.

use sprifed_privacy::{Mu, NoiseOrigin, PrivacyUnit, Relation};

use super::*;
use crate::plan::Planner;
use crate::records::Records;
use crate::work::{self, Work};

const N_FEATURES: u32 = 40;

fn planner() -> Planner {
    Planner {
        origin: NoiseOrigin::Curator,
        relation: Relation::ZeroOut,
        unit: PrivacyUnit::Record,
    }
}

/// Rows of every kind: ordinary, empty, not numbers, huge, tiny, and mixtures of them.
fn rows() -> Vec<Vec<f32>> {
    let of = |value: f32| vec![value; N_FEATURES as usize];
    let mut rows: Vec<Vec<f32>> = [
        0.0,
        -0.0,
        0.3,
        -1.0,
        f32::NAN,
        -f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        1e-45,
        1e19,
        1e25,
    ]
    .map(of)
    .into();
    let mixed = |first: f32, second: f32| {
        let pair = [first, second];
        (0..N_FEATURES as usize).map(|k| pair[k % 2]).collect()
    };
    rows.push(mixed(f32::MAX, f32::NAN));
    rows.push(mixed(f32::INFINITY, 1e-40));
    rows.push(mixed(1e20, -1e-20));
    rows.push(mixed(0.5, f32::NEG_INFINITY));
    rows
}

fn every_block(size: usize, squares: u32) -> Vec<PlannedBlock> {
    let cost = Mu::try_from(0.3).unwrap();
    let ball = |rounding| planner().ball("ball", size, cost, rounding).unwrap();
    vec![
        ball(Rounding::Dithered),
        ball(Rounding::Truncated),
        planner().boxed("box", size, squares, cost).unwrap(),
    ]
}

/// What is done for one record, and the integers it contributes.
fn work_of(
    asked: AskedBlock<'_>,
    row: &[f32],
    response: f32,
    is_present: bool,
) -> (Work, Vec<i32>) {
    let (responses, present) = ([response], [is_present]);
    let records = Records::each_a_unit(row, &responses, row.len()).unwrap();
    let records = records.counting(&present).unwrap();
    let contributor = Contributor::new(vec![asked], 7);
    let size = asked.planned.block.coordinates as usize;
    let (mut values, mut integers) = (vec![0.0; size], vec![0; size]);
    work::take();
    contributor.contribute(&records, 0, &mut values, &mut integers);
    let work = work::take();
    contributor.sum(&records, 0..1).expect("it fits its bounds");
    (work, integers)
}

#[test]
fn every_record_takes_the_same_work_and_one_rounding() {
    let limits = [1e-30, 1.0, 1e30];
    let coefficients = [1.5, 1e300, f64::MAX, f64::NAN];
    for (limit, coefficient) in limits.iter().flat_map(|l| coefficients.map(|c| (*l, c))) {
        let features = FeatureSet::except(N_FEATURES, &[3]);
        for question in every_question(limit, coefficient, features, 4) {
            let squares = squares_of(&question);
            for planned in &every_block(question.coordinates(), squares) {
                let asked = AskedBlock {
                    question: &question,
                    planned,
                };
                let expected = work_of(asked, &rows()[2], 0.4, true).0;
                assert_eq!(expected.roundings, 1);
                assert!(expected.coordinates >= u64::from(planned.block.coordinates));
                for row in rows() {
                    for response in [0.0, 0.7, -1e30, f32::MAX, f32::NAN, f32::INFINITY] {
                        for is_present in [true, false] {
                            let (work, integers) = work_of(asked, &row, response, is_present);
                            assert_eq!(work, expected, "{question:?}, {row:?}, {response}");
                            if !is_present {
                                assert!(integers.iter().all(|value| *value == 0), "{question:?}");
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_client_takes_work_by_the_number_of_its_records_alone() {
    let question = &every_question(1.0, 0.5, FeatureSet::all(N_FEATURES), 4)[3];
    let planned = &every_block(question.coordinates(), 0)[0];
    let work_of = |row: &[f32], present: [bool; 3]| {
        let features = row.repeat(3);
        let responses = [0.5, f32::NAN, -2.0];
        let records = Records::each_a_unit(&features, &responses, row.len()).unwrap();
        let records = records.counting(&present).unwrap();
        let client = core::iter::once(0..3).collect();
        let records = records.grouped(client).unwrap();
        let contributor = Contributor::new(vec![AskedBlock { question, planned }], 7);
        let size = planned.block.coordinates as usize;
        let (mut values, mut integers) = (vec![0.0; size], vec![0; size]);
        work::take();
        contributor.contribute(&records, 0, &mut values, &mut integers);
        work::take()
    };
    let expected = work_of(&rows()[2], [true; 3]);
    for row in rows() {
        for present in [[true; 3], [true, false, true], [false; 3]] {
            assert_eq!(work_of(&row, present), expected, "{row:?}");
        }
    }
}

#[test]
fn records_that_do_not_count_are_no_part_of_a_clients_mean() {
    let question = Question::ResponseMean {
        response_limit: Limit::ONE,
    };
    let planned = &every_block(1, 0)[2];
    let features = vec![0.0; 4];
    let responses = [0.5, 0.9, 0.5, 0.1];
    let mean_of = |present: [bool; 4]| {
        let records = Records::each_a_unit(&features, &responses, 1).unwrap();
        let records = records.counting(&present).unwrap();
        let client = core::iter::once(0..4).collect();
        let records = records.grouped(client).unwrap();
        let asked = AskedBlock {
            question: &question,
            planned,
        };
        let (mut values, mut integers) = ([0.0], [0]);
        let contributor = Contributor::new(vec![asked], 7);
        contributor.contribute(&records, 0, &mut values, &mut integers);
        values[0]
    };
    for (present, expected) in [
        ([true, true, true, true], 0.5),
        ([true, false, true, false], 0.5),
        ([false, true, false, false], 0.9),
        ([false; 4], 0.0),
    ] {
        let found = mean_of(present);
        assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
    }
}

#[test]
fn a_rounded_vector_is_left_out_so_seldom_that_no_mean_shows_it() {
    // Vectors on the bound are the worst. At a probability of 1e-6 each, one of these is left out in
    // about one run of thirty; what was measured is none, because the bound of the plan is not tight.
    for (size, times) in [
        (1, 3000),
        (14, 3000),
        (55, 3000),
        (1000, 1000),
        (10_000, 100),
    ] {
        for cost in [0.02, 0.3, 2.0] {
            let cost = Mu::try_from(cost).unwrap();
            let planned = planner()
                .ball("ball", size, cost, Rounding::Dithered)
                .unwrap();
            let root = f64::from(u32::try_from(size).unwrap()).sqrt();
            #[expect(clippy::cast_possible_truncation, reason = "single precision is meant")]
            let entry = (1.0 / root) as f32;
            let values: Vec<f32> = (0..size)
                .map(|k| if k % 3 == 0 { -entry } else { entry })
                .collect();
            let mut out = vec![0; size];
            let left_out = (0..times).filter(|seed| {
                to_integers(&planned, &values, &mut Dither::of_unit(*seed, 3), &mut out);
                out.iter().all(|value| *value == 0)
            });
            assert_eq!(left_out.count(), 0, "{size} coordinates");
        }
    }
}
