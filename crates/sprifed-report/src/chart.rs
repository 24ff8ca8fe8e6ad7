//! Line charts as SVG, in one style: drawn for a column of 420 units, so that their letters stay
//! legible on a phone.

mod axis;
mod line_chart;
mod marker;

pub use line_chart::{LineChart, Point, Printed, Series};
pub use marker::{Marker, Shape};

/// How values are laid along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm.
    Logarithmic,
}

impl Scale {
    /// Where `value` lies along the axis.
    #[must_use]
    pub fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Logarithmic => value.max(f64::MIN_POSITIVE).ln(),
        }
    }

    /// The value at `place`: the inverse of [`Self::place`].
    #[must_use]
    pub fn value(self, place: f64) -> f64 {
        match self {
            Self::Linear => place,
            Self::Logarithmic => place.exp(),
        }
    }

    /// Round numbers between `low` and `high`, for the axis.
    #[must_use]
    pub fn ticks(self, low: f64, high: f64) -> Vec<f64> {
        match self {
            Self::Linear => {
                let step = round_step((high - low) / 5.0);
                // What rounding leaves beyond the ends is inside.
                let first = (low / step - 1e-9).ceil();
                (0..12)
                    .map(|index| (first + f64::from(index)) * step)
                    .filter(|tick| *tick <= high + 1e-9 * step)
                    .collect()
            }
            Self::Logarithmic => {
                let decades = (high / low).log10();
                let marks: &[f64] = if decades > 2.5 {
                    &[1.0]
                } else {
                    &[1.0, 2.0, 5.0]
                };
                let mut ticks = Vec::new();
                let mut decade = low.log10().floor();
                while decade <= high.log10() {
                    let inside = marks.iter().map(|mark| mark * 10f64.powf(decade));
                    ticks.extend(inside.filter(|tick| (low..=high).contains(tick)));
                    decade += 1.0;
                }
                if ticks.len() < 2 {
                    return Self::Linear.ticks(low, high);
                }
                ticks
            }
        }
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let least = least.max(1e-12);
    let power = 10f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|f| f * power >= least);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::Scale;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(Scale::Linear.ticks(0.0, 10.4), [0.0, 5.0, 10.0]);
        let ticks = Scale::Logarithmic.ticks(0.3, 30.0);
        assert_eq!(ticks.len(), 6);
        assert!(ticks.iter().all(|tick| (0.3..=30.0).contains(tick)));
    }

    #[test]
    fn a_short_logarithmic_axis_has_ticks_too() {
        let ticks = Scale::Logarithmic.ticks(0.32, 0.44);
        assert!(ticks.len() >= 2, "{ticks:?}");
    }
}
