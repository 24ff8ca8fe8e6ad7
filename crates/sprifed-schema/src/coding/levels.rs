//! A categorical column: public levels, one of which is the reference.

use serde::{Deserialize, Serialize};

use super::{CellDefect, CellNote, is_missing_text, missing_name};

/// The most levels of one column. A schema may come from another party: it must not make a table of any width.
const MOST_LEVELS: usize = 100;

/// The reference of a column whose levels all have columns of their own: no level is empty.
const NO_REFERENCE: &str = "";

/// How a column of categories is read: one column of zeros and ones for each level but the reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelCoding {
    levels: Vec<String>,
    /// The level that has no column of its own; empty for sites, which all have one.
    reference: String,
    /// Whether values outside the levels have a column together; otherwise they are refused.
    other: bool,
    /// Whether missing values have a column; otherwise they are refused.
    missing: bool,
    /// Whether its columns are one candidate. That decides about a fit, not about how a cell is read, so no model says it.
    #[serde(skip)]
    together: bool,
}

/// What a cell of a categorical column says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The level at this place.
    Level(usize),
    /// None of the levels.
    Other,
    /// Nothing.
    Missing,
}

/// A level as cells are compared with it: files spell the same number or truth value in several ways.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meaning<'a> {
    Number(f64),
    Truth(bool),
    Text(&'a str),
}

fn meaning(text: &str) -> Meaning<'_> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("true") {
        return Meaning::Truth(true);
    }
    if text.eq_ignore_ascii_case("false") {
        return Meaning::Truth(false);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Meaning::Number(number),
        _ => Meaning::Text(text),
    }
}

impl LevelCoding {
    /// The same, with columns that are one candidate or several.
    #[must_use]
    pub(crate) fn picked_together(self, together: bool) -> Self {
        Self { together, ..self }
    }

    /// Whether its columns are one candidate.
    #[must_use]
    pub const fn is_together(&self) -> bool {
        self.together
    }

    /// The coding with these levels; the first is the reference unless another is named.
    ///
    /// # Errors
    /// With what is wrong, if there are fewer than two levels, two of them are the same value, the reference is none of
    /// them, or a level has the name of a further column.
    pub(crate) fn new(
        levels: Vec<String>,
        reference: Option<String>,
        other: bool,
        missing: bool,
    ) -> Result<Self, String> {
        if levels.len() < 2 && !(levels.len() == 1 && other) {
            return Err("has fewer than two levels; a category needs at least two".to_owned());
        }
        if levels.len() > MOST_LEVELS {
            return Err(format!(
                "has {} levels; required: at most {MOST_LEVELS}, so combine rare ones",
                levels.len()
            ));
        }
        for (place, level) in levels.iter().enumerate() {
            if level.trim().is_empty() {
                return Err(
                    "has an empty level; for missing values set missing = \"indicator\"".to_owned(),
                );
            }
            let is_same = |earlier: &&String| meaning(earlier) == meaning(level);
            if let Some(earlier) = levels[..place].iter().find(is_same) {
                return Err(format!(
                    "has the levels `{earlier}` and `{level}`, which are the same value"
                ));
            }
            if (other && level == "other") || (missing && level == "missing") {
                return Err(format!(
                    "has the level `{level}` and a further column of that name; rename the level in the table"
                ));
            }
        }
        let reference = match reference {
            None => levels[0].clone(),
            Some(named) => match levels
                .iter()
                .find(|level| meaning(level) == meaning(&named))
            {
                Some(level) => level.clone(),
                None => {
                    return Err(format!(
                        "has the reference `{named}`, which is none of its levels"
                    ));
                }
            },
        };
        Ok(Self {
            levels,
            reference,
            other,
            missing,
            together: false,
        })
    }

    /// The coding of a column of sites: each has a column of its own, and a record of none of them is refused.
    ///
    /// # Errors
    /// With what is wrong, as [`Self::new`].
    pub(crate) fn of_sites(names: Vec<String>) -> Result<Self, String> {
        let levels = Self::new(names, None, false, false)?;
        Ok(Self {
            reference: NO_REFERENCE.to_owned(),
            ..levels
        })
    }

    /// Whether this is a coding that [`Self::new`] makes: one that was read from a file may be anything.
    pub(crate) fn is_usable(&self) -> bool {
        let made = Self::new(
            self.levels.clone(),
            Some(self.reference.clone()),
            self.other,
            self.missing,
        );
        made.as_ref() == Ok(self)
    }

    /// The levels, in the order of the schema.
    #[must_use]
    pub fn levels(&self) -> &[String] {
        &self.levels
    }

    /// The level that has no column of its own.
    #[must_use]
    pub fn reference(&self) -> &str {
        &self.reference
    }

    /// Whether missing values have a column of their own.
    #[must_use]
    pub const fn has_indicator(&self) -> bool {
        self.missing
    }

    pub(crate) const fn has_other(&self) -> bool {
        self.other
    }

    pub(crate) fn width(&self) -> usize {
        self.coded().count() + usize::from(self.other) + usize::from(self.missing)
    }

    /// The levels with columns of their own, in order.
    pub(crate) fn coded(&self) -> impl Iterator<Item = &String> {
        self.levels.iter().filter(|level| **level != self.reference)
    }

    pub(super) fn names(&self, name: &str) -> Vec<String> {
        let levels = self.coded().map(|level| format!("{name}={level}"));
        let other = self.other.then(|| format!("{name}=other"));
        let missing = self.missing.then(|| missing_name(name));
        levels.chain(other).chain(missing).collect()
    }

    fn place(&self, text: &str) -> Place {
        let found = meaning(text);
        let is_found = |level: &String| meaning(level) == found;
        match self.levels.iter().position(is_found) {
            Some(place) => Place::Level(place),
            None if is_missing_text(text) => Place::Missing,
            None => Place::Other,
        }
    }

    /// Writes the level `label` into its places of a row.
    ///
    /// # Errors
    /// If it is none of the levels, or missing, and has no column for that.
    pub fn encode(&self, label: &[u8], places: &mut [f32]) -> Result<CellNote, CellDefect> {
        places.fill(0.0);
        // What is not text is no level: levels are text.
        let place = core::str::from_utf8(label).map_or(Place::Other, |text| self.place(text));
        let coded = self.coded().count();
        let at = match place {
            Place::Level(place) if self.levels[place] == self.reference => {
                return Ok(CellNote::default());
            }
            Place::Level(place) => {
                let before = &self.levels[..place];
                place - usize::from(before.contains(&self.reference))
            }
            Place::Other if self.other => coded,
            Place::Other => return Err(CellDefect::UnknownLevel),
            Place::Missing if self.missing => coded + usize::from(self.other),
            Place::Missing => return Err(CellDefect::MissingLevel),
        };
        if let Some(entry) = places.get_mut(at) {
            *entry = 1.0;
        }
        Ok(CellNote {
            is_clipped: false,
            is_missing: place == Place::Missing,
        })
    }
}
