//! Rows of an experiment as a line chart.

use sprifed_report::chart::{LineChart, Point, Printed, Series};

use super::{Drawn, Figure};
use crate::contender::look;
use crate::row::Row;

/// The values of `rows` as one chart; none if there is nothing to draw.
pub(crate) fn draw(rows: &[&Row], figure: &Figure, title: &str) -> Option<String> {
    let mut names: Vec<&str> = rows.iter().map(|row| row.series.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let series = names.into_iter().map(|name| Series {
        marker: look(name),
        points: rows
            .iter()
            .filter(|row| row.series == name)
            .map(|row| point(row, figure.drawn))
            .collect(),
    });
    let printed = rows.iter().filter_map(|row| {
        Some(Printed {
            x: row.x,
            y: row.paper?,
            is_bound: row.is_bound(),
        })
    });
    let chart = LineChart {
        title: title.to_owned(),
        across: (
            rows.first()
                .map_or_else(String::new, |row| row.axis.clone()),
            figure.across,
        ),
        up: (figure.vertical.to_owned(), figure.up),
        series: series.collect(),
        printed: printed.collect(),
        reference: rows.iter().find_map(|row| row.null),
    };
    chart.to_svg()
}

/// The value of a row and the ends of its whiskers.
fn point(row: &Row, drawn: Drawn) -> Point {
    let error = row.std_error.unwrap_or(0.0);
    let (y, low, high) = match (drawn, row.median, row.lower_quartile, row.upper_quartile) {
        (Drawn::Median, Some(median), Some(low), Some(high)) => (median, low, high),
        _ => (row.value, row.value - error, row.value + error),
    };
    Point {
        x: row.x,
        y,
        low,
        high,
    }
}
