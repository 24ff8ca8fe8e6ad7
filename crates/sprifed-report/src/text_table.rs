//! Tables as text.

use std::fmt::Write as _;

/// A table with aligned columns; the first row is the heading.
#[must_use]
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..columns)
        .map(|column| width(column).unwrap_or(0))
        .collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(text, "{cell:<width$}  ");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        if index == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            let _ = writeln!(text, "{}", rule.join("  "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_nothing_trails() {
        let rows = [["name", "é"], ["a", "22"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows), "name  é\n----  --\na     22\n");
    }
}
