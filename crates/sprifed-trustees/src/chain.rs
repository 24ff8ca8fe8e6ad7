//! Keys that are erased step by step.
//!
//! A secret of two parties is a chain: from the link of step t come the key of step t and the link of
//! step t + 1, and the link of step t is erased when the step is over. A thief of a machine opens no
//! step that was over before, although the coordinator may have kept every message.

use sprifed_crypto::derivation::derive;
use sprifed_crypto::secret;

use crate::streams::StepKey;

secret! {
    /// One link of a chain.
    pub struct ChainLink([u8; 32])
}

/// A secret of two parties, or of one alone, as far as it was not erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    step: u32,
    link: ChainLink,
}

impl Chain {
    /// A chain from its first link.
    #[must_use]
    pub const fn new(first: [u8; 32]) -> Self {
        Self::from_stored(0, first)
    }

    /// The chain that was stored.
    #[must_use]
    pub const fn from_stored(step: u32, link: [u8; 32]) -> Self {
        let link = ChainLink::from_bytes(link);
        Self { step, link }
    }

    /// The step and the bytes to store; they are as secret as all steps from this one on.
    #[must_use]
    pub const fn to_stored(&self) -> (u32, [u8; 32]) {
        (self.step, *self.link.expose())
    }

    /// The first step whose key was not erased.
    #[must_use]
    pub const fn step(&self) -> u32 {
        self.step
    }

    /// The key of `step`; `None` unless it is the present one.
    #[must_use]
    pub fn key(&self, step: u32) -> Option<StepKey> {
        let key = || StepKey::filled(|key| self.derive(b"step", key));
        (step == self.step).then(key)
    }

    /// Erases the keys of all steps before `step`, permanently.
    pub fn erase_before(&mut self, step: u32) {
        while self.step < step {
            let next = ChainLink::filled(|link| self.derive(b"next", link));
            self.link = next;
            self.step += 1;
        }
    }

    fn derive(&self, label: &[u8; 4], output: &mut [u8; 32]) {
        let info: [&[u8]; 3] = [b"sprifed: trustees", label, &self.step.to_le_bytes()];
        derive(self.link.expose(), &[0; 32], &info, output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_step_is_there_until_the_step_is_over() {
        let mut chain = Chain::new([3; 32]);
        let first = chain.key(0).expect("present");
        assert_eq!(chain.key(1), None);
        chain.erase_before(1);
        assert_eq!(chain.key(0), None);
        let second = chain.key(1).expect("present");
        assert_ne!(first, second);
        let (step, stored) = chain.to_stored();
        assert!(Chain::from_stored(step, stored).key(1) == Some(second));
        assert_ne!(stored, [3; 32]);
        chain.erase_before(0);
        assert_eq!(chain.step(), 1, "what was erased does not come back");
    }

    #[test]
    fn many_steps_at_once_are_the_same_as_one_by_one() {
        let (mut one, mut other) = (Chain::new([3; 32]), Chain::new([3; 32]));
        one.erase_before(5);
        for step in 1..=5 {
            other.erase_before(step);
        }
        assert_eq!(one, other);
        assert_eq!(format!("{one:?}"), "Chain { step: 5, link: ChainLink(..) }");
    }
}
