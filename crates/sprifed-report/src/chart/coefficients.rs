//! Coefficients as horizontal bars, one line for each feature, with the noise as whiskers.

use plotters::element::{PathElement, Rectangle};
use plotters::prelude::{BLACK, ChartBuilder, Color, IntoDrawingArea, RGBColor, WHITE};

use super::{AXIS, Axis, GRID, LETTERS, Scale, Undrawn, canvas};
use crate::fit_page::Bar;

const TRUE_COLOUR: RGBColor = RGBColor(188, 189, 196);
const FOUND_COLOUR: RGBColor = RGBColor(31, 97, 141);

/// The height of one feature's line.
const LINE: usize = 30;

/// Bars for true and found coefficients; empty if there is nothing to draw.
pub(crate) fn draw(bars: &[Bar]) -> String {
    let mut svg = String::new();
    match draw_into(&mut svg, bars) {
        Ok(()) => svg,
        Err(_) => String::new(),
    }
}

fn draw_into(svg: &mut String, bars: &[Bar]) -> Result<(), Undrawn> {
    let ends = bars.iter().flat_map(|bar| {
        let noise = 2.0 * bar.noise_std_dev.unwrap_or(0.0);
        [
            bar.truth,
            bar.found.map(|found| found - noise),
            bar.found.map(|found| found + noise),
        ]
    });
    let (low, high) = ends.flatten().fold((0.0f64, 0.0f64), |(low, high), end| {
        (low.min(end), high.max(end))
    });
    if bars.is_empty() || !(high - low).is_finite() || high <= low {
        return Err("nothing to draw".into());
    }
    let room = 0.05 * (high - low);
    let (low, high) = (low - room, high + room);
    let longest = bars.iter().map(|bar| bar.name.chars().count()).max();
    let names = i32::try_from(longest.unwrap_or(0))
        .unwrap_or(16)
        .clamp(4, 16)
        * 7
        + 12;
    let height = u32::try_from(bars.len() * LINE + 44).unwrap_or(u32::MAX);
    let root = canvas(svg, height).into_drawing_area();
    root.fill(&WHITE)?;
    #[expect(clippy::cast_precision_loss, reason = "a fit has few features")]
    let place = |index: usize| (bars.len() - index) as f64 - 0.5;
    let lines: Vec<f64> = (0..bars.len()).map(place).collect();
    let top = lines.first().map_or(1.0, |first| first + 0.5);
    let ticks = Scale::Linear.ticks(low, high).into_iter();
    let ticks = ticks.map(|tick| (tick, ((tick * 1e9).round() / 1e9).to_string()));
    let named = lines
        .iter()
        .zip(bars)
        .map(|(line, bar)| (*line, shortened(&bar.name)));
    let mut chart = ChartBuilder::on(&root)
        .margin(6)
        .x_label_area_size(30)
        .y_label_area_size(names)
        .build_cartesian_2d(
            Axis::new(low..high, ticks.collect()),
            Axis::new(0.0..top, named.collect()),
        )?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .max_light_lines(0)
        .bold_line_style(GRID)
        .axis_style(AXIS)
        .label_style(("sans-serif", LETTERS))
        .draw()?;
    for (bar, line) in bars.iter().zip(&lines) {
        if let Some(truth) = bar.truth {
            let shape = [(0.0, line + 0.36), (truth, line + 0.02)];
            chart.draw_series([Rectangle::new(shape, TRUE_COLOUR.filled())])?;
        }
        let Some(found) = bar.found else { continue };
        // Alone, a bar takes the middle of its line.
        let (upper, lower) = match bar.truth {
            Some(_) => (line - 0.02, line - 0.36),
            None => (line + 0.2, line - 0.2),
        };
        let shape = [(0.0, upper), (found, lower)];
        chart.draw_series([Rectangle::new(shape, FOUND_COLOUR.filled())])?;
        if let Some(noise) = bar.noise_std_dev {
            let middle = f64::midpoint(upper, lower);
            let (left, right) = (found - 2.0 * noise, found + 2.0 * noise);
            let cap = |x: f64| vec![(x, middle - 0.1), (x, middle + 0.1)];
            let whisker = [vec![(left, middle), (right, middle)], cap(left), cap(right)];
            chart.draw_series(whisker.map(|path| PathElement::new(path, BLACK)))?;
        }
    }
    drop(chart);
    root.present()?;
    Ok(())
}

/// A name that fits beside its bar.
fn shortened(name: &str) -> String {
    if name.chars().count() <= 16 {
        return name.to_owned();
    }
    name.chars().take(15).chain(['…']).collect()
}
