//! How many records a procedure needs: a search over cells that are kept like all others.

use crate::cell::Cell;
use crate::experiment::{ExperimentError, Session};
use crate::row::Row;

/// The share that must be found on average.
const ENOUGH: f64 = 0.9;

/// Neighbouring numbers of records differ by this factor.
const STEP: f64 = 1.25;

/// The fewest records that a search fits.
const FEWEST: usize = 10;

/// No more records than this are tried, in values of the matrix.
const LARGEST: f64 = 140e6;

impl Session<'_> {
    /// Measures `at(n)` around `start` until nine tenths of the features lie between two numbers of
    /// records, and adds the number in between, by interpolation on the logarithm. Its standard error
    /// is that of the two shares, carried over the slope between them.
    ///
    /// # Errors
    /// When a trial fails or the store cannot be written.
    pub(crate) fn find_n90(
        &mut self,
        start: usize,
        at: &dyn Fn(usize) -> Result<Cell, ExperimentError>,
    ) -> Result<(), ExperimentError> {
        let mut records = start;
        let mut seen: Vec<(usize, Row)> = Vec::new();
        loop {
            let row = self.share_at(&at(records)?)?;
            let enough = row.value >= ENOUGH;
            seen.push((records, row));
            seen.sort_by_key(|(records, _)| *records);
            let bracket = seen
                .windows(2)
                .find(|pair| pair[0].1.value < ENOUGH && pair[1].1.value >= ENOUGH);
            if let Some([below, above]) = bracket {
                let row = interpolated(below, above);
                return self.store.add(vec![row]);
            }
            let next = stepped(records, if enough { 1.0 / STEP } else { STEP });
            #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 values")]
            let values = (next * at(records)?.world.features) as f64;
            if next < FEWEST || values > LARGEST || seen.iter().any(|(known, _)| *known == next) {
                return self.give_up(&seen);
            }
            records = next;
        }
    }

    /// The share of features that `cell` finds, measured or known.
    fn share_at(&mut self, cell: &Cell) -> Result<Row, ExperimentError> {
        self.measure_more(std::slice::from_ref(cell))?;
        let rows = self.store.of(self.experiment.name);
        let found = rows.into_iter().find(|row| {
            row.metric == "recovered"
                && row.panel == cell.panel
                && row.series == cell.contender.name()
                && row.x.total_cmp(&cell.axis.1).is_eq()
        });
        #[expect(clippy::cast_precision_loss, reason = "a sparsity is small")]
        let active = cell.world.support as f64;
        let row = found.unwrap_or_default();
        Ok(Row {
            value: row.value / active,
            std_error: row.std_error.map(|error| error / active),
            metric: "share".to_owned(),
            null: row.null.map(|null| null / active),
            ..row
        })
    }

    /// Adds what is known when the search ends at its limit: more than the most records that were
    /// tried.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 records")]
    fn give_up(&mut self, seen: &[(usize, Row)]) -> Result<(), ExperimentError> {
        let Some((records, row)) = seen.last() else {
            return Ok(());
        };
        self.store.add(vec![Row {
            x: 0.0,
            metric: "n90".to_owned(),
            qualifier: ">".to_owned(),
            value: *records as f64,
            median: None,
            lower_quartile: None,
            upper_quartile: None,
            null: None,
            std_error: None,
            ..row.clone()
        }])
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of records is positive and far below 2^53"
)]
fn stepped(records: usize, factor: f64) -> usize {
    (records as f64 * factor).round() as usize
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 records")]
fn interpolated(below: &(usize, Row), above: &(usize, Row)) -> Row {
    let (low, high) = ((below.0 as f64).ln(), (above.0 as f64).ln());
    let rise = (above.1.value - below.1.value).max(1e-9);
    let part = (ENOUGH - below.1.value) / rise;
    let records = (low + part * (high - low)).exp();
    let error = |row: &Row| row.std_error.unwrap_or(0.0);
    // The two shares enter with weights 1 − part and part.
    let share_error = (error(&below.1) * (1.0 - part)).hypot(error(&above.1) * part);
    Row {
        axis: "records".to_owned(),
        x: 0.0,
        metric: "n90".to_owned(),
        value: records,
        std_error: Some(records * share_error * (high - low) / rise),
        median: None,
        lower_quartile: Some(below.0 as f64),
        upper_quartile: Some(above.0 as f64),
        null: None,
        ..above.1.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::{interpolated, stepped};
    use crate::row::Row;

    fn at(share: f64) -> Row {
        Row {
            value: share,
            std_error: Some(0.02),
            ..Row::default()
        }
    }

    #[test]
    fn the_number_lies_between_its_neighbours() {
        let row = interpolated(&(400, at(0.8)), &(500, at(1.0)));
        assert!((row.value - (400f64 * 500.0).sqrt()).abs() < 1e-9);
        assert!(row.std_error.unwrap() > 0.0);
        assert_eq!(stepped(400, 1.25), 500);
    }
}
