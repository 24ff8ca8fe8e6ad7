#![expect(clippy::cast_possible_truncation, reason = "small numbers")]

use core::convert::Infallible;

use sprifed_noise::{NoiseGenerator, Provenance};
use sprifed_privacy::{NoiseOrigin, Participation, Relation};
use sprifed_query::{
    Answer, ChoiceBackend, ChoiceQuery, Curator, LinearModel, Plan, PlannedStep, Record, Records,
    SumBackend, SumQuery, run, run_choosing,
};

use super::*;
use crate::argmax::Argmax;
use crate::catalogue::CertifiedProcedure;
use crate::fit::{Fit, FitStatus};
use crate::inference::{Inference, Inferred, Interval, ReportedIntercept, ReportedTerm, Role};
use crate::pooled::Pooled;
use crate::schedule::{Schedule, Working};
use crate::setting::{InferenceMethod, Keep};
use crate::test_support::{budget, legal_setting, procedure_checks};

const WIDTH: usize = 12;

/// Columns 1 to 10 of twelve; the first one is zero or one, the last one is in standard units.
fn scaled(setting: Setting) -> Setting {
    Setting {
        n_features: 12,
        feature_scale: None,
        intercept: Intercept::Estimated,
        column_scales: ColumnScales::new(&FeatureSet::only(&(1..11).collect::<Vec<u32>>()), 2.0)
            .unwrap(),
        ..setting
    }
}

/// Columns of very different means and spreads; the response depends on columns 2 and 7 by units of their own.
fn uneven_table(n_records: usize) -> (Vec<f32>, Vec<f32>) {
    let mut generator = NoiseGenerator::simulated(11);
    let mut uniform = move || {
        let bits = rand_core::Rng::next_u32(&mut generator);
        f64::from(bits) / f64::from(u32::MAX) * 2.0 - 1.0
    };
    let mut features = Vec::new();
    let mut responses = Vec::new();
    for _ in 0..n_records {
        let row: Vec<f64> = (0..WIDTH).map(|_| uniform()).collect();
        responses.push((1.5 * row[2] - 2.0 * row[7] + 0.3 * uniform()) as f32);
        features.extend(row.iter().enumerate().map(|(column, value)| {
            let spread = 0.9 / f64::from(1 << (column % 4));
            (match column {
                0 => f64::from(u8::from(*value > 0.0)),
                11 => value * 1.7,
                _ => 0.1 * (column % 3) as f64 + spread * value,
            }) as f32
        }));
    }
    (features, responses)
}

/// Answers without noise.
struct Exact<'a> {
    records: Records<'a>,
    plan: Plan,
}

impl Exact<'_> {
    fn sum(&self, question: &Question) -> Vec<f64> {
        let mut total = vec![0.0; question.coordinates()];
        for record in self.records.iter() {
            let mut own = vec![0.0f32; total.len()];
            question.add_contribution(record, &mut own);
            for (place, value) in total.iter_mut().zip(own) {
                *place += f64::from(value);
            }
        }
        total
    }
}

impl SumBackend for Exact<'_> {
    type Error = Infallible;

    fn answer(&mut self, query: &SumQuery) -> Result<Answer, Infallible> {
        // The run without the questions about columns has fewer questions than the plan: the first ones.
        let PlannedStep::Sum(planned) = &self.plan.steps[query.step] else {
            panic!("a sum is not planned");
        };
        let blocks = query.questions.iter().zip(&planned.blocks);
        let blocks = blocks.map(|(question, planned)| AnswerBlock {
            values: self.sum(question),
            noise_std_dev: planned.noise_std_dev(1),
        });
        Ok(Answer {
            blocks: blocks.collect(),
            provenance: Provenance::Simulated,
            absent: Vec::new(),
        })
    }
}

impl ChoiceBackend for Exact<'_> {
    fn choose(&mut self, query: &ChoiceQuery) -> Result<usize, Infallible> {
        let scores = self.sum(&query.scores);
        let places = (0..scores.len()).reduce(|best, place| {
            let is_larger = scores[place].abs() > scores[best].abs();
            if is_larger { place } else { best }
        });
        Ok(places.unwrap_or(0))
    }
}

/// Mean and standard deviation of a column, computed directly.
fn moments_of(features: &[f32], column: usize) -> (f64, f64) {
    let values = features
        .chunks_exact(WIDTH)
        .map(|row| f64::from(row[column]));
    let count = values.len() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let variance = values.map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

#[test]
fn without_noise_the_units_are_the_mean_and_the_standard_deviation() {
    let (features, responses) = uneven_table(500);
    let setting = scaled(Setting {
        n_records: 500,
        ..legal_setting()
    });
    let records = Records::each_a_unit(&features, &responses, WIDTH).unwrap();
    let plan = CertifiedProcedure::SIEVE.plan(&setting).unwrap();
    let exact = Exact { records, plan };
    let [means, squares] = setting.column_questions().map(|question| AnswerBlock {
        values: exact.sum(&question),
        noise_std_dev: 0.0,
    });
    let units = setting.column_units(&means, &squares);
    assert_eq!(units.iter().count(), 10);
    for (column, unit) in units.iter() {
        let (mean, std_dev) = moments_of(&features, column as usize);
        assert!((unit.centre - mean).abs() < 1e-5, "{column}: {unit:?}");
        assert!(
            (unit.scale.get() / std_dev - 1.0).abs() < 1e-3,
            "{column}: {unit:?}"
        );
    }
    // The noise keeps a column that hardly varies from being blown up.
    let noisy = AnswerBlock {
        noise_std_dev: 40.0,
        ..squares
    };
    let least = (2.0 * setting.column_scales.squares_norm() * 40.0 / 500.0).sqrt();
    for (_, unit) in setting.column_units(&means, &noisy).iter() {
        assert!(unit.scale.get() >= least * (1.0 - 1e-12), "{unit:?}");
    }
}

#[test]
fn without_noise_a_fit_is_that_of_directly_standardised_columns() {
    let (features, responses) = uneven_table(600);
    let setting = scaled(Setting {
        n_records: 600,
        sparsity: 2,
        ..legal_setting()
    });
    for procedure in CertifiedProcedure::all() {
        let plan = procedure.plan(&setting).unwrap();
        let mut exact = Exact {
            records: Records::each_a_unit(&features, &responses, WIDTH).unwrap(),
            plan: plan.clone(),
        };
        let found = procedure.run(&setting, &mut exact, |_| ()).unwrap();
        let PlannedStep::Sum(first) = &plan.steps[0] else {
            panic!("the first step is a sum");
        };
        let [means, squares] = setting.column_questions();
        let block = |question: &Question, place: usize| AnswerBlock {
            values: exact.sum(question),
            noise_std_dev: first.blocks[place].noise_std_dev(1),
        };
        let units = setting.column_units(&block(&means, 1), &block(&squares, 2));
        let mut standardised = features.clone();
        for row in standardised.chunks_exact_mut(WIDTH) {
            for (column, unit) in units.iter() {
                let value = &mut row[column as usize];
                let own = (f64::from(*value) - unit.centre) / unit.scale.get();
                *value = own.clamp(-5.0, 5.0) as f32;
            }
        }
        let mut direct = Exact {
            records: Records::each_a_unit(&standardised, &responses, WIDTH).unwrap(),
            plan,
        };
        let pooled = |working| Pooled::new(setting, Schedule::of(&setting, working).unwrap());
        let expected = match procedure.name() {
            "argmax" => run_choosing(Argmax::new(setting).unwrap(), &mut direct, |_| ()),
            "sieve" => run(pooled(Working::Pooled), &mut direct, |_| ()),
            _ => run(pooled(Working::LeastSquares), &mut direct, |_| ()),
        };
        let expected = expected.unwrap();
        assert_eq!(found.status, FitStatus::Complete, "{procedure}");
        assert_eq!(
            found,
            expected.clone().in_bounded_units(&units),
            "{procedure}"
        );
        let mut support = found.model.support();
        support.sort_unstable();
        assert_eq!(support, [2, 7], "{procedure}");
        for (feature, truth) in [(2, 1.5), (7, -2.0)] {
            let spread = 0.9 / f64::from(1 << (feature % 4));
            let term = found
                .model
                .terms
                .iter()
                .find(|(known, _)| *known == feature);
            let coefficient = term.unwrap().1;
            assert!(
                (coefficient * spread / truth - 1.0).abs() < 0.15,
                "{procedure}: {coefficient}"
            );
        }
        assert_eq!(found.cuts.len(), 2, "{procedure}");
    }
}

#[test]
fn a_private_fit_finds_features_of_any_spread_and_costs_what_was_planned() {
    let (features, responses) = uneven_table(4000);
    for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
        let setting = scaled(Setting {
            n_records: 4000,
            sparsity: 2,
            choice: Keep::Significant,
            relation,
            ..legal_setting()
        });
        for procedure in CertifiedProcedure::all() {
            let plan = procedure.plan(&setting).unwrap();
            let records = Records::each_a_unit(&features, &responses, WIDTH).unwrap();
            let mut curator =
                Curator::open(records, plan.clone(), NoiseGenerator::simulated(3)).unwrap();
            let fit = procedure.run(&setting, &mut curator, |_| ()).unwrap();
            assert_eq!(fit.status, FitStatus::Complete, "{procedure}");
            let planned = plan.spending().unwrap();
            assert_eq!(*curator.ledger().spending(), planned, "{procedure}");
            let report = fit.inference.available().unwrap();
            for (feature, truth) in [(2, 1.5), (7, -2.0)] {
                let spread = 0.9 / f64::from(1 << (feature % 4));
                let term = report
                    .terms
                    .iter()
                    .find(|term| term.feature == feature)
                    .unwrap();
                let error = term.estimate * spread - truth;
                assert!(error.abs() < 0.2, "{procedure}: {term:?}");
                let interval = term.interval.unwrap();
                assert!(interval.low < term.estimate && term.estimate < interval.high);
            }
        }
    }
}

#[test]
fn the_questions_are_in_the_first_sum_and_within_the_budget() {
    let shares = NoiseOrigin::Shares(Participation::new(400, 360, 20).unwrap());
    for origin in [NoiseOrigin::Curator, shares, NoiseOrigin::Trustees] {
        for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
            let setting = scaled(Setting {
                origin,
                relation,
                n_records: 4000,
                ..legal_setting()
            });
            for procedure in CertifiedProcedure::all() {
                if origin == NoiseOrigin::Curator {
                    procedure_checks::uses_its_budget(procedure, &setting);
                }
                let plan = procedure.plan(&setting).unwrap();
                let spent = plan.spending().unwrap();
                let spent = spent.to_approx_dp(setting.budget.delta()).unwrap();
                assert!(spent.epsilon() <= setting.budget.epsilon(), "{procedure}");
                let PlannedStep::Sum(first) = &plan.steps[0] else {
                    panic!("the first step is a sum");
                };
                let names = first.blocks.iter().map(|planned| &planned.block.name[..]);
                let names: Vec<&str> = names.collect();
                assert_eq!(names, ["mean response", "column means", "column squares"]);
                let without = procedure.plan(&Setting {
                    column_scales: ColumnScales::NONE,
                    ..setting
                });
                assert_eq!(without.unwrap().steps.len(), plan.steps.len());
            }
        }
    }
}

#[test]
fn the_sensitivities_are_the_norms_and_twice_that_for_a_replaced_record() {
    let setting = scaled(legal_setting());
    assert!((setting.column_scales.row_norm() - 0.35 * 10f64.sqrt() * 2.0).abs() < 1e-12);
    assert!((setting.column_scales.squares_norm() - 0.25 * 10f64.sqrt() * 4.0).abs() < 1e-12);
    let [means, squares] = setting.column_questions();
    let norm = |question: &Question, row: &[f32]| {
        let mut out = vec![0.0f32; question.coordinates()];
        let record = Record {
            features: row,
            response: 0.0,
            is_present: true,
        };
        question.add_contribution(record, &mut out);
        out
    };
    let length = |values: &[f32]| values.iter().map(|v| f64::from(v * v)).sum::<f64>().sqrt();
    // Both bounds are reached: by a long row and its opposite for the means, by one long row for squares.
    let (high, low) = ([2.0f32; WIDTH], [-2.0f32; WIDTH]);
    let (one, other) = (norm(&means, &high), norm(&means, &low));
    assert!((length(&one) - 1.0).abs() < 1e-6);
    let moved: Vec<f32> = one.iter().zip(&other).map(|(a, b)| a - b).collect();
    assert!((length(&moved) - 2.0).abs() < 1e-6);
    assert!((length(&norm(&squares, &high)) - 1.0).abs() < 1e-6);
    for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
        let setting = Setting {
            relation,
            ..setting
        };
        let cost = Mu::try_from(0.1).unwrap();
        for planned in setting.column_blocks(cost).unwrap() {
            let moved = f64::from(relation.sum_moves_by());
            let most = planned.block.squared_sensitivity(relation).unwrap() as f64;
            // In integer steps; conditional rounding makes it larger by little.
            let expected = (moved * planned.steps).powi(2);
            assert!(
                most >= expected && most < 1.2 * expected,
                "{most} {expected}"
            );
        }
    }
}

#[test]
fn the_public_rule_needs_about_eight_thousand_records_for_280_columns() {
    let columns = ColumnScales::new(&FeatureSet::all(280), 2.0).unwrap();
    let noise = |n_records: u32, epsilon: f64, relation| {
        let setting = Setting {
            n_records,
            n_features: 280,
            budget: budget(epsilon, 1e-6),
            feature_scale: None,
            intercept: Intercept::Estimated,
            relation,
            ..legal_setting()
        };
        setting.column_noise(columns).unwrap()
    };
    let of = |n_records, epsilon| noise(n_records, epsilon, Relation::ZeroOut);
    assert!(of(7000, 1.0) > MOST_COLUMN_NOISE && of(10_000, 1.0) < MOST_COLUMN_NOISE);
    assert!(of(52_397, 1.0) < 0.005 && of(1400, 1.0) > MOST_COLUMN_NOISE);
    let ratio = noise(9000, 1.0, Relation::ReplaceOne) / of(9000, 1.0);
    assert!((ratio - 2.0).abs() < 0.05, "{ratio}");
}

#[test]
fn columns_that_cannot_be_asked_about_are_refused() {
    let legal = scaled(legal_setting());
    legal.check().unwrap();
    let of = |runs: Vec<core::ops::Range<u32>>, bound: f64| {
        ColumnScales::new(&FeatureSet::try_from(runs).unwrap(), bound)
    };
    let many = (0..=MOST_COLUMN_RUNS as u32).map(|place| 2 * place..2 * place + 1);
    assert!(
        of(many.collect(), 1.0)
            .unwrap_err()
            .to_string()
            .contains("41 runs")
    );
    let refused = |setting: Setting, words: &str| {
        let error = setting.check().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        for procedure in CertifiedProcedure::all() {
            assert!(procedure.plan(&setting).is_err(), "{procedure}");
        }
    };
    let columns = |run, bound| Setting {
        column_scales: of(vec![run], bound).unwrap(),
        ..legal
    };
    refused(columns(1..13, 1.0), "a private scale of column 12");
    refused(columns(1..11, f64::NAN), "private scales within NaN");
    refused(columns(1..11, 0.0), "private scales within 0");
    let feature_scale = Some(1.0);
    refused(
        Setting {
            feature_scale,
            ..legal
        },
        "private scales of columns",
    );
    let intercept = Intercept::Absent;
    refused(Setting { intercept, ..legal }, "private scales of columns");
}

#[test]
fn a_setting_says_them_only_if_they_are_asked_for() {
    let text = serde_json::to_string(&legal_setting()).unwrap();
    assert!(!text.contains("column"), "{text}");
    assert_eq!(
        serde_json::from_str::<Setting>(&text).unwrap(),
        legal_setting()
    );
    let setting = scaled(legal_setting());
    let text = serde_json::to_string(&setting).unwrap();
    assert!(
        text.contains(r#""column_scales":{"columns":[{"start":1,"end":11}],"bound":2.0}"#),
        "{text}"
    );
    assert_eq!(serde_json::from_str::<Setting>(&text).unwrap(), setting);
    assert!(
        serde_json::from_str::<Setting>(&text.replace("\"start\":1,", "\"start\":12,")).is_err()
    );
}

#[test]
fn a_study_that_seeks_nothing_asks_nothing_about_columns() {
    let setting = scaled(Setting {
        n_records: 30,
        choice: Keep::Significant,
        budget: budget(1.0, 1e-6),
        ..legal_setting()
    });
    let (features, responses) = uneven_table(30);
    for procedure in CertifiedProcedure::all() {
        assert!(procedure.seeks_nothing(&setting).unwrap(), "{procedure}");
        let plan = procedure.plan(&setting).unwrap();
        let text = format!("{plan:?}");
        assert!(!text.contains("column"), "{procedure}");
        let records = Records::each_a_unit(&features, &responses, WIDTH).unwrap();
        let mut curator = Curator::open(records, plan, NoiseGenerator::simulated(3)).unwrap();
        let fit = procedure.run(&setting, &mut curator, |_| ()).unwrap();
        assert!(matches!(fit.status, FitStatus::TooFewRecords { .. }));
        assert!(fit.cuts.is_empty());
    }
}

fn reported(feature: u32, estimate: f64) -> ReportedTerm {
    ReportedTerm {
        feature,
        role: Role::Selected,
        group: None,
        estimate,
        interval: Some(Interval {
            low: estimate - 1.0,
            high: estimate + 2.0,
        }),
        level: 0.95,
        p_value: Some(0.01),
        privacy_share: Some(0.5),
    }
}

#[test]
fn the_way_back_keeps_predictions_and_follows_the_covariance() {
    let columns = ReleasedColumns::new(FeatureSet::only(&[1, 4]), |place| ColumnUnit {
        centre: [0.5, -1.0][place],
        scale: Limit::nearest([0.25, 2.0][place]),
    });
    let inference = Inference {
        method: 1,
        inference: InferenceMethod::Selective,
        estimated_by: None,
        sought: 2,
        kept: 2,
        false_share: None,
        clip_factor: 1.0,
        moment_noise: 1.0,
        residual_moment_noise: None,
        score: None,
        survival: None,
        records: 400,
        no_intervals: None,
        intercept: Some(ReportedIntercept {
            estimate: 3.0,
            interval: Some(Interval {
                low: 2.0,
                high: 4.0,
            }),
            level: 0.95,
            privacy_share: Some(0.2),
        }),
        terms: vec![reported(1, 2.0), reported(0, 1.0)],
        covariance: vec![4.0, 0.5, 0.1, 1.0, 0.2, 9.0],
    };
    let fit = Fit {
        model: LinearModel {
            intercept: 3.0,
            terms: vec![(4, -3.0), (1, 2.0), (0, 1.0)],
        },
        sites: vec![0.5],
        inference: Inferred::Available(inference),
        status: FitStatus::Complete,
        residual_scale: Some(0.7),
        baseline: None,
        cuts: Vec::new(),
        provenance: None,
    };
    let back = fit.clone().in_bounded_units(&columns);
    let row = [0.3f32, 0.75, 9.0, 9.0, 1.0];
    let standardised = [0.3f32, 1.0, 9.0, 9.0, 1.0];
    assert!((back.model.predict(&row) - fit.model.predict(&standardised)).abs() < 1e-6);
    let report = back.inference.available().unwrap();
    assert_eq!(Some(report.terms[0].estimate), Some(8.0));
    assert_eq!(
        report.terms[0].interval,
        Some(Interval {
            low: 4.0,
            high: 16.0
        })
    );
    assert_eq!(report.terms[1], reported(0, 1.0));
    // a - 2·b with variances 4 and 1 and covariance 0.5.
    let intercept = report.intercept.as_ref().unwrap();
    assert_eq!(Some(intercept.estimate), Some(3.0 - 2.0 * 2.0));
    assert_eq!(
        report.covariance_of(0, 0),
        Some(4.0 - 4.0 * 0.5 + 4.0 * 1.0)
    );
    assert_eq!(report.covariance_of(0, 1), Some(4.0 * (0.5 - 2.0 * 1.0)));
    assert_eq!(report.covariance_of(0, 2), Some(0.1 - 2.0 * 0.2));
    assert_eq!(report.covariance_of(1, 1), Some(16.0));
    assert_eq!(report.covariance_of(2, 2), Some(9.0));
    let interval = intercept.interval.unwrap();
    assert!((interval.high + 1.0 - 1.959_964 * 6f64.sqrt()).abs() < 1e-5);
    assert_eq!(intercept.privacy_share, None);
    let cuts: Vec<(u32, f64, f64)> = back
        .cuts
        .iter()
        .map(|c| (c.feature, c.low, c.high))
        .collect();
    assert_eq!(cuts, [(1, -0.75, 1.75), (4, -11.0, 9.0)]);
    assert_eq!((back.sites, back.status), (vec![0.5], FitStatus::Complete));
}
