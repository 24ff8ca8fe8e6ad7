//! Series over an axis, with whiskers, printed values of others and a reference line.

use core::fmt::Write as _;

use super::axis::Axis;
use super::{Marker, Scale};

/// Width and height of a chart.
const SIZE: (f64, f64) = (420.0, 290.0);
/// The place of the plane: left, right, top and bottom.
const PLANE: (f64, f64, f64, f64) = (58.0, 408.0, 10.0, 240.0);

const INK: &str = "#1c1f24";
const GRID: &str = "#e2e3e9";
const AXIS: &str = "#6e707a";

/// One point of a series with its whiskers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Along the horizontal axis.
    pub x: f64,
    /// Along the vertical axis.
    pub y: f64,
    /// The lower end of the whisker.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// How they look.
    pub marker: Marker,
    /// The points; they are connected from left to right.
    pub points: Vec<Point>,
}

/// A value that another source prints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Printed {
    /// Along the horizontal axis.
    pub x: f64,
    /// Along the vertical axis.
    pub y: f64,
    /// Whether the source says "at least".
    pub is_bound: bool,
}

/// A chart of several series.
#[derive(Clone, Debug, PartialEq)]
pub struct LineChart {
    /// What is drawn, for readers who cannot see it.
    pub title: String,
    /// What is said at the horizontal axis, and how values lie along it.
    pub across: (String, Scale),
    /// What is said at the vertical axis, and how values lie along it.
    pub up: (String, Scale),
    /// The series.
    pub series: Vec<Series>,
    /// Values of another source: crosses, or arrows for bounds.
    pub printed: Vec<Printed>,
    /// A dashed line at this height.
    pub reference: Option<f64>,
}

impl LineChart {
    /// The chart; nothing if there is nothing to draw.
    #[must_use]
    pub fn to_svg(&self) -> Option<String> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let xs: Vec<f64> = points().map(|point| point.x).collect();
        let mut ys: Vec<f64> = points()
            .flat_map(|point| [point.y, point.low, point.high])
            .chain(self.printed.iter().map(|printed| printed.y))
            .chain(self.reference)
            .collect();
        if self.up.1 == Scale::Logarithmic {
            ys.retain(|y| *y > 0.0);
        }
        if xs.is_empty() || ys.is_empty() {
            return None;
        }
        let (left, right, top, bottom) = PLANE;
        let across = Axis::around(&xs, self.across.1, (left, right));
        let up = Axis::around(&ys, self.up.1, (bottom, top));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"13\" role=\"img\"><title>{}</title><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>",
            SIZE.0,
            SIZE.1,
            escaped(&self.title)
        );
        self.draw_axes(&mut svg, &across, &up, &xs);
        if let Some(reference) = self.reference {
            let y = up.place(reference);
            svg += &line((left, y), (right, y), INK, "stroke-dasharray=\"8 6\"");
        }
        for series in &self.series {
            draw_series(&mut svg, series, &across, &up);
        }
        for printed in &self.printed {
            let (x, y) = (across.place(printed.x), up.place(printed.y));
            let path = if printed.is_bound {
                "M-7 0H7M0 0V-14M-4 -9L0 -14L4 -9"
            } else {
                "M-6 -6L6 6M-6 6L6 -6"
            };
            let _ = write!(
                svg,
                "<path transform=\"translate({x:.1} {y:.1})\" d=\"{path}\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"2\"/>"
            );
        }
        svg += "</svg>";
        Some(svg)
    }

    fn draw_axes(&self, svg: &mut String, across: &Axis, up: &Axis, xs: &[f64]) {
        let (left, right, top, bottom) = PLANE;
        for (value, label) in up.ticks() {
            let y = up.place(value);
            *svg += &line((left, y), (right, y), GRID, "");
            *svg += &text((left - 6.0, y + 4.5), "end", &label);
        }
        for (value, label) in across.marks(xs) {
            let x = across.place(value);
            *svg += &line((x, bottom), (x, bottom + 5.0), AXIS, "");
            *svg += &text((x, bottom + 19.0), "middle", &label);
        }
        *svg += &line((left, top), (left, bottom), AXIS, "");
        *svg += &line((left, bottom), (right, bottom), AXIS, "");
        let middle = f64::midpoint(left, right);
        *svg += &text((middle, bottom + 41.0), "middle", &self.across.0);
        let middle = f64::midpoint(top, bottom);
        let _ = write!(
            svg,
            "<g transform=\"translate(14 {middle}) rotate(-90)\">{}</g>",
            text((0.0, 0.0), "middle", &self.up.0)
        );
    }
}

fn draw_series(svg: &mut String, series: &Series, across: &Axis, up: &Axis) {
    let mut points = series.points.clone();
    points.sort_by(|left, right| left.x.total_cmp(&right.x));
    let places: Vec<(f64, f64)> = points
        .iter()
        .map(|point| (across.place(point.x), up.place(point.y)))
        .collect();
    let colour = series.marker.colour();
    let path = places.iter().fold(String::new(), |mut path, (x, y)| {
        let _ = write!(path, "{x:.1},{y:.1} ");
        path
    });
    let _ = write!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"/>",
        path.trim_end()
    );
    for (point, (x, y)) in points.iter().zip(&places) {
        let (low, high) = (up.place(point.low), up.place(point.high));
        if (low - high).abs() > 0.5 {
            *svg += &line((*x, low), (*x, high), &colour, "stroke-width=\"1.4\"");
        }
        *svg += &series.marker.draw(*x, *y);
    }
}

fn line(from: (f64, f64), to: (f64, f64), colour: &str, more: &str) -> String {
    format!(
        "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{colour}\" {more}/>",
        from.0, from.1, to.0, to.1
    )
}

fn text((x, y): (f64, f64), anchor: &str, words: &str) -> String {
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{INK}\">{}</text>",
        escaped(words)
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::{LineChart, Point, Printed, Series};
    use crate::chart::{Marker, Scale, Shape};

    fn chart(points: Vec<Point>) -> LineChart {
        let marker = Marker {
            shape: Shape::Diamond,
            is_filled: true,
            colour: (1, 2, 3),
        };
        LineChart {
            title: "a < b".to_owned(),
            across: ("records".to_owned(), Scale::Logarithmic),
            up: ("features found".to_owned(), Scale::Linear),
            series: vec![Series { marker, points }],
            printed: vec![Printed {
                x: 1000.0,
                y: 2.0,
                is_bound: true,
            }],
            reference: Some(0.5),
        }
    }

    #[test]
    fn everything_is_drawn_inside() {
        let point = |x: f64, y: f64| Point {
            x,
            y,
            low: y - 0.5,
            high: y + 0.5,
        };
        let svg = chart(vec![point(500.0, 1.0), point(8000.0, 5.0)])
            .to_svg()
            .unwrap();
        assert_eq!(svg.matches("<polygon").count(), 2);
        for words in [
            "a &lt; b",
            ">records<",
            ">features found<",
            ">8000<",
            "dasharray",
        ] {
            assert!(svg.contains(words), "no {words} in {svg}");
        }
        assert!(!svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn nothing_is_drawn_without_points() {
        assert_eq!(chart(Vec::new()).to_svg(), None);
    }
}
