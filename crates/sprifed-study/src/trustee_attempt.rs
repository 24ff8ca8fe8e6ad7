//! Attempts of trustees as numbers of an agreement, and the signatures that count for them.

use serde::{Deserialize, Serialize};
use sprifed_privacy::Gates;
use sprifed_secure_sum::ClientId;
use sprifed_trustees::{
    AllUnopened, AttemptId, Counted, Deviation, Finding, OutcomeReport, Output, SignedFinding,
    Statement, ThreeSignatures, TrusteeId, outcome_digest,
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

/// What a trustee found that does not fit, as it signed it: it ends a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusedAttempt {
    /// Who found it, by place in the agreement.
    pub by: u8,
    /// What it is.
    pub part: RefusedPart,
    /// Its signature.
    pub signature: Signature,
}

/// What did not fit. It does not say who deviated: that may be the trustee that found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RefusedPart {
    /// The proof of the gates of this trustee, which the two others verify.
    Proof(u8),
    /// What the two others opened to this trustee.
    Opening(u8),
}

impl RefusedAttempt {
    pub(crate) fn of(signed: &SignedFinding) -> Self {
        Self {
            by: signed.finding.by.share(),
            part: match signed.finding.deviation {
                Deviation::Proof { prover } => RefusedPart::Proof(prover.share()),
                Deviation::Opening { receiver } => RefusedPart::Opening(receiver.share()),
            },
            signature: Signature(signed.signature),
        }
    }

    /// What it says, if these are trustees.
    pub(crate) fn finding(&self) -> Option<Finding> {
        let deviation = match self.part {
            RefusedPart::Proof(prover) => Deviation::Proof {
                prover: TrusteeId::new(prover)?,
            },
            RefusedPart::Opening(receiver) => Deviation::Opening {
                receiver: TrusteeId::new(receiver)?,
            },
        };
        let by = TrusteeId::new(self.by)?;
        Some(Finding { deviation, by })
    }

    /// Whether its author signed it, in the attempt with this number and after this transcript, in a study whose gates
    /// are proved.
    #[must_use]
    pub fn holds(&self, agreed: &Agreed, sum: u32, transcript: Digest) -> bool {
        let (attempt, trustees) = (agreed.attempt_id(sum, transcript), agreed.trustees());
        let (Some(attempt), Some(trustees), Some(finding)) = (attempt, trustees, self.finding())
        else {
            return false;
        };
        let signed = SignedFinding {
            attempt,
            finding,
            signature: self.signature.0,
        };
        trustees.gates() == Gates::Proved && signed.holds(&trustees.identities())
    }
}

pub(crate) fn three(signatures: &[Signature; 3]) -> ThreeSignatures {
    ThreeSignatures(Box::new(signatures.map(|signature| signature.0)))
}

/// How three trustees opened a step of a study that ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenedStep {
    /// In which attempt, counted from zero.
    pub(crate) attempt: u32,
    /// The clients that were left out because they left their balls.
    pub(crate) outside: Vec<ClientId>,
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

    /// How each step was opened, for the same study in one process.
    #[must_use]
    pub fn opened_steps(&self, released: &[Released]) -> Vec<OpenedStep> {
        let step = |one: &Released| {
            let (_, attempt) = self.step_of(one.sum)?;
            let outside = one.outside.iter().copied().map(ClientId).collect();
            Some(OpenedStep { attempt, outside })
        };
        released.iter().filter_map(step).collect()
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
        let list = |list: &[u32]| list.iter().copied().map(ClientId).collect();
        let clients = Counted {
            inside: list(&released.survivors),
            outside: list(&released.outside),
        };
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
    /// Whether this is what a trustee reports, in the same attempt.
    pub(crate) fn is_of(&self, agreed: &Agreed, report: &OutcomeReport) -> bool {
        let AttemptId { step, attempt, .. } = report.attempt;
        let is_same = agreed.sum_number(step as usize, attempt) == Some(self.sum);
        let signed = self.trustees.as_deref();
        is_same
            && signed.is_some_and(|signed| signed.set.0 == report.set)
            && *self == Self::opened(self.sum, &report.clients, &report.output, signed.cloned())
    }

    /// What three trustees opened in an attempt; in one process they sign nothing.
    pub(crate) fn opened(
        sum: u32,
        clients: &Counted,
        output: &Output,
        trustees: Option<SignedOutcome>,
    ) -> Self {
        let list = |list: &[ClientId]| list.iter().map(|client| client.0).collect();
        Self {
            sum,
            survivors: list(&clients.inside),
            outside: list(&clients.outside),
            values: match output {
                Output::Index(index) => vec![i64::from(*index)],
                Output::Sums(values) => values.clone(),
            },
            trustees: trustees.map(Box::new),
        }
    }
}
