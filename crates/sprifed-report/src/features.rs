//! The table of features and coefficients that every page shows, each with a bar and its interval as
//! whiskers.

use schemars::JsonSchema;
use serde::Serialize;

#[cfg(test)]
mod tests;

/// The width of a chart, in its own units.
const WIDTH: f64 = 200.0;

/// A feature's coefficients, for a row of the table and its bar.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Bar {
    /// The feature.
    pub name: String,
    /// The true coefficient, where it is known.
    pub truth: Option<f64>,
    /// The private estimate.
    pub found: Option<f64>,
    /// The ends of its confidence interval; absent if it has none.
    pub interval: Option<(f64, f64)>,
    /// Its p-value; absent if it has none.
    pub p_value: Option<f64>,
    /// The share of its variance that is due to the noise added for privacy, if that is known.
    pub privacy_share: Option<f64>,
    /// Whether the feature was selected, or is in every model.
    pub is_always: bool,
}

impl Bar {
    /// The bar in other units: `factor` of them make one of the coefficient's.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            name: self.name.clone(),
            truth: self.truth.map(|truth| truth * factor),
            found: self.found.map(|found| found * factor),
            interval: self
                .interval
                .map(|(low, high)| (low * factor, high * factor)),
            ..*self
        }
    }

    /// A feature with this private estimate, of which nothing more is known.
    #[must_use]
    pub fn of_estimate(name: impl Into<String>, found: f64) -> Self {
        Self {
            name: name.into(),
            truth: None,
            found: Some(found),
            interval: None,
            p_value: None,
            privacy_share: None,
            is_always: false,
        }
    }

    fn is_negative(&self) -> bool {
        self.found.is_some_and(|found| found < 0.0)
    }

    fn whiskers(&self) -> Option<(f64, f64)> {
        self.interval
            .filter(|(low, high)| low.is_finite() && high.is_finite())
    }
}

/// What the bars show where features have public bounds.
pub const BARS_OVER_BOUNDS: &str = "Bars: how far the response moves when a feature goes from the middle of its \
                                    public bounds to their end. Numbers: coefficients in the units of the columns.";

/// The features of a model, as `features.html` shows them.
#[derive(Clone, Debug, Serialize)]
pub struct FeatureTable {
    rows: Vec<FeatureRow>,
    has_truth: bool,
    has_positive: bool,
    has_negative: bool,
    has_chart: bool,
    has_intervals: bool,
    intercept: Option<InterceptRow>,
    note: Option<&'static str>,
}

#[derive(Clone, Debug, Serialize)]
struct InterceptRow {
    estimate: String,
    interval: String,
}

#[derive(Clone, Debug, Serialize)]
struct FeatureRow {
    name: String,
    truth: String,
    coefficient: String,
    interval: String,
    p_value: String,
    privacy_share: String,
    is_always: bool,
    bar: Option<Drawn>,
}

/// One bar, as numbers of SVG.
#[derive(Clone, Debug, Serialize)]
struct Drawn {
    zero: String,
    sign: &'static str,
    top: u8,
    height: u8,
    truth: Option<Span>,
    found: Option<Span>,
    whisker: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct Span {
    from: String,
    width: String,
}

impl FeatureTable {
    /// The table of these coefficients, drawn as they are.
    #[must_use]
    pub fn new(bars: &[Bar], intercept: Option<f64>) -> Self {
        Self::of(bars, bars, intercept, None)
    }

    /// The table of these coefficients, each with half the width of its feature's public bounds:
    /// the bars show coefficients times that, which makes them comparable.
    #[must_use]
    pub fn over_bounds(bars: &[(Bar, f64)], intercept: Option<f64>) -> Self {
        let written: Vec<Bar> = bars.iter().map(|(bar, _)| bar.clone()).collect();
        let drawn: Vec<Bar> = bars.iter().map(|(bar, half)| bar.scaled(*half)).collect();
        Self::of(&written, &drawn, intercept, Some(BARS_OVER_BOUNDS))
    }

    fn of(
        written: &[Bar],
        drawn: &[Bar],
        intercept: Option<f64>,
        note: Option<&'static str>,
    ) -> Self {
        let scale = Scale::of(drawn);
        let row = |(bar, drawn): (&Bar, &Bar)| FeatureRow {
            name: bar.name.clone(),
            truth: number(bar.truth),
            coefficient: number(bar.found),
            interval: interval_words(bar.interval, bar.found.is_some()),
            p_value: bar.p_value.map_or_else(none, p_value_words),
            privacy_share: bar.privacy_share.map_or_else(none, percent_words),
            is_always: bar.is_always,
            bar: scale.map(|scale| scale.draw(drawn)),
        };
        Self {
            rows: written.iter().zip(drawn).map(row).collect(),
            has_truth: written.iter().any(|bar| bar.truth.is_some()),
            has_positive: written.iter().any(|bar| !bar.is_negative()),
            has_negative: written.iter().any(Bar::is_negative),
            has_chart: true,
            has_intervals: written.iter().any(|bar| bar.interval.is_some()),
            intercept: intercept.map(|estimate| InterceptRow {
                estimate: four(estimate),
                interval: String::new(),
            }),
            note,
        }
    }

    /// The same with an interval for the intercept.
    #[must_use]
    pub fn with_intercept_interval(mut self, interval: Option<(f64, f64)>) -> Self {
        if let Some(row) = &mut self.intercept {
            row.interval = interval_words(interval, true);
        }
        self
    }

    /// The same without bars: a chart invites a reading of coefficients that must not be read.
    #[must_use]
    pub fn without_chart(mut self) -> Self {
        self.has_chart = false;
        self.note = None;
        self
    }
}

/// From values to places of the chart.
#[derive(Clone, Copy, Debug)]
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// A scale on which zero and everything of `bars` has a place; none if there is nothing to draw.
    fn of(bars: &[Bar]) -> Option<Self> {
        let ends = bars.iter().flat_map(|bar| {
            let (left, right) = bar.whiskers().unzip();
            [bar.truth, bar.found, left, right]
        });
        let (low, high) = ends.flatten().fold((0.0f64, 0.0f64), |(low, high), end| {
            (low.min(end), high.max(end))
        });
        let room = 0.02 * (high - low);
        let scale = Self {
            low: low - room,
            high: high + room,
        };
        ((high - low).is_finite() && high > low).then_some(scale)
    }

    fn place(self, value: f64) -> f64 {
        WIDTH * (value - self.low) / (self.high - self.low)
    }

    fn span(self, value: f64) -> Span {
        let (zero, end) = (self.place(0.0), self.place(value));
        Span {
            from: format!("{:.2}", zero.min(end)),
            width: format!("{:.2}", (end - zero).abs()),
        }
    }

    fn draw(self, bar: &Bar) -> Drawn {
        // Beside a true value a bar takes the lower half of its row.
        let (top, height, middle) = match bar.truth {
            Some(_) => (10, 8, 14),
            None => (4, 12, 10),
        };
        let whisker = bar.whiskers().map(|(left, right)| {
            let (left, right) = (self.place(left), self.place(right));
            let (up, down) = (middle - 4, middle + 4);
            format!("M{left:.2} {middle}H{right:.2}M{left:.2} {up}V{down}M{right:.2} {up}V{down}")
        });
        Drawn {
            zero: format!("{:.2}", self.place(0.0)),
            sign: if bar.is_negative() { "minus" } else { "plus" },
            top,
            height,
            truth: bar.truth.map(|truth| self.span(truth)),
            found: bar.found.map(|found| self.span(found)),
            whisker,
        }
    }
}

fn none() -> String {
    "–".to_owned()
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(none, four)
}

/// An interval in words; `is_estimated` if there is an estimate that it could be of.
#[must_use]
pub fn interval_words(interval: Option<(f64, f64)>, is_estimated: bool) -> String {
    match interval {
        Some((low, high)) => format!("{} to {}", four(low), four(high)),
        None if is_estimated => "not available".to_owned(),
        None => none(),
    }
}

/// A p-value as journals print it.
#[must_use]
pub fn p_value_words(value: f64) -> String {
    if value < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("{value:.3}")
    }
}

/// A share in percent.
#[must_use]
pub fn percent_words(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// Four significant digits, with an exponent where a number is very large or small.
#[must_use]
pub fn four(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.3e}");
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between zero and six"
    )]
    let decimals = (3.0 - size.max(1e-3).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.decimals$}")
}
