//! The weights of a selection by a choice, tabulated while an interval is sought.

use core::cell::RefCell;

use libm::{exp, log1p};

use super::conditioned::Selection;
use super::interval::ArgmaxSelection;
use crate::portable::smaller;

/// ln W as a function of the mean m of U given T, which is all that it depends on.
///
/// # Why
/// An interval needs some thousand weights, each of them a sum of many terms, at means that lie
/// close together. W is a smooth function at the scale of the deviation of U given T and its mirror
/// image, so ln W has a bend at zero like that of ln cosh(km). ln W − ln cosh(km) is smooth at that scale
/// everywhere: six points, a sixth of it apart, determine it to 1e-5. Points are
/// computed when they are first needed.
pub(super) struct WeightTable<'a> {
    selection: &'a ArgmaxSelection,
    spacing: f64,
    /// k.
    bend: f64,
    points: RefCell<Vec<f64>>,
}

/// Points for one deviation of U given T.
const DENSITY: f64 = 6.0;

/// Points are kept up to this one.
const MOST_POINTS: f64 = 65_536.0;

impl<'a> WeightTable<'a> {
    pub(super) fn new(selection: &'a ArgmaxSelection) -> Self {
        Self {
            selection,
            spacing: selection.spread() / DENSITY,
            bend: selection.slope_beside_zero(),
            points: RefCell::new(Vec::new()),
        }
    }

    /// ln(2 cosh(km)).
    fn log_cosh(&self, mean: f64) -> f64 {
        let rise = self.bend * mean;
        if rise > 20.0 {
            rise
        } else {
            rise + log1p(exp(-2.0 * rise))
        }
    }

    /// ln W − ln(2 cosh(km)) at a whole number of spacings.
    fn point(&self, points: &mut Vec<f64>, place: usize) -> f64 {
        if points.len() <= place {
            points.resize(place + 64, f64::NAN);
        }
        if points[place].is_nan() {
            #[expect(clippy::cast_precision_loss, reason = "at most 2^16")]
            let mean = place as f64 * self.spacing;
            points[place] = self.selection.log_mean_chance(mean) - self.log_cosh(mean);
        }
        points[place]
    }
}

impl Selection for WeightTable<'_> {
    fn log_weight(&self, coefficient: f64, estimate: f64) -> f64 {
        let mean = self.selection.mean(coefficient, estimate).abs();
        let place = mean / self.spacing;
        let is_tabulated = place < MOST_POINTS;
        if self.selection.is_certain(mean) || !is_tabulated {
            return self.selection.log_mean_chance(mean);
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to 2^16"
        )]
        let first = place as usize;
        let weights = lagrange(place - place.floor());
        let mut points = self.points.borrow_mut();
        let mut sum = 0.0;
        for (offset, weight) in weights.into_iter().enumerate() {
            // The third of the six points is the first one below; W is even.
            let place = (first + offset).abs_diff(2);
            sum += weight * self.point(&mut points, place);
        }
        smaller(sum + self.log_cosh(mean), 0.0)
    }
}

/// The weights of the points −2, −1, 0, 1, 2, 3 for the value at t, from 0 to 1.
fn lagrange(t: f64) -> [f64; 6] {
    let (a, b, c, d, e) = (t + 2.0, t + 1.0, t - 1.0, t - 2.0, t - 3.0);
    [
        -b * t * c * d * e / 120.0,
        a * t * c * d * e / 24.0,
        -a * b * c * d * e / 12.0,
        a * b * t * d * e / 12.0,
        -a * b * t * c * e / 24.0,
        a * b * t * c * d / 120.0,
    ]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{estimate_of, pick_with};
    use super::*;
    use crate::portable::larger;

    #[test]
    fn the_table_agrees_with_the_weights() {
        for tilt in [0.3, 1.0, 2.0, 5.0, 10.0, 30.0] {
            for (correlation, privacy) in [(0.9, 0.05), (0.6, 0.6)] {
                let pick = pick_with(tilt, 1000.0);
                let estimate = estimate_of(&pick, correlation, privacy, 4.0);
                let selection = ArgmaxSelection::new(&pick, &estimate, 5.0 + 8.0 * tilt);
                let table = WeightTable::new(&selection);
                let mut worst = 0.0;
                for step in -400..400 {
                    let value = f64::from(step) * estimate.std_error() / 29.0;
                    let found = table.log_weight(estimate.value / 3.0, value);
                    let expected = selection.log_weight(estimate.value / 3.0, value);
                    worst = larger(worst, (found - expected).abs());
                }
                assert!(worst < 1e-5, "{tilt}, {correlation}: {worst}");
            }
        }
    }
}
