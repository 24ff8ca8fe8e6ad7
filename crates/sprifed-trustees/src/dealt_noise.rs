//! A trustee's noise of one attempt: it comes from a share that was drawn and paid for, and from
//! nothing else.
//!
//! Plain integers cannot be dealt:
//!
//! ```compile_fail,E0277
//! # use sprifed_trustees::DealtNoise;
//! let noise = DealtNoise::from(vec![0, 1, 0]);
//! ```

use sprifed_noise::DrawnShare;
use sprifed_privacy::{SelectionPurchase, SumPurchase};
use zeroize::Zeroizing;

/// What noise was paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PaidFor {
    Choice,
    Sum,
}

/// A trustee's noise of one attempt: one number for each candidate or coordinate. Never printed.
#[derive(Clone)]
pub struct DealtNoise {
    pub(crate) numbers: Zeroizing<Vec<i64>>,
    pub(crate) paid_for: PaidFor,
}

impl From<DrawnShare<SelectionPurchase>> for DealtNoise {
    fn from(share: DrawnShare<SelectionPurchase>) -> Self {
        Self {
            numbers: Zeroizing::new(share.into_dealt()),
            paid_for: PaidFor::Choice,
        }
    }
}

impl From<DrawnShare<SumPurchase>> for DealtNoise {
    fn from(share: DrawnShare<SumPurchase>) -> Self {
        Self {
            numbers: Zeroizing::new(share.into_dealt()),
            paid_for: PaidFor::Sum,
        }
    }
}

#[cfg(test)]
impl DealtNoise {
    /// Numbers of a test.
    pub(crate) fn scripted(paid_for: PaidFor, numbers: &[i64]) -> Self {
        Self {
            numbers: Zeroizing::new(numbers.to_vec()),
            paid_for,
        }
    }
}

impl core::fmt::Debug for DealtNoise {
    /// Only how much: noise is secret.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "DealtNoise({} numbers)", self.numbers.len())
    }
}
