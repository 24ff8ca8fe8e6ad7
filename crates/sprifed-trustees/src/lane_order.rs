//! Which lane a candidate has.
//!
//! Candidate j has the digits d₁, d₂, … of a tournament's group sizes, lowest first, and the lane
//! Σ dₗ Sₗ, where Sₗ is the product of the sizes after the l-th. So the candidates with one digit are a
//! run of lanes at every level, groups are runs of neighbouring candidates, and ties go to the
//! lowest index if they go to the lowest digit at each level.

use crate::lanes::n_words;

/// The order of candidates in the lanes of a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneOrder {
    candidates: u32,
    sizes: Vec<u32>,
}

impl LaneOrder {
    /// The order of `candidates` for groups of these sizes; `None` unless their product is at least
    /// the number of candidates and less than twice 2^24.
    #[must_use]
    pub fn new(candidates: u32, sizes: Vec<u32>) -> Option<Self> {
        let product = sizes
            .iter()
            .try_fold(1u32, |product, size| product.checked_mul(*size))?;
        let is_legal = candidates > 0
            && product >= candidates
            && product < 1 << 25
            && sizes.iter().all(|size| *size >= 2);
        is_legal.then_some(Self { candidates, sizes })
    }

    /// How many candidates.
    #[must_use]
    pub const fn candidates(&self) -> u32 {
        self.candidates
    }

    /// The group sizes, the first level first.
    #[must_use]
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// How many lanes: the product of the sizes.
    #[must_use]
    pub fn lanes(&self) -> u32 {
        self.sizes.iter().product()
    }

    /// The lane of a candidate.
    #[must_use]
    pub fn lane(&self, candidate: u32) -> u32 {
        let (mut rest, mut stride, mut lane) = (candidate, self.lanes(), 0);
        for size in &self.sizes {
            stride /= size;
            lane += (rest % size) * stride;
            rest /= size;
        }
        lane
    }

    /// The candidate with these digits, lowest first.
    #[must_use]
    pub fn candidate(&self, digits: &[u64]) -> u64 {
        let mut weight = 1;
        let mut candidate = 0;
        for (digit, size) in digits.iter().zip(&self.sizes) {
            candidate += digit * weight;
            weight *= u64::from(*size);
        }
        candidate
    }

    /// Numbers of all candidates in the order of lanes; lanes without a candidate are zero.
    pub(crate) fn arrange(&self, of_candidates: &[u64]) -> Vec<u64> {
        let mut lanes = vec![0; self.lanes() as usize];
        for (candidate, number) in (0..self.candidates).zip(of_candidates) {
            if let Some(lane) = lanes.get_mut(self.lane(candidate) as usize) {
                *lane = *number;
            }
        }
        lanes
    }

    /// The plane of the lanes that have a candidate.
    pub(crate) fn occupied(&self) -> Vec<u64> {
        let mut plane = vec![0; n_words(self.lanes())];
        for candidate in 0..self.candidates {
            let lane = self.lane(candidate) as usize;
            if let Some(word) = plane.get_mut(lane / 64) {
                *word |= 1 << (lane % 64);
            }
        }
        plane
    }
}
