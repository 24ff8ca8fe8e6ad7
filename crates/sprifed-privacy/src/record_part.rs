//! Which records a release is about.
//!
//! A study may choose features with one part of its records and estimate their coefficients with the other. Which part a
//! record is in follows from its public place alone, never from what a record says, so a change of one record changes the
//! answers about its own part only (docs/proofs/composition.md#10-two-parts-of-the-records).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// One of this many consecutive records is kept for the estimates.
const BLOCK: u64 = 4;

/// A part of the records of a study.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RecordPart {
    /// All records.
    #[default]
    All,
    /// The records by which features are chosen: three of every four.
    Selection,
    /// The records by which the coefficients of the chosen features are estimated: one of every four.
    Estimation,
}

impl RecordPart {
    /// Whether it is all records.
    #[must_use]
    pub const fn is_all(&self) -> bool {
        matches!(self, Self::All)
    }

    /// Whether the record at `place`, counted from zero, is in it.
    ///
    /// # Why
    /// Of each four consecutive places one is kept for the estimates, so that a sorted table is split evenly. Which one it
    /// is, a fixed hash of their number says, so that a table with a period of four is split evenly too.
    #[must_use]
    pub const fn contains(self, place: u64) -> bool {
        let is_kept = place % BLOCK == kept_place(place / BLOCK);
        match self {
            Self::All => true,
            Self::Selection => !is_kept,
            Self::Estimation => is_kept,
        }
    }

    /// How many of the first `records` places are in it.
    #[must_use]
    pub const fn size(self, records: u64) -> u64 {
        let (blocks, rest) = (records / BLOCK, records % BLOCK);
        let kept = blocks + (kept_place(blocks) < rest) as u64;
        match self {
            Self::All => records,
            Self::Selection => records - kept,
            Self::Estimation => kept,
        }
    }

    /// The fewest records of which at least `size` are in it.
    #[must_use]
    pub const fn least_records(self, size: u64) -> u64 {
        let blocks = match self {
            Self::All => return size,
            Self::Selection => size / (BLOCK - 1),
            Self::Estimation => size,
        };
        // A block has three records of one part and one of the other, so what is sought is at most a block away.
        let mut records = blocks.saturating_mul(BLOCK);
        while self.size(records) < size && records < u64::MAX {
            records += 1;
        }
        while records > 0 && self.size(records - 1) >= size {
            records -= 1;
        }
        records
    }

    /// The records as reports name them.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::All => "all records",
            Self::Selection => "the records for the selection",
            Self::Estimation => "the records for the estimates",
        }
    }
}

/// The place within a block of the record that is kept for the estimates: the two highest bits of SplitMix64's finaliser.
const fn kept_place(block: u64) -> u64 {
    let mut bits = block.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (bits ^ (bits >> 31)) >> 62
}
