//! Small charts as SVG: drawn 360 units wide, so that their letters stay legible on a phone.

use core::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::prelude::{RGBColor, Ranged, SVGBackend};

/// Something went wrong while drawing.
pub type Undrawn = Box<dyn std::error::Error>;

/// The width of every chart. A phone shows about as many pixels, so a letter keeps its size.
pub const WIDTH: u32 = 360;

/// The size of letters; the backend draws them a fifth smaller.
pub const LETTERS: i32 = 16;

/// The colour of grid lines.
pub const GRID: RGBColor = RGBColor(226, 227, 233);
/// The colour of axes.
pub const AXIS: RGBColor = RGBColor(110, 112, 122);

/// How values are laid along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm.
    Logarithmic,
}

/// An axis with marks of our choice.
#[derive(Clone, Debug)]
pub struct Axis {
    range: Range<f64>,
    marks: Vec<(f64, String)>,
}

impl Axis {
    /// From `range`, with these places marked by these words.
    #[must_use]
    pub const fn new(range: Range<f64>, marks: Vec<(f64, String)>) -> Self {
        Self { range, marks }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    #[expect(clippy::cast_possible_truncation, reason = "a pixel of the chart")]
    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let part = (value - self.range.start) / (self.range.end - self.range.start);
        (f64::from(first) + part * f64::from(last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.marks.iter().map(|(place, _)| *place).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let mark = self
            .marks
            .iter()
            .find(|(place, _)| place.total_cmp(value).is_eq());
        mark.map_or_else(String::new, |(_, words)| words.clone())
    }
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
                let first = (low / step).ceil();
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

/// A backend that writes into `svg`.
#[must_use]
pub fn canvas(svg: &mut String, height: u32) -> SVGBackend<'_> {
    SVGBackend::with_string(svg, (WIDTH, height))
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
}
