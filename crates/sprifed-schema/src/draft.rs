//! A first schema, written from the header of a table and never from its cells.

use std::fmt::Write as _;

use crate::columns::{Column, ColumnKind, positions_by_name};
use crate::error::ColumnError;
use crate::marker::Marker;

/// Marks a place where the user must write a number. It is not TOML, so a draft cannot be used as
/// it is.
pub const PLACEHOLDER: &str = "FILL_IN";

/// Above this many numeric columns the draft shows one example instead of all of them.
const MOST_LISTED: usize = 40;

/// A schema for `columns` in which every bound is still to be filled in.
///
/// # Guarantee
/// It depends on the names of the columns, and on their types where the file states them, as Parquet does. No cell is
/// looked at: a draft that told columns of numbers from columns of text by their cells would reveal them.
///
/// The response is the column `y` or `PHENO` if there is one, else a placeholder. Counts of alleles have the bounds that
/// they have by definition; then each other column has bounds of its own.
///
/// # Errors
/// If columns have no names, or names repeat; all of it is said at once.
pub fn draft_schema(columns: &[Column]) -> Result<String, ColumnError> {
    let positions = positions_by_name(columns)?;
    let named = RESPONSES.iter().find_map(|name| positions.get(name));
    let response = named.map(|&at| columns[at].name.as_str());
    let (mut text, mut markers, mut features) = (Vec::new(), 0, Vec::new());
    for column in columns {
        match column.kind {
            ColumnKind::Text | ColumnKind::Date => text.push(column.name.clone()),
            _ if Some(column.name.as_str()) == response => {}
            ColumnKind::AlleleCount(_) => markers += 1,
            ColumnKind::Numeric | ColumnKind::Unstated => features.push(column.name.clone()),
        }
    }

    let mut draft = String::from(PREAMBLE);
    write_response(&mut draft, response);
    if markers == 0 {
        write_defaults(&mut draft, features.len());
        write_excluded(&mut draft, &text);
        write_features(&mut draft, &features);
        write_record(
            &mut draft,
            "reject",
            "or \"midpoint\": the middle of the bounds",
        );
    } else {
        write_markers(&mut draft, markers);
        write_excluded(&mut draft, &text);
        write_covariates(&mut draft, &features);
        write_record(
            &mut draft,
            "midpoint",
            "a missing genotype counts as 1; or \"reject\"",
        );
    }
    Ok(draft)
}

/// What the response is called by custom: in tables of numbers, and in the sample file of PLINK.
const RESPONSES: [&str; 2] = ["y", "PHENO"];

const PREAMBLE: &str = "\
# Public schema, drafted from the header of the table alone. No cell was read, so the draft cannot
# know which columns hold numbers: `sprifed schema check` names all that do not fit.
#
# Replace every FILL_IN by a number that is known without looking at the records: a physical limit,
# the range of the instrument, the definition of a scale, the literature. Bounds cannot be read off
# the data: the largest value of a column is the value of one record, and a bound
# that moves when one record changes reveals that record. Values outside the bounds are moved to the nearest bound.
# Bounds that are too wide cost accuracy, bounds that are too narrow bias the fit; neither costs
# privacy. All keys: docs/schema.md

";

fn write_record(draft: &mut String, missing: &str, otherwise: &str) {
    // Writing to a String cannot fail.
    let _ = write!(
        draft,
        "
[record]
# client = \"NAME\"            # column that says whose record it is; absent: one record per client
# max_per_client = 1         # only the first records of a client are used, in file order
# unit = \"record\"            # or \"client\": whose presence the guarantee hides
missing = \"{missing}\"           # {otherwise}; \"indicator\": and a 0/1 column
missing_response = \"reject\"  # or \"drop\": such a record contributes nothing
"
    );
}

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

fn write_defaults(draft: &mut String, n_features: usize) {
    let _ = write!(
        draft,
        "[features]                   # for each of the {n_features} columns not named below\n\
         lower = {PLACEHOLDER}\n\
         upper = {PLACEHOLDER}\n\
         # center = 0                # a public mean and spread, if they are known without the records:\n\
         # scale = 1                 # features in standard units are found far better than wide bounds allow\n\
         # transform = \"log1p\"       # for counts; bounds stay in the units of the column\n\
         # bounds = \"bounds.csv\"     # public bounds of many columns: column,lower,upper[,center,scale]\n\
         # include = [\"x_*\"]         # only these columns (`*` matches any text)\n"
    );
}

fn write_markers(draft: &mut String, n_markers: usize) {
    let _ = write!(
        draft,
        "[features]                   # for each of the {n_markers} genetic markers: the copies of its effect allele\n\
         lower = {least}                    # known without looking: no person has fewer copies\n\
         upper = {most}                    # or more\n\
         # bounds = \"bounds.csv\"     # with public allele frequencies f: center 2f, scale sqrt(2f(1-f)), missing_value 2f\n\
         # include = [\"rs*\"]         # only these columns (`*` matches any text)\n\
         # always = [\"SEX\"]          # covariates that stay in the model\n",
        least = Marker::LEAST_COPIES,
        most = Marker::MOST_COPIES,
    );
}

fn write_excluded(draft: &mut String, text: &[String]) {
    if text.is_empty() {
        draft.push_str(
            "# exclude = [\"id\", \"time\"]   # all but these columns: ids, times, free text\n",
        );
    } else {
        let list: Vec<String> = text.iter().map(|name| quote(name)).collect();
        let _ = writeln!(
            draft,
            "exclude = [{}]  # no numbers, says the file; add ids and times",
            list.join(", ")
        );
    }
}

/// Columns beside genetic markers, each of which needs bounds of its own: those of the markers are not theirs.
fn write_covariates(draft: &mut String, covariates: &[String]) {
    if !covariates.is_empty() {
        draft.push_str(
            "\n# Columns that are no markers. Give each its bounds, or levels = [...] if it is a category, or list it in\n\
             # `exclude` and delete its lines here. Delete those of the response, too.\n",
        );
    }
    for name in covariates {
        let name = quote(name);
        let _ = write!(
            draft,
            "[feature.{name}]\nlower = {PLACEHOLDER}\nupper = {PLACEHOLDER}\n"
        );
    }
}

fn write_features(draft: &mut String, features: &[String]) {
    let listed = if features.len() > MOST_LISTED {
        1
    } else {
        features.len()
    };
    if listed > 0 {
        draft.push_str(
            "\n# Columns with bounds of their own; remove the # where they differ.\n\
             # A category has public levels instead: levels = [\"female\", \"male\"], the first is the reference.\n",
        );
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
