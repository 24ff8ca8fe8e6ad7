//! Small values for tests and examples. Nothing here weakens a promise.

use crate::block::{Block, IntegerBounds};
use crate::ledger::Ledger;
use crate::neighbours::{PrivacyUnit, Relation};
use crate::purchase::{SelectionPurchase, SumPurchase};
use crate::quantity::{ApproxDp, Delta, Epsilon};
use crate::rational::NoiseVariance;
use crate::record_part::RecordPart;
use crate::selection_law::SelectionLaw;
use crate::sum_plan::{NoiseOrigin, SumPlan};

/// One sum of three coordinates with a curator's noise.
///
/// # Panics
/// Never: its numbers are legal.
#[must_use]
pub fn small_sum() -> SumPurchase {
    let share_variance = NoiseVariance::try_from(String::from("400")).expect("a legal variance");
    let block = Block {
        name: "three numbers".to_owned(),
        coordinates: 3,
        bounds: IntegerBounds::Box {
            bound: 4,
            squares: 0,
        },
        share_variance,
    };
    SumPurchase {
        plan: SumPlan {
            blocks: vec![block],
            part: RecordPart::All,
        },
        origin: NoiseOrigin::Curator,
        unit: PrivacyUnit::Record,
    }
}

/// A choice by a curator, for each record.
#[must_use]
pub const fn choice_of_a_curator(
    candidates: u32,
    score_bound: u32,
    noise_rate: (u32, u32),
) -> SelectionPurchase {
    SelectionPurchase {
        candidates,
        score_bound,
        noise_rate,
        law: SelectionLaw::Curator,
        unit: PrivacyUnit::Record,
        part: RecordPart::All,
    }
}

/// A choice among nine candidates with Euler noise of rate 1/128.
#[must_use]
pub const fn small_choice_of_trustees() -> SelectionPurchase {
    SelectionPurchase {
        candidates: 9,
        score_bound: 63,
        noise_rate: (1, 128),
        law: SelectionLaw::Euler,
        unit: PrivacyUnit::Record,
        part: RecordPart::All,
    }
}

/// A ledger of (10, 1e-6) for one record under zero-out.
///
/// # Panics
/// Never: its numbers are legal.
#[must_use]
pub fn generous_ledger() -> Ledger {
    let epsilon = Epsilon::try_from(10.0).expect("a legal epsilon");
    let delta = Delta::try_from(1e-6).expect("a legal delta");
    Ledger::open(
        ApproxDp::new(epsilon, delta),
        Relation::ZeroOut,
        PrivacyUnit::Record,
    )
}
