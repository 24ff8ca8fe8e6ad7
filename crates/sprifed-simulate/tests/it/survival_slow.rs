//! What a time to an event costs, on generated records: long, so only with `SPRIFED_SLOW=1`.
//!
//! Seeds are those from one on, so none is chosen. How many trials and which limits: see each test.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a long test is asked for by the environment, and says what it measured"
)]

use sprifed_noise::NoiseGenerator;
use sprifed_privacy::Relation;
use sprifed_query::{Curator, Records};
use sprifed_recovery::test_support::budget;
use sprifed_recovery::{CertifiedProcedure, Keep, Setting};
use sprifed_simulate::{
    Absence, Certified, Method as _, Summary, TrialOutcome, World, WorldOutcome, WorldRequest,
    setting_of,
};

/// A logarithm of the hazard of this standard deviation; 60 % of the records have the event.
const fn times(spread: f64) -> WorldOutcome {
    WorldOutcome::Survival {
        spread,
        events: 0.6,
    }
}

fn is_long() -> bool {
    let is_asked = std::env::var_os("SPRIFED_SLOW").is_some_and(|value| value == "1");
    if !is_asked {
        eprintln!("SKIPPED: set SPRIFED_SLOW=1");
    }
    is_asked
}

fn trials(
    world: WorldRequest,
    change: impl FnOnce(Setting) -> Setting,
    seeds: core::ops::Range<u64>,
) -> Vec<TrialOutcome> {
    let setting = change(setting_of(&world, budget(5.34, 1e-4), Relation::ZeroOut).unwrap());
    let method = Certified::planned(CertifiedProcedure::ARGMAX, setting, Absence::NONE).unwrap();
    seeds.map(|seed| method.run(world, seed).unwrap()).collect()
}

/// 40 trials with 2,500 features, five of them true. A prototype found .829 with a standard error of .01.
#[test]
fn five_features_are_found_where_they_were_asked_to_be() {
    if !is_long() {
        return;
    }
    let world = WorldRequest {
        outcome: times(1.0),
        ..WorldRequest::clean(800, 2500, 5)
    };
    let outcomes = trials(world, |setting| setting, 1..41);
    let summary = Summary::of(&outcomes, 5);
    eprintln!("argmax, 800: {summary:?}");
    assert!(summary.recovered_share.mean >= 0.78, "{summary:?}");
}

/// Coverage of the five true features, all of which are in every model, over 60 trials: 300 intervals.
fn coverage(spread: f64, records: usize) -> f64 {
    let world = WorldRequest {
        features: 8,
        sparsity: 1,
        support: 5,
        outcome: times(spread),
        ..WorldRequest::clean(records, 8, 1)
    };
    let setting = Setting {
        choice: Keep::Exactly,
        ..setting_of(&world, budget(5.34, 1e-4), Relation::ZeroOut).unwrap()
    };
    let (mut covered, mut all) = (0.0, 0.0);
    for seed in 1..61 {
        let generated = World::generate(world, seed);
        // The true features first.
        let mut order = generated.truth().support();
        order.extend((0..8).filter(|feature| !generated.truth().support().contains(feature)));
        let features: Vec<f32> = generated
            .features()
            .chunks_exact(8)
            .flat_map(|row| {
                order
                    .iter()
                    .map(|feature| row[*feature as usize])
                    .collect::<Vec<f32>>()
            })
            .collect();
        let setting = Setting {
            always: 5,
            ..setting
        };
        let records = Records::each_a_unit(&features, generated.responses(), 8).unwrap();
        let plan = CertifiedProcedure::ARGMAX.plan(&setting).unwrap();
        let generator = NoiseGenerator::simulated(seed + 1000);
        let mut curator = Curator::open(records, plan, generator).unwrap();
        let fit = CertifiedProcedure::ARGMAX
            .run(&setting, &mut curator, |_| ())
            .unwrap();
        let report = fit.inference.available().unwrap();
        for (place, (_, truth)) in generated.truth().terms.iter().enumerate() {
            let term = report
                .terms
                .iter()
                .find(|term| term.feature == place as u32);
            let interval = term.unwrap().interval.unwrap();
            covered += f64::from(u8::from((interval.low..=interval.high).contains(truth)));
            all += 1.0;
        }
    }
    eprintln!("spread {spread}, {records} records: {covered} of {all} intervals");
    covered / all
}

/// A prototype covered .954 to .966 of many; .92 leaves two standard errors of 300 intervals.
#[test]
fn intervals_of_named_features_cover() {
    if !is_long() {
        return;
    }
    for (spread, records) in [(0.7, 4000), (1.0, 4000), (1.0, 1500)] {
        let coverage = coverage(spread, records);
        assert!(coverage >= 0.92, "{spread}, {records}: {coverage}");
    }
}

/// 60 trials of whole fits that keep what is significant.
#[test]
fn a_whole_fit_keeps_few_false_features_and_its_intervals_cover() {
    if !is_long() {
        return;
    }
    let world = WorldRequest {
        support: 5,
        outcome: times(1.0),
        ..WorldRequest::clean(2500, 2500, 10)
    };
    let significant = |setting| Setting {
        choice: Keep::Significant,
        ..setting
    };
    let outcomes = trials(world, significant, 1..61);
    let summary = Summary::of(&outcomes, 5);
    eprintln!("argmax, 2500: {summary:?}");
    assert!(summary.false_share.mean <= 0.10);
    let coverage = summary.coverage.unwrap().mean;
    assert!(coverage >= 0.92, "{coverage}");
}

/// Something may be kept in 0.10 of the runs; the limit leaves two standard errors of 100 runs.
#[test]
fn without_a_true_feature_little_is_kept() {
    if !is_long() {
        return;
    }
    let world = WorldRequest {
        support: 0,
        outcome: times(1.0),
        ..WorldRequest::clean(1500, 2500, 10)
    };
    let significant = |setting| Setting {
        choice: Keep::Significant,
        ..setting
    };
    let outcomes = trials(world, significant, 1..101);
    let kept = outcomes
        .iter()
        .filter(|one| !one.kept.features.is_empty())
        .count();
    eprintln!("something was kept in {kept} of 100 runs");
    assert!(kept <= 16, "{kept}");
}
