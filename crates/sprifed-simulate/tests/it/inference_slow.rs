//! What reported intervals, p-values and kept features must hold to, on designs of several kinds: long, so only with
//! `SPRIFED_SLOW=1`.
//!
//! Seeds are fixed and start where no run began while the procedures were written. Limits leave two to three
//! standard errors to what was measured.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a long test is asked for by the environment, and says so if it does not run"
)]

use sprifed_recovery::{CertifiedProcedure, InferenceMethod, Keep};

use crate::designs::{CASE, Case, Design, Errors};

fn is_slow_run() -> bool {
    let is_slow = std::env::var_os("SPRIFED_SLOW").is_some_and(|value| value == "1");
    if !is_slow {
        eprintln!("SKIPPED: set SPRIFED_SLOW=1");
    }
    is_slow
}

#[test]
fn intervals_cover_and_few_kept_features_are_false() {
    if !is_slow_run() {
        return;
    }
    let cases = [
        (CASE, 0.80),
        (
            Case {
                n_records: 231,
                r2: 0.998,
                choice: Keep::Exactly,
                sparsity: 5,
                ..CASE
            },
            0.93,
        ),
        (
            Case {
                n_records: 1500,
                epsilon: 1.0,
                // Nearer to its limit than the others: a standard error of 0.009.
                trials: 160,
                ..CASE
            },
            0.75,
        ),
        (
            Case {
                procedure: CertifiedProcedure::SIEVE,
                n_records: 1500,
                ..CASE
            },
            0.80,
        ),
        (
            Case {
                procedure: CertifiedProcedure::GRAD,
                n_records: 2000,
                ..CASE
            },
            0.75,
        ),
        (
            Case {
                design: Design::Autoregressive(0.6),
                ..CASE
            },
            0.75,
        ),
        (
            Case {
                design: Design::Rare,
                ..CASE
            },
            0.60,
        ),
        (
            Case {
                design: Design::Unequal,
                trials: 80,
                ..CASE
            },
            0.50,
        ),
        (
            Case {
                design: Design::Genotypes,
                ..CASE
            },
            0.75,
        ),
        (
            Case {
                errors: Errors::HeavyTailed,
                ..CASE
            },
            0.75,
        ),
        (
            Case {
                design: Design::EquallyCorrelated(0.3),
                trials: 100,
                ..CASE
            },
            0.45,
        ),
    ];
    // All cases run, whatever the first ones come to.
    let mut missed = Vec::new();
    for (number, (case, least_recall)) in (0u64..).zip(cases) {
        let tally = case.run(800_000 + 1000 * number);
        let share = match case.choice {
            Keep::Significant => tally.false_share(),
            Keep::Exactly => 0.0,
        };
        let most_false = match case.design {
            Design::Unequal => 0.08,
            _ => 0.10,
        };
        let holds = tally.intervals >= 200.0
            && tally.coverage() >= 0.93
            && share <= most_false
            && tally.recall() >= least_recall;
        if !holds {
            missed.push(format!("{case:?}: {}", tally.text()));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn false_picks_seldom_have_a_small_p_value() {
    if !is_slow_run() {
        return;
    }
    let cases = [
        Case {
            sparsity: 15,
            choice: Keep::Exactly,
            ..CASE
        },
        Case {
            procedure: CertifiedProcedure::SIEVE,
            n_records: 900,
            choice: Keep::Exactly,
            ..CASE
        },
        Case {
            procedure: CertifiedProcedure::GRAD,
            n_records: 1500,
            choice: Keep::Exactly,
            ..CASE
        },
        // Without any effect, and with so few records that what the picks leave over is clearly too small a variance.
        Case {
            active: 0,
            n_records: 154,
            sparsity: 5,
            choice: Keep::Exactly,
            trials: 100,
            ..CASE
        },
    ];
    for (number, case) in (0u64..).zip(cases) {
        let tally = case.run(820_000 + 1000 * number);
        assert!(tally.false_terms >= 300.0, "{case:?}: {tally:?}");
        let share = tally.false_small / tally.false_terms;
        assert!(share <= 0.08, "{case:?}: {}", tally.text());
    }
}

#[test]
fn without_any_effect_nothing_is_kept_in_most_runs() {
    if !is_slow_run() {
        return;
    }
    let null = Case {
        active: 0,
        trials: 100,
        ..CASE
    };
    let cases = [
        Case {
            n_records: 154,
            sparsity: 5,
            ..null
        },
        null,
        Case {
            procedure: CertifiedProcedure::SIEVE,
            n_records: 600,
            sparsity: 5,
            ..null
        },
        Case {
            procedure: CertifiedProcedure::GRAD,
            n_records: 600,
            sparsity: 5,
            ..null
        },
    ];
    for (number, case) in (0u64..).zip(cases) {
        let tally = case.run(840_000 + 1000 * number);
        assert!(
            tally.any <= 0.16 * tally.trials,
            "{case:?}: {}",
            tally.text()
        );
    }
}

#[test]
fn intervals_of_records_that_selected_nothing_cover_as_they_say() {
    if !is_slow_run() {
        return;
    }
    let split = Case {
        inference: InferenceMethod::Split,
        n_records: 1200,
        ..CASE
    };
    let cases = [
        split,
        // All features that were sought, also the false ones: each interval has its own level.
        Case {
            choice: Keep::Exactly,
            // A standard error of 0.007 for the share of small p-values.
            trials: 200,
            ..split
        },
        Case {
            procedure: CertifiedProcedure::SIEVE,
            n_records: 2000,
            ..split
        },
        Case {
            procedure: CertifiedProcedure::GRAD,
            n_records: 2400,
            ..split
        },
        Case {
            design: Design::Autoregressive(0.9),
            choice: Keep::Exactly,
            ..split
        },
    ];
    let mut missed = Vec::new();
    for (number, case) in (0u64..).zip(cases) {
        let tally = case.run(880_000 + 1000 * number);
        let is_exact = case.choice == Keep::Exactly;
        let false_small = tally.false_small / tally.false_terms.max(1.0);
        let holds = tally.intervals >= 200.0
            && (0.92..=0.98).contains(&tally.coverage())
            && (is_exact || tally.false_share() <= 0.10)
            && (!is_exact || false_small <= 0.08);
        if !holds {
            missed.push(format!("{case:?}: {}", tally.text()));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Three strong covariates explain 0.4 of the variance, five features 0.2: the specification measured 0.943 and 0.950 there.
///
/// With 600 records the last question tells 12 features apart at this budget: the three and nine more.
#[test]
fn intervals_of_features_that_are_in_every_model_cover() {
    if !is_slow_run() {
        return;
    }
    let case = Case {
        covariates: 3,
        covariates_r2: 0.4,
        r2: 0.6,
        trials: 200,
        ..CASE
    };
    let cases = [
        (
            Case {
                sparsity: 9,
                ..case
            },
            0.60,
        ),
        (
            Case {
                n_records: 1200,
                trials: 100,
                ..case
            },
            0.80,
        ),
    ];
    for (number, (case, least_recall)) in (0u64..).zip(cases) {
        let tally = case.run(900_000 + 1000 * number);
        let expected = f64::from(u32::try_from(3 * case.trials).unwrap());
        // Every trial has an interval of each.
        assert!(tally.always_intervals >= expected, "{}", tally.text());
        assert!(tally.always_coverage() >= 0.92, "{}", tally.text());
        assert!(tally.coverage() >= 0.93, "{}", tally.text());
        assert!(tally.false_share() <= 0.10, "{}", tally.text());
        assert!(tally.recall() >= least_recall, "{}", tally.text());
    }
}
