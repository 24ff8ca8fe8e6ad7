//! What a vector of variables starts with: nothing, a one, or a one at the record's site.

use serde::{Deserialize, Serialize};

use crate::question::value;
use crate::records::Record;

/// The first variables of a question about second moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Constant {
    /// None.
    Absent,
    /// A one.
    One,
    /// The indicators of the record's site, in the unit one: features of the record that are not divided by the scale
    /// of features.
    ///
    /// # Why
    /// A record is of one site, so they add one to the squared norm of its variables, as a constant does, however many
    /// sites there are. Nothing relies on that for privacy: the whole vector is clipped.
    Sites {
        /// The first of these features.
        first: u32,
        /// How many sites there are.
        count: u32,
    },
}

impl Constant {
    /// A one where `is_there`.
    #[must_use]
    pub const fn one_if(is_there: bool) -> Self {
        if is_there { Self::One } else { Self::Absent }
    }

    /// How many variables these are.
    #[must_use]
    pub const fn entries(self) -> usize {
        match self {
            Self::Absent => 0,
            Self::One => 1,
            Self::Sites { count, .. } => count as usize,
        }
    }

    /// The number after the last feature of a record that is needed.
    pub(crate) const fn end(self) -> u32 {
        match self {
            Self::Absent | Self::One => 0,
            Self::Sites { first, count } => first.saturating_add(count),
        }
    }

    /// Their values for `record`.
    pub(crate) fn values(self, record: Record<'_>) -> impl Iterator<Item = f64> + '_ {
        let places = match self {
            Self::Sites { first, .. } => first..self.end(),
            Self::Absent | Self::One => 0..0,
        };
        let one = (self == Self::One).then_some(1.0);
        let sites = places.map(move |place| value(record, place));
        one.into_iter().chain(sites)
    }
}
