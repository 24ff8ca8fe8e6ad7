//! How large the groups of a tournament are: fewer rounds against more comparisons.
//!
//! A group of r compares r(r − 1)/2 pairs, and few candidates are left at later levels, so groups
//! grow. The plan minimises bytes over bandwidth plus rounds times delay, over all sequences.

use std::collections::BTreeMap;

/// What a link between two trustees can do, for planning only: a wrong guess costs time, nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Bits that a link carries in the time of one round.
    pub bits_per_round: u64,
}

impl Default for Link {
    /// 100 Mbit/s and 20 ms one way.
    fn default() -> Self {
        Self {
            bits_per_round: 2_000_000,
        }
    }
}

/// Larger groups are not considered.
const LARGEST: u32 = 200;

/// The group sizes of the levels of a tournament among `candidates` numbers of `bits` bits.
#[must_use]
pub fn group_sizes(candidates: u32, bits: u32, link: Link) -> Vec<u32> {
    let mut plan = Planner {
        candidates,
        bits,
        link,
        known: BTreeMap::new(),
    };
    let mut left = candidates;
    let mut sizes = Vec::new();
    while left > 1 {
        let (_, size) = plan.best(left);
        sizes.push(size);
        left = left.div_ceil(size);
    }
    sizes
}

struct Planner {
    candidates: u32,
    bits: u32,
    link: Link,
    known: BTreeMap<u32, (u64, u32)>,
}

impl Planner {
    /// The lowest cost of a tournament among `left`, in bits, and the size of its first groups.
    fn best(&mut self, left: u32) -> (u64, u32) {
        if left <= 1 {
            return (0, 1);
        }
        if let Some(known) = self.known.get(&left) {
            return *known;
        }
        let sizes = 2..=left.min(LARGEST);
        let cost = |size: u32| {
            (
                self.level(left, size) + self.best(left.div_ceil(size)).0,
                size,
            )
        };
        let best = sizes.map(cost).min().unwrap_or((0, 1));
        self.known.insert(left, best);
        best
    }

    fn level(&self, left: u32, size: u32) -> u64 {
        let groups = left.div_ceil(size);
        let (r, bits, groups_wide) = (u64::from(size), u64::from(self.bits), u64::from(groups));
        let merges = u64::from(ceil_log2(self.bits));
        let digits = u64::from(ceil_log2(self.candidates.div_ceil(left)));
        let compared = groups_wide * r * (r - 1) / 2 * (3 * bits - 2 - merges);
        let products = groups_wide * (r - 1) * (r - 2);
        let values = if groups > 1 { bits } else { 0 };
        let selected = groups_wide * (r - 1) * (values + digits);
        let rounds = 1 + merges + u64::from(ceil_log2(size - 1)) + 1;
        compared + products + selected + rounds * self.link.bits_per_round
    }
}

fn ceil_log2(number: u32) -> u32 {
    number.max(1).next_power_of_two().trailing_zeros()
}
