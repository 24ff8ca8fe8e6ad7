//! A party's table as the study sees it: agreed features in agreed order, a unit at a time.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sprifed_data::{DataError, Mapping, Schema, read_table};
use sprifed_privacy::PrivacyUnit;
use sprifed_query::{Record, RecordSource};
use sprifed_study::Agreement;

use super::failure::Failure;

/// The `data` of an agreement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DataTerms {
    /// The schema, as it was written.
    pub(super) schema: String,
    /// The candidate features, in order.
    pub(super) features: Vec<String>,
}

impl DataTerms {
    /// The terms of an agreement.
    pub(super) fn of(data: &serde_json::Value) -> Result<Self, Failure> {
        serde_json::from_value(data.clone())
            .map_err(|error| Failure::unusable("the study's data", error, "a schema and features"))
    }

    pub(super) fn schema(&self) -> Result<Schema, Failure> {
        Ok(Schema::parse(&self.schema).map_err(DataError::from)?)
    }

    /// The units of every feature and of the response.
    pub(super) fn mapping(&self, schema: &Schema) -> Result<Mapping, Failure> {
        let names = self.features.iter().map(String::as_str);
        let required = "bounds for each, or default bounds under [features]";
        Mapping::for_features(schema, names).ok_or_else(|| {
            Failure::unusable(
                "the schema",
                "a feature of the study has no bounds",
                required,
            )
        })
    }
}

/// The records of one party, or only their width where none are needed.
#[derive(Clone, Debug)]
pub(super) struct PartyRecords(Arc<Held>);

#[derive(Debug)]
struct Held {
    features: Vec<f32>,
    responses: Vec<f32>,
    n_features: usize,
    unit: PrivacyUnit,
}

impl PartyRecords {
    /// No records, of the agreed width: for errands that ask nothing of them.
    pub(super) fn none(agreement: &Agreement) -> Self {
        Self(Arc::new(Held {
            features: Vec::new(),
            responses: Vec::new(),
            n_features: agreement.setting.n_features as usize,
            unit: agreement.plan.unit,
        }))
    }

    /// Reads `table` as `agreement` says.
    pub(super) fn read(table: &Path, agreement: &Agreement) -> Result<Self, Failure> {
        let terms = DataTerms::of(&agreement.data)?;
        let read = read_table(table, &terms.schema()?)?;
        let names = read.design().names();
        let known: std::collections::BTreeMap<&str, usize> = names
            .iter()
            .enumerate()
            .map(|(place, name)| (name.as_str(), place))
            .collect();
        let place = |name: &String| {
            known.get(name.as_str()).copied().ok_or_else(|| {
                let what = table.display().to_string();
                let found = format!("it has no column {name:?}");
                Failure::unusable(what, found, "a table with all columns of the study")
            })
        };
        let places: Vec<usize> = terms.features.iter().map(place).collect::<Result<_, _>>()?;
        let rows = read.design().rows();
        let features = rows.flat_map(|row| places.iter().map(|place| row[*place]));
        Ok(Self(Arc::new(Held {
            features: features.collect(),
            responses: read.response().to_vec(),
            n_features: places.len(),
            unit: agreement.plan.unit,
        })))
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
            });
        }
    }
}
