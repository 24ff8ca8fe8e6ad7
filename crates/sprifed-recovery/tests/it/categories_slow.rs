//! Categories that are candidates: what picking all their levels together finds, beside levels that are picked alone.
//! Long, so only with `SPRIFED_SLOW=1`. The numbers are in docs/inference.md.
//!
//! Seeds are fixed. Were they drawn anew, a limit would be missed by chance rarely: the limits of shares leave three standard
//! errors of 100 trials to what was measured.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a long test is asked for by the environment, and says what it measured"
)]

use rand_core::Rng;
use sprifed_noise::NoiseGenerator;
use sprifed_query::{Curator, Records};
use sprifed_recovery::test_support::{budget, legal_setting};
use sprifed_recovery::{CertifiedProcedure, Fit, FitStatus, Groups, Intercept, Keep, Setting};

const TRIALS: u64 = 100;

const NUMBERS: usize = 40;
const CATEGORIES: usize = 20;

/// The effects of the second and later levels of the categories that have any; the first level is the reference.
const EFFECTS: [&[f64]; 3] = [&[0.7, 0.7], &[0.6, -0.4, 0.5], &[-0.3, 0.7, 0.5, -0.4]];

/// How often the levels occur.
const SHARES: [&[f64]; 3] = [
    &[0.4, 0.3, 0.3],
    &[0.4, 0.3, 0.2, 0.1],
    &[0.2, 0.2, 0.2, 0.2, 0.2],
];

#[derive(Clone, Copy, Debug)]
struct Case {
    n_records: u32,
    epsilon: f64,
    has_effects: bool,
    keep: Keep,
}

#[derive(Clone, Debug, Default)]
struct Tally {
    found: f64,
    true_categories: f64,
    false_share: f64,
    something_kept: f64,
    complete: f64,
    intervals: f64,
    covered: f64,
    width: f64,
    false_p_values: f64,
    small_p_values: f64,
}

struct Draws(NoiseGenerator);

impl Draws {
    fn uniform(&mut self) -> f64 {
        (f64::from(self.0.next_u32()) + 0.5) / f64::from(u32::MAX)
    }

    fn normal(&mut self) -> f64 {
        let (radius, turn) = (self.uniform(), self.uniform());
        (-2.0 * radius.ln()).sqrt() * (2.0 * core::f64::consts::PI * turn).cos()
    }
}

/// Which of the three kinds a category is of: those that have effects come first.
const fn kind(category: usize) -> usize {
    category % EFFECTS.len()
}

/// The first column of each category, and the number of columns.
fn columns() -> (Vec<usize>, usize) {
    let mut end = NUMBERS;
    let mut starts = Vec::new();
    for category in 0..CATEGORIES {
        starts.push(end);
        end += EFFECTS[kind(category)].len();
    }
    (starts, end)
}

impl Case {
    /// Two numbers and one category of each kind have effects; errors have the standard deviation one.
    fn effect(&self, column: usize) -> f64 {
        let (starts, _) = columns();
        if !self.has_effects {
            return 0.0;
        }
        if column < NUMBERS {
            return [0.4, -0.3].get(column).copied().unwrap_or(0.0);
        }
        let category = starts.iter().rposition(|start| *start <= column).unwrap();
        match category < EFFECTS.len() {
            true => EFFECTS[category][column - starts[category]],
            false => 0.0,
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "records are of single precision"
    )]
    fn table(&self, seed: u64) -> (Vec<f32>, Vec<f32>) {
        let (starts, width) = columns();
        let effects: Vec<f64> = (0..width).map(|column| self.effect(column)).collect();
        let mut draws = Draws(NoiseGenerator::simulated(seed));
        let (mut features, mut responses) = (Vec::new(), Vec::new());
        for _ in 0..self.n_records {
            let mut row = vec![0.0; width];
            for value in &mut row[..NUMBERS] {
                *value = draws.normal();
            }
            for (category, start) in starts.iter().enumerate() {
                let mut left = draws.uniform();
                for (level, share) in SHARES[kind(category)].iter().enumerate() {
                    left -= share;
                    if left < 0.0 {
                        if level > 0 {
                            row[start + level - 1] = 1.0;
                        }
                        break;
                    }
                }
            }
            let mean: f64 = row.iter().zip(&effects).map(|(x, effect)| x * effect).sum();
            responses.push((mean + draws.normal()) as f32);
            features.extend(row.iter().map(|value| *value as f32));
        }
        (features, responses)
    }

    fn setting(&self, are_groups: bool) -> Setting {
        let (starts, width) = columns();
        let place = |at: usize| u32::try_from(at).unwrap();
        let groups = starts.iter().enumerate();
        let groups = groups
            .map(|(category, start)| place(*start)..place(start + EFFECTS[kind(category)].len()));
        Setting {
            n_records: self.n_records,
            n_features: place(width),
            sparsity: 8,
            choice: self.keep,
            groups: match are_groups {
                true => Groups::of(groups).unwrap(),
                false => Groups::NONE,
            },
            budget: budget(self.epsilon, 1e-5),
            response_bound: 8.0,
            feature_bound: 8.0,
            intercept: Intercept::Estimated,
            ..legal_setting()
        }
    }

    fn run(&self, are_groups: bool, first_seed: u64) -> Tally {
        let procedure = CertifiedProcedure::ARGMAX;
        let setting = self.setting(are_groups);
        let plan = procedure.plan(&setting).unwrap();
        let mut tally = Tally::default();
        for seed in first_seed..first_seed + TRIALS {
            let (features, responses) = self.table(seed);
            let width = setting.n_features as usize;
            let records = Records::each_a_unit(&features, &responses, width).unwrap();
            let noise = NoiseGenerator::simulated(seed ^ 0xABCD);
            let mut curator = Curator::open(records, plan.clone(), noise).unwrap();
            let fit = procedure.run(&setting, &mut curator, |_| ()).unwrap();
            self.count(&fit, are_groups, &mut tally);
        }
        for value in [
            &mut tally.false_share,
            &mut tally.something_kept,
            &mut tally.complete,
        ] {
            *value /= TRIALS as f64;
        }
        eprintln!(
            "{self:?}, {}: categories found {:.3}, false share {:.3}, something kept {:.3}, complete {:.3}, coverage {:.3} of {} \
             intervals, width {:.2}, p < 0.05 of false ones {:.3} of {}",
            match are_groups {
                true => "together",
                false => "each level alone",
            },
            tally.found / tally.true_categories,
            tally.false_share,
            tally.something_kept,
            tally.complete,
            tally.covered / tally.intervals,
            tally.intervals,
            tally.width / tally.intervals,
            tally.small_p_values / tally.false_p_values,
            tally.false_p_values,
        );
        tally
    }

    fn count(&self, fit: &Fit, are_groups: bool, tally: &mut Tally) {
        let (starts, width) = columns();
        let ends = starts.iter().skip(1).copied().chain([width]);
        let report = fit.inference.available().unwrap();
        let kept: Vec<usize> = report
            .terms
            .iter()
            .map(|term| term.feature as usize)
            .collect();
        let mut units = Vec::new();
        for (start, end) in starts.iter().copied().zip(ends) {
            let columns = kept.iter().filter(|column| (start..end).contains(column));
            let found = columns.count();
            if are_groups {
                // The law: a category is kept as a whole or not at all.
                assert!(found == 0 || found == end - start, "{kept:?}");
            }
            let is_true = self.effect(start) != 0.0;
            tally.true_categories += f64::from(u8::from(is_true));
            tally.found += f64::from(u8::from(is_true && found > 0));
            if found > 0 {
                units.push((start, is_true));
            }
        }
        let numbers = kept.iter().filter(|column| **column < NUMBERS);
        units.extend(numbers.map(|column| (*column, self.effect(*column) != 0.0)));
        let false_ones = units.iter().filter(|(_, is_true)| !is_true).count() as f64;
        tally.false_share += false_ones / units.len().max(1) as f64;
        tally.something_kept += f64::from(u8::from(!units.is_empty()));
        tally.complete += f64::from(u8::from(fit.status == FitStatus::Complete));
        for (column, is_true) in units {
            let mut terms = report.terms.iter();
            let term = terms.find(|term| term.feature as usize == column);
            if let (false, Some(p)) = (is_true, term.and_then(|term| term.p_value)) {
                tally.false_p_values += 1.0;
                tally.small_p_values += f64::from(u8::from(p < 0.05));
            }
        }
        // Where all levels are in the model, a coefficient is the difference from the reference level.
        for term in report.terms.iter().filter(|term| term.group.is_some()) {
            let Some(interval) = term.interval else {
                continue;
            };
            let target = self.effect(term.feature as usize);
            let is_covered = interval.low <= target && target <= interval.high;
            tally.intervals += 1.0;
            tally.covered += f64::from(u8::from(is_covered));
            tally.width += interval.high - interval.low;
        }
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
    n_records: 2000,
    epsilon: 3.0,
    has_effects: true,
    keep: Keep::Significant,
};

#[test]
fn categories_with_an_effect_are_found_as_a_whole_and_few_others() {
    if !is_slow_run() {
        return;
    }
    for (number, (n_records, epsilon)) in (0u64..).zip([(2000, 3.0), (5000, 3.0)]) {
        let case = Case {
            n_records,
            epsilon,
            ..CASE
        };
        let seed = 980_000 + 1000 * number;
        let (together, alone) = (case.run(true, seed), case.run(false, seed));
        assert!(
            together.found >= 0.9 * alone.found,
            "{together:?}, {alone:?}"
        );
        assert!(together.false_share <= 0.1, "{together:?}");
        // With 2,000 records the noise leaves no intervals.
        let coverage = together.covered / together.intervals;
        let is_covering = together.intervals < 200.0 || (0.93..=1.0).contains(&coverage);
        assert!(is_covering, "{coverage}: {together:?}");
    }
}

#[test]
fn without_an_effect_little_is_kept_and_p_values_of_categories_are_not_small() {
    if !is_slow_run() {
        return;
    }
    for (number, (n_records, epsilon)) in (0u64..).zip([(2000, 3.0)]) {
        let case = Case {
            n_records,
            epsilon,
            has_effects: false,
            ..CASE
        };
        let seed = 990_000 + 2000 * number;
        let kept = case.run(true, seed);
        assert!(kept.something_kept <= 0.15, "{kept:?}");
        let exactly = Case {
            keep: Keep::Exactly,
            ..case
        };
        let exactly = exactly.run(true, seed + 1000);
        let share = exactly.small_p_values / exactly.false_p_values;
        assert!(share <= 0.08, "{share}: {exactly:?}");
    }
}
