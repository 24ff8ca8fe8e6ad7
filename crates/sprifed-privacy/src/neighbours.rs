//! Which data sets count as neighbours, and whose presence is protected.
//!
//! Both choices are type parameters of a sensitivity, so that a noise calibrated for one relation
//! cannot be quoted for another. At run time, in plans and receipts, they are the enums
//! [`Relation`] and [`PrivacyUnit`].
//!
//! Strict add/remove is deliberately absent: a client that leaves takes its noise share along, and
//! no guarantee is claimed for that (THREAT_MODEL.md).

use serde::{Deserialize, Serialize};

mod sealed {
    #[expect(unnameable_types, reason = "sealed: no other type may implement it")]
    pub trait Sealed {}
}

/// A neighbouring relation.
pub trait Neighbours: sealed::Sealed {
    /// The same relation as a value.
    const RELATION: Relation;
    /// How far a sum moves between neighbours, as a multiple of the largest contribution.
    const SUM_MOVES_BY: u32;
}

/// One unit's contribution is replaced by zero; the unit stays on the roster and adds its noise.
#[derive(Clone, Copy, Debug)]
pub struct ZeroOut;

/// One unit's data are replaced by arbitrary other data.
#[derive(Clone, Copy, Debug)]
pub struct ReplaceOne;

impl sealed::Sealed for ZeroOut {}
impl Neighbours for ZeroOut {
    const RELATION: Relation = Relation::ZeroOut;
    const SUM_MOVES_BY: u32 = 1;
}

impl sealed::Sealed for ReplaceOne {}
impl Neighbours for ReplaceOne {
    const RELATION: Relation = Relation::ReplaceOne;
    const SUM_MOVES_BY: u32 = 2;
}

/// Whose data one change between neighbours covers.
pub trait Unit: sealed::Sealed {
    /// The same unit as a value.
    const UNIT: PrivacyUnit;
}

/// One record, however many a client holds.
#[derive(Clone, Copy, Debug)]
pub struct PerRecord;

/// All records of one client together.
#[derive(Clone, Copy, Debug)]
pub struct PerClient;

impl sealed::Sealed for PerRecord {}
impl Unit for PerRecord {
    const UNIT: PrivacyUnit = PrivacyUnit::Record;
}

impl sealed::Sealed for PerClient {}
impl Unit for PerClient {
    const UNIT: PrivacyUnit = PrivacyUnit::Client;
}

/// A neighbouring relation as a value, for plans and receipts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// See [`ZeroOut`].
    ZeroOut,
    /// See [`ReplaceOne`].
    ReplaceOne,
}

/// A unit of privacy as a value, for plans and receipts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrivacyUnit {
    /// See [`PerRecord`].
    Record,
    /// See [`PerClient`].
    Client,
}

impl Relation {
    /// How far a sum moves between neighbours, as a multiple of the largest contribution.
    #[must_use]
    pub const fn sum_moves_by(self) -> u32 {
        match self {
            Self::ZeroOut => ZeroOut::SUM_MOVES_BY,
            Self::ReplaceOne => ReplaceOne::SUM_MOVES_BY,
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
