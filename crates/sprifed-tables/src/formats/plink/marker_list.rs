//! The `.bim` file: a marker in each line.

use std::collections::HashMap;
use std::io::BufRead;

use sprifed_schema::{Column, ColumnKind, Marker};

use super::{FIELDS, each_line};
use crate::error::DataError;

/// What stands for an identifier that a marker does not have.
const NO_NAME: &str = ".";

/// A column for each marker, in the order of the file.
pub(super) fn read(lines: impl BufRead) -> Result<Vec<Column>, DataError> {
    let mut markers = Vec::new();
    each_line(lines, "bim", |fields| {
        markers.push(of_fields(fields)?);
        Ok(())
    })?;
    Ok(named(markers))
}

/// The identifier and what is known of a marker, or what is wrong with its line.
fn of_fields(fields: [&str; FIELDS]) -> Result<(String, Marker), &'static str> {
    let [chromosome, name, _, position, effect_allele, other_allele] = fields;
    let position = match position.parse::<i64>() {
        Ok(0) => None,
        Ok(position) => Some(u64::try_from(position).map_err(|_| {
            "has a negative position, by which PLINK leaves a marker out; write the files again without it"
        })?),
        Err(_) => return Err("has a position that is no whole number"),
    };
    let marker = Marker {
        chromosome: chromosome.to_owned(),
        position,
        effect_allele: effect_allele.to_owned(),
        other_allele: other_allele.to_owned(),
    };
    Ok((name.to_owned(), marker))
}

/// Names a column for each marker: its identifier, or chromosome, position and alleles, if it has none or others have the
/// same; with the identifier before, if there is one.
fn named(markers: Vec<(String, Marker)>) -> Vec<Column> {
    let mut uses: HashMap<&str, u32> = HashMap::with_capacity(markers.len());
    for (name, _) in &markers {
        *uses.entry(name).or_default() += 1;
    }
    let is_unique: Vec<bool> = markers
        .iter()
        .map(|(name, _)| uses.get(name.as_str()) == Some(&1) && name != NO_NAME)
        .collect();
    let columns = markers.into_iter().zip(is_unique);
    let column = |((name, marker), is_unique): ((String, Marker), bool)| Column {
        name: match is_unique {
            true => name,
            false if name == NO_NAME => place(&marker),
            false => format!("{name}:{}", place(&marker)),
        },
        kind: ColumnKind::AlleleCount(Box::new(marker)),
    };
    columns.map(column).collect()
}

/// Chromosome, position, other and counted allele.
fn place(marker: &Marker) -> String {
    let Marker {
        chromosome,
        position,
        effect_allele,
        other_allele,
    } = marker;
    let position = position.unwrap_or(0);
    format!("{chromosome}:{position}:{other_allele}:{effect_allele}")
}
