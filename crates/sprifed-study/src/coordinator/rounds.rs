//! What a coordinator knows of the attempts of trustees: who enrolled, and who said what.

use std::collections::{BTreeMap, BTreeSet};

use sprifed_secure_sum::ClientId;
use sprifed_trustees::{OutcomeReport, TrusteeId};

use crate::agreement::Agreed;
use crate::enrolment::{ClientEnrolment, TrusteeEnrolment};
use crate::hexadecimal::{Digest, Signature};
use crate::transcript::{Released, SignedOutcome};
use crate::trustee_attempt::{RefusedAttempt, UnopenedSum};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    pub(super) trustees: BTreeMap<TrusteeId, TrusteeEnrolment>,
    pub(super) clients: BTreeMap<ClientId, ClientEnrolment>,
    /// Attempts at the present step that opened nothing.
    pub(super) unopened: Vec<UnopenedSum>,
    pub(super) charged: BTreeSet<TrusteeId>,
    pub(super) uploaded: BTreeSet<ClientId>,
    /// How the attempt ended for each trustee.
    pub(super) endings: BTreeMap<TrusteeId, Reported>,
    /// The outcome, if a trustee has the signatures of all three.
    pub(super) settled: Option<Released>,
    /// What a trustee found that does not fit: the study is over.
    pub(super) refused: Option<RefusedAttempt>,
}

/// How an attempt ended for a trustee, as it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reported {
    Outcome(Box<OutcomeReport>),
    Unopened([u8; 64]),
    Spent,
}

/// How an attempt ended.
#[derive(Debug)]
pub(super) enum Decided {
    Opened(Released),
    Unopened([Signature; 3]),
    Spent,
    Refused(RefusedAttempt),
}

impl Rounds {
    /// Parties and trustees that have not enrolled.
    pub(super) fn not_enrolled(&self, agreed: &Agreed) -> Vec<ClientId> {
        let clients = agreed.roster().clients();
        let clients = clients.filter(|client| !self.clients.contains_key(client));
        let missing = self.missing(agreed, |trustee| self.trustees.contains_key(&trustee));
        clients.chain(missing).collect()
    }

    /// The numbers of the trustees that have not done something.
    pub(super) fn missing(
        &self,
        agreed: &Agreed,
        is_done: impl Fn(TrusteeId) -> bool,
    ) -> Vec<ClientId> {
        let trustees = TrusteeId::ALL.into_iter().filter(|one| !is_done(*one));
        let seat = |trustee| Some(agreed.trustees()?.seat(trustee));
        trustees.filter_map(seat).collect()
    }

    pub(super) fn begin_attempt(&mut self) {
        self.charged.clear();
        self.uploaded.clear();
        self.endings.clear();
        self.settled = None;
        self.refused = None;
    }

    pub(super) fn end_step(&mut self) {
        self.unopened.clear();
        self.begin_attempt();
    }

    /// How the attempt ended, once all three trustees have said it, or one of them has proved it.
    pub(super) fn decided(&self, sum: u32) -> Option<Decided> {
        if let Some(released) = &self.settled {
            return Some(Decided::Opened(released.clone()));
        }
        if let Some(refused) = &self.refused {
            return Some(Decided::Refused(refused.clone()));
        }
        let [first, second, third] = TrusteeId::ALL.map(|trustee| self.endings.get(&trustee));
        Some(match (first?, second?, third?) {
            (Reported::Outcome(first), Reported::Outcome(second), Reported::Outcome(third))
                if first.digest() == second.digest() && second.digest() == third.digest() =>
            {
                let signatures = [first, second, third].map(|one| Signature(one.signature));
                let trustees = SignedOutcome {
                    set: Digest(first.set),
                    signatures,
                };
                Decided::Opened(Released::opened(
                    sum,
                    &first.clients,
                    &first.output,
                    Some(trustees),
                ))
            }
            (Reported::Unopened(first), Reported::Unopened(second), Reported::Unopened(third)) => {
                Decided::Unopened([first, second, third].map(|signature| Signature(*signature)))
            }
            _ => Decided::Spent,
        })
    }
}
