//! A client: a state machine that takes notices and makes uploads.
//!
//! ```text
//! Joining ──Directory──▶ Agreeing ──Ciphertexts──▶ Sharing ──Bundles──▶ Ready
//!    │Keys                  │Ciphertexts             │Shares             │ for each sum:
//!    ▼                      ▼                        ▼                   │   upload() ─▶ Upload
//!                                                                        │   Survivors ─▶ Confirm   (one set for each sum, ever)
//!                                                                        │   Certificate ─▶ Unmask
//! ```
//!
//! | phase | Directory | Ciphertexts | Bundles | Survivors | Certificate |
//! |---|---|---|---|---|---|
//! | Joining | to Agreeing | refused | refused | refused | refused |
//! | Agreeing | refused | to Sharing | refused | refused | refused |
//! | Sharing | refused | refused | to Ready | refused | refused |
//! | Ready | refused | refused | refused | confirms | reveals |
//!
//! A client answers each sum once. What it must remember over a restart comes out as
//! [`Output::Persist`] before the message that depends on it: its messages in the exchange of keys
//! (the secrets behind them are erased one by one), that it uploaded (a second upload under the
//! same masks would show the difference of the two) and which survivor set it confirmed (another
//! one would make it reveal the other kind of share).

use std::collections::VecDeque;
use std::sync::Arc;

use sprifed_noise::Noised;

use crate::identity::ClientId;
use crate::keys::ClientSecrets;
use crate::message::Body;
use crate::notice::Notice;
use crate::rejected::{Reason, Rejected, Sender};
use crate::signed::{Phase, SignedMessage};
use crate::study::Study;
use sprifed_crypto::identity_key::IdentityKey;

mod agreeing;
mod bundle;
mod joining;
mod journal;
mod ready;
mod revealing;
mod sharing;
#[cfg(test)]
mod tests;

use agreeing::Agreeing;
use bundle::share;
use joining::Joining;
use journal::{Journal, Progress};
use ready::Ready;
use sharing::Sharing;

pub use journal::JournalEntry;
pub use ready::UploadRefused;
pub use revealing::CheckedCertificate;

/// An action that the shell must perform, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Store this before the outputs that follow are carried out.
    Persist(JournalEntry),
    /// Send this to the coordinator.
    Send(SignedMessage),
}

/// One client in one study.
pub struct Client {
    own: Own,
    phase: Stage,
    journal: Journal,
    outputs: VecDeque<Output>,
}

/// What a client is and keeps to itself.
struct Own {
    study: Arc<Study>,
    me: ClientId,
    identity: IdentityKey,
    secrets: ClientSecrets,
}

impl Own {
    fn sign(&self, sum: u32, body: &Body) -> SignedMessage {
        let (study, bytes) = (self.study.id(), body.encode());
        SignedMessage::sign(&self.identity, study, body.phase(), sum, self.me, bytes)
    }
}

enum Stage {
    Joining(Joining),
    Agreeing(Agreeing),
    Sharing(Sharing),
    Ready(Box<Ready>),
}

impl Client {
    /// Joins `study` as `me` and publishes its keys; `None` if `me` is not on the roster with this
    /// identity.
    ///
    /// # Caller must
    /// draw `secrets` afresh for every study and store them, with the identifier of the study,
    /// before sending anything, and never join a study of the same identifier with others: its
    /// signatures of the first time would count in the second.
    #[must_use]
    pub fn join(
        study: Arc<Study>,
        me: ClientId,
        identity: IdentityKey,
        secrets: impl Into<ClientSecrets>,
    ) -> Option<Self> {
        Self::resume(study, me, identity, secrets, &[])
    }

    /// Joins again after a restart, with everything that was persisted; `None` also if the journal
    /// contradicts itself, or if keys were not published and their secrets were erased.
    ///
    /// # Trust
    /// The journal is complete: nothing was lost, rewound or written by another running copy.
    #[must_use]
    pub fn resume(
        study: Arc<Study>,
        me: ClientId,
        identity: IdentityKey,
        secrets: impl Into<ClientSecrets>,
        journal: &[JournalEntry],
    ) -> Option<Self> {
        let known = study.roster().key(me)?.to_bytes() == identity.public();
        let journal = Journal::read(journal, me)?;
        let own = Own {
            study,
            me,
            identity,
            secrets: secrets.into(),
        };
        let mut client = Self {
            own,
            phase: Stage::Joining(Joining),
            journal,
            outputs: VecDeque::new(),
        };
        // Keys answer nothing.
        let told = [0; 32];
        match client.journal.answer(Phase::Keys, &told).ok()? {
            Some(before) => client.outputs.push_back(Output::Send(before)),
            None => {
                let keys = Joining::keys(&client.own)?;
                client.publish(told, &Body::Keys(keys));
            }
        }
        known.then_some(client)
    }

    /// Takes a notice of the coordinator.
    ///
    /// # Errors
    /// When it is refused; nothing has changed then.
    pub fn handle_message(&mut self, notice: &Notice) -> Result<(), Rejected> {
        self.handle(notice).map_err(|reason| Rejected {
            sender: Sender::Coordinator,
            reason,
        })
    }

    fn handle(&mut self, notice: &Notice) -> Result<(), Reason> {
        let unexpected = |found| Err(Reason::WrongPhase { found });
        match (&mut self.phase, notice) {
            (Stage::Joining(joining), Notice::Directory { keys }) => {
                let told = notice.digest();
                let before = self.journal.answer(Phase::Agree, &told)?;
                let (agreeing, ciphertexts) = joining.take_directory(&self.own, keys)?;
                self.phase = Stage::Agreeing(agreeing);
                match before {
                    Some(before) => self.outputs.push_back(Output::Send(before)),
                    None => self.publish(told, &Body::Ciphertexts(ciphertexts)),
                }
            }
            (Stage::Agreeing(agreeing), Notice::Ciphertexts { neighbours }) => {
                let told = notice.digest();
                let before = self.journal.answer(Phase::Shares, &told)?;
                let sharing = agreeing.take_ciphertexts(&self.own, neighbours)?;
                if let Some(before) = before {
                    self.phase = Stage::Sharing(sharing);
                    self.outputs.push_back(Output::Send(before));
                } else {
                    let shares = share(&self.own, &sharing.peers)?;
                    self.phase = Stage::Sharing(sharing);
                    self.publish(told, &Body::Shares(shares));
                }
                // The shares are stored before they leave, so that they are never made again.
                self.own.secrets.forget_setup();
            }
            (Stage::Sharing(sharing), Notice::Bundles { sharers, bundles }) => {
                let ready = sharing.take_bundles(&self.own, sharers, bundles)?;
                self.phase = Stage::Ready(Box::new(ready));
            }
            (Stage::Ready(ready), Notice::Survivors { sum, survivors }) => {
                let progress = self.journal.sums.get(sum).copied();
                let confirmation = ready.take_survivors(&self.own, *sum, survivors, progress)?;
                let digest = confirmation.digest;
                self.journal.sums.entry(*sum).or_default().confirmed = Some(digest);
                let entry = JournalEntry::Confirmed { sum: *sum, digest };
                self.outputs.push_back(Output::Persist(entry));
                self.send(*sum, &Body::Confirmation(confirmation));
            }
            (
                Stage::Ready(ready),
                Notice::Certificate {
                    sum,
                    certificate,
                    tags,
                },
            ) => {
                let checked = ready.check_certificate(&self.own, *sum, certificate)?;
                let unmask = ready.take_certificate(&self.own, *sum, &checked, tags)?;
                self.send(*sum, &Body::Unmask(unmask));
            }
            (_, Notice::Directory { .. }) => return unexpected(Phase::Keys),
            (_, Notice::Ciphertexts { .. }) => return unexpected(Phase::Agree),
            (_, Notice::Bundles { .. }) => return unexpected(Phase::Shares),
            (_, Notice::Survivors { .. }) => return unexpected(Phase::Confirm),
            (_, Notice::Certificate { .. }) => return unexpected(Phase::Unmask),
        }
        Ok(())
    }

    /// Checks the signatures of a certificate on behalf of all clients of this process.
    ///
    /// # Errors
    /// When the notice is no certificate of this client's survivor set.
    pub fn check_certificate(&self, notice: &Notice) -> Result<CheckedCertificate, Rejected> {
        let checked = match (&self.phase, notice) {
            (
                Stage::Ready(ready),
                Notice::Certificate {
                    sum, certificate, ..
                },
            ) => ready.check_certificate(&self.own, *sum, certificate),
            _ => Err(Reason::WrongPhase {
                found: Phase::Unmask,
            }),
        };
        checked.map_err(|reason| Rejected {
            sender: Sender::Coordinator,
            reason,
        })
    }

    /// Takes a certificate whose signatures another client of this process has checked.
    ///
    /// # Errors
    /// When it is refused; nothing has changed then.
    pub fn handle_checked(
        &mut self,
        notice: &Notice,
        checked: &CheckedCertificate,
    ) -> Result<(), Rejected> {
        let revealed = match (&mut self.phase, notice) {
            (Stage::Ready(ready), Notice::Certificate { sum, tags, .. }) => {
                let unmask = ready.take_certificate(&self.own, *sum, checked, tags);
                unmask.map(|unmask| (*sum, unmask))
            }
            _ => Err(Reason::WrongPhase {
                found: Phase::Unmask,
            }),
        };
        let (sum, unmask) = revealed.map_err(|reason| Rejected {
            sender: Sender::Coordinator,
            reason,
        })?;
        self.send(sum, &Body::Unmask(unmask));
        Ok(())
    }

    /// Agrees on the pairwise masks of `sum` ahead of time; [`Client::upload`] does it otherwise.
    pub fn prepare(&mut self, sum: u32, context: &[u8; 32]) {
        if let Stage::Ready(ready) = &mut self.phase {
            ready.prepare(&self.own, sum, context);
        }
    }

    /// Masks `noised` and sends it as this client's part of `sum` in `context`.
    ///
    /// The context identifies what the sum is about. Masks of two contexts are independent, so that
    /// a client that was restored and asked in another context hides its second vector under other
    /// masks.
    ///
    /// Only what carries noise can be masked:
    ///
    /// ```
    /// # use sprifed_secure_sum::{Client, UploadRefused};
    /// # use sprifed_noise::{BoundedSum, Noised};
    /// fn send(client: &mut Client, part: &Noised) -> Result<(), UploadRefused> {
    ///     client.upload(0, &[7; 32], part)
    /// }
    /// ```
    ///
    /// ```compile_fail,E0308
    /// # use sprifed_secure_sum::{Client, UploadRefused};
    /// # use sprifed_noise::{BoundedSum, Noised};
    /// fn send(client: &mut Client, part: &BoundedSum) -> Result<(), UploadRefused> {
    ///     client.upload(0, &[7; 32], part)
    /// }
    /// ```
    ///
    /// # Errors
    /// When the client is not ready, has uploaded before, or the vector is not one of the sum.
    pub fn upload(
        &mut self,
        sum: u32,
        context: &[u8; 32],
        noised: &Noised,
    ) -> Result<(), UploadRefused> {
        let Stage::Ready(ready) = &mut self.phase else {
            return Err(UploadRefused::NotReady);
        };
        if self.journal.sums.contains_key(&sum) {
            return Err(UploadRefused::Repeated { sum });
        }
        let upload = ready.upload(&self.own, sum, context, noised)?;
        let context = *context;
        self.journal.sums.entry(sum).or_default().context = Some(context);
        let entry = JournalEntry::Uploaded { sum, context };
        self.outputs.push_back(Output::Persist(entry));
        self.send(sum, &Body::Upload(upload));
        Ok(())
    }

    /// Erases the secrets of the group of `sum`, one of whose sums is open: masks, own-mask seed and
    /// the dealing of its sums are erased, and the client can no longer upload to a sum of the
    /// group.
    ///
    /// What neighbours entrusted to this client stays as it came, encrypted: one share of each
    /// secret, which opens nothing.
    pub fn forget(&mut self, sum: u32) {
        self.own.secrets.forget_group(sum);
        if let Stage::Ready(ready) = &mut self.phase {
            ready.forget();
        }
    }

    /// The next thing to do; drain it after every call.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// The client's place in the roster.
    #[must_use]
    pub const fn id(&self) -> ClientId {
        self.own.me
    }

    /// Whether uploads can be made.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        matches!(self.phase, Stage::Ready(_))
    }

    /// Stores and sends a message of the exchange of keys.
    fn publish(&mut self, told: [u8; 32], body: &Body) {
        let signed = self.own.sign(0, body);
        let message = signed.encode();
        self.journal.publish(told, signed.clone());
        let entry = JournalEntry::Published { told, message };
        self.outputs.push_back(Output::Persist(entry));
        self.outputs.push_back(Output::Send(signed));
    }

    fn send(&mut self, sum: u32, body: &Body) {
        let message = self.own.sign(sum, body);
        self.outputs.push_back(Output::Send(message));
    }
}

impl PartialEq for Client {
    /// Equal in everything but the study, which does not change.
    fn eq(&self, other: &Self) -> bool {
        let same_phase = match (&self.phase, &other.phase) {
            (Stage::Joining(left), Stage::Joining(right)) => left == right,
            (Stage::Agreeing(left), Stage::Agreeing(right)) => left == right,
            (Stage::Sharing(left), Stage::Sharing(right)) => left == right,
            (Stage::Ready(left), Stage::Ready(right)) => left == right,
            _ => false,
        };
        same_phase
            && self.own.me == other.own.me
            && self.own.secrets == other.own.secrets
            && self.journal == other.journal
            && self.outputs == other.outputs
    }
}

impl core::fmt::Debug for Client {
    /// Only the name and the phase: the rest is secret.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let phase = match self.phase {
            Stage::Joining(_) => "joining",
            Stage::Agreeing(_) => "agreeing",
            Stage::Sharing(_) => "sharing",
            Stage::Ready(_) => "ready",
        };
        write!(formatter, "Client({}, {phase})", self.own.me.0)
    }
}
