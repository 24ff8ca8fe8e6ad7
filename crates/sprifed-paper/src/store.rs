//! The rows of all experiments in one CSV file, and the same with its conditions as JSON.

use std::fs;
use std::path::{Path, PathBuf};

use crate::experiment::ExperimentError;
use crate::row::Row;

/// The rows of a folder of results.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    rows: Vec<Row>,
}

impl Store {
    /// The file of rows in a folder of results.
    pub const ROWS: &'static str = "cells.csv";

    /// Opens the folder, with the rows that are already there.
    ///
    /// # Errors
    /// When the folder cannot be made or its rows cannot be read.
    pub fn open(folder: &Path) -> Result<Self, ExperimentError> {
        fs::create_dir_all(folder).map_err(|source| refused(folder, source))?;
        let path = folder.join(Self::ROWS);
        let mut rows = Vec::new();
        if path.exists() {
            let text = fs::read_to_string(&path).map_err(|source| refused(&path, source))?;
            for row in csv::Reader::from_reader(text.as_bytes()).deserialize() {
                rows.push(row.map_err(|error| ExperimentError::Rows {
                    path: path.clone(),
                    reason: error.to_string(),
                })?);
            }
        }
        Ok(Self {
            folder: folder.to_owned(),
            rows,
        })
    }

    /// All rows.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The rows of one experiment.
    #[must_use]
    pub fn of(&self, experiment: &str) -> Vec<Row> {
        let mut rows = self.rows.clone();
        rows.retain(|row| row.experiment == experiment);
        rows
    }

    /// A row that answers the same question with the same settings and seed and no fewer trials.
    #[must_use]
    pub fn known(&self, wanted: &Row) -> Option<&Row> {
        self.rows.iter().find(|row| {
            row.is_same_cell(wanted)
                && row.settings == wanted.settings
                && row.seed == wanted.seed
                && row.trials >= wanted.trials
        })
    }

    /// Adds rows in place of those that answer the same questions, and writes the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&mut self, rows: Vec<Row>) -> Result<(), ExperimentError> {
        self.rows
            .retain(|old| !rows.iter().any(|new| new.is_same_cell(old)));
        self.rows.extend(rows);
        self.write(Self::ROWS, &to_csv(&self.rows))
    }

    /// Removes the rows of this experiment that `keep` does not want.
    pub fn retain(&mut self, experiment: &str, keep: impl Fn(&Row) -> bool) {
        self.rows
            .retain(|row| row.experiment != experiment || keep(row));
    }

    /// Writes a file into the folder, whole or not at all.
    ///
    /// # Errors
    /// When the disc refuses.
    pub fn write(&self, name: &str, contents: &str) -> Result<(), ExperimentError> {
        let path = self.folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|source| refused(parent, source))?;
        }
        let part = path.with_extension("part");
        fs::write(&part, contents).map_err(|source| refused(&part, source))?;
        fs::rename(&part, &path).map_err(|source| refused(&path, source))
    }
}

/// The rows as the text of a CSV file.
fn to_csv(rows: &[Row]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        // A row is made of numbers and text, which a memory buffer always takes.
        let _ = writer.serialize(row);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

fn refused(path: &Path, source: std::io::Error) -> ExperimentError {
    ExperimentError::File {
        path: path.to_owned(),
        source,
    }
}
