//! Whole runs with noise: what is kept, what is reported, and which model predicts.

use rand_core::Rng;
use sprifed_noise::{NoiseGenerator, Provenance};
use sprifed_privacy::{PrivacyUnit, Relation};
use sprifed_query::{Answer, AnswerBlock, Curator, Records};

use super::{Conclusion, Evidence};
use crate::catalogue::CertifiedProcedure;
use crate::fit::{Fit, FitStatus};
use crate::inference::{Inference, Inferred, NoInference, NoInterval, Role};
use crate::joint::LastAnswer;
use crate::opening::Opening;
use crate::setting::{Intercept, Keep, Setting};
use crate::test_support::{budget, legal_setting};

mod categories;

/// Standard normal features; a response with an error of standard deviation one.
struct Table {
    features: Vec<f32>,
    responses: Vec<f32>,
    width: usize,
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "records are of single precision"
)]
fn table(n_records: usize, width: usize, terms: &[(usize, f64)], seed: u64) -> Table {
    let mut generator = NoiseGenerator::simulated(seed);
    let mut normal = || {
        let mut uniform = || (f64::from(generator.next_u32()) + 0.5) / f64::from(u32::MAX);
        let (radius, turn) = (uniform(), uniform());
        (-2.0 * radius.ln()).sqrt() * (2.0 * core::f64::consts::PI * turn).cos()
    };
    let mut table = Table {
        features: Vec::new(),
        responses: Vec::new(),
        width,
    };
    for _ in 0..n_records {
        let row: Vec<f64> = (0..width).map(|_| normal()).collect();
        let mean: f64 = terms.iter().map(|(place, value)| value * row[*place]).sum();
        table.responses.push((0.7 + mean + normal()) as f32);
        table.features.extend(row.iter().map(|value| *value as f32));
    }
    table
}

fn setting(table: &Table, sparsity: u32) -> Setting {
    Setting {
        n_records: u32::try_from(table.responses.len()).unwrap(),
        n_features: u32::try_from(table.width).unwrap(),
        sparsity,
        choice: Keep::Significant,
        intercept: Intercept::Estimated,
        budget: budget(5.0, 1e-5),
        response_bound: 16.0,
        feature_bound: 8.0,
        ..legal_setting()
    }
}

fn fit(procedure: CertifiedProcedure, table: &Table, setting: &Setting, seed: u64) -> Fit {
    let records = Records::each_a_unit(&table.features, &table.responses, table.width).unwrap();
    let records = match setting.unit {
        PrivacyUnit::Record => records,
        PrivacyUnit::Client => {
            let units = (0..table.responses.len()).map(|place| place..place + 1);
            records.grouped(units.collect()).unwrap()
        }
    };
    let plan = procedure.plan(setting).unwrap();
    let generator = NoiseGenerator::simulated(seed);
    let mut curator = Curator::open(records, plan, generator).unwrap();
    procedure.run(setting, &mut curator, |_| ()).unwrap()
}

fn known(fit: &Fit) -> &Inference {
    fit.inference.available().unwrap()
}

const STRONG: [(usize, f64); 2] = [(3, 1.0), (11, -0.8)];

#[test]
fn features_with_an_effect_are_kept_and_others_are_not() {
    let table = table(3000, 40, &STRONG, 1);
    for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
        for procedure in CertifiedProcedure::all() {
            let setting = Setting {
                relation,
                ..setting(&table, 5)
            };
            let fit = fit(procedure, &table, &setting, 2);
            assert_eq!(fit.status, FitStatus::Complete, "{procedure}: {fit:?}");
            let report = known(&fit);
            let mut kept: Vec<u32> = report.terms.iter().map(|term| term.feature).collect();
            kept.sort_unstable();
            assert_eq!(kept, [3, 11], "{procedure}, {relation:?}: {fit:?}");
            assert_eq!((report.kept, report.sought), (2, 5));
            assert_eq!(report.false_share, Some(0.1));
            for term in &report.terms {
                let truth = STRONG
                    .iter()
                    .find(|(place, _)| *place == term.feature as usize);
                let interval = term.interval.unwrap();
                let width = interval.high - interval.low;
                assert!(width < 0.6, "{procedure}: {term:?}");
                let truth = truth.unwrap().1;
                // Twice the reported interval: this test must not fail by chance.
                let reach = (truth - term.estimate).abs();
                assert!(reach < width, "{procedure}: {term:?}");
                assert!((term.level - 0.98).abs() < 1e-12, "1 − 0.05·2/5");
                assert!(term.p_value.unwrap() < 1e-3);
                assert!((0.0..1.0).contains(&term.privacy_share.unwrap()));
                assert_eq!(term.role, Role::Selected);
            }
            let intercept = report.intercept.as_ref().unwrap();
            assert!((intercept.estimate - 0.7).abs() < 0.3, "{intercept:?}");
            assert_eq!(report.covariance.len(), 6);
            // Shrunk, and of all five: prediction is another task than reporting.
            assert_eq!(fit.model.terms.len(), 5);
        }
    }
}

#[test]
fn without_an_effect_the_model_is_the_mean_and_says_so() {
    let table = table(2000, 40, &[], 3);
    for procedure in CertifiedProcedure::all() {
        let fit = fit(procedure, &table, &setting(&table, 5), 4);
        let is_null = matches!(fit.status, FitStatus::NoFeatureAboveNoise { .. });
        assert!(is_null, "{procedure}: {fit:?}");
        assert!(fit.model.terms.is_empty(), "{procedure}: {fit:?}");
        assert!(
            (fit.model.intercept - 0.7).abs() < 0.15,
            "{procedure}: {fit:?}"
        );
        assert!(known(&fit).terms.is_empty());
    }
}

#[test]
fn features_that_are_kept_by_number_are_all_reported() {
    let table = table(1500, 40, &STRONG, 5);
    for procedure in CertifiedProcedure::all() {
        let exactly = Setting {
            choice: Keep::Exactly,
            ..setting(&table, 4)
        };
        let fit = fit(procedure, &table, &exactly, 6);
        let report = known(&fit);
        assert_eq!(report.terms.len(), 4, "{procedure}");
        assert_eq!((report.kept, report.false_share), (4, None));
        let supported = report.terms.iter().map(|term| term.feature);
        let mut supported: Vec<u32> = supported.collect();
        let mut model = fit.model.support();
        supported.sort_unstable();
        model.sort_unstable();
        assert_eq!(supported, model, "{procedure}");
        assert!(
            report
                .terms
                .iter()
                .all(|term| (term.level - 0.95).abs() < 1e-12)
        );
    }
}

/// Each pick is the best of many chances, so that what all of them leave over is too small a variance.
#[test]
fn false_features_that_are_kept_by_number_seldom_have_a_small_p_value() {
    let procedure = CertifiedProcedure::ARGMAX;
    let (mut small, mut all) = (0, 0);
    for seed in 0..60 {
        let table = table(154, 2500, &[], 9000 + seed);
        let exactly = Setting {
            choice: Keep::Exactly,
            budget: budget(5.34, 1e-4),
            ..setting(&table, 5)
        };
        let fit = fit(procedure, &table, &exactly, 9100 + seed);
        for term in &known(&fit).terms {
            all += 1;
            small += usize::from(term.p_value.unwrap() < 0.05);
        }
    }
    assert_eq!(all, 300);
    assert!(small * 100 <= 8 * all, "{small} of {all}");
}

#[test]
fn few_records_have_p_values_and_no_intervals_after_a_choice_by_significance() {
    let table = table(250, 30, &[(3, 3.0), (11, -3.0)], 7);
    let significant = setting(&table, 3);
    let fit_of = |setting: &Setting| fit(CertifiedProcedure::ARGMAX, &table, setting, 8);
    let few = fit_of(&significant);
    let report = known(&few);
    assert_eq!(report.no_intervals, Some(NoInterval::FewRecords));
    assert!(!report.terms.is_empty());
    assert!(
        report
            .terms
            .iter()
            .all(|term| term.interval.is_none() && term.p_value.is_some())
    );
    let exactly = Setting {
        choice: Keep::Exactly,
        sparsity: 2,
        ..significant
    };
    let two = fit_of(&exactly);
    assert!(
        known(&two).terms.iter().all(|term| term.interval.is_some()),
        "{two:?}"
    );
    // That of the intercept, and of features of every model, was not measured with so few records.
    for fit in [&few, &two] {
        let intercept = known(fit).intercept.as_ref().unwrap();
        assert_eq!(intercept.interval, None, "{fit:?}");
    }
    let covariate = fit_of(&Setting {
        always: 1,
        ..exactly
    });
    for term in &known(&covariate).terms {
        let is_selected = term.role == Role::Selected;
        assert_eq!(term.interval.is_some(), is_selected, "{covariate:?}");
        assert_eq!(term.p_value.is_some(), is_selected, "{covariate:?}");
    }
}

#[test]
fn an_ill_conditioned_fit_has_neither_intervals_nor_p_values() {
    let mut table = table(2000, 12, &[(0, 1.0)], 17);
    for row in table.features.chunks_exact_mut(12) {
        let common = row[0];
        for value in &mut row[1..] {
            *value = common + 0.05 * *value;
        }
    }
    for always in [0, 2] {
        let exactly = Setting {
            always,
            choice: Keep::Exactly,
            ..setting(&table, 4)
        };
        let fit = fit(CertifiedProcedure::SIEVE, &table, &exactly, 18);
        assert_ne!(fit.status, FitStatus::Complete);
        let report = known(&fit);
        assert_eq!(report.no_intervals, Some(NoInterval::IllConditioned));
        assert!(!report.terms.is_empty() && report.covariance.is_empty());
        for term in &report.terms {
            assert_eq!((term.interval, term.p_value), (None, None), "{fit:?}");
        }
        assert_eq!(report.intercept.as_ref().unwrap().interval, None);
    }
}

#[test]
fn a_mean_with_little_noise_is_not_mixed_with_one_of_weighted_records() {
    // Records with large features have large responses and are weighed down in the last question.
    let setting = Setting {
        n_records: 1000,
        intercept: Intercept::Estimated,
        choice: Keep::Significant,
        ..legal_setting()
    };
    let root = core::f64::consts::SQRT_2;
    let sums = [400.0, 0.0, -200.0 * root, 400.0, 0.0, 400.0];
    let answer = Answer {
        blocks: vec![AnswerBlock {
            values: sums.iter().map(|sum| sum / 3.0).collect(),
            noise_std_dev: 0.01,
        }],
        provenance: Provenance::Simulated,
        absent: Vec::new(),
    };
    let mean = |mean_noise| {
        let conclusion = Conclusion {
            setting: &setting,
            too_few: None,
            opening: Opening {
                scale: 1.0,
                intercept: 1.0,
                mean_noise: Some(mean_noise),
                feature_scale: 1.0,
            },
            asked: &[0],
            answer: LastAnswer::new(&setting, &answer, vec![0.0], 1.0).unwrap(),
            clip_factor: 1.0,
            scale: 1.0,
            intercept: 1.0,
            chosen: Vec::new(),
            judged: Vec::new(),
            evidence: Evidence::Picks(Vec::new()),
            provenance: None,
        };
        conclusion.fit().model.intercept
    };
    assert!((mean(0.01) - 1.0).abs() < 1e-12, "{}", mean(0.01));
    // The other one counts where the first is too noisy.
    assert!((mean(0.5) - 0.6).abs() < 0.01, "{}", mean(0.5));
}

#[test]
fn features_that_were_asked_for_below_the_floor_have_neither_intervals_nor_p_values() {
    let table = table(310, 200, &[(3, 1.0)], 19);
    let exactly = Setting {
        choice: Keep::Exactly,
        budget: budget(0.3, 1e-6),
        ..setting(&table, 2)
    };
    let procedure = CertifiedProcedure::ARGMAX;
    assert!(procedure.fewest_records(&exactly).unwrap() > 310);
    for seed in 0..10 {
        let fit = fit(procedure, &table, &exactly, seed);
        let report = known(&fit);
        assert_eq!(report.terms.len(), 2);
        for term in &report.terms {
            assert_eq!((term.interval, term.p_value), (None, None), "{fit:?}");
        }
    }
}

#[test]
fn clients_as_units_have_no_inference_and_keep_all() {
    let table = table(1500, 40, &STRONG, 9);
    for procedure in CertifiedProcedure::all() {
        let by_client = Setting {
            unit: PrivacyUnit::Client,
            ..setting(&table, 3)
        };
        let fit = fit(procedure, &table, &by_client, 10);
        let expected = Inferred::NotAvailable {
            reason: NoInference::ClientUnit,
        };
        assert_eq!(fit.inference, expected, "{procedure}");
        assert_eq!(fit.model.terms.len(), 3, "{procedure}");
    }
}

#[test]
fn features_of_every_model_are_always_reported_and_never_selected() {
    // The first two features explain most; a third is selected beside them.
    let table = table(3000, 40, &[(0, 2.0), (1, -1.5), (20, 0.8)], 11);
    for procedure in CertifiedProcedure::all() {
        for intercept in [Intercept::Estimated, Intercept::Absent] {
            let setting = Setting {
                always: 2,
                intercept,
                ..setting(&table, 4)
            };
            let fit = fit(procedure, &table, &setting, 12);
            let report = known(&fit);
            let found: Vec<(u32, Role)> = report
                .terms
                .iter()
                .map(|term| (term.feature, term.role))
                .collect();
            let expected = [(0, Role::Always), (1, Role::Always), (20, Role::Selected)];
            assert_eq!(found, expected, "{procedure}, {intercept:?}: {fit:?}");
            for (term, truth) in report.terms.iter().zip([2.0, -1.5, 0.8]) {
                let interval = term.interval.unwrap();
                let width = interval.high - interval.low;
                assert!(
                    (term.estimate - truth).abs() < width,
                    "{procedure}: {term:?}"
                );
                assert!(width < 0.5, "{procedure}: {term:?}");
            }
            assert!((report.terms[0].level - 0.95).abs() < 1e-12);
            assert_eq!(&fit.model.support()[..2], [0, 1]);
            assert_eq!(fit.model.terms.len(), 6);
        }
    }
}

#[test]
fn covariates_stay_when_nothing_is_selected() {
    for procedure in CertifiedProcedure::all() {
        // One of twenty such tables has a feature that stands out by chance.
        let mut nothing = 0;
        for seed in 13..21 {
            let table = table(2000, 40, &[(0, 2.0)], seed);
            let setting = Setting {
                always: 1,
                ..setting(&table, 4)
            };
            let fit = fit(procedure, &table, &setting, seed + 100);
            assert_eq!(fit.model.support()[0], 0, "{procedure}");
            let found = fit.model.terms[0].1;
            assert!((found - 2.0).abs() < 0.25, "{procedure}: {fit:?}");
            assert!(known(&fit).terms[0].interval.is_some());
            if matches!(fit.status, FitStatus::NoFeatureAboveNoise { .. }) {
                nothing += 1;
                assert_eq!(fit.model.terms.len(), 1, "{procedure}: {fit:?}");
            }
        }
        assert!(nothing >= 6, "{procedure}: {nothing} of 8");
    }
}

#[test]
fn of_features_that_cannot_be_told_apart_one_is_kept() {
    // Twelve features that are nearly the same: four of them have no sound solve.
    let mut table = table(2000, 12, &[(0, 1.0)], 17);
    for row in table.features.chunks_exact_mut(12) {
        let common = row[0];
        for value in &mut row[1..] {
            *value = common + 0.05 * *value;
        }
    }
    for procedure in CertifiedProcedure::on_sums() {
        let fit = fit(procedure, &table, &setting(&table, 4), 18);
        assert_eq!(fit.status, FitStatus::Complete, "{procedure}: {fit:?}");
        let kept = &known(&fit).terms;
        assert!((1..4).contains(&kept.len()), "{procedure}: {fit:?}");
        let sum: f64 = kept.iter().map(|term| term.estimate).sum();
        let intervals = kept.iter().map(|term| term.interval.unwrap());
        let width: f64 = intervals.map(|interval| interval.high - interval.low).sum();
        assert!((sum - 1.0).abs() < width, "{procedure}: {fit:?}");
    }
}

#[test]
fn more_covariates_than_can_be_told_apart_are_refused() {
    let table = table(200, 60, &[], 15);
    for procedure in CertifiedProcedure::all() {
        let many = Setting {
            always: 40,
            ..setting(&table, 4)
        };
        let refused = procedure.plan(&many).unwrap_err().to_string();
        assert!(refused.contains("40 columns in every model"), "{refused}");
    }
}
