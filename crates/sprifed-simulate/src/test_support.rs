//! A small world and its budgets, for the tests of this crate and of those above it.

use sprifed_privacy::ApproxDp;
use sprifed_recovery::test_support;

use crate::sites::WorldSites;
use crate::world::{Correlation, Reading, Unexplained, WorldOutcome, WorldRequest};

/// A budget with a delta of 1e-5.
#[must_use]
pub fn budget(epsilon: f64) -> ApproxDp {
    test_support::budget(epsilon, 1e-5)
}

/// A world in which every method finds the features.
#[must_use]
pub const fn request() -> WorldRequest {
    WorldRequest {
        records: 300,
        test_records: 100,
        features: 40,
        sparsity: 3,
        support: 3,
        correlation: Correlation::None,
        unexplained: Unexplained::ErrorStdDev(0.1),
        reading: Reading::Clean,
        outcome: WorldOutcome::Linear,
        sites: WorldSites::NONE,
    }
}
