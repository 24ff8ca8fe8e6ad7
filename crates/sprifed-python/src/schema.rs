//! The public schema as a Python class.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use serde::de::value::{Error as NameError, StrDeserializer};
use sprifed::Error;
use sprifed_schema::{PublicBounds, PublicResponse, RecordPolicy, SchemaText};
use sprifed_tables::{DataError, read_schema, read_schema_text};

use crate::error::{Refusal, raise};

/// Which columns a study uses and the public bounds every record is held to.
///
/// Bounds are known without looking at the records: the largest value of a column belongs to one person
/// value. Make one with `Schema.from_bounds`, `Schema.from_toml` or `Schema.read`.
#[pyclass(frozen, module = "sprifed")]
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    pub(crate) inner: sprifed_schema::Schema,
    /// What it was made from, so that it can be pickled.
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Text(SchemaText),
    Bounds(Box<FromBounds>),
}

/// The arguments of `from_bounds`.
type FromBounds = (
    BoundsOrLevels,
    OneOrMany,
    OneOrMany,
    Option<Vec<String>>,
    Options,
);

/// Those with a default.
type Options = (
    String,
    Option<OneOrMany>,
    Option<OneOrMany>,
    String,
    Option<String>,
    Option<u32>,
    String,
    String,
    String,
    String,
);

/// What is public of a response: its bounds, or its two levels.
#[derive(Clone, Debug, FromPyObject, IntoPyObject)]
pub(crate) enum BoundsOrLevels {
    /// It is a number within these.
    Bounds(f64, f64),
    /// It is one of these; the second is the event.
    Levels(String, String),
}

/// One number for all columns, or one for each.
#[derive(Clone, Debug, FromPyObject, IntoPyObject)]
pub(crate) enum OneOrMany {
    /// For all.
    One(f64),
    /// For each.
    Many(Vec<f64>),
}

impl OneOrMany {
    fn at(&self, column: usize) -> Option<f64> {
        match self {
            Self::One(number) => Some(*number),
            Self::Many(numbers) => numbers.get(column).copied(),
        }
    }

    const fn length(&self) -> Option<usize> {
        match self {
            Self::One(_) => None,
            Self::Many(numbers) => Some(numbers.len()),
        }
    }
}

#[pymethods]
impl Schema {
    /// The schema written in `text`, in TOML; `bounds` is the text of the bounds file that it names.
    #[staticmethod]
    #[pyo3(signature = (text, bounds=None))]
    fn from_toml(py: Python<'_>, text: &str, bounds: Option<String>) -> PyResult<Self> {
        let text = SchemaText {
            schema: text.to_owned(),
            bounds,
        };
        let inner = sprifed_schema::Schema::of_text(&text)
            .map_err(|error| raise(py, DataError::from(error)))?;
        Ok(Self {
            inner,
            source: Source::Text(text),
        })
    }

    /// The schema in the file at `path`.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let text = read_schema_text(&path).map_err(|error| raise(py, error))?;
        let inner = read_schema(&path).map_err(|error| raise(py, error))?;
        Ok(Self {
            inner,
            source: Source::Text(text),
        })
    }

    /// A schema for arrays: `lower` and `upper` are one number for all columns or one for each. `response` is the pair of
    /// its bounds, or that of its two levels as texts, the one that counts as the event last.
    #[staticmethod]
    #[pyo3(signature = (response, lower, upper, names=None, *, response_name="y", center=None, scale=None,
        transform="identity", client=None, max_per_client=None, unit="record", missing="reject",
        missing_response="reject", feature_transform="identity"))]
    #[expect(clippy::too_many_arguments, reason = "keywords, in Python")]
    fn from_bounds(
        py: Python<'_>,
        response: BoundsOrLevels,
        lower: OneOrMany,
        upper: OneOrMany,
        names: Option<Vec<String>>,
        response_name: &str,
        center: Option<OneOrMany>,
        scale: Option<OneOrMany>,
        transform: &str,
        client: Option<String>,
        max_per_client: Option<u32>,
        unit: &str,
        missing: &str,
        missing_response: &str,
        feature_transform: &str,
    ) -> PyResult<Self> {
        let options = (
            response_name.to_owned(),
            center,
            scale,
            transform.to_owned(),
            client,
            max_per_client,
            unit.to_owned(),
            missing.to_owned(),
            missing_response.to_owned(),
            feature_transform.to_owned(),
        );
        Self::of((response, lower, upper, names, options)).map_err(|failure| raise(py, failure))
    }

    /// The name of the response.
    #[getter]
    fn response_name(&self) -> &str {
        self.inner.response().name()
    }

    /// The public bounds of the response, on the scale of its transform.
    #[getter]
    fn response_bounds(&self) -> (f64, f64) {
        let units = self.inner.response().units();
        (units.lower(), units.upper())
    }

    /// The two levels of the response, the one that counts as the event last; none if it is a number.
    #[getter]
    fn response_levels(&self) -> Option<Vec<String>> {
        let levels = self.inner.response().levels()?;
        Some(levels.names().to_vec())
    }

    /// The column that says whose record it is, if there is one.
    #[getter]
    fn client(&self) -> Option<&str> {
        self.inner.client()
    }

    /// Whether gaps in features become the middle of their bounds.
    #[getter]
    fn allows_missing(&self) -> bool {
        self.inner.missing() != sprifed_schema::MissingPolicy::Reject
    }

    /// Whether records without a response are left out.
    #[getter]
    fn drops_missing_response(&self) -> bool {
        self.inner.missing_response() == sprifed_schema::MissingResponsePolicy::Drop
    }

    /// The public bounds of the feature `name`, if it has some.
    fn bounds_of(&self, name: &str) -> Option<(f64, f64)> {
        let units = self.inner.units_of(name)?;
        Some((units.lower(), units.upper()))
    }

    fn __repr__(&self) -> String {
        let name = self.response_name();
        if let Some([other, event]) = self.response_levels().as_deref() {
            return format!("Schema(response {name:?}, {other:?} or {event:?})");
        }
        let (lower, upper) = self.response_bounds();
        format!("Schema(response {name:?} from {lower} to {upper})")
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.inner == other.inner
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let class = py.get_type::<Self>();
        Ok(match &self.source {
            Source::Text(text) => (class.getattr("from_toml")?, (&text.schema, &text.bounds))
                .into_pyobject(py)?
                .into_any(),
            Source::Bounds(bounds) => {
                let (response, lower, upper, names, options) = (**bounds).clone();
                let arguments = (response, lower, upper, names, options);
                (class.getattr("_restore")?, arguments)
                    .into_pyobject(py)?
                    .into_any()
            }
        })
    }

    #[staticmethod]
    fn _restore(
        py: Python<'_>,
        response: BoundsOrLevels,
        lower: OneOrMany,
        upper: OneOrMany,
        names: Option<Vec<String>>,
        options: Options,
    ) -> PyResult<Self> {
        Self::of((response, lower, upper, names, options)).map_err(|failure| raise(py, failure))
    }
}

impl Schema {
    fn of(arguments: FromBounds) -> Result<Self, Refusal> {
        let (response, lower, upper, names, options) = &arguments;
        let (response_name, center, scale, transform, client, cap, unit, missing, gap, change) =
            options;
        let change = named_choice("feature_transform", change)?;
        let at = |column: usize| -> Option<PublicBounds> {
            Some(PublicBounds {
                lower: lower.at(column)?,
                upper: upper.at(column)?,
                center: center.as_ref().and_then(|center| center.at(column)),
                scale: scale.as_ref().and_then(|scale| scale.at(column)),
                transform: change,
            })
        };
        let given = [Some(lower), Some(upper), center.as_ref(), scale.as_ref()];
        let lengths: Vec<usize> = given
            .into_iter()
            .flatten()
            .filter_map(OneOrMany::length)
            .collect();
        let mut named = BTreeMap::new();
        if let Some(columns) = lengths.first().copied() {
            let names = match names {
                Some(names) => names.clone(),
                None => (0..columns).map(|column| format!("x{column}")).collect(),
            };
            if lengths.iter().any(|length| *length != names.len()) {
                return Err(Refusal::Lengths {
                    found: lengths,
                    required: names.len(),
                });
            }
            for (column, name) in names.into_iter().enumerate() {
                named.extend(at(column).map(|bounds| (name, bounds)));
            }
        }
        let features = if lengths.is_empty() { at(0) } else { None };
        let transform = named_choice("transform", transform)?;
        let response = match response {
            BoundsOrLevels::Bounds(lower, upper) => PublicResponse::Number(PublicBounds {
                lower: *lower,
                upper: *upper,
                center: None,
                scale: None,
                transform,
            }),
            BoundsOrLevels::Levels(other, event) => {
                PublicResponse::Levels([other.clone(), event.clone()])
            }
        };
        let record = RecordPolicy {
            client: client.clone(),
            max_per_client: *cap,
            unit: named_choice("unit", unit)?,
            missing: named_choice("missing", missing)?,
            missing_response: named_choice("missing_response", gap)?,
            site_effects: false,
        };
        let response = (response_name.as_str(), response);
        let inner = sprifed_schema::Schema::of_bounds(response, features, named, record)
            .map_err(DataError::from)?;
        Ok(Self {
            inner,
            source: Source::Bounds(Box::new(arguments)),
        })
    }
}

/// A choice by the name that the schema's file has for it.
fn named_choice<T: DeserializeOwned>(what: &'static str, found: &str) -> Result<T, Refusal> {
    T::deserialize(StrDeserializer::<NameError>::new(found))
        .map_err(|problem| Refusal::SchemaChoice { what, problem })
}

/// The refusal of a fit without bounds.
#[pyfunction]
fn refuse_without_schema(py: Python<'_>) -> PyErr {
    raise(py, Error::NoSchema)
}

/// Adds the class to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Schema>()?;
    module.add_function(wrap_pyfunction!(refuse_without_schema, module)?)
}
