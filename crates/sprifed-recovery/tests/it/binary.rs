//! A response of zeros and ones, with every procedure that can explain one.

use proptest::prelude::*;
use rand_core::Rng;
use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{PrivacyUnit, Relation};
use sprifed_query::{Curator, LARGEST_HAZARD, Link, PlannedStep, Records};
use sprifed_recovery::selection::normal::upper_quantile;
use sprifed_recovery::test_support::procedure_checks::uses_its_budget;
use sprifed_recovery::test_support::{budget, legal_setting};
use sprifed_recovery::{
    CertifiedProcedure, Fit, FitStatus, Groups, InferenceMethod, Intercept, Keep, Outcome, Role,
    SCORE_BLOCK, Setting, Sites,
};

use crate::script::{self, Script, any_case, decide, unknown};

fn setting(n_records: u32) -> Setting {
    Setting {
        n_records,
        n_features: 30,
        sparsity: 4,
        choice: Keep::Significant,
        outcome: Outcome::Binary,
        response_bound: 1.0,
        budget: budget(5.0, 1e-6),
        feature_scale: Some(1.0),
        intercept: Intercept::Estimated,
        ..legal_setting()
    }
}

/// Features uniform and of unit variance; the log odds of a one are 0.5 + 1.5·x₃ − x₁₇.
fn world(records: u32, n_features: u32, seed: u64) -> (Vec<f32>, Vec<f32>) {
    let mut generator = NoiseGenerator::simulated(seed);
    let mut uniform = || f64::from(generator.next_u32() >> 8) / f64::from(1u32 << 24);
    let (mut features, mut responses) = (Vec::new(), Vec::new());
    for _ in 0..records {
        let row: Vec<f32> = (0..n_features)
            .map(|_| (3f64.sqrt() * (2.0 * uniform() - 1.0)) as f32)
            .collect();
        let predictor = 0.5 + 1.5 * f64::from(row[3]) - f64::from(row[17]);
        let share = 1.0 / (1.0 + libm::exp(-predictor));
        responses.push(f32::from(u8::from(uniform() < share)));
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

/// Φ⁻¹(1 − 0.001/2): a normal number is farther away in one of a thousand cases.
const FAR: f64 = 3.290_527;

/// Each procedure has records of its own, whose seed is its place in the list, from one on. All six estimates must be
/// within [`FAR`] of their standard errors: if they are normal about the truth with the errors that their intervals state,
/// chance fails this at most six times in a thousand, however they depend on each other.
#[test]
fn the_features_and_their_log_odds_are_found() {
    for (procedure, seed) in CertifiedProcedure::all().zip(1..) {
        let setting = setting(6000);
        let fit = fit(procedure, &setting, seed);
        assert_eq!(fit.status, FitStatus::Complete, "{procedure}");
        let report = fit.inference.available().unwrap();
        let mut found: Vec<u32> = report.terms.iter().map(|term| term.feature).collect();
        // One in ten may be false.
        found.sort_unstable();
        assert!(
            found.len() <= 3 && [3, 17].iter().all(|one| found.contains(one)),
            "{procedure}: {found:?}"
        );
        for (feature, truth) in [(3, 1.5), (17, -1.0)] {
            let term = report
                .terms
                .iter()
                .find(|term| term.feature == feature)
                .unwrap();
            let interval = term.interval.unwrap();
            let reach = upper_quantile((1.0 - term.level) / 2.0);
            let std_error = (interval.high - interval.low) / (2.0 * reach);
            let error = (term.estimate - truth).abs();
            assert!(error < FAR * std_error, "{procedure}: {term:?}");
            assert!(
                std_error < 0.1 && term.p_value.unwrap() < 0.01,
                "{procedure}: {term:?}"
            );
            assert_eq!(term.role, Role::Selected);
        }
        let score = report.score.unwrap();
        assert!(score.link == Link::Logit && (0.3..0.9).contains(&score.mean));
        assert!(
            (fit.model.intercept - 0.5).abs() < 0.2,
            "{procedure}: {:?}",
            fit.model
        );
        assert_eq!(fit.residual_scale, None);
    }
}

#[test]
fn features_of_every_model_take_part_in_the_refit() {
    // Feature 3 moves to the first place.
    let setting = Setting {
        always: 4,
        ..setting(6000)
    };
    for procedure in CertifiedProcedure::all() {
        let fit = fit(procedure, &setting, 8);
        let report = fit.inference.available().unwrap();
        let own = report.terms.iter().find(|term| term.feature == 3).unwrap();
        assert_eq!(own.role, Role::Always);
        let interval = own.interval.unwrap();
        assert!(
            interval.low < 1.5 && 1.5 < interval.high,
            "{procedure}: {own:?}"
        );
        assert!(own.p_value.unwrap() < 1e-6);
        assert!(
            report.terms.iter().any(|term| term.feature == 17),
            "{procedure}"
        );
    }
}

#[test]
fn too_few_records_leave_the_log_odds_of_the_share() {
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
        assert!(alone.model.terms.is_empty() && alone.model.intercept.abs() < 3.0);
    }
    // So many features that the records are too few to seek one, but enough to tell three apart.
    for procedure in CertifiedProcedure::on_sums() {
        let with = Setting {
            always: 1,
            sparsity: 2,
            n_features: 20_000,
            ..setting(6000)
        };
        let with = fit(procedure, &just_too_few(procedure, with), 2);
        assert!(
            matches!(with.status, FitStatus::TooFewRecords { .. }),
            "{procedure}: {:?}",
            with.status
        );
        assert_eq!(with.model.support(), [0], "{procedure}");
    }
}

#[test]
fn a_client_contributes_a_mean_and_there_are_no_intervals() {
    let setting = Setting {
        unit: PrivacyUnit::Client,
        ..setting(6000)
    };
    for procedure in CertifiedProcedure::all() {
        let fit = fit(procedure, &setting, 4);
        assert!(fit.inference.available().is_none());
        let term = |feature| {
            fit.model
                .terms
                .iter()
                .find(|(known, _)| *known == feature)
                .unwrap()
                .1
        };
        assert!(
            (term(3) - 1.5).abs() < 0.3 && (term(17) + 1.0).abs() < 0.3,
            "{procedure}"
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
fn the_score_is_asked_last_and_no_histogram_is() {
    for procedure in CertifiedProcedure::all() {
        let plan = procedure.plan(&setting(6000)).unwrap();
        let names = |step: &PlannedStep| match step {
            PlannedStep::Sum(sum) => sum
                .blocks
                .iter()
                .map(|one| one.block.name.clone())
                .collect(),
            PlannedStep::Choice(_) => Vec::new(),
        };
        let all: Vec<String> = plan.steps.iter().flat_map(names).collect();
        assert!(!all.iter().any(|name| name == "scale"), "{procedure}");
        let last = names(plan.steps.last().unwrap());
        assert_eq!(last, [SCORE_BLOCK, "score curvature"], "{procedure}");
    }
}

#[test]
fn what_is_not_built_is_refused() {
    let legal = setting(6000);
    let refused = |setting: Setting, words: &str| {
        for procedure in CertifiedProcedure::all() {
            let error = procedure.plan(&setting).unwrap_err().to_string();
            assert!(
                error.contains(words) && error.contains("\"binary\""),
                "{error}"
            );
        }
    };
    refused(
        Setting {
            intercept: Intercept::Absent,
            ..legal
        },
        "no intercept",
    );
    refused(
        Setting {
            robust: true,
            ..legal
        },
        "robust intervals",
    );
    refused(
        Setting {
            inference: InferenceMethod::Split,
            ..legal
        },
        "split",
    );
    refused(
        Setting {
            response_bound: 2.0,
            ..legal
        },
        "a response within 2",
    );
    let sites = Sites::new(&[3000, 3000]).unwrap();
    refused(Setting { sites, ..legal }, "site effects");
}

#[test]
fn categories_that_are_picked_together_are_refused() {
    let groups = Groups::of([2..5]).unwrap();
    for (outcome, response_bound) in [
        (Outcome::Linear, 1.0),
        (Outcome::Binary, 1.0),
        (Outcome::Survival, LARGEST_HAZARD),
    ] {
        let alone = Setting {
            outcome,
            response_bound,
            ..setting(6000)
        };
        let grouped = Setting { groups, ..alone };
        match CertifiedProcedure::ARGMAX.plan(&grouped) {
            Ok(_) => assert_eq!(outcome, Outcome::Linear),
            Err(error) => {
                let words = format!(
                    "categories that are picked together with the outcome \"{}\"",
                    outcome.name()
                );
                assert!(error.to_string().contains(&words), "{error}");
            }
        }
        assert!(CertifiedProcedure::ARGMAX.plan(&alone).is_ok());
        // Procedures that see sums pick each column on its own.
        for procedure in CertifiedProcedure::on_sums() {
            assert_eq!(procedure.plan(&grouped), procedure.plan(&alone));
        }
    }
}

#[test]
fn a_setting_says_its_outcome_only_if_it_is_not_linear() {
    let linear = serde_json::to_string(&legal_setting()).unwrap();
    assert!(!linear.contains("outcome"), "{linear}");
    let binary = serde_json::to_string(&setting(500)).unwrap();
    assert!(binary.contains(r#""outcome":"binary""#), "{binary}");
    assert_eq!(
        serde_json::from_str::<Setting>(&binary).unwrap(),
        setting(500)
    );
}

/// A setting about zeros and ones in which all is asked that can be.
fn asking(setting: Setting) -> Setting {
    unknown(Setting {
        outcome: Outcome::Binary,
        response_bound: 1.0,
        ..setting
    })
}

/// Digests of the decisions about zeros and ones.
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
            (0x570f_9c94_386a_a5e2, 0xfaaa_2e1b_54c0_71c1),
            (0x00e5_6405_d782_f07c, 0x6e31_78ef_12f0_eb83),
            (0x570f_9c94_386a_a5e2, 0xeaa1_a6e6_b335_f58c),
            (0x6ace_fe1e_9875_066d, 0x8f0c_a59f_0b52_351f),
            (0xec2c_13ab_16df_2972, 0x4ac7_25fc_efb0_6e58),
            (0x9e3b_6653_53af_f9f2, 0xe8cf_5b67_b380_b5b0),
        ],
    ),
    (
        CertifiedProcedure::SIEVE,
        [
            (0x2ba5_996a_c462_bbda, 0x930a_259d_0627_5860),
            (0x2f80_a855_7a4a_159e, 0x80c7_d7f3_2c63_11bd),
            (0x2ba5_996a_c462_bbda, 0x987c_98a7_9e41_87d1),
            (0x3d30_fd81_a86d_0dce, 0x743d_5c5f_849e_e65c),
            (0x8e0e_32c2_bfc3_6ed7, 0x0a37_fb88_e555_b2a8),
            (0x8114_9d85_0474_ab41, 0x4a2f_fd9f_5726_578b),
        ],
    ),
    (
        CertifiedProcedure::ARGMAX,
        [
            (0xd1ec_cf06_fdf9_73e3, 0x9f55_fda6_08d7_510d),
            (0xd1ec_cf06_fdf9_73e3, 0x834e_45da_3700_7bc2),
            (0xd1ec_cf06_fdf9_73e3, 0x5dfe_5455_10fb_e8da),
            (0xd1ec_cf06_fdf9_73e3, 0x6a24_5373_8da0_e1fe),
            (0xd1ec_cf06_fdf9_73e3, 0xed20_7c6f_8796_7e45),
            (0xd1ec_cf06_fdf9_73e3, 0xdeee_b3ac_6e24_31f8),
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
        case.setting.outcome = Outcome::Binary;
        case.setting.response_bound = 1.0;
        for procedure in CertifiedProcedure::all() {
            case.check(procedure, Intercept::Estimated, true);
        }
    }
}
