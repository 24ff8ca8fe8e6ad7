//! A self-contained page about one fit: no network, readable on a phone and in print.

use minijinja::value::Serde;
use minijinja::{Environment, Value, context};
use plotters::prelude::{
    BLACK, ChartBuilder, Color, IntoDrawingArea, IntoSegmentedCoord, PathElement, RGBColor,
    Rectangle, SVGBackend, SegmentValue, WHITE,
};
use serde::Serialize;

/// A feature's coefficients, for a bar of the chart.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Bar {
    pub(crate) name: String,
    /// The true coefficient, where it is known.
    pub(crate) truth: Option<f64>,
    /// The private estimate.
    pub(crate) found: Option<f64>,
    /// What the added noise alone does to the estimate.
    pub(crate) noise_std_dev: Option<f64>,
}

/// What the page shows.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Page {
    pub(crate) title: String,
    /// The guarantee, in one sentence.
    pub(crate) guarantee: String,
    /// Names and values.
    pub(crate) facts: Vec<(String, String)>,
    pub(crate) bars: Vec<Bar>,
}

const TEMPLATE: &str = include_str!("report/page.html");

const TRUE_COLOUR: RGBColor = RGBColor(188, 189, 196);
const GRID_COLOUR: RGBColor = RGBColor(228, 228, 234);
const FOUND_COLOUR: RGBColor = RGBColor(31, 97, 141);

impl Page {
    /// The page as one HTML file.
    pub(crate) fn to_html(&self) -> String {
        let mut environment = Environment::new();
        let version = env!("CARGO_PKG_VERSION");
        let added = environment.add_template("page.html", TEMPLATE);
        let rendered = added.and_then(|()| {
            let template = environment.get_template("page.html")?;
            template.render(context! {
                page => Value::from(Serde(self)),
                chart => self.chart(),
                version => version,
            })
        });
        rendered.unwrap_or_else(|error| format!("<!doctype html><p>no report: {error}</p>"))
    }

    /// True and found coefficients side by side, with the noise as whiskers. Empty if there is
    /// nothing to draw.
    fn chart(&self) -> String {
        let mut svg = String::new();
        let drawn = self.draw(&mut svg);
        if drawn.is_ok() { svg } else { String::new() }
    }

    fn draw(&self, svg: &mut String) -> Result<(), Box<dyn std::error::Error + '_>> {
        let values = self
            .bars
            .iter()
            .flat_map(|bar| [bar.truth, bar.found])
            .flatten();
        let (low, high) = values.fold((0.0f64, 0.0f64), |(low, high), v| (low.min(v), high.max(v)));
        let margin = 0.1 * (high - low).max(1e-9);
        let names: Vec<&str> = self.bars.iter().map(|bar| bar.name.as_str()).collect();
        let root = SVGBackend::with_string(svg, (720, 320)).into_drawing_area();
        root.fill(&WHITE)?;
        let range = low - margin..high + margin;
        let mut chart = ChartBuilder::on(&root)
            .margin(12)
            .x_label_area_size(28)
            .y_label_area_size(44)
            .build_cartesian_2d(names.as_slice().into_segmented(), range)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .max_light_lines(0)
            .bold_line_style(GRID_COLOUR)
            .label_style(("sans-serif", 14))
            .x_label_formatter(&|name| match name {
                SegmentValue::CenterOf(name) | SegmentValue::Exact(name) => (**name).to_owned(),
                SegmentValue::Last => String::new(),
            })
            .draw()?;
        let at = |index: usize| SegmentValue::Exact(&names[index]);
        let centre = |index: usize| SegmentValue::CenterOf(&names[index]);
        for (index, bar) in self.bars.iter().enumerate() {
            if let Some(truth) = bar.truth {
                let shape = [(at(index), 0.0), (centre(index), truth)];
                chart.draw_series([Rectangle::new(shape, TRUE_COLOUR.filled())])?;
            }
            if let Some(found) = bar.found {
                let end = names
                    .get(index + 1)
                    .map_or(SegmentValue::Last, SegmentValue::Exact);
                let mut shape =
                    Rectangle::new([(centre(index), 0.0), (end, found)], FOUND_COLOUR.filled());
                shape.set_margin(0, 0, 0, 12);
                chart.draw_series([shape])?;
                let noise = 2.0 * bar.noise_std_dev.unwrap_or(0.0);
                let whisker = vec![
                    (centre(index), found - noise),
                    (centre(index), found + noise),
                ];
                chart.draw_series([PathElement::new(whisker, BLACK)])?;
            }
        }
        root.present()?;
        Ok(())
    }
}
