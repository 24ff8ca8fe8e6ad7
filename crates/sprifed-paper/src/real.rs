//! Real data: reading, splitting, the paper's preparation and ours, and scores beside the null model's.

mod entrant;
mod prepared;
mod source;

pub(crate) use entrant::{Entrant, score_entrants};
pub(crate) use prepared::{Clips, Prepared, Split};
pub(crate) use source::{RawSet, madelon};
