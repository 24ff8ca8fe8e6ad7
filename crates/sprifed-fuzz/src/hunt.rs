//! Runs a target on changed inputs until it finds something.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::Target;
use crate::mutation::Mutator;

/// An input at which a target panicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The input.
    pub input: Vec<u8>,
    /// What the panic said.
    pub message: String,
}

/// How far a hunt without a finding got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hunted {
    /// How many inputs were run.
    pub n_runs: u64,
    /// How many different paths they took.
    pub n_ways: usize,
}

/// More inputs than this are not kept to be changed further.
const MOST_KEPT: usize = 2000;

/// Runs `target` on `seeds` and then on changes of them while `goes_on` returns true; it gets the
/// number of inputs that were run.
///
/// # Errors
/// With the first input that makes it panic.
pub fn hunt(
    target: &Target,
    seeds: Vec<Vec<u8>>,
    number: u64,
    mut goes_on: impl FnMut(u64) -> bool,
) -> Result<Hunted, Finding> {
    let mut ways = BTreeSet::new();
    let mut kept = Vec::new();
    let mut n_runs = 0;
    for input in seeds {
        ways.insert(tried(target, &input)?);
        kept.push(input);
        n_runs += 1;
    }
    let mut mutator = Mutator::new(number);
    while goes_on(n_runs) {
        let input = mutator.changed(target.kind, &kept);
        let is_new = ways.insert(tried(target, &input)?);
        if is_new && kept.len() < MOST_KEPT {
            kept.push(input);
        }
        n_runs += 1;
    }
    let n_ways = ways.len();
    Ok(Hunted { n_runs, n_ways })
}

fn tried(target: &Target, input: &[u8]) -> Result<crate::Way, Finding> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Finding {
            input: input.to_vec(),
            message: text.unwrap_or_default(),
        }
    })
}
