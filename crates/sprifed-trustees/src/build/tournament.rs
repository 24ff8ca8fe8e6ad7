//! The index of the largest number, the lowest of several.
//!
//! A level divides what is left into groups of r. Within a group every pair is compared at once; a
//! candidate wins if it is greater than all before it and no one after it is greater. Its value and
//! the digits of its index so far are selected by x₀ ⊕ ⊕ w_b (x_b ⊕ x₀), b ≥ 1, which needs no plane
//! for the first one's victory.
//!
//! With the lanes in the order of [`LaneOrder`](crate::LaneOrder) the candidates with one number in
//! their groups are a run of neighbouring lanes, so all pairs of all groups are compared as one long
//! plane.

use crate::build::greater::greater;
use crate::builder::Builder;
use crate::circuit::{Plane, Run};
use crate::lanes::{add_run, n_words};

/// The digits of the index of the largest number, each as bits, lowest first; every plane has one
/// lane.
///
/// The lanes of the numbers are the product of the group sizes.
pub(crate) fn tournament(
    builder: &mut Builder,
    number: Vec<Plane>,
    sizes: &[u32],
) -> Vec<Vec<Plane>> {
    let mut number = number;
    let mut digits: Vec<Vec<Plane>> = Vec::new();
    for &size in sizes {
        let lanes = number.first().map_or(0, |plane| builder.lanes(*plane));
        let level = Level {
            size,
            groups: lanes / size.max(1),
        };
        let Some(won) = level.won(builder, &number) else {
            continue;
        };
        number = level.selected(builder, won, &number);
        for digit in &mut digits {
            *digit = level.selected(builder, won, digit);
        }
        digits.push(level.digit(builder, won));
    }
    digits
}

#[derive(Clone, Copy)]
struct Level {
    size: u32,
    groups: u32,
}

impl Level {
    /// The run of the candidates, or of the pairs, with this number in their groups.
    const fn run(self, number: u32) -> Run {
        Run {
            start: number * self.groups,
            len: self.groups,
        }
    }

    /// Which of the candidates 1 to r − 1 of each group won; `None` for groups of one.
    fn won(self, builder: &mut Builder, number: &[Plane]) -> Option<Plane> {
        let pairs =
            || (0..self.size).flat_map(|low| (low + 1..self.size).map(move |high| (low, high)));
        let low: Vec<_> = pairs().map(|(low, _)| self.run(low)).collect();
        let high: Vec<_> = pairs().map(|(_, high)| self.run(high)).collect();
        let gathered = |builder: &mut Builder, runs: &Vec<Run>| -> Vec<Plane> {
            let planes = number.iter();
            planes
                .map(|plane| builder.gather(*plane, runs.clone()))
                .collect()
        };
        if low.is_empty() {
            return None;
        }
        let (low, high) = (gathered(builder, &low), gathered(builder, &high));
        let later_is_greater = greater(builder, &high, &low)?;
        let mut factors: Vec<_> = (0..self.size - 1)
            .map(|other| self.factor(builder, later_is_greater, other))
            .collect();
        while factors.len() > 1 {
            let products = factors.chunks(2).map(|pair| match *pair {
                [one, other] => builder.and(one, other),
                _ => pair.first().copied().unwrap_or(later_is_greater),
            });
            factors = products.collect();
        }
        factors.first().copied()
    }

    /// For each candidate b ≥ 1 whether it beats its opponent: candidate `other`, or the next one if
    /// that is b itself or later.
    fn factor(self, builder: &mut Builder, later_is_greater: Plane, other: u32) -> Plane {
        let mut runs = Vec::with_capacity(self.size as usize);
        let mut lost_to_later = vec![0; n_words((self.size - 1) * self.groups)];
        let ones = vec![u64::MAX; n_words(self.groups)];
        for candidate in 1..self.size {
            let opponent = if other < candidate { other } else { other + 1 };
            let (low, high) = (candidate.min(opponent), candidate.max(opponent));
            // Pairs (0, 1) … (0, r − 1), (1, 2) …, in this order.
            let before = low * (2 * self.size - low - 1) / 2;
            runs.push(self.run(before + high - low - 1));
            if opponent > candidate {
                let at = (candidate - 1) as usize * self.groups as usize;
                add_run(&mut lost_to_later, at, &ones, self.run(0));
            }
        }
        let gathered = builder.gather(later_is_greater, runs);
        match lost_to_later.iter().all(|word| *word == 0) {
            true => gathered,
            false => builder.xor_public(gathered, lost_to_later),
        }
    }

    /// What the winner of each group has in these planes.
    fn selected(self, builder: &mut Builder, won: Plane, planes: &[Plane]) -> Vec<Plane> {
        let first = vec![self.run(0)];
        let repeated = vec![self.run(0); self.size as usize - 1];
        let others: Vec<_> = (1..self.size).map(|number| self.run(number)).collect();
        let mut selected = Vec::with_capacity(planes.len());
        for plane in planes {
            let (base, others) = (
                builder.gather(*plane, repeated.clone()),
                builder.gather(*plane, others.clone()),
            );
            let change = builder.xor(base, others);
            let change = builder.and(won, change);
            let change = builder.fold(change, self.groups);
            let base = builder.gather(*plane, first.clone());
            selected.push(builder.xor(base, change));
        }
        selected
    }

    /// The number of each group's winner in its group.
    fn digit(self, builder: &mut Builder, won: Plane) -> Vec<Plane> {
        let bits = u32::BITS - (self.size - 1).leading_zeros();
        let bit = |bit: u32| {
            let has_bit = (1..self.size).filter(|number| (number >> bit) & 1 == 1);
            let runs = has_bit.map(|number| self.run(number - 1)).collect();
            let gathered = builder.gather(won, runs);
            builder.fold(gathered, self.groups)
        };
        (0..bits).map(bit).collect()
    }
}
