//! A party's table as the study sees it: agreed features in agreed order, a unit at a time.

use std::collections::HashMap;
use std::sync::Arc;

use sprifed_privacy::PrivacyUnit;
use sprifed_query::{Record, RecordSource};
use sprifed_secure_sum::ClientId;
use sprifed_study::Agreement;
use sprifed_tables::Table;

use crate::error::PartyError;
use crate::terms::terms_of;

/// The records of one party, read once and shared by every machine that is made of them.
#[derive(Clone, Debug)]
pub struct PartyRecords(Arc<Held>);

#[derive(Debug)]
struct Held {
    features: Vec<f32>,
    responses: Vec<f32>,
    /// Which of them count; the others keep their places.
    present: Vec<bool>,
    n_features: usize,
    unit: PrivacyUnit,
}

impl PartyRecords {
    /// The records of `table`, which messages call `name`, as `agreement` asks for them of the party `me`: where each
    /// party has an intercept of its own, the features are followed by an indicator of each party.
    ///
    /// # Errors
    /// When a column of the study is not there.
    pub fn of(
        table: &Table,
        name: &str,
        agreement: &Agreement,
        me: ClientId,
    ) -> Result<Self, PartyError> {
        let terms = terms_of(agreement)?;
        let columns = table.design().names().iter().map(String::as_str);
        let places: HashMap<&str, usize> = columns.zip(0..).collect();
        let place = |column: &String| {
            places
                .get(column.as_str())
                .copied()
                .ok_or_else(|| PartyError::MissingColumn {
                    table: name.to_owned(),
                    column: column.clone(),
                })
        };
        let places: Vec<usize> = terms
            .features()
            .iter()
            .map(place)
            .collect::<Result<_, _>>()?;
        let own = me.0 as usize;
        let sites = 0..agreement.setting.sites.count();
        let n_features = places.len() + sites.len();
        let mut features = Vec::with_capacity(table.response().len() * n_features);
        for record in 0..table.response().len() {
            table.design().with_row(record, |row| {
                features.extend(places.iter().map(|place| row[*place]));
            });
            features.extend(sites.clone().map(|site| f32::from(u8::from(site == own))));
        }
        Ok(Self(Arc::new(Held {
            features,
            responses: table.response().to_vec(),
            present: table.present().to_vec(),
            n_features,
            unit: agreement.plan.unit,
        })))
    }

    /// One record whose response depends on its first two features; for measurements.
    #[must_use]
    pub fn made_up(party: u32, n_features: u32) -> Self {
        let mut state = u64::from(party) << 32 | 1;
        let mut draw = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            // Of 16 bits, so that nothing is rounded.
            f32::from(u16::try_from(state >> 48).unwrap_or(0)) / 32_768.0 - 1.0
        };
        let features: Vec<f32> = (0..n_features).map(|_| draw()).collect();
        let part = |place: usize| features.get(place).copied().unwrap_or(0.0);
        Self(Arc::new(Held {
            responses: vec![2.0 * part(0) - 1.5 * part(1)],
            present: vec![true],
            n_features: features.len(),
            features,
            unit: PrivacyUnit::Record,
        }))
    }
}

impl RecordSource for PartyRecords {
    fn n_features(&self) -> usize {
        self.0.n_features
    }

    fn n_units(&self) -> usize {
        match self.0.unit {
            PrivacyUnit::Record => self.0.responses.len(),
            PrivacyUnit::Client => usize::from(!self.0.responses.is_empty()),
        }
    }

    fn visit_unit(&self, unit: usize, visit: &mut dyn FnMut(Record<'_>)) {
        let rows = match self.0.unit {
            PrivacyUnit::Record => unit..unit + 1,
            PrivacyUnit::Client => 0..self.0.responses.len(),
        };
        for row in rows {
            let start = row * self.0.n_features;
            visit(Record {
                features: &self.0.features[start..start + self.0.n_features],
                response: self.0.responses[row],
                is_present: self.0.present[row],
            });
        }
    }
}
