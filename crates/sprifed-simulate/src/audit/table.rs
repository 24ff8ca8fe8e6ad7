//! Two tables that differ in one privacy unit as much as the bounds of a study allow.

use sprifed_privacy::{PrivacyUnit, Relation};
use sprifed_query::{Record, RecordSource};

use super::AuditRequest;

/// The public bound on the response.
pub(super) const RESPONSE_BOUND: f64 = 2.0;
/// The public bound on a feature.
pub(super) const FEATURE_BOUND: f64 = 2.0;

/// Rows of a unit, where a unit is a client.
const ROWS_OF_A_CLIENT: usize = 3;

/// The place of the unit in which the tables differ: before most others, so that a mistake that
/// moves the units after it is seen.
const CHANGED: usize = 1;

/// One table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    n_features: usize,
    rows_of_a_unit: usize,
    is_grouped: bool,
    features: Vec<f32>,
    responses: Vec<f32>,
    is_present: Vec<bool>,
}

impl Table {
    /// Two neighbours: without and with a unit under zero-out, with a unit and with its opposite
    /// under replace-one.
    ///
    /// # Why
    /// The features and the response of the unit are far beyond all limits, so that what it
    /// contributes is clipped to the bound of every question.
    pub(super) fn neighbours(request: &AuditRequest) -> [Self; 2] {
        let base = Self::base(request);
        let mut first = base.clone();
        let mut second = base;
        second.set(CHANGED, 1.0);
        match request.relation {
            Relation::ZeroOut => first.remove(CHANGED),
            Relation::ReplaceOne => first.set(CHANGED, -1.0),
        }
        [first, second]
    }

    /// Ordinary records: the first feature has an effect.
    fn base(request: &AuditRequest) -> Self {
        let is_grouped = request.unit == PrivacyUnit::Client;
        let rows_of_a_unit = if is_grouped { ROWS_OF_A_CLIENT } else { 1 };
        let units = request.units as usize;
        let (rows, n_features) = (units * rows_of_a_unit, request.features as usize);
        let mut draws = Draws {
            state: request.seed,
        };
        let features: Vec<f32> = (0..rows * n_features).map(|_| draws.uniform()).collect();
        let responses = features
            .chunks_exact(n_features.max(1))
            .map(|row| row.first().copied().unwrap_or(0.0) + 0.3 * draws.uniform())
            .collect();
        Self {
            n_features,
            rows_of_a_unit,
            is_grouped,
            features,
            responses,
            is_present: vec![true; units],
        }
    }

    fn set(&mut self, unit: usize, sign: f32) {
        for row in self.rows_of(unit) {
            let row_features = row * self.n_features..(row + 1) * self.n_features;
            if let Some(features) = self.features.get_mut(row_features) {
                features.fill(1e3);
            }
            if let Some(response) = self.responses.get_mut(row) {
                *response = sign * 1e9;
            }
        }
    }

    fn remove(&mut self, unit: usize) {
        if let Some(is_present) = self.is_present.get_mut(unit) {
            *is_present = false;
        }
    }

    fn rows_of(&self, unit: usize) -> core::ops::Range<usize> {
        unit * self.rows_of_a_unit..(unit + 1) * self.rows_of_a_unit
    }

    /// Which units have records.
    pub(super) fn presence(&self) -> &[bool] {
        &self.is_present
    }
}

/// A table as a backend reads it: unit k holds row `order[k]`.
#[derive(Clone, Debug)]
pub(super) struct TableSource<'a> {
    table: &'a Table,
    order: Vec<usize>,
}

impl<'a> TableSource<'a> {
    pub(super) const fn of(table: &'a Table, order: Vec<usize>) -> Self {
        Self { table, order }
    }
}

impl RecordSource for TableSource<'_> {
    fn n_features(&self) -> usize {
        self.table.n_features
    }

    fn n_units(&self) -> usize {
        self.order.len()
    }

    fn visit_unit(&self, unit: usize, visit: &mut dyn FnMut(Record<'_>)) {
        let table = self.table;
        let unit = self.order.get(unit).copied().unwrap_or(unit);
        let is_present = table.is_present.get(unit).copied().unwrap_or(false);
        for row in table.rows_of(unit) {
            let features = row * table.n_features..(row + 1) * table.n_features;
            let (Some(features), Some(response)) =
                (table.features.get(features), table.responses.get(row))
            else {
                return;
            };
            let response = *response;
            visit(Record {
                features,
                response,
                is_present,
            });
        }
    }

    fn is_grouped(&self) -> bool {
        self.table.is_grouped
    }
}

/// SplitMix64: ordinary records, not noise.
struct Draws {
    state: u64,
}

impl Draws {
    /// A number of variance one, within ±√3.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "24 bits are exact in single precision"
    )]
    fn uniform(&mut self) -> f32 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let unit = (mixed >> 40) as f64 / f64::from(1u32 << 24);
        ((2.0 * unit - 1.0) * 3f64.sqrt()) as f32
    }
}
