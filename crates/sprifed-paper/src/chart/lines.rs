//! Series over an axis, with whiskers, the paper's values and the null model.

use plotters::element::{Circle, EmptyElement, PathElement, Rectangle};
use plotters::prelude::{BLACK, ChartBuilder, Color, IntoDrawingArea, IntoFont, RGBColor, WHITE};
use plotters::prelude::{Cartesian2d, ChartContext, SVGBackend};
use sprifed_report::chart::{AXIS, Axis, GRID, LETTERS, Scale, Undrawn, canvas};

use super::{Drawn, Figure};
use crate::contender::{Family, look};
use crate::numbers::plain;
use crate::row::Row;

const HEIGHT: u32 = 290;

/// The values of `rows` as one chart; empty if there is nothing to draw.
pub(crate) fn draw(rows: &[&Row], figure: &Figure, title: &str) -> String {
    let mut svg = String::new();
    match Picture::of(rows, figure).draw(&mut svg, title) {
        Ok(()) => svg,
        Err(_) => String::new(),
    }
}

struct Picture<'a> {
    rows: &'a [&'a Row],
    figure: &'a Figure,
    /// The ends of both axes, in values.
    across: (f64, f64),
    up: (f64, f64),
}

type Plane = Cartesian2d<Axis, Axis>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Plane>;

impl<'a> Picture<'a> {
    fn of(rows: &'a [&'a Row], figure: &'a Figure) -> Self {
        let xs: Vec<f64> = rows.iter().map(|row| row.x).collect();
        let mut ys: Vec<f64> = Vec::new();
        for row in rows {
            let (value, low, high) = bars(row, figure.drawn);
            ys.extend([value, low, high]);
            ys.extend(row.paper);
            ys.extend(row.null);
        }
        if figure.up == Scale::Logarithmic {
            ys.retain(|y| *y > 0.0);
        }
        Self {
            rows,
            figure,
            across: widened(&xs, figure.across),
            up: widened(&ys, figure.up),
        }
    }

    fn draw(&self, svg: &mut String, title: &str) -> Result<(), Undrawn> {
        if self.rows.is_empty() {
            return Err("nothing to draw".into());
        }
        let Figure { across, up, .. } = *self.figure;
        let root = canvas(svg, HEIGHT).into_drawing_area();
        root.fill(&WHITE).map_err(undrawn)?;
        let mut xs: Vec<f64> = self.rows.iter().map(|row| row.x).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let marks = |values: &[f64], scale: Scale| -> Vec<(f64, String)> {
            values
                .iter()
                .map(|value| (scale.place(*value), plain(tidy(*value))))
                .collect()
        };
        let x_range = across.place(self.across.0)..across.place(self.across.1);
        let y_range = up.place(self.up.0)..up.place(self.up.1);
        let mut chart = ChartBuilder::on(&root)
            .caption(title, ("sans-serif", LETTERS + 1).into_font())
            .margin_right(14)
            .margin_top(4)
            .margin_bottom(4)
            .x_label_area_size(46)
            .y_label_area_size(58)
            .build_cartesian_2d(
                Axis::new(x_range, marks(&thinned(&xs, across), across)),
                Axis::new(y_range, marks(&up.ticks(self.up.0, self.up.1), up)),
            )
            .map_err(undrawn)?;
        let axis = self.rows[0].axis.clone();
        chart
            .configure_mesh()
            .disable_x_mesh()
            .max_light_lines(0)
            .bold_line_style(GRID)
            .axis_style(AXIS)
            .label_style(("sans-serif", LETTERS))
            .x_desc(axis)
            .y_desc(self.figure.vertical)
            .draw()
            .map_err(undrawn)?;
        self.draw_null(&mut chart)?;
        let mut series: Vec<&str> = self.rows.iter().map(|row| row.series.as_str()).collect();
        series.sort_unstable();
        series.dedup();
        for name in series {
            self.draw_series(&mut chart, name)?;
        }
        for row in self.rows {
            self.draw_paper(&mut chart, row)?;
        }
        drop(chart);
        root.present().map_err(undrawn)?;
        Ok(())
    }

    /// The null model as a dashed line.
    fn draw_null(&self, chart: &mut Chart<'_, '_>) -> Result<(), Undrawn> {
        let Figure { across, up, .. } = *self.figure;
        let Some(null) = self.rows.iter().find_map(|row| row.null) else {
            return Ok(());
        };
        if null < self.up.0 || null > self.up.1 {
            return Ok(());
        }
        let (left, right) = (across.place(self.across.0), across.place(self.across.1));
        let dashes = (0..24).map(|index| {
            let at = |part: f64| left + (right - left) * part / 24.0;
            let ends = [at(f64::from(index)), at(f64::from(index) + 0.55)];
            PathElement::new(ends.map(|x| (x, up.place(null))).to_vec(), BLACK)
        });
        chart.draw_series(dashes).map_err(undrawn)?;
        Ok(())
    }

    fn draw_series(&self, chart: &mut Chart<'_, '_>, name: &str) -> Result<(), Undrawn> {
        let Figure {
            across, up, drawn, ..
        } = *self.figure;
        let ((red, green, blue), family) = look(name);
        let colour = RGBColor(red, green, blue);
        let mut rows: Vec<&Row> = self
            .rows
            .iter()
            .copied()
            .filter(|row| row.series == name)
            .collect();
        rows.sort_by(|left, right| left.x.total_cmp(&right.x));
        let inside = |y: f64| up.place(y.clamp(self.up.0, self.up.1));
        let points: Vec<(f64, f64)> = rows
            .iter()
            .map(|row| (across.place(row.x), inside(bars(row, drawn).0)))
            .collect();
        let line = PathElement::new(points.clone(), colour.stroke_width(2));
        chart.draw_series([line]).map_err(undrawn)?;
        for (row, (x, y)) in rows.iter().zip(&points) {
            let (_, low, high) = bars(row, drawn);
            let whisker = vec![(*x, inside(low)), (*x, inside(high))];
            chart
                .draw_series([PathElement::new(whisker, colour)])
                .map_err(undrawn)?;
            let at = (*x, *y);
            match family {
                Family::Paper => chart.draw_series([Circle::new(at, 4, colour.filled())]),
                Family::NonPrivate => chart.draw_series([Circle::new(at, 2, colour.filled())]),
                Family::Certified => {
                    let square = Rectangle::new([(-4, -4), (4, 4)], colour.filled());
                    chart.draw_series([EmptyElement::at(at) + square])
                }
                Family::Baseline => chart.draw_series([Circle::new(at, 4, colour.stroke_width(2))]),
            }
            .map_err(undrawn)?;
        }
        Ok(())
    }

    /// What the paper says, on top of everything: as a cross, or as an arrow where it only says "at
    /// least".
    fn draw_paper(&self, chart: &mut Chart<'_, '_>, row: &Row) -> Result<(), Undrawn> {
        let Some(paper) = row.paper else {
            return Ok(());
        };
        let Figure { across, up, .. } = *self.figure;
        let at = (across.place(row.x), up.place(paper));
        let strokes = if row.paper_says == "=" {
            vec![vec![(-6, -6), (6, 6)], vec![(-6, 6), (6, -6)]]
        } else {
            vec![
                vec![(-7, 0), (7, 0)],
                vec![(0, 0), (0, -14)],
                vec![(-4, -9), (0, -14), (4, -9)],
            ]
        };
        for stroke in strokes {
            let mark = EmptyElement::at(at) + PathElement::new(stroke, BLACK.stroke_width(2));
            chart.draw_series([mark]).map_err(undrawn)?;
        }
        Ok(())
    }
}

/// The value of a row and the ends of its whiskers.
fn bars(row: &Row, drawn: Drawn) -> (f64, f64, f64) {
    let error = row.std_error.unwrap_or(0.0);
    let around_mean = (row.value, row.value - error, row.value + error);
    match (drawn, row.median, row.lower_quartile, row.upper_quartile) {
        (Drawn::Median, Some(median), Some(low), Some(high)) => (median, low, high),
        _ => around_mean,
    }
}

/// The ends of an axis that shows all values with a little room.
fn widened(values: &[f64], scale: Scale) -> (f64, f64) {
    let places = values.iter().map(|value| scale.place(*value));
    let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), place| {
        (low.min(place), high.max(place))
    });
    let room = 0.07 * (high - low).max(0.05 * high.abs().max(1.0));
    (scale.value(low - room), scale.value(high + room))
}

/// Marks of the horizontal axis: all measured places, or every other one where they are too close.
fn thinned(xs: &[f64], scale: Scale) -> Vec<f64> {
    let places: Vec<f64> = xs.iter().map(|x| scale.place(*x)).collect();
    let (Some(first), Some(last)) = (places.first(), places.last()) else {
        return Vec::new();
    };
    let least = (last - first) / 7.0;
    let mut kept: Vec<f64> = Vec::new();
    for (x, place) in xs.iter().zip(&places) {
        let is_close = kept
            .last()
            .is_some_and(|before| place - scale.place(*before) < least);
        if !is_close {
            kept.push(*x);
        }
    }
    kept
}

/// Takes away what rounding of logarithms leaves behind.
fn tidy(value: f64) -> f64 {
    let digits = 10f64.powf((value.abs().max(1e-12).log10()).floor() - 5.0);
    let rounded = (value / digits).round() * digits;
    format!("{rounded:.6}").parse().unwrap_or(value)
}

fn undrawn(error: impl core::fmt::Display) -> Undrawn {
    error.to_string().into()
}
