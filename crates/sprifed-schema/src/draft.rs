//! A first schema, written from column names and types and never from values.

use std::fmt::Write as _;

use crate::columns::{Column, ColumnKind, positions_by_name};
use crate::error::ColumnError;

/// Marks a place where the user must write a number. It is not TOML, so a draft cannot be used as
/// it is.
pub const PLACEHOLDER: &str = "FILL_IN";

/// Above this many numeric columns the draft shows one example instead of all of them.
const MOST_LISTED: usize = 40;

/// A schema for `columns` in which every bound is still to be filled in.
///
/// The response is the column `y` if there is one, else a placeholder.
///
/// # Errors
/// If columns have no names, or names repeat.
pub fn draft_schema(columns: &[Column]) -> Result<String, ColumnError> {
    let positions = positions_by_name(columns)?;
    let response = positions.get("y").map(|&at| columns[at].name.as_str());
    let features = numeric_names(columns).filter(|name| Some(*name) != response);
    let features: Vec<&str> = features.collect();
    let text: Vec<&str> = columns
        .iter()
        .filter(|column| column.kind == ColumnKind::Text)
        .map(|column| column.name.as_str())
        .collect();

    let mut draft = String::from(PREAMBLE);
    write_response(&mut draft, response);
    write_defaults(&mut draft, &text, features.len());
    write_features(&mut draft, &features);
    draft.push_str(RECORD);
    Ok(draft)
}

fn numeric_names(columns: &[Column]) -> impl Iterator<Item = &str> {
    columns
        .iter()
        .filter(|column| column.kind == ColumnKind::Numeric)
        .map(|column| column.name.as_str())
}

const PREAMBLE: &str = "\
# Public schema, drafted from column names and types. No value was used for a bound.
#
# Replace every FILL_IN by a number that is known without looking at the records: a physical limit,
# the range of the instrument, the definition of a scale, the literature. Bounds cannot be read off
# the data: the largest value of a column is the value of one record, and a bound
# that moves when one record changes reveals that record. Values outside the bounds are moved to the nearest bound.
# Bounds that are too wide cost accuracy, bounds that are too narrow bias the fit; neither costs
# privacy.

";

const RECORD: &str = "
[record]
# client = \"NAME\"            # column that says whose record it is; absent: one record per client
# max_per_client = 1         # only the first records of a client are used, in file order
# unit = \"record\"            # or \"client\": whose presence the guarantee hides
missing = \"reject\"           # or \"midpoint\": the middle of the bounds is used
missing_response = \"reject\"  # or \"drop\": such a record contributes nothing
";

fn write_response(draft: &mut String, response: Option<&str>) {
    let name = response.map_or_else(|| PLACEHOLDER.to_owned(), quote);
    // Writing to a String cannot fail.
    let _ = write!(
        draft,
        "[response]\n\
         name = {name}\n\
         lower = {PLACEHOLDER}\n\
         upper = {PLACEHOLDER}\n\
         # transform = \"log1p\"       # for counts; bounds stay in the units of the column\n\n"
    );
}

fn write_defaults(draft: &mut String, text: &[&str], n_features: usize) {
    let _ = write!(
        draft,
        "[features]                   # for each of the {n_features} numeric columns not named below\n\
         lower = {PLACEHOLDER}\n\
         upper = {PLACEHOLDER}\n\
         # center = 0                # a public mean and spread, if they are known without the records:\n\
         # scale = 1                 # features in standard units are found far better than wide bounds allow\n\
         # include = [\"x_*\"]         # only these columns (`*` matches any text)\n"
    );
    if text.is_empty() {
        draft.push_str("# exclude = [\"id\", \"time\"]   # all but these columns\n");
    } else {
        let list: Vec<String> = text.iter().map(|name| quote(name)).collect();
        let _ = writeln!(
            draft,
            "exclude = [{}]  # text; add ids and times",
            list.join(", ")
        );
    }
}

fn write_features(draft: &mut String, features: &[&str]) {
    let listed = if features.len() > MOST_LISTED {
        1
    } else {
        features.len()
    };
    if listed > 0 {
        draft.push_str("\n# Columns with bounds of their own; remove the # where they differ.\n");
    }
    for name in &features[..listed] {
        let name = quote(name);
        let _ = write!(
            draft,
            "# [feature.{name}]\n# lower = {PLACEHOLDER}\n# upper = {PLACEHOLDER}\n"
        );
    }
}

/// `name` as a TOML string.
fn quote(name: &str) -> String {
    let mut quoted = String::from('"');
    for character in name.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(control));
            }
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests;
