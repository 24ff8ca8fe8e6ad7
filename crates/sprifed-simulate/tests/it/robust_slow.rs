//! Intervals where the variance of the errors depends on a feature: ordinary ones miss too often, robust ones do not.
//! Long, so only with `SPRIFED_SLOW=1`.
//!
//! Seeds are fixed. Were they drawn anew, a limit would be missed by chance rarely: in 400 trials a share below 0.90 has
//! the probability 0.1 % where an interval covers with probability 0.94, a share above 0.90 has 0.1 % where it covers with
//! 0.85, and among 800 intervals a share below 0.92 has 0.1 % where they cover with 0.945.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a long test is asked for by the environment, and says what it measured"
)]

use rand_core::Rng;
use sprifed_noise::NoiseGenerator;
use sprifed_query::{Curator, Records};
use sprifed_recovery::test_support::{budget, legal_setting};
use sprifed_recovery::{CertifiedProcedure, Intercept, Setting};

const N_FEATURES: usize = 40;

/// The features with an effect. The errors depend on the first of them.
const ACTIVE: [(usize, f64); 3] = [(7, 1.0), (20, -0.8), (33, 0.9)];

const TRIALS: u64 = 400;

/// How the variance of the errors depends on the feature; it is one on average.
#[derive(Clone, Copy, Debug)]
enum Errors {
    /// Not at all.
    Alike,
    /// (1 + 4x²)/5: 2.6 times the variance that an ordinary interval counts on.
    GrowWithFeature,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    procedure: CertifiedProcedure,
    errors: Errors,
    n_records: u32,
    epsilon: f64,
}

/// What the trials came to.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    intervals: [f64; 2],
    covered: [f64; 2],
    width: [f64; 2],
    clip_factor: f64,
}

struct Normals(NoiseGenerator);

impl Normals {
    fn next(&mut self) -> f64 {
        let mut uniform = || (f64::from(self.0.next_u32()) + 0.5) / f64::from(u32::MAX);
        let (radius, turn) = (uniform(), uniform());
        (-2.0 * radius.ln()).sqrt() * (2.0 * core::f64::consts::PI * turn).cos()
    }
}

impl Case {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "records are of single precision"
    )]
    fn table(&self, seed: u64) -> (Vec<f32>, Vec<f32>) {
        let mut normals = Normals(NoiseGenerator::simulated(seed));
        let (mut features, mut responses) = (Vec::new(), Vec::new());
        for _ in 0..self.n_records {
            let row: Vec<f64> = (0..N_FEATURES).map(|_| normals.next()).collect();
            let mean: f64 = ACTIVE
                .iter()
                .map(|(place, value)| value * row[*place])
                .sum();
            let variance = match self.errors {
                Errors::Alike => 1.0,
                Errors::GrowWithFeature => (1.0 + 4.0 * row[ACTIVE[0].0].powi(2)) / 5.0,
            };
            responses.push((mean + variance.sqrt() * normals.next()) as f32);
            features.extend(row.iter().map(|value| *value as f32));
        }
        (features, responses)
    }

    /// All trials, with or without robust intervals, on the same tables.
    fn run(&self, robust: bool, first_seed: u64) -> Tally {
        let setting = Setting {
            n_records: self.n_records,
            n_features: u32::try_from(N_FEATURES).unwrap(),
            sparsity: 3,
            budget: budget(self.epsilon, 1e-5),
            response_bound: 24.0,
            feature_bound: 8.0,
            intercept: Intercept::Estimated,
            robust,
            ..legal_setting()
        };
        let plan = self.procedure.plan(&setting).unwrap();
        let mut tally = Tally::default();
        for seed in first_seed..first_seed + TRIALS {
            let (features, responses) = self.table(seed);
            let records = Records::each_a_unit(&features, &responses, N_FEATURES).unwrap();
            let noise = NoiseGenerator::simulated(seed ^ 0xABCD);
            let mut curator = Curator::open(records, plan.clone(), noise).unwrap();
            let fit = self.procedure.run(&setting, &mut curator, |_| ()).unwrap();
            let report = fit.inference.available().unwrap();
            assert_eq!(report.residual_moment_noise.is_some(), robust);
            tally.clip_factor = report.clip_factor;
            for term in &report.terms {
                let truth = ACTIVE
                    .iter()
                    .position(|(place, _)| *place == term.feature as usize);
                let (Some(place), Some(interval)) = (truth, term.interval) else {
                    continue;
                };
                let (target, of_others) = (ACTIVE[place].1, usize::from(place > 0));
                tally.intervals[of_others] += 1.0;
                tally.width[of_others] += interval.high - interval.low;
                let is_covered = interval.low <= target && target <= interval.high;
                tally.covered[of_others] += f64::from(u8::from(is_covered));
            }
        }
        let (coverage, width) = (tally.coverage(), tally.mean_width());
        eprintln!(
            "{self:?}, robust {robust}: clip factor {:.2}; of the feature coverage {:.3}, width {:.3}; of the others \
             {:.3}, {:.3}; {:?} intervals",
            tally.clip_factor, coverage[0], width[0], coverage[1], width[1], tally.intervals
        );
        tally
    }
}

impl Tally {
    fn coverage(&self) -> [f64; 2] {
        [0, 1].map(|at| self.covered[at] / self.intervals[at])
    }

    fn mean_width(&self) -> [f64; 2] {
        [0, 1].map(|at| self.width[at] / self.intervals[at])
    }
}

fn is_slow_run() -> bool {
    let is_slow = std::env::var_os("SPRIFED_SLOW").is_some_and(|value| value == "1");
    if !is_slow {
        eprintln!("SKIPPED: set SPRIFED_SLOW=1");
    }
    is_slow
}

const CASE: Case = Case {
    procedure: CertifiedProcedure::ARGMAX,
    errors: Errors::GrowWithFeature,
    n_records: 4000,
    epsilon: 5.34,
};

#[test]
fn robust_intervals_cover_where_the_errors_depend_on_a_feature_and_ordinary_ones_do_not() {
    if !is_slow_run() {
        return;
    }
    let cases = [
        CASE,
        // Their last question is about more features and gets a smaller share: a clip factor as large needs more records.
        Case {
            procedure: CertifiedProcedure::SIEVE,
            n_records: 12_000,
            ..CASE
        },
        Case {
            procedure: CertifiedProcedure::GRAD,
            n_records: 12_000,
            ..CASE
        },
    ];
    for (number, case) in (0u64..).zip(cases) {
        let first_seed = 960_000 + 1000 * number;
        let ordinary = case.run(false, first_seed);
        let robust = case.run(true, first_seed);
        for tally in [&ordinary, &robust] {
            assert!(
                tally.intervals[0] >= 0.97 * TRIALS as f64,
                "{case:?}: {tally:?}"
            );
            assert!(tally.coverage()[1] >= 0.92, "{case:?}: {tally:?}");
        }
        assert!(ordinary.coverage()[0] <= 0.90, "{case:?}: {ordinary:?}");
        assert!(robust.coverage()[0] >= 0.90, "{case:?}: {robust:?}");
    }
}

#[test]
fn where_errors_are_alike_robust_intervals_are_little_wider() {
    if !is_slow_run() {
        return;
    }
    let case = Case {
        errors: Errors::Alike,
        ..CASE
    };
    let (ordinary, robust) = (case.run(false, 970_000), case.run(true, 970_000));
    for at in [0, 1] {
        let ratio = robust.mean_width()[at] / ordinary.mean_width()[at];
        assert!((1.0..1.2).contains(&ratio), "{ratio}");
        assert!(robust.coverage()[at] >= 0.90, "{robust:?}");
    }
}
