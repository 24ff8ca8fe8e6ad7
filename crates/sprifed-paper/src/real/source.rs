//! Tables of numbers as they are, and the original files of MADELON.

use std::fs;
use std::path::Path;

use sprifed_tables::{read_columns, read_raw_columns};

use crate::experiment::ExperimentError;

/// Records in the units of their source.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawSet {
    pub(crate) n_features: usize,
    /// Row after row.
    pub(crate) features: Vec<f64>,
    pub(crate) responses: Vec<f64>,
}

impl RawSet {
    /// The table at `path`: features are the columns whose name starts with `prefix`. A missing
    /// feature becomes the median of its column.
    pub(crate) fn read(path: &Path, prefix: &str, response: &str) -> Result<Self, ExperimentError> {
        let columns = read_columns(path)?;
        let mut names: Vec<String> = columns
            .iter()
            .map(|column| column.name.clone())
            .filter(|name| name.starts_with(prefix))
            .collect();
        let n_features = names.len();
        names.push(response.to_owned());
        let raw = read_raw_columns(path, &names)?;
        let mut set = Self {
            n_features,
            features: Vec::with_capacity(n_features * raw.n_records()),
            responses: Vec::new(),
        };
        for record in 0..raw.n_records() {
            let (features, response) = raw.row(record).split_at(n_features);
            set.features.extend_from_slice(features);
            set.responses.extend_from_slice(response);
        }
        set.fill_missing();
        Ok(set)
    }

    fn fill_missing(&mut self) {
        let width = self.n_features.max(1);
        let columns: Vec<usize> = (0..self.features.len())
            .filter(|place| self.features[*place].is_nan())
            .map(|place| place % width)
            .collect();
        for column in columns {
            let values = self.features[column..].iter().step_by(width);
            let mut known: Vec<f64> = values.copied().filter(|value| !value.is_nan()).collect();
            known.sort_by(f64::total_cmp);
            let median = known.get(known.len() / 2).copied().unwrap_or(0.0);
            for value in self.features[column..].iter_mut().step_by(width) {
                if value.is_nan() {
                    *value = median;
                }
            }
        }
    }

    pub(crate) fn n_records(&self) -> usize {
        self.responses.len()
    }

    /// Some rows and columns, in this order.
    pub(crate) fn pick(&self, rows: &[usize], columns: &[usize]) -> Self {
        let mut features = Vec::with_capacity(rows.len() * columns.len());
        for row in rows {
            let start = row * self.n_features;
            features.extend(columns.iter().map(|column| self.features[start + column]));
        }
        Self {
            n_features: columns.len(),
            features,
            responses: rows.iter().map(|row| self.responses[*row]).collect(),
        }
    }

    /// These rows with all columns.
    pub(crate) fn rows(&self, rows: &[usize]) -> Self {
        let columns: Vec<usize> = (0..self.n_features).collect();
        self.pick(rows, &columns)
    }
}

/// The two labelled parts of MADELON in `folder`: as CSV, or in the original format, where
/// `madelon_train.data` holds rows of numbers and `madelon_train.labels` one label a line.
pub(crate) fn madelon(folder: &Path) -> Result<(RawSet, RawSet), ExperimentError> {
    let part = |name: &str| {
        let table = folder.join(format!("{name}.csv.gz"));
        if table.exists() {
            return RawSet::read(&table, "x_", "y");
        }
        original(folder, name)
    };
    Ok((part("train")?, part("valid")?))
}

fn original(folder: &Path, part: &str) -> Result<RawSet, ExperimentError> {
    let data = folder.join(format!("madelon_{part}.data"));
    let rows = numbers(&data)?;
    let labels = numbers(&folder.join(format!("madelon_{part}.labels")))?;
    let n_features = rows.first().map_or(0, Vec::len);
    let shape = |problem: String| ExperimentError::Shape {
        path: data.clone(),
        problem,
    };
    if rows.len() != labels.len() {
        return Err(shape(format!(
            "has {} rows, but there are {} labels; required: as many",
            rows.len(),
            labels.len()
        )));
    }
    if let Some(row) = rows.iter().position(|row| row.len() != n_features) {
        return Err(shape(format!(
            "has {} numbers in row {}; required: {n_features}, as in the first",
            rows[row].len(),
            row + 1
        )));
    }
    Ok(RawSet {
        n_features,
        features: rows.into_iter().flatten().collect(),
        responses: labels.into_iter().flatten().collect(),
    })
}

/// Lines of numbers separated by spaces.
fn numbers(path: &Path) -> Result<Vec<Vec<f64>>, ExperimentError> {
    let text = fs::read_to_string(path).map_err(|source| ExperimentError::File {
        path: path.to_owned(),
        source,
    })?;
    numbers_of(&text).map_err(|line| ExperimentError::Shape {
        path: path.to_owned(),
        problem: format!("has something else than numbers in line {line}"),
    })
}

/// The numbers of each line that is not empty, or the first line that has something else.
fn numbers_of(text: &str) -> Result<Vec<Vec<f64>>, usize> {
    let lines = (1..).zip(text.lines());
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            let row: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
            row.map_err(|_| number)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{RawSet, numbers_of};

    #[test]
    fn missing_values_become_the_median_of_their_column() {
        let mut set = RawSet {
            n_features: 2,
            features: vec![1.0, f64::NAN, 2.0, 5.0, 3.0, 7.0, 4.0, 9.0],
            responses: vec![0.0; 4],
        };
        set.fill_missing();
        assert_eq!(set.features[1].to_bits(), 7f64.to_bits());
        let picked = set.pick(&[3, 0], &[1]);
        assert_eq!(picked.features, [9.0, 7.0]);
    }

    #[test]
    fn lines_of_numbers_are_read_and_others_refused() {
        assert_eq!(
            numbers_of("1 2 \n\n3 -4\n"),
            Ok(vec![vec![1.0, 2.0], vec![3.0, -4.0]])
        );
        assert_eq!(numbers_of("1 2\n3 x\n"), Err(2));
    }
}
