//! Attempts of trustees as numbers of an agreement, and the signatures that count for them.

use sprifed_secure_sum::ClientId;
use sprifed_trustees::{
    AllUnopened, AttemptId, Output, Statement, ThreeSignatures, outcome_digest,
};

use crate::agreement::Agreed;
use crate::hexadecimal::{Digest, Signature};
use crate::transcript::{Released, SignedOutcome};

/// The signatures of three trustees that an attempt opened nothing. The next attempt needs no second
/// charge then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnopenedSum {
    /// Which attempt, by its number.
    pub sum: u32,
    /// One signature of each trustee, in the order of the agreement.
    pub signatures: [Signature; 3],
}

impl UnopenedSum {
    /// Whether all three trustees signed it, after this transcript.
    #[must_use]
    pub fn holds(&self, agreed: &Agreed, transcript: Digest) -> bool {
        let (attempt, trustees) = (agreed.attempt_id(self.sum, transcript), agreed.trustees());
        let (Some(attempt), Some(trustees)) = (attempt, trustees) else {
            return false;
        };
        let signatures = three(&self.signatures);
        let unopened = AllUnopened {
            attempt,
            signatures,
        };
        unopened.holds(&trustees.identities())
    }
}

pub(crate) fn three(signatures: &[Signature; 3]) -> ThreeSignatures {
    ThreeSignatures(Box::new(signatures.map(|signature| signature.0)))
}

impl Agreed {
    /// The attempt with this number, after this transcript; `None` if no such attempt was agreed on.
    pub(crate) fn attempt_id(&self, sum: u32, transcript: Digest) -> Option<AttemptId> {
        let (step, attempt) = self.step_of(sum)?;
        Some(AttemptId {
            study: self.digest().0,
            step: u32::try_from(step).ok()?,
            attempt,
            transcript: transcript.0,
        })
    }

    /// The attempt in which each step was opened, for a study in one process.
    #[must_use]
    pub fn attempts_of(&self, released: &[Released]) -> Vec<u32> {
        let numbers = released.iter().filter_map(|one| self.step_of(one.sum));
        numbers.map(|(_, attempt)| attempt).collect()
    }

    /// Whether three trustees signed what `released` says, after this transcript.
    pub(crate) fn is_opened(&self, released: &Released, transcript: Digest) -> bool {
        let (Some(signed), Some(trustees)) = (&released.trustees, self.trustees()) else {
            return false;
        };
        let attempt = self.attempt_id(released.sum, transcript);
        let (Some(attempt), Some(output)) = (attempt, self.output_of(released)) else {
            return false;
        };
        let clients: Vec<ClientId> = released.survivors.iter().copied().map(ClientId).collect();
        let digest = outcome_digest(&attempt, &signed.set.0, &clients, &output);
        let signatures = three(&signed.signatures);
        signatures.hold(Statement::Outcome, &trustees.identities(), &digest)
    }

    fn output_of(&self, released: &Released) -> Option<Output> {
        let (step, _) = self.step_of(released.sum)?;
        if self.step(step).is_some() {
            return Some(Output::Sums(released.values.clone()));
        }
        match *released.values.as_slice() {
            [index] => Some(Output::Index(u32::try_from(index).ok()?)),
            _ => None,
        }
    }
}

impl Released {
    /// What three trustees opened in an attempt; in one process they sign nothing.
    pub(crate) fn opened(
        sum: u32,
        clients: &[ClientId],
        output: &Output,
        trustees: Option<SignedOutcome>,
    ) -> Self {
        Self {
            sum,
            survivors: clients.iter().map(|client| client.0).collect(),
            values: match output {
                Output::Index(index) => vec![i64::from(*index)],
                Output::Sums(values) => values.clone(),
            },
            trustees,
        }
    }
}
