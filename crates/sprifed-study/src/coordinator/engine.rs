//! Who answers the steps of a study: the masked sums of its parties, or three trustees.

use std::sync::Arc;

use sprifed_secure_sum::{Coordinator as Sums, CoordinatorOutput};

use super::rounds::Rounds;
use crate::agreement::Agreed;

/// See the module.
pub(super) enum Engine {
    Masks(Box<Sums>),
    Trustees(Box<Rounds>),
}

impl Engine {
    pub(super) fn open(agreed: &Agreed) -> Self {
        match agreed.study() {
            Some(study) => Self::Masks(Box::new(Sums::open(Arc::clone(study)))),
            None => Self::Trustees(Box::default()),
        }
    }

    pub(super) fn poll(&mut self) -> Option<CoordinatorOutput> {
        match self {
            Self::Masks(sums) => sums.poll_output(),
            Self::Trustees(_) => None,
        }
    }
}
