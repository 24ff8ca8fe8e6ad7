//! What a page draws of predicted probabilities: how they tell events apart, and how often what they say happens.

use sprifed_report::chart::{LineChart, Marker, Point, Scale, Series, Shape};

#[cfg(test)]
mod tests;

/// Points of a curve.
const POINTS: usize = 20;

/// Groups of about equally many records.
const GROUPS: usize = 10;

/// A standard normal number is between plus and minus this in 95 of 100 cases.
const WIDE: f64 = 1.959_964;

const INK: Marker = Marker {
    shape: Shape::Circle,
    is_filled: true,
    colour: (38, 84, 160),
};

const GREY: Marker = Marker {
    shape: Shape::Plus,
    is_filled: false,
    colour: (140, 142, 150),
};

/// Two curves of probabilities beside what happened.
#[derive(Clone, Debug, PartialEq)]
pub struct BinaryCurves {
    /// The share of other records, and of events, above falling limits of the probability.
    roc: Vec<(f64, f64)>,
    /// The mean probability in groups of neighbours, the share of events there and its 95 % interval.
    calibration: Vec<Point>,
}

impl BinaryCurves {
    /// Of pairs of a probability and what happened, zero or one.
    pub(super) fn of(pairs: &[(f64, f64)]) -> Self {
        let mut sorted = pairs.to_vec();
        sorted.sort_by(|left, right| right.0.total_cmp(&left.0));
        Self {
            roc: roc(&sorted),
            calibration: calibration(&sorted),
        }
    }

    /// The curves as SVG, each with what is to be said of it.
    pub(crate) fn to_charts(&self) -> Vec<(String, String)> {
        let point = |(x, y): &(f64, f64)| Point {
            x: *x,
            y: *y,
            low: *y,
            high: *y,
        };
        let chart = |title: &str, across: &str, up: &str, points: Vec<Point>| LineChart {
            title: title.to_owned(),
            across: (across.to_owned(), Scale::Linear),
            up: (up.to_owned(), Scale::Linear),
            series: vec![
                Series {
                    marker: GREY,
                    points: [(0.0, 0.0), (1.0, 1.0)].iter().map(point).collect(),
                },
                Series {
                    marker: INK,
                    points,
                },
            ],
            printed: Vec::new(),
            reference: None,
        };
        let roc = chart(
            "ROC curve",
            "share of other records above a limit",
            "share of events above it",
            self.roc.iter().map(point).collect(),
        );
        let calibration = chart(
            "Calibration",
            "mean predicted probability",
            "share of events",
            self.calibration.clone(),
        );
        let captions = [
            "ROC curve. Grey: probabilities that say nothing. The area below the curve is the AUC.",
            "Calibration in tenths of the records, with 95 % intervals. Grey: what is said happens as often as it is said.",
        ];
        [roc, calibration]
            .iter()
            .zip(captions)
            .filter_map(|(chart, caption)| Some((chart.to_svg()?, caption.to_owned())))
            .collect()
    }
}

/// From the largest probability to the smallest; empty where there is no event, or nothing else.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of records are far below 2^53"
)]
fn roc(sorted: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let events: f64 = sorted.iter().map(|(_, actual)| actual).sum();
    let others = sorted.len() as f64 - events;
    if events <= 0.0 || others <= 0.0 {
        return Vec::new();
    }
    let (mut above, mut of_events) = (0.0, 0.0);
    let mut points = vec![(0.0, 0.0)];
    // Equal probabilities are on one side of every limit.
    for equal in sorted.chunk_by(|left, right| left.0.total_cmp(&right.0).is_eq()) {
        above += equal.len() as f64;
        of_events += equal.iter().map(|(_, actual)| actual).sum::<f64>();
        points.push(((above - of_events) / others, of_events / events));
    }
    let last = points.len() - 1;
    let step = last.div_ceil(POINTS);
    let thinned = points.iter().enumerate();
    thinned
        .filter(|(index, _)| index % step == 0 || *index == last)
        .map(|(_, point)| *point)
        .collect()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of records are far below 2^53"
)]
fn calibration(sorted: &[(f64, f64)]) -> Vec<Point> {
    let size = sorted.len().div_ceil(GROUPS).max(1);
    sorted
        .chunks(size)
        .map(|group| {
            let count = group.len() as f64;
            let share = group.iter().map(|(_, actual)| actual).sum::<f64>() / count;
            let (low, high) = wilson(share, count);
            Point {
                x: group.iter().map(|(predicted, _)| predicted).sum::<f64>() / count,
                y: share,
                low,
                high,
            }
        })
        .collect()
}

/// Wilson's 95 % interval of a share of `count` records.
fn wilson(share: f64, count: f64) -> (f64, f64) {
    let square = WIDE * WIDE;
    let middle = (share + square / (2.0 * count)) / (1.0 + square / count);
    let spread = (share * (1.0 - share) / count + square / (4.0 * count * count)).sqrt();
    let reach = WIDE * spread / (1.0 + square / count);
    (middle - reach, middle + reach)
}
