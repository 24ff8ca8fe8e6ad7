//! Whether three trustees prove to each other that they computed as agreed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether trustees prove their gates before they open anything. It changes no noise and no cost, only against whom a
/// guarantee holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gates {
    /// Each trustee proves its gates to the two others, and the norms of clients' numbers in sums are verified.
    Proved,
    /// Trustees are trusted to follow the protocol, and clients to stay within their norms.
    Unproved,
}

impl Gates {
    /// What that means, for people.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Proved => "proved: one trustee that deviates is found before anything is opened",
            Self::Unproved => "NOT PROVED: a trustee that deviates is not found",
        }
    }
}
