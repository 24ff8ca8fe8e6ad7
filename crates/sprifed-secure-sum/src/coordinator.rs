//! The coordinator: a state machine that collects messages, sends notices and unmasks sums. It is
//! not trusted.
//!
//! ```text
//! Joining ─close─▶ Agreeing ─close─▶ Sharing ─close─▶ Idle
//! Idle ─open_sum─▶ Uploading ─close─▶ Confirming ─close─▶ Unmasking ─close─▶ Idle
//!   ▲                  │ quorum lost        │ unconfirmed                    │
//!   └──────────────────┴────────────────────┴───────────────────── outcome ──┘
//! ```
//!
//! | phase | Keys | Ciphertexts | Shares | Upload | Confirm | Unmask |
//! |---|---|---|---|---|---|---|
//! | Joining | kept | refused | refused | refused | refused | refused |
//! | Agreeing | refused | kept | refused | refused | refused | refused |
//! | Sharing | refused | refused | kept | refused | refused | refused |
//! | Idle | refused | refused | refused | refused | refused | refused |
//! | Uploading | refused | refused | refused | added | refused | refused |
//! | Confirming | refused | refused | refused | refused | kept | refused |
//! | Unmasking | refused | refused | refused | refused | refused | kept |
//!
//! The caller owns the clock: a phase ends when it calls [`Coordinator::close_phase`], because all
//! clients have answered ([`Coordinator::waits_for`] is empty) or because time is up. A client that
//! has not answered by then has dropped out, of this sum only.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::client_set::ClientSet;
use crate::identity::ClientId;
use crate::message::Body;
use crate::notice::Notice;
use crate::outcome::{Abandoned, SumOutcome};
use crate::rejected::{Reason, Rejected, Sender};
use crate::signed::SignedMessage;
use crate::study::Study;

mod confirming;
mod recovery;
mod setup;
mod unmasking;
mod uploading;

use confirming::Confirming;
use setup::{Agreeing, Joining, Setup, Sharing};
use unmasking::Unmasking;
use uploading::Uploading;

/// An action that the shell must perform, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send this to a client.
    Send(ClientId, Notice),
    /// A sum has ended.
    SumEnded(SumOutcome),
    /// The study has ended without a sum: the exchange of keys failed.
    StudyAbandoned(Abandoned),
}

/// A sum that cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SumRefused {
    /// The study has no such sum.
    #[error("the study has {required} sums, so there is no sum {sum}")]
    NoSuchSum {
        /// Which sum.
        sum: u32,
        /// Sums of the study.
        required: u32,
    },
    /// The masks of a sum hide one vector only.
    #[error("sum {sum} was opened before; use another one")]
    Repeated {
        /// Which sum.
        sum: u32,
    },
    /// Keys are being exchanged, another sum is open, or the study has ended.
    #[error("no sum can be opened now")]
    NotIdle,
}

/// The coordinator of one study.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinator {
    study: Arc<Study>,
    stage: Stage,
    opened: BTreeSet<u32>,
    pending: VecDeque<Pending>,
}

#[derive(Clone, Debug, PartialEq)]
enum Stage {
    Joining(Joining),
    Agreeing(Agreeing),
    Sharing(Sharing),
    Idle(Setup),
    Uploading(Setup, Uploading),
    Confirming(Setup, Confirming),
    Unmasking(Setup, Unmasking),
    Ended,
}

/// Outputs that are written on demand, so that they need not all exist at once.
#[derive(Clone, Debug, PartialEq)]
enum Pending {
    Directory(ClientId),
    Ciphertexts(ClientId),
    Bundles(ClientId),
    Survivors(ClientId),
    Certificate(ClientId),
    SumEnded(SumOutcome),
    StudyAbandoned(Abandoned),
}

impl Coordinator {
    /// Opens the study and waits for keys.
    #[must_use]
    pub fn open(study: Arc<Study>) -> Self {
        let stage = Stage::Joining(Joining::default());
        Self {
            study,
            stage,
            opened: BTreeSet::new(),
            pending: VecDeque::new(),
        }
    }

    /// Takes a message that came from `from`.
    ///
    /// # Errors
    /// When it is refused; nothing has changed then.
    pub fn handle_message(
        &mut self,
        from: ClientId,
        message: &SignedMessage,
    ) -> Result<(), Rejected> {
        let rejected = |reason| Rejected {
            sender: Sender::Client(from),
            reason,
        };
        if !self.stage.expects(message) {
            return Err(rejected(Reason::WrongPhase {
                found: message.phase,
            }));
        }
        if message.sum != self.stage.sum() {
            return Err(rejected(Reason::WrongSum { found: message.sum }));
        }
        message.verify(&self.study, from)?;
        let body = Body::decode(message.phase, &message.body).map_err(|e| rejected(e.into()))?;
        let study = &self.study;
        let taken = match (&mut self.stage, body) {
            (Stage::Joining(joining), Body::Keys(keys)) => joining.take(study, message, keys),
            (Stage::Agreeing(agreeing), Body::Ciphertexts(sent)) => {
                agreeing.take(study, from, sent)
            }
            (Stage::Sharing(sharing), Body::Shares(shares)) => sharing.take(study, from, shares),
            (Stage::Uploading(setup, uploading), Body::Upload(upload)) => {
                uploading.take(study, setup, from, &upload)
            }
            (Stage::Confirming(_, confirming), Body::Confirmation(confirmation)) => {
                confirming.take(from, &confirmation, message.signature)
            }
            (Stage::Unmasking(setup, unmasking), Body::Unmask(unmask)) => {
                unmasking.take(study, setup, from, &unmask)
            }
            _ => Err(Reason::WrongPhase {
                found: message.phase,
            }),
        };
        taken.map_err(rejected)
    }

    /// Opens a sum, for which uploads in `context` are awaited.
    ///
    /// The context identifies what the sum is about, as far as that is not known when the study
    /// begins. Clients that got another context are not in the sum, and no client signs for two.
    ///
    /// # Errors
    /// When there is no such sum, it was opened before, or this is not the time.
    pub fn open_sum(&mut self, sum: u32, context: [u8; 32]) -> Result<(), SumRefused> {
        let required = self.study.n_sums();
        let shape = self
            .study
            .sum(sum)
            .ok_or(SumRefused::NoSuchSum { sum, required })?;
        if self.opened.contains(&sum) {
            return Err(SumRefused::Repeated { sum });
        }
        match core::mem::replace(&mut self.stage, Stage::Ended) {
            Stage::Idle(setup) => {
                self.opened.insert(sum);
                self.stage =
                    Stage::Uploading(setup, Uploading::open(&self.study, sum, context, shape));
                Ok(())
            }
            other => {
                self.stage = other;
                Err(SumRefused::NotIdle)
            }
        }
    }

    /// The coordinator as it is when the open sum has ended, without its outcome: the sum ended
    /// before a restart, and its number is used up.
    #[must_use]
    pub fn without_open_sum(mut self) -> Self {
        self.stage = match self.stage {
            Stage::Uploading(setup, _)
            | Stage::Confirming(setup, _)
            | Stage::Unmasking(setup, _) => Stage::Idle(setup),
            other => other,
        };
        self
    }

    /// Ends the phase with the messages so far.
    pub fn close_phase(&mut self) {
        match core::mem::replace(&mut self.stage, Stage::Ended) {
            Stage::Joining(joining) => match joining.close(&self.study) {
                Ok(agreeing) => {
                    self.tell(agreeing.clients(), Pending::Directory);
                    self.stage = Stage::Agreeing(agreeing);
                }
                Err(reason) => self.pending.push_back(Pending::StudyAbandoned(reason)),
            },
            Stage::Agreeing(agreeing) => match agreeing.close(&self.study) {
                Ok(sharing) => {
                    self.tell(sharing.agreed(), Pending::Ciphertexts);
                    self.stage = Stage::Sharing(sharing);
                }
                Err(reason) => self.pending.push_back(Pending::StudyAbandoned(reason)),
            },
            Stage::Sharing(sharing) => match sharing.close(&self.study) {
                Ok(setup) => {
                    self.tell(setup.sharers.iter(), Pending::Bundles);
                    self.stage = Stage::Idle(setup);
                }
                Err(reason) => self.pending.push_back(Pending::StudyAbandoned(reason)),
            },
            Stage::Uploading(setup, uploading) => match uploading.close(&self.study, &setup) {
                Ok(confirming) => {
                    self.tell(confirming.survivors.iter(), Pending::Survivors);
                    self.stage = Stage::Confirming(setup, confirming);
                }
                Err(outcome) => self.end_sum(setup, outcome),
            },
            Stage::Confirming(setup, confirming) => match confirming.close(&self.study) {
                Ok(unmasking) => {
                    self.tell(unmasking.survivors.iter(), Pending::Certificate);
                    self.stage = Stage::Unmasking(setup, unmasking);
                }
                Err(outcome) => self.end_sum(setup, outcome),
            },
            Stage::Unmasking(setup, unmasking) => {
                let outcome = unmasking.close(&self.study, &setup);
                self.end_sum(setup, outcome);
            }
            unchanged @ (Stage::Idle(_) | Stage::Ended) => self.stage = unchanged,
        }
    }

    fn tell(&mut self, clients: impl Iterator<Item = ClientId>, what: fn(ClientId) -> Pending) {
        self.pending.extend(clients.map(what));
    }

    fn end_sum(&mut self, setup: Setup, outcome: SumOutcome) {
        self.stage = Stage::Idle(setup);
        self.pending.push_back(Pending::SumEnded(outcome));
    }

    /// Handles a client that returned after a restart: sends again what the client needs.
    pub fn handle_return(&mut self, client: ClientId) {
        if self
            .setup()
            .is_some_and(|setup| setup.sharers.contains(client))
        {
            self.pending.push_back(Pending::Directory(client));
            self.pending.push_back(Pending::Ciphertexts(client));
            self.pending.push_back(Pending::Bundles(client));
        }
        match &self.stage {
            Stage::Agreeing(agreeing) if agreeing.clients().any(|id| id == client) => {
                self.pending.push_back(Pending::Directory(client));
            }
            Stage::Sharing(sharing) if sharing.agreed().any(|id| id == client) => {
                self.pending.push_back(Pending::Directory(client));
                self.pending.push_back(Pending::Ciphertexts(client));
            }
            Stage::Confirming(_, confirming) if confirming.survivors.contains(client) => {
                self.pending.push_back(Pending::Survivors(client));
            }
            Stage::Unmasking(_, unmasking) if unmasking.survivors.contains(client) => {
                self.pending.push_back(Pending::Survivors(client));
                self.pending.push_back(Pending::Certificate(client));
            }
            _ => {}
        }
    }

    /// The next thing to do; drain it after every call.
    pub fn poll_output(&mut self) -> Option<Output> {
        loop {
            let written = match self.pending.pop_front()? {
                Pending::SumEnded(outcome) => Some(Output::SumEnded(outcome)),
                Pending::StudyAbandoned(reason) => Some(Output::StudyAbandoned(reason)),
                Pending::Directory(to) => self.directory(to).map(|notice| Output::Send(to, notice)),
                Pending::Ciphertexts(to) => {
                    let notice = self.ciphertexts(to);
                    notice.map(|notice| Output::Send(to, notice))
                }
                Pending::Bundles(to) => {
                    let notice = self.setup().map(|setup| setup.bundles_for(&self.study, to));
                    notice.map(|notice| Output::Send(to, notice))
                }
                Pending::Survivors(to) => self.survivors().map(|notice| Output::Send(to, notice)),
                Pending::Certificate(to) => match &self.stage {
                    Stage::Unmasking(setup, unmasking) => Some(Output::Send(
                        to,
                        unmasking.certificate_for(&self.study, setup, to),
                    )),
                    _ => None,
                },
            };
            if written.is_some() {
                return written;
            }
        }
    }

    fn directory(&self, to: ClientId) -> Option<Notice> {
        match &self.stage {
            Stage::Agreeing(agreeing) => Some(agreeing.directory_for(&self.study, to)),
            Stage::Sharing(sharing) => Some(sharing.directory_for(&self.study, to)),
            _ => self
                .setup()
                .map(|setup| setup.directory_for(&self.study, to)),
        }
    }

    fn ciphertexts(&self, to: ClientId) -> Option<Notice> {
        match &self.stage {
            Stage::Sharing(sharing) => Some(sharing.ciphertexts_for(&self.study, to)),
            _ => self
                .setup()
                .map(|setup| setup.ciphertexts_for(&self.study, to)),
        }
    }

    fn survivors(&self) -> Option<Notice> {
        let (sum, survivors) = match &self.stage {
            Stage::Confirming(_, confirming) => (confirming.sum, &confirming.survivors),
            Stage::Unmasking(_, unmasking) => (unmasking.sum, &unmasking.survivors),
            _ => return None,
        };
        Some(Notice::Survivors {
            sum,
            survivors: Arc::clone(survivors),
        })
    }

    const fn setup(&self) -> Option<&Setup> {
        match &self.stage {
            Stage::Idle(setup)
            | Stage::Uploading(setup, _)
            | Stage::Confirming(setup, _)
            | Stage::Unmasking(setup, _) => Some(setup),
            Stage::Joining(_) | Stage::Agreeing(_) | Stage::Sharing(_) | Stage::Ended => None,
        }
    }

    /// The clients that have not answered in this phase.
    #[must_use]
    pub fn waits_for(&self) -> ClientSet {
        let all = self.study.roster().clients();
        let mut missing = ClientSet::empty(self.study.roster().n_clients());
        match &self.stage {
            Stage::Joining(joining) => missing.extend(all.filter(|id| !joining.has(*id))),
            Stage::Agreeing(agreeing) => {
                missing.extend(agreeing.clients().filter(|id| !agreeing.has(*id)));
            }
            Stage::Sharing(sharing) => {
                missing.extend(sharing.agreed().filter(|id| !sharing.has(*id)));
            }
            Stage::Uploading(setup, uploading) => {
                missing.extend(setup.sharers.iter().filter(|id| !uploading.has(*id)));
            }
            Stage::Confirming(_, confirming) => {
                missing.extend(
                    confirming
                        .survivors
                        .iter()
                        .filter(|id| !confirming.has(*id)),
                );
            }
            Stage::Unmasking(_, unmasking) => {
                missing.extend(unmasking.survivors.iter().filter(|id| !unmasking.has(*id)));
            }
            Stage::Idle(_) | Stage::Ended => {}
        }
        missing
    }
}

impl Stage {
    const fn expects(&self, message: &SignedMessage) -> bool {
        use crate::signed::Phase;
        matches!(
            (self, message.phase),
            (Self::Joining(_), Phase::Keys)
                | (Self::Agreeing(_), Phase::Agree)
                | (Self::Sharing(_), Phase::Shares)
                | (Self::Uploading(..), Phase::Upload)
                | (Self::Confirming(..), Phase::Confirm)
                | (Self::Unmasking(..), Phase::Unmask)
        )
    }

    const fn sum(&self) -> u32 {
        match self {
            Self::Uploading(_, uploading) => uploading.sum,
            Self::Confirming(_, confirming) => confirming.sum,
            Self::Unmasking(_, unmasking) => unmasking.sum,
            Self::Joining(_)
            | Self::Agreeing(_)
            | Self::Sharing(_)
            | Self::Idle(_)
            | Self::Ended => 0,
        }
    }
}
