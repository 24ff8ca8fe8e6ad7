//! What reading a whole table adds to the report of its schema.

use sprifed_schema::{CheckReport, Schema, TableReport};

use crate::error::{DataError, FileError};
use crate::table::Table;

/// Adds what came of reading the whole table.
///
/// # Errors
/// If the machine, and not the schema or the table, was in the way.
pub(crate) fn add_outcome(
    report: &mut CheckReport,
    schema: &Schema,
    outcome: Result<Table, DataError>,
) -> Result<(), FileError> {
    match outcome {
        Ok(table) => {
            let counts = table.counts();
            report.table = Some(TableReport {
                n_records: counts.records_read,
                n_clients: table.clients().n_clients(),
                over_cap: counts.over_cap,
                unmatched: counts.unmatched,
                extra_samples: counts.extra_samples,
                has_missing_response: counts.dropped_without_response > 0,
                sites: table.sites(schema),
            });
        }
        Err(DataError::File(problem)) => return Err(problem),
        Err(problem) => report.problems.extend(problem.each()),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
