//! How each column is read: the tables of a schema, laid over each other.
//!
//! Four tables may speak of a column. In this order: its own `[feature.NAME]`, its line in the bounds file, the
//! `[feature."PATTERN"]` with the most characters that it fits, and `[features]`. A key that one table does not have is
//! taken from the next. `lower`, `upper`, `center` and `scale` belong together: where a table gives bounds, no later
//! table gives a centre or a scale.

use std::collections::BTreeMap;

use super::file::{FeatureTable, FeaturesTable};
use super::{MissingPolicy, Transform};
use crate::coding::{Coding, Gap, LevelCoding, NumberCoding};
use crate::error::SchemaError;
use crate::pattern::Pattern;
use crate::units::Units;

/// How the columns of a table are read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Codings {
    /// Columns with a table or a line of their own.
    pub(super) named: BTreeMap<String, Coding>,
    /// Columns by pattern, the longest first; none where the pattern gives no bounds.
    patterned: Vec<(Pattern, Option<Coding>)>,
    /// All others.
    default: Option<Coding>,
}

impl Codings {
    /// The codings of these tables, `missing` where they do not say what happens to gaps.
    pub(super) fn resolve(
        features: &FeaturesTable,
        tables: &BTreeMap<String, FeatureTable>,
        bounds: &BTreeMap<String, FeatureTable>,
        missing: MissingPolicy,
    ) -> Result<Self, SchemaError> {
        if missing == MissingPolicy::Value {
            return Err(SchemaError::FeatureTable {
                table: "record".into(),
                problem: "has missing = \"value\"; the public value belongs to a column: set missing_value under its [feature.NAME]".into(),
            });
        }
        let default = FeatureTable {
            lower: features.lower,
            upper: features.upper,
            center: features.center,
            scale: features.scale,
            transform: features.transform,
            ..FeatureTable::default()
        };
        let mut patterns: Vec<(Pattern, &FeatureTable)> = tables
            .iter()
            .map(|(name, table)| (Pattern::new(name.as_str()), table))
            .filter(|(pattern, _)| !pattern.is_plain_name())
            .collect();
        // Stable: patterns of one length stay in alphabetical order.
        patterns.sort_by_key(|(pattern, _)| core::cmp::Reverse(pattern.as_str().len()));
        let mut named = BTreeMap::new();
        let plain = tables.keys().filter(|name| !name.contains('*'));
        for name in plain.chain(bounds.keys()) {
            let own = tables.get(name);
            let pattern = patterns.iter().find(|(pattern, _)| pattern.matches(name));
            let layers = [own, bounds.get(name), pattern.map(|(_, table)| *table)];
            let layers: Vec<&FeatureTable> =
                layers.into_iter().flatten().chain([&default]).collect();
            let table = format!("feature.{name}");
            let coding = code(&table, &layers, missing)?;
            if coding.is_none() && own.is_some() {
                return Err(SchemaError::FeatureTable {
                    table,
                    problem: "has no bounds; give lower and upper, or levels".into(),
                });
            }
            named.extend(coding.map(|coding| (name.clone(), coding)));
        }
        let patterned = patterns
            .into_iter()
            .map(|(pattern, table)| {
                let name = format!("feature.\"{}\"", pattern.as_str());
                Ok((pattern, code(&name, &[table, &default], missing)?))
            })
            .collect::<Result<_, SchemaError>>()?;
        Ok(Self {
            named,
            patterned,
            default: code("features", &[&default], missing)?,
        })
    }

    /// How the column `name` is read; none if it has neither bounds nor levels.
    pub(super) fn of(&self, name: &str) -> Option<&Coding> {
        if let Some(coding) = self.named.get(name) {
            return Some(coding);
        }
        let fits = self
            .patterned
            .iter()
            .find(|(pattern, _)| pattern.matches(name));
        fits.map_or(self.default.as_ref(), |(_, coding)| coding.as_ref())
    }

    /// Whether columns without a table or a line of their own have bounds.
    pub(super) const fn has_default(&self) -> bool {
        self.default.is_some()
    }

    /// The patterns that have a table, the longest first.
    pub(super) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.patterned.iter().map(|(pattern, _)| pattern)
    }
}

/// The first that a table says.
fn first<T: Clone>(
    layers: &[&FeatureTable],
    key: impl Fn(&FeatureTable) -> &Option<T>,
) -> Option<T> {
    layers.iter().find_map(|layer| key(layer).clone())
}

fn code(
    table: &str,
    layers: &[&FeatureTable],
    missing: MissingPolicy,
) -> Result<Option<Coding>, SchemaError> {
    if let Some(levels) = first(layers, |layer| &layer.levels) {
        let levels = levels
            .into_iter()
            .map(super::file::Level::into_text)
            .collect();
        return code_levels(table, levels, layers, missing).map(Some);
    }
    let refuse = |problem: &str| SchemaError::FeatureTable {
        table: table.to_owned(),
        problem: problem.to_owned(),
    };
    if first(layers, |layer| &layer.reference).is_some()
        || first(layers, |layer| &layer.other).is_some()
        || first(layers, |layer| &layer.together).is_some()
    {
        return Err(refuse(
            "has `reference`, `other` or `together` without `levels`",
        ));
    }
    let Some(depth) = layers
        .iter()
        .position(|layer| layer.lower.is_some() || layer.upper.is_some())
    else {
        let is_half = layers
            .iter()
            .any(|layer| layer.center.is_some() || layer.scale.is_some());
        return if is_half {
            Err(SchemaError::HalfAnInterval {
                table: table.to_owned(),
            })
        } else {
            Ok(None)
        };
    };
    let (Some(lower), Some(upper)) = (layers[depth].lower, layers[depth].upper) else {
        return Err(SchemaError::HalfAnInterval {
            table: table.to_owned(),
        });
    };
    let near = &layers[..=depth];
    let (center, scale) = (
        first(near, |layer| &layer.center),
        first(near, |layer| &layer.scale),
    );
    let transform = first(layers, |layer| &layer.transform).unwrap_or_default();
    let units = transformed_units(table, transform, (lower, upper), center, scale)?;
    let value = first(layers, |layer| &layer.missing_value);
    let policy = first(layers, |layer| &layer.missing);
    let policy = policy.unwrap_or(if value.is_some() {
        MissingPolicy::Value
    } else {
        missing
    });
    if let Some(value) = value
        && !(lower..=upper).contains(&value)
    {
        return Err(refuse("has a `missing_value` outside its bounds"));
    }
    let middle = units.lower() / 2.0 + units.upper() / 2.0;
    let gap = match (policy, value) {
        (MissingPolicy::Value, Some(value)) => Gap::Fill(transform.apply_signed(value)),
        (MissingPolicy::Value, None) => {
            return Err(refuse("has missing = \"value\" without `missing_value`"));
        }
        (_, Some(_)) => {
            return Err(refuse(
                "has a `missing_value`, which requires missing = \"value\"",
            ));
        }
        (MissingPolicy::Reject, None) => Gap::Reject,
        (MissingPolicy::Midpoint, None) => Gap::Fill(middle),
        (MissingPolicy::Indicator, None) => Gap::Indicator(middle),
    };
    Ok(Some(Coding::Number(NumberCoding {
        transform,
        units,
        gap,
    })))
}

fn code_levels(
    table: &str,
    levels: Vec<String>,
    layers: &[&FeatureTable],
    missing: MissingPolicy,
) -> Result<Coding, SchemaError> {
    let refuse = |problem: String| SchemaError::FeatureTable {
        table: table.to_owned(),
        problem,
    };
    // What [features] says is about numbers.
    let own = &layers[..layers.len() - 1];
    let is_number = |layer: &&FeatureTable| {
        layer.lower.is_some()
            || layer.upper.is_some()
            || layer.transform.is_some()
            || layer.missing_value.is_some()
    };
    if own.iter().any(is_number) {
        return Err(refuse(
            "has `levels` and a key for numbers; required: one or the other".to_owned(),
        ));
    }
    let has_indicator = match first(own, |layer| &layer.missing) {
        None => missing == MissingPolicy::Indicator,
        Some(MissingPolicy::Reject) => false,
        Some(MissingPolicy::Indicator) => true,
        Some(MissingPolicy::Midpoint | MissingPolicy::Value) => {
            let problem = "has `levels`, which have no middle; required: missing = \"reject\" or \"indicator\"";
            return Err(refuse(problem.to_owned()));
        }
    };
    let reference = first(own, |layer| &layer.reference).map(super::file::Level::into_text);
    let other = first(own, |layer| &layer.other).unwrap_or(false);
    let coding = LevelCoding::new(levels, reference, other, has_indicator);
    let together = first(own, |layer| &layer.together).unwrap_or(false);
    coding
        .map(|coding| Coding::Levels(coding.picked_together(together)))
        .map_err(refuse)
}

/// Bounds are stated in the units of the column; centre and scale, where given, belong to the scale the model is
/// fitted on.
fn transformed_units(
    table: &str,
    transform: Transform,
    (lower, upper): (f64, f64),
    center: Option<f64>,
    scale: Option<f64>,
) -> Result<Units, SchemaError> {
    // The bounds alone first, so that a message shows them as they were written.
    Units::new(table, lower, upper, None, None)?;
    let (lower, upper) = (transform.apply_signed(lower), transform.apply_signed(upper));
    Units::new(table, lower, upper, center, scale)
}
