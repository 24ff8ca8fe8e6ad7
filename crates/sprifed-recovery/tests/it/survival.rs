//! A response that is a time to an event, with every procedure that can explain one.

use proptest::prelude::*;
use rand_core::Rng;
use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{PrivacyUnit, Relation};
use sprifed_query::{Curator, FeatureSet, FollowUp, LARGEST_HAZARD, PlannedStep, Records};
use sprifed_recovery::test_support::procedure_checks::uses_its_budget;
use sprifed_recovery::test_support::{budget, legal_setting};
use sprifed_recovery::{
    CertifiedProcedure, ColumnScales, EVENTS_BLOCK, Fit, FitStatus, InferenceMethod, Intercept,
    Keep, Outcome, Role, SCORE_BLOCK, Setting, Sites,
};

use crate::script::{self, Script, any_case, decide, unknown};

fn setting(n_records: u32) -> Setting {
    Setting {
        n_records,
        n_features: 30,
        sparsity: 4,
        choice: Keep::Significant,
        outcome: Outcome::Survival,
        response_bound: LARGEST_HAZARD,
        budget: budget(5.0, 1e-6),
        feature_scale: Some(1.0),
        intercept: Intercept::Estimated,
        ..legal_setting()
    }
}

/// Features uniform and of unit variance; the logarithm of the hazard is 0.8·x₃ − 0.5·x₁₇, and every second record is
/// censored before the horizon.
fn world(records: u32, n_features: u32, seed: u64) -> (Vec<f32>, Vec<f32>) {
    let mut generator = NoiseGenerator::simulated(seed);
    let mut uniform = || f64::from(generator.next_u32() >> 8) / f64::from(1u32 << 24);
    let (mut features, mut responses) = (Vec::new(), Vec::new());
    for record in 0..records {
        let row: Vec<f32> = (0..n_features)
            .map(|_| (3f64.sqrt() * (2.0 * uniform() - 1.0)) as f32)
            .collect();
        let predictor = 0.8 * f64::from(row[3]) - 0.5 * f64::from(row[17]);
        let time = -libm::log(1.0 - uniform()) / libm::exp(predictor);
        let censored = if record % 2 == 0 { 1.0 } else { uniform() };
        responses.push(FollowUp::new(time.min(censored), time <= censored).response());
        features.extend(row);
    }
    (features, responses)
}

fn fit(procedure: CertifiedProcedure, setting: &Setting, seed: u64) -> Fit {
    let (features, responses) = world(setting.n_records, setting.n_features, seed);
    let records = Records::each_a_unit(&features, &responses, setting.n_features as usize).unwrap();
    let records = match setting.unit {
        PrivacyUnit::Record => records,
        PrivacyUnit::Client => records
            .grouped((0..responses.len()).map(|at| at..at + 1).collect())
            .unwrap(),
    };
    let plan = procedure.plan(setting).unwrap();
    let mut curator = Curator::open(records, plan, NoiseGenerator::simulated(seed)).unwrap();
    procedure.run(setting, &mut curator, |_| ()).unwrap()
}

/// Four standard errors of a normal number are exceeded in one of 16,000 cases; there are six estimates.
#[test]
fn the_features_and_their_hazard_ratios_are_found() {
    for (procedure, seed) in CertifiedProcedure::all().zip(1..) {
        let fit = fit(procedure, &setting(8000), seed);
        assert_eq!(fit.status, FitStatus::Complete, "{procedure}");
        let report = fit.inference.available().unwrap();
        let mut found: Vec<u32> = report.terms.iter().map(|term| term.feature).collect();
        // One in ten may be false.
        found.sort_unstable();
        assert!(
            found.len() <= 3 && [3, 17].iter().all(|one| found.contains(one)),
            "{procedure}: {found:?}"
        );
        for (feature, truth) in [(3, 0.8), (17, -0.5)] {
            let term = report.terms.iter().find(|term| term.feature == feature);
            let term = term.unwrap();
            let interval = term.interval.unwrap();
            // Levels are at least 0.95, so that this is at most a standard error.
            let std_error = (interval.high - interval.low) / 4.0;
            assert!(
                (term.estimate - truth).abs() < 4.0 * std_error,
                "{procedure}: {term:?}"
            );
            assert!(
                std_error < 0.1 && term.p_value.unwrap() < 0.01,
                "{procedure}: {term:?}"
            );
            assert_eq!(term.role, Role::Selected);
        }
        assert!(report.survival.unwrap().baseline_factor > 1.0 && report.score.is_none());
        // The hazard of a record without features is one up to the horizon.
        let baseline = fit.baseline.unwrap();
        let total: f64 = baseline.hazard.iter().sum::<f64>() * libm::exp(fit.model.intercept);
        assert!((total - 1.0).abs() < 0.2, "{procedure}: {total}");
        assert!((0.4..0.7).contains(&baseline.event_share), "{procedure}");
        assert_eq!(fit.residual_scale, None);
    }
}

#[test]
fn features_of_every_model_take_part_in_the_refit() {
    let setting = Setting {
        always: 4,
        ..setting(8000)
    };
    for procedure in CertifiedProcedure::all() {
        let fit = fit(procedure, &setting, 8);
        let report = fit.inference.available().unwrap();
        let own = report.terms.iter().find(|term| term.feature == 3).unwrap();
        assert_eq!(own.role, Role::Always);
        let interval = own.interval.unwrap();
        assert!(
            interval.low < 0.8 && 0.8 < interval.high && own.p_value.unwrap() < 1e-6,
            "{procedure}: {own:?}"
        );
        assert!(
            report.terms.iter().any(|term| term.feature == 17),
            "{procedure}"
        );
    }
}

#[test]
fn too_few_records_leave_the_hazard() {
    let just_too_few = |procedure: CertifiedProcedure, setting: Setting| Setting {
        n_records: u32::try_from(procedure.fewest_records(&setting).unwrap()).unwrap() - 1,
        ..setting
    };
    for procedure in CertifiedProcedure::all() {
        let alone = fit(procedure, &just_too_few(procedure, setting(6000)), 2);
        assert!(
            matches!(alone.status, FitStatus::TooFewRecords { .. }),
            "{procedure}"
        );
        assert!(alone.model.terms.is_empty() && alone.baseline.is_some());
    }
}

#[test]
fn columns_with_private_scales_are_refitted_in_their_units() {
    let columns = FeatureSet::all(30);
    let setting = Setting {
        feature_scale: None,
        column_scales: ColumnScales::new(&columns, 2.0).unwrap(),
        ..setting(20_000)
    };
    for procedure in CertifiedProcedure::all() {
        let fit = fit(procedure, &setting, 3);
        let report = fit.inference.available().unwrap();
        let own = report.terms.iter().find(|term| term.feature == 3).unwrap();
        assert!((own.estimate - 0.8).abs() < 0.2, "{procedure}: {own:?}");
        assert!(fit.baseline.is_some() && !fit.cuts.is_empty());
    }
}

#[test]
fn a_client_contributes_a_mean_and_there_are_no_intervals() {
    let setting = Setting {
        unit: PrivacyUnit::Client,
        ..setting(8000)
    };
    for procedure in CertifiedProcedure::all() {
        let fit = fit(procedure, &setting, 4);
        assert!(fit.inference.available().is_none());
        let term = |feature| {
            let mut terms = fit.model.terms.iter();
            terms.find(|(known, _)| *known == feature).unwrap().1
        };
        assert!(
            (term(3) - 0.8).abs() < 0.2 && (term(17) + 0.5).abs() < 0.2,
            "{procedure}: {:?}",
            fit.model
        );
    }
}

#[test]
fn the_budget_is_used_and_kept() {
    for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
        for (choice, always, feature_scale) in
            [(Keep::Exactly, 0, None), (Keep::Significant, 3, Some(1.0))]
        {
            let setting = Setting {
                relation,
                choice,
                always,
                feature_scale,
                ..setting(20_000)
            };
            for procedure in CertifiedProcedure::all() {
                uses_its_budget(procedure, &setting);
            }
        }
    }
}

#[test]
fn the_times_are_asked_first_and_before_each_score() {
    for procedure in CertifiedProcedure::all() {
        let plan = procedure.plan(&setting(8000)).unwrap();
        let names = |step: &PlannedStep| -> Vec<String> {
            match step {
                PlannedStep::Sum(sum) => sum
                    .blocks
                    .iter()
                    .map(|one| one.block.name.clone())
                    .collect(),
                PlannedStep::Choice(_) => Vec::new(),
            }
        };
        let steps: Vec<Vec<String>> = plan.steps.iter().map(names).collect();
        let times = [EVENTS_BLOCK, "left in bins"];
        let score = [SCORE_BLOCK, "score curvature"];
        assert_eq!(steps[0], times, "{procedure}");
        let last = &steps[steps.len() - 4..];
        assert!(
            last[0] == times && last[1] == score && last[2] == times && last[3] == score,
            "{procedure}: {last:?}"
        );
    }
}

#[test]
fn what_is_not_built_is_refused() {
    let legal = setting(8000);
    let refused = |setting: Setting, words: &str| {
        for procedure in CertifiedProcedure::all() {
            let error = procedure.plan(&setting).unwrap_err().to_string();
            assert!(
                error.contains(words) && error.contains("\"survival\""),
                "{error}"
            );
        }
    };
    let sites = Sites::new(&[4000, 4000]).unwrap();
    for (setting, words) in [
        (
            Setting {
                intercept: Intercept::Absent,
                ..legal
            },
            "no intercept",
        ),
        (
            Setting {
                robust: true,
                ..legal
            },
            "robust intervals",
        ),
        (
            Setting {
                inference: InferenceMethod::Split,
                ..legal
            },
            "split",
        ),
        (
            Setting {
                response_bound: 1.0,
                ..legal
            },
            "a response within 1",
        ),
        (Setting { sites, ..legal }, "site effects"),
    ] {
        refused(setting, words);
    }
}

/// A setting about times in which all is asked that can be.
fn asking(setting: Setting) -> Setting {
    unknown(Setting {
        outcome: Outcome::Survival,
        response_bound: LARGEST_HAZARD,
        ..setting
    })
}

/// Digests of the decisions about times.
fn decisions(procedure: CertifiedProcedure, script: Script) -> (u64, u64) {
    let setting = asking(Setting {
        relation: Relation::ReplaceOne,
        choice: Keep::Significant,
        always: 2,
        ..script::setting()
    });
    decide(
        procedure,
        &setting,
        |step, size| script.integers(3, step, size),
        |step, candidates| (step * 7919 + 13) % candidates,
    )
    .digests()
}

/// Digests of discrete parts and of all numbers, in the order of [`Script::ALL`].
const GOLDEN: [(CertifiedProcedure, [(u64, u64); 6]); 3] = [
    (
        CertifiedProcedure::GRAD,
        [
            (0x5c7f_fac9_62b0_5357, 0x9cb4_0b2e_8689_5c6c),
            (0xb84c_1918_afe7_727d, 0x2dc1_61de_e19c_f34a),
            (0x5c7f_fac9_62b0_5357, 0x3f3a_0ed2_dfa3_300d),
            (0x696f_a124_a1ce_2c57, 0xb38a_f919_d891_037b),
            (0xa391_2ea8_dc73_8e41, 0x8d63_3ab7_ec34_f87d),
            (0xda4a_4557_37fd_dd68, 0xbdee_0c12_8b41_0daa),
        ],
    ),
    (
        CertifiedProcedure::SIEVE,
        [
            (0x3472_1409_0521_ee39, 0x5460_2189_8a00_cad8),
            (0x85e2_6c8f_3cdb_f963, 0x2191_2c12_0558_f9ee),
            (0x3472_1409_0521_ee39, 0x9c97_c3ae_259f_3838),
            (0xd6f1_42cb_f7a3_5ba9, 0x4e24_fbec_0efa_ef82),
            (0x1daf_a2b4_ff32_222d, 0x17ae_f20c_caa6_44f8),
            (0xa6ca_17cf_a0e3_7724, 0x45e5_b587_723e_c416),
        ],
    ),
    (
        CertifiedProcedure::ARGMAX,
        [
            (0xa2b1_154a_b85a_a1da, 0x302b_8e55_e777_b5fb),
            (0xa2b1_154a_b85a_a1da, 0x666f_ec6e_5cd0_1df6),
            (0xa2b1_154a_b85a_a1da, 0xa7a4_644f_1d13_d105),
            (0xa2b1_154a_b85a_a1da, 0x516a_2aef_2613_45bb),
            (0xa2b1_154a_b85a_a1da, 0x571e_25ee_3824_a97b),
            (0xa2b1_154a_b85a_a1da, 0xa3cf_8897_52ea_c20c),
        ],
    ),
];

#[test]
fn every_platform_comes_to_the_same_decisions() {
    let mut differing = Vec::new();
    for (procedure, expected) in GOLDEN {
        for (script, expected) in Script::ALL.into_iter().zip(expected) {
            let found = decisions(procedure, script);
            if found != expected {
                let (discrete, numbers) = found;
                differing.push(format!(
                    "{procedure}, {script:?}: (0x{discrete:016x}, 0x{numbers:016x})"
                ));
            }
        }
    }
    assert!(
        differing.is_empty(),
        "this platform, or this version, decides differently:\n{}",
        differing.join("\n")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_integers_make_a_procedure_panic_or_ask_what_is_not_a_number(case in any_case()) {
        let mut case = case;
        case.intercept = true;
        case.setting.outcome = Outcome::Survival;
        case.setting.response_bound = LARGEST_HAZARD;
        for procedure in CertifiedProcedure::all() {
            case.check(procedure, Intercept::Estimated, true);
        }
    }
}
