//! Which data sets count as neighbours, and whose presence is protected.
//!
//! Both are declared once, with the budget of a [`Ledger`](crate::Ledger). It computes every cost under its own
//! relation and refuses what was bounded for another unit, so a cost of one relation is not quoted for another.
//!
//! Strict add/remove is deliberately absent: a client that leaves takes its noise share along, and
//! no guarantee is claimed for that (THREAT_MODEL.md).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A neighbouring relation.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// One unit's contribution is replaced by zero; the unit stays on the roster and adds its noise.
    ZeroOut,
    /// One unit's data are replaced by arbitrary other data.
    ReplaceOne,
}

/// Whose data one change between neighbours covers.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum PrivacyUnit {
    /// One record, however many a client holds. A client with several is protected by group privacy.
    #[default]
    Record,
    /// All records of one client together.
    Client,
}

impl Relation {
    /// How far a sum moves between neighbours, as a multiple of the largest contribution.
    #[must_use]
    pub const fn sum_moves_by(self) -> u32 {
        match self {
            Self::ZeroOut => 1,
            Self::ReplaceOne => 2,
        }
    }

    /// The relation as reports name it.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::ZeroOut => "zero-out",
            Self::ReplaceOne => "replace-one",
        }
    }
}

impl PrivacyUnit {
    /// The unit as reports name it.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Client => "client",
        }
    }
}
