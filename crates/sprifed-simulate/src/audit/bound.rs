//! From statistics of two tables to a lower bound on ε.

/// One test that distinguishes the tables: a threshold, a side, and a δ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Attack {
    threshold: f64,
    /// Whether large statistics are taken for the second table; otherwise small ones are taken for
    /// the first.
    takes_large: bool,
    pub(super) delta: f64,
}

/// The trials of both tables, in halves.
pub(super) struct Trials {
    chosen_by: [Vec<f64>; 2],
    judged_by: [Vec<f64>; 2],
    false_alarm: f64,
}

impl Trials {
    /// Takes the first half of each to choose by and the rest to judge by.
    pub(super) fn new(without: &[f64], with: &[f64], false_alarm: f64) -> Self {
        let halves = [without, with].map(|all| {
            let (first, second) = all.split_at(all.len() / 2);
            (first.to_vec(), second.to_vec())
        });
        let [(first, first_rest), (second, second_rest)] = halves;
        Self {
            chosen_by: [first, second],
            judged_by: [first_rest, second_rest],
            false_alarm,
        }
    }

    /// The attack that exceeds its claim most on the first half; `points` are δ with claimed ε.
    pub(super) fn best_attack(&self, points: &[(f64, f64)]) -> Attack {
        let mut thresholds: Vec<f64> = self.chosen_by.iter().flatten().copied().collect();
        thresholds.sort_by(f64::total_cmp);
        let stride = thresholds.len().div_ceil(MOST_THRESHOLDS).max(1);
        let mut best = (f64::NEG_INFINITY, None);
        for threshold in thresholds.into_iter().step_by(stride) {
            for takes_large in [true, false] {
                let limits = self.limits(&self.chosen_by, threshold, takes_large);
                for (delta, claim) in points {
                    let attack = Attack {
                        threshold,
                        takes_large,
                        delta: *delta,
                    };
                    let excess = least_epsilon(limits, *delta) - claim;
                    if excess > best.0 {
                        best = (excess, Some(attack));
                    }
                }
            }
        }
        best.1.unwrap_or(Attack {
            threshold: 0.0,
            takes_large: true,
            delta: points.first().map_or(0.0, |(delta, _)| *delta),
        })
    }

    /// A lower bound on ε at the attack's δ, from the second half alone.
    ///
    /// # Why
    /// For an (ε, δ)-DP system P₁(A) ≤ e^ε·P₀(A) + δ for every set A of releases. P₁(A) is at least
    /// its lower, P₀(A) at most its upper confidence limit, each but for half the false alarms.
    pub(super) fn bound(&self, attack: &Attack) -> f64 {
        let limits = self.limits(&self.judged_by, attack.threshold, attack.takes_large);
        least_epsilon(limits, attack.delta)
    }

    /// The lower limit on the probability of the table that is looked for, and the upper limit on
    /// that of the other.
    fn limits(&self, trials: &[Vec<f64>; 2], threshold: f64, takes_large: bool) -> (f64, f64) {
        let [first, second] = trials;
        let (target, other) = if takes_large {
            (second, first)
        } else {
            (first, second)
        };
        let is_taken = |statistic: &&f64| {
            if takes_large {
                **statistic > threshold
            } else {
                **statistic < threshold
            }
        };
        let hits = target.iter().filter(is_taken).count();
        let alarms = other.iter().filter(is_taken).count();
        let each = self.false_alarm / 2.0;
        (
            lower_limit(hits, target.len(), each),
            upper_limit(alarms, other.len(), each),
        )
    }
}

/// The least ε for which probabilities of at least `least` and at most `most` are possible.
fn least_epsilon((least, most): (f64, f64), delta: f64) -> f64 {
    ((least - delta) / most).max(1.0).ln()
}

const MOST_THRESHOLDS: usize = 100;

/// The least probability for which as many hits are not too many [Clopper and Pearson, 1934].
fn lower_limit(hits: usize, trials: usize, error: f64) -> f64 {
    if hits == 0 {
        return 0.0;
    }
    // P(X ≥ hits) rises with the probability.
    bisect(|probability| tail(hits, trials, probability) > error).0
}

/// The largest probability for which as few hits are not too few.
fn upper_limit(hits: usize, trials: usize, error: f64) -> f64 {
    if hits == trials {
        return 1.0;
    }
    // P(X ≤ hits) falls with the probability.
    bisect(|probability| 1.0 - tail(hits + 1, trials, probability) < error).1
}

/// The last point at which `holds` is false and the first at which it is true.
fn bisect(holds: impl Fn(f64) -> bool) -> (f64, f64) {
    let (mut fails, mut works) = (0.0, 1.0);
    for _ in 0..45 {
        let middle = f64::midpoint(fails, works);
        if holds(middle) {
            works = middle;
        } else {
            fails = middle;
        }
    }
    (fails, works)
}

/// P(X ≥ `least`) of a binomial variable.
#[expect(
    clippy::cast_precision_loss,
    reason = "numbers of trials are far below 2^53"
)]
fn tail(least: usize, trials: usize, probability: f64) -> f64 {
    if probability <= 0.0 || probability >= 1.0 {
        return if probability > 0.0 || least == 0 {
            1.0
        } else {
            0.0
        };
    }
    let odds = (probability / (1.0 - probability)).ln();
    let mut log_mass = trials as f64 * (1.0 - probability).ln();
    let mut sum = 0.0;
    for hits in 0..=trials {
        if hits >= least {
            sum += log_mass.exp();
        }
        log_mass += odds + ((trials - hits) as f64 / (hits + 1) as f64).ln();
    }
    f64::min(sum, 1.0)
}

#[cfg(test)]
mod tests {
    //! Limits of Clopper and Pearson as tabulated, and bounds that do not lie.

    use super::*;

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 5e-5
    }

    #[test]
    fn limits_are_those_of_the_tables() {
        // 95 % two-sided, of 10 and of 100 trials.
        assert!(close(lower_limit(3, 10, 0.025), 0.0667));
        assert!(close(upper_limit(3, 10, 0.025), 0.6525));
        assert!(close(lower_limit(0, 10, 0.025), 0.0));
        assert!(close(upper_limit(0, 10, 0.025), 0.3085));
        assert!(close(upper_limit(10, 10, 0.025), 1.0));
        assert!(close(lower_limit(10, 10, 0.025), 0.6915));
        assert!(close(lower_limit(50, 100, 0.025), 0.3983));
        assert!(close(upper_limit(50, 100, 0.025), 0.6017));
    }

    #[test]
    fn tables_that_cannot_be_distinguished_give_a_bound_of_zero() {
        let same: Vec<f64> = (0..400).map(|k| f64::from(k % 97)).collect();
        let trials = Trials::new(&same, &same, 0.05);
        let attack = trials.best_attack(&[(1e-6, 0.0), (0.1, 0.0)]);
        assert!(trials.bound(&attack) <= 0.0);
    }

    #[test]
    fn tables_that_are_always_distinguished_give_what_so_few_trials_can_show() {
        let trials = Trials::new(&[0.0; 400], &[1.0; 400], 0.05);
        let attack = trials.best_attack(&[(0.0, 1.0)]);
        // 0 of 200 and 200 of 200, at 2.5 % each: limits 0.0183 and 0.9817.
        let bound = trials.bound(&attack);
        assert!(
            (bound - (0.981_726_f64 / 0.018_275).ln()).abs() < 0.01,
            "{bound}"
        );
    }
}
