//! What intervals, p-values and the choice of how many features are kept must reach, on generated data with fixed seeds.
//!
//! Slow, and statistical: standard errors are about 0.015 for a coverage and 0.01 for a false share, so 0.93 is asked for
//! where 0.95 is meant. Build with `--release`.
//!
//! P(p < 0.05 | false) is tested where the p-values of all choices are known, in the slow tests of `sprifed-simulate`: the
//! p-value of a feature that was not kept is never shown.

use serde_json::Value;

use crate::command::{answer, number};
use crate::process::is_slow_run;

/// One design: what is generated, what is sought, and in how many trials.
struct Design {
    procedure: &'static str,
    records: u32,
    /// At most so many are sought.
    sparsity: u32,
    /// The rest of the line: features, true features, R2 or error, epsilon, correlation.
    world: &'static str,
    trials: u32,
}

const CLEAN: &str = "--features 2500 --support 5 --epsilon 5.34 --delta 1e-4";
const HALF: &str = "--features 2500 --support 5 --population-r2 0.5 --epsilon 5.34 --delta 1e-4";
const HALF_AT_ONE: &str =
    "--features 2500 --support 5 --population-r2 0.5 --epsilon 1 --delta 1e-4";

const fn design(
    procedure: &'static str,
    records: u32,
    sparsity: u32,
    world: &'static str,
    trials: u32,
) -> Design {
    Design {
        procedure,
        records,
        sparsity,
        world,
        trials,
    }
}

/// The designs that the method was measured on.
const MEASURED: [Design; 11] = [
    design("argmax", 231, 10, CLEAN, 60),
    design("argmax", 308, 10, CLEAN, 60),
    design("argmax", 600, 5, HALF, 60),
    design("argmax", 600, 10, HALF, 80),
    design("argmax", 600, 15, HALF, 60),
    design("argmax", 1500, 10, HALF_AT_ONE, 60),
    design("argmax", 3000, 5, HALF, 60),
    design("sieve", 717, 10, CLEAN, 60),
    design("sieve", 900, 10, HALF, 60),
    design("sieve", 1500, 5, HALF, 60),
    design("sieve", 1500, 10, HALF, 60),
];

/// Designs that were chosen once, before they were run, and that nothing was tuned to.
const CHOSEN_ONCE: [Design; 3] = [
    design(
        "argmax",
        1000,
        12,
        "--features 4000 --support 8 --population-r2 0.6 --epsilon 3 --delta 1e-5",
        40,
    ),
    design(
        "sieve",
        2000,
        9,
        "--features 1000 --support 4 --population-r2 0.4 --epsilon 4 --delta 1e-5 --neighbours replace-one",
        80,
    ),
    design(
        "grad",
        4000,
        8,
        "--features 1500 --support 5 --population-r2 0.5 --epsilon 5.34 --delta 1e-4",
        60,
    ),
];

/// Neighbouring features are correlated here, so that a neighbour of a true feature has an effect of its own in the model
/// without that feature. It is no false feature, and only the intervals are judged.
const CORRELATED: [Design; 2] = [
    design(
        "argmax",
        800,
        10,
        "--features 2000 --support 5 --population-r2 0.5 --correlation ar:0.7 --epsilon 3 --delta 1e-5",
        60,
    ),
    design(
        "sieve",
        2000,
        10,
        "--features 2000 --support 5 --population-r2 0.5 --correlation ar:0.5 --epsilon 5.34 --delta 1e-5",
        60,
    ),
];

impl Design {
    fn run(&self) -> Value {
        let Self {
            procedure,
            records,
            sparsity,
            world,
            trials,
        } = self;
        answer(&format!(
            "simulate --procedure {procedure} --records {records} --sparsity {sparsity} {world} --trials {trials} --seed 401"
        ))
    }

    /// What is wrong with the intervals and, if `are_false_judged`, with the kept features.
    fn complaints(&self, are_false_judged: bool) -> Vec<String> {
        let found = self.run();
        let kept = number(&found, "/kept/mean") * f64::from(self.trials);
        let false_share = number(&found, "/false_share/mean");
        let mut wrong = Vec::new();
        if kept < 200.0 {
            wrong.push(format!(
                "only {kept:.0} features were kept: too few to judge"
            ));
        }
        // With fewer records no interval is reported.
        let has_intervals = self.records >= 300;
        assert_eq!(has_intervals, found["coverage"].is_object(), "{found}");
        if has_intervals && number(&found, "/coverage/mean") < 0.93 {
            wrong.push(format!("coverage {} of {kept:.0}", found["coverage"]));
        }
        if are_false_judged && false_share > 0.10 {
            wrong.push(format!("false share {false_share:.3}"));
        }
        let Self {
            procedure,
            records,
            sparsity,
            world,
            ..
        } = self;
        let name = format!("{procedure} n={records}, at most {sparsity}, {world}");
        let wrong = wrong.into_iter();
        wrong.map(|wrong| format!("{name}: {wrong}")).collect()
    }
}

fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn intervals_cover_and_few_kept_features_are_false_where_it_was_measured() {
    if !is_slow_run() {
        return;
    }
    let complaints = MEASURED
        .iter()
        .flat_map(|design| design.complaints(true))
        .collect::<Vec<_>>();
    assert_none(&complaints);
}

#[test]
fn intervals_cover_and_few_kept_features_are_false_in_designs_chosen_once() {
    if !is_slow_run() {
        return;
    }
    let independent = CHOSEN_ONCE
        .iter()
        .flat_map(|design| design.complaints(true));
    let correlated = CORRELATED
        .iter()
        .flat_map(|design| design.complaints(false));
    assert_none(&independent.chain(correlated).collect::<Vec<_>>());
}

/// The false share of a trial is one if anything was kept, since no feature is true.
#[test]
fn without_any_effect_something_is_kept_in_few_trials() {
    if !is_slow_run() {
        return;
    }
    for (procedure, records, sparsity) in [
        ("argmax", 154, 5),
        ("argmax", 600, 10),
        ("sieve", 900, 10),
        ("grad", 2000, 5),
    ] {
        let line = format!(
            "simulate --procedure {procedure} --features 2500 --support 0 --population-r2 0.5 --records {records} \
             --sparsity {sparsity} --epsilon 5.34 --delta 1e-4 --trials 100 --seed 501"
        );
        let share = number(&answer(&line), "/false_share/mean");
        assert!(share <= 0.16, "{procedure} n={records}: {share}");
    }
}

/// The smallest tables in which features are sought. With p-values that took the residual variance as it came, and a quarter
/// fewer records, something was kept in 0.18 to 0.47 of the trials.
#[test]
fn without_any_effect_something_is_kept_in_few_trials_at_the_fewest_records() {
    if !is_slow_run() {
        return;
    }
    let mut missed = Vec::new();
    for budget in [
        "--features 4000 --sparsity 3 --epsilon 8 --delta 1e-6",
        "--features 4000 --sparsity 3 --epsilon 3 --delta 1e-6",
        "--features 200 --sparsity 1 --epsilon 3 --delta 1e-6",
        "--features 2500 --sparsity 3 --epsilon 1 --delta 1e-6",
        "--features 2500 --sparsity 10 --epsilon 5.34 --delta 1e-4",
        "--features 2500 --sparsity 5 --epsilon 5.34 --delta 1e-4",
    ] {
        // The plan's number does not depend on the records it is asked for.
        let plan = answer(&format!(
            "plan --procedure argmax --records 1000 {budget} --forecast-trials 0"
        ));
        let fewest = &plan["floor"]["fewest_records"];
        let found = answer(&format!(
            "simulate --procedure argmax --support 0 --population-r2 0.5 --records {fewest} {budget} --trials 100 --seed 501"
        ));
        let is_sought = number(&found, "/fewest_records") <= number(&plan, "/floor/fewest_records");
        let share = number(&found, "/false_share/mean");
        if !(is_sought && share <= 0.22) {
            missed.push(format!("{budget}, n={fewest}: {share}"));
        }
    }
    assert_none(&missed);
}

#[test]
fn most_features_are_kept_when_twice_as_many_are_sought() {
    if !is_slow_run() {
        return;
    }
    let share = number(
        &design("argmax", 600, 10, HALF, 40).run(),
        "/recovered_share/mean",
    );
    assert!(share >= 0.80, "{share}");
}

/// At one and a half times the records at which nine in ten are found.
#[test]
fn not_knowing_how_many_features_are_true_costs_little() {
    if !is_slow_run() {
        return;
    }
    for (procedure, records) in [("argmax", 231), ("sieve", 717), ("grad", 1100)] {
        let unknown = design(procedure, records, 10, CLEAN, 60).run();
        let known = answer(&format!(
            "simulate --procedure {procedure} --records {records} --sparsity 5 --exactly {CLEAN} --trials 60 --seed 401"
        ));
        let [unknown, known] =
            [&unknown, &known].map(|found| number(found, "/recovered_share/mean"));
        assert!(
            unknown >= known - 0.03,
            "{procedure} n={records}: {unknown} of at most 10, {known} of exactly 5"
        );
    }
}

/// What was recovered before features were tested, within two standard errors.
#[test]
fn exactly_as_many_features_are_found_as_before() {
    if !is_slow_run() {
        return;
    }
    for (procedure, features, sparsity, records, least) in [
        ("argmax", 2500, 5, 110, 0.92),
        ("argmax", 10_000, 10, 250, 0.985),
        ("grad", 10_000, 10, 1900, 0.97),
        ("sieve", 2500, 5, 478, 0.92),
        ("sieve", 10_000, 10, 1548, 0.93),
    ] {
        let found = answer(&format!(
            "simulate --procedure {procedure} --features {features} --sparsity {sparsity} --exactly --records {records} \
             --epsilon 5.34 --delta 1e-4 --trials 20"
        ));
        let share = number(&found, "/recovered_share/mean");
        let error = number(&found, "/recovered_share/std_error");
        assert!(
            share + 2.0 * error >= least,
            "{procedure} p={features} s={sparsity} n={records}: {share} ± {error}"
        );
    }
}
