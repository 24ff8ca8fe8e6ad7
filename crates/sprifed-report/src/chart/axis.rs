//! An axis: where values lie, and marks whose labels do not touch.

use super::Scale;

/// The width of a letter of a label, in units of the chart. Labels are numbers.
const LETTER: f64 = 7.4;

/// The least space between two labels.
const GAP: f64 = 8.0;

/// An axis from one place of the chart to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    scale: Scale,
    /// The values at the ends.
    values: (f64, f64),
    /// The places of the ends.
    places: (f64, f64),
}

impl Axis {
    /// An axis that shows all `values` with a little room, between these places.
    pub(super) fn around(values: &[f64], scale: Scale, places: (f64, f64)) -> Self {
        let along = values.iter().map(|value| scale.place(*value));
        let (low, high) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), place| {
            (low.min(place), high.max(place))
        });
        let room = 0.07 * (high - low).max(0.05 * high.abs().max(1.0));
        Self {
            scale,
            values: (scale.value(low - room), scale.value(high + room)),
            places,
        }
    }

    /// Where `value` lies; at the nearer end if it lies outside.
    pub(super) fn place(&self, value: f64) -> f64 {
        let (low, high) = (
            self.scale.place(self.values.0),
            self.scale.place(self.values.1),
        );
        let part = ((self.scale.place(value) - low) / (high - low)).clamp(0.0, 1.0);
        self.places.0 + part * (self.places.1 - self.places.0)
    }

    /// Round numbers along the axis.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let ticks = self.scale.ticks(self.values.0, self.values.1);
        ticks.into_iter().map(|tick| (tick, label(tick))).collect()
    }

    /// Marks at the measured `values`, or at round numbers where there are more than a reader needs.
    pub(super) fn marks(&self, values: &[f64]) -> Vec<(f64, String)> {
        let mut places = values.to_vec();
        places.sort_by(f64::total_cmp);
        places.dedup();
        if places.len() > 8 {
            return self.apart(self.ticks());
        }
        self.apart(
            places
                .into_iter()
                .map(|place| (place, label(place)))
                .collect(),
        )
    }

    /// As many of the marks as fit beside each other, the last one for certain.
    fn apart(&self, marks: Vec<(f64, String)>) -> Vec<(f64, String)> {
        let half = |text: &str| {
            let letters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
            f64::from(letters) * LETTER / 2.0
        };
        let touch = |left: &(f64, String), right: &(f64, String)| {
            let distance = self.place(right.0) - self.place(left.0);
            distance < half(&left.1) + half(&right.1) + GAP
        };
        let mut kept: Vec<(f64, String)> = Vec::new();
        for mark in marks.into_iter().rev() {
            if kept.last().is_none_or(|right| !touch(&mark, right)) {
                kept.push(mark);
            }
        }
        kept.reverse();
        kept
    }
}

/// A number of an axis, without what rounding of logarithms leaves behind.
fn label(value: f64) -> String {
    let digits = 10f64.powf((value.abs().max(1e-12).log10()).floor() - 5.0);
    let rounded = (value / digits).round() * digits;
    let short: f64 = format!("{rounded:.6}").parse().unwrap_or(value);
    short.to_string()
}

#[cfg(test)]
mod tests {
    use super::{Axis, GAP, LETTER};
    use crate::chart::Scale;

    #[test]
    fn labels_do_not_touch_and_the_last_is_kept() {
        let values = [2500.0, 4000.0, 6000.0, 8000.0, 10_000.0];
        let axis = Axis::around(&values, Scale::Logarithmic, (0.0, 300.0));
        let marks = axis.marks(&values);
        assert_eq!(marks.last().unwrap().1, "10000");
        for pair in marks.windows(2) {
            let distance = axis.place(pair[1].0) - axis.place(pair[0].0);
            assert!(distance >= 4.0 * LETTER + GAP, "{pair:?}");
        }
    }

    #[test]
    fn many_places_are_marked_at_round_numbers() {
        let values: Vec<f64> = (1..20).map(|place| f64::from(place) * 37.0).collect();
        let axis = Axis::around(&values, Scale::Logarithmic, (0.0, 300.0));
        let marks = axis.marks(&values);
        assert!(marks.iter().any(|(_, text)| text == "100"), "{marks:?}");
    }
}
