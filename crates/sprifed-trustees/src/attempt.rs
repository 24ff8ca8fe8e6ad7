//! One trustee in one attempt at a step, as a state machine without I/O.
//!
//! | phase | leaves with |
//! |---|---|
//! | collecting uploads | the order to close: the signed list of uploads goes to both peers |
//! | lists | the lists of both peers: the set and its circuit follow, and are signed |
//! | set | three signatures for one set: noise is dealt to the next trustee |
//! | dealt | the previous trustee's deal: the circuit begins |
//! | running | each layer's frame of the next trustee, up to the last |
//! | proving, if gates are proved | the frames of both peers for each batch of gates: proofs are accepted, and `checked` is signed |
//! | checked, if gates are proved | three signatures that all proofs were accepted |
//! | norms, if they are verified | all phases from running on, for one bit of each client; the set without those outside is signed again |
//! | opening | the opening share, sent by both of its holders if gates are proved: the outcome is signed |
//! | opened | three signatures for one outcome |
//!
//! A proof that is refused, or a share that its two holders open differently, ends the study: the trustee signs what it
//! [found](crate::Finding).
//!
//! A message that does not fit is refused and changes nothing. A frame that comes too early is kept;
//! the relay may reorder.
//!
//! After a crash nothing of this is restored: see [`Restarted`](crate::Restarted).

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use sprifed_crypto::codec::DecodeError;
use sprifed_crypto::identity::{ClientId, Roster};
use sprifed_crypto::identity_key::IdentityKey;

use crate::attempt_id::AttemptId;
use crate::book::{Book, JournalLine, OutOfOrder};
use crate::dealt_noise::DealtNoise;
use crate::deviation::Finding;
use crate::message::{Body, Message};
use crate::set::{
    Counted, Statement, ThreeSignatures, UploadList, checked_digest, intersection, outcome_digest,
    set_digest, unopened_digest,
};
use crate::step::{IllegalStep, Output, Step};
use crate::streams::StepKey;
use crate::trustee_id::TrusteeId;
use crate::upload::{OpenedUpload, Upload, UploadRefused};

mod norms;
mod refusal;
mod run;
mod schedule;
#[cfg(test)]
mod tests;

use run::{Phase, Run};

/// Why a message is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// No message at all.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// Of another study, step, attempt or transcript.
    #[error("the message is for another attempt, step, study or transcript")]
    OtherAttempt,
    /// It says that it comes from the trustee itself.
    #[error("{from} is no peer of this trustee")]
    NotAPeer {
        /// The claimed sender.
        from: TrusteeId,
    },
    /// Not signed by the sender, or for another list, set or outcome than this trustee's.
    #[error("the signature of {from} does not hold for what this trustee has")]
    Signature {
        /// The sender.
        from: TrusteeId,
    },
    /// Not sealed by the sender for this place in this attempt.
    #[error("a frame of {from} does not open")]
    Frame {
        /// The sender.
        from: TrusteeId,
    },
    /// It came before, or cannot come now.
    #[error("the message of {from} came before, or cannot come now")]
    OutOfTurn {
        /// The sender.
        from: TrusteeId,
    },
    /// The attempt has ended for this trustee.
    #[error("the attempt has ended")]
    Ended,
    /// The trustee sent its opening share, so the attempt cannot be given up.
    #[error("the attempt counts as opened and cannot be given up")]
    Spent,
    /// The uploads do not fit the plan.
    #[error(transparent)]
    Step(#[from] IllegalStep),
    /// The journal has no such attempt.
    #[error(transparent)]
    OutOfOrder(#[from] OutOfOrder),
}

/// What the shell does for a trustee, one at a time and in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Store the line before the next effect is asked for.
    Persist(JournalLine),
    /// Send these bytes to a peer, directly or through the coordinator.
    SendPeer(TrusteeId, Vec<u8>),
    /// Send these bytes to the coordinator.
    SendCoordinator(Vec<u8>),
    /// The attempt is over for this trustee: erase its shares.
    Ended(Ending),
}

/// How an attempt ended for a trustee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All three trustees signed this outcome: the step is over.
    Opened {
        /// What came out.
        output: Output,
        /// The digest of the set that it was computed from.
        set: [u8; 32],
        /// Who was in it, and who left its ball.
        clients: Counted,
        /// The signatures of the outcome.
        signatures: ThreeSignatures,
    },
    /// This trustee sent no opening share and signed that it never will.
    Unopened,
    /// The charge is spent, and this trustee signed no outcome and never will.
    Spent,
    /// A trustee found a proof or an opening that does not fit: the study is over.
    Refused(Finding),
}

/// What a trustee brings into an attempt.
#[derive(Debug)]
pub struct Setting {
    /// Which attempt.
    pub attempt: AttemptId,
    /// What it computes.
    pub step: Arc<Step>,
    /// Which of the three trustees this is.
    pub trustee: TrusteeId,
    /// Its signing key.
    pub identity: IdentityKey,
    /// The public identities of all three.
    pub identities: [[u8; 32]; 3],
    /// The clients.
    pub roster: Arc<Roster>,
    /// The step's key of the link to the previous trustee, and of the link to the next one.
    pub links: [StepKey; 2],
    /// The step's key with each client of the roster; none for a client that did not enrol.
    pub client_keys: Vec<Option<StepKey>>,
    /// Random bytes of this attempt, drawn after its charge was stored.
    pub fresh: [u8; 32],
}

/// One trustee in one attempt.
#[derive(Debug)]
pub struct Attempt {
    setting: Setting,
    book: Book,
    noise: Option<DealtNoise>,
    uploads: BTreeMap<ClientId, OpenedUpload>,
    lists: [Option<UploadList>; 3],
    set: Option<[u8; 32]>,
    /// Whose numbers are counted, and who left its ball.
    clients: Counted,
    /// Whether the set was signed again without them.
    is_second_set: bool,
    set_signatures: [Option<[u8; 64]>; 3],
    checked_signatures: [Option<[u8; 64]>; 3],
    /// Signatures of sets and outcomes that came before this trustee knew the digest.
    early: BTreeMap<(TrusteeId, Statement), [u8; 64]>,
    run: Option<Run>,
    output: Option<Output>,
    outcome_signatures: [Option<[u8; 64]>; 3],
    has_ended: bool,
    effects: VecDeque<Effect>,
}

impl Attempt {
    /// Begins an attempt whose charge the shell has stored.
    ///
    /// # Errors
    /// When the book does not say that exactly this attempt was charged, or the noise does not fit.
    pub fn new(setting: Setting, book: Book, noise: DealtNoise) -> Result<Self, Refused> {
        let (step, attempt) = (setting.attempt.step, setting.attempt.attempt);
        if book.last() != Some((step, attempt, crate::book::Stage::Charged)) {
            return Err(OutOfOrder::Attempt { step, attempt }.into());
        }
        setting.step.noise(&noise)?;
        Ok(Self {
            setting,
            book,
            noise: Some(noise),
            uploads: BTreeMap::new(),
            lists: [const { None }; 3],
            set: None,
            clients: Counted::default(),
            is_second_set: false,
            set_signatures: [None; 3],
            checked_signatures: [None; 3],
            early: BTreeMap::new(),
            run: None,
            output: None,
            outcome_signatures: [None; 3],
            has_ended: false,
            effects: VecDeque::new(),
        })
    }

    /// What the shell does next; `None` until something comes in.
    pub fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// The journal as far as this attempt has asked to store it.
    #[must_use]
    pub const fn book(&self) -> &Book {
        &self.book
    }

    /// The digest of the set in progress: that of all uploads, or without the clients that left their balls.
    #[must_use]
    pub const fn set(&self) -> Option<&[u8; 32]> {
        self.set.as_ref()
    }

    /// Takes a client's upload.
    ///
    /// # Errors
    /// When it is left out; the reason depends on this upload alone.
    pub fn receive_upload(&mut self, bytes: &[u8]) -> Result<ClientId, UploadRefused> {
        if self.has_ended || self.own_list().is_some() {
            return Err(UploadRefused::Closed);
        }
        let upload = Upload::decode(bytes)?;
        let client = upload.client();
        let key = self.setting.client_keys.get(client.0 as usize);
        let key = key.and_then(Option::as_ref);
        let key = key.ok_or(UploadRefused::Stranger { client })?;
        let opened = upload.open(
            &self.setting.attempt,
            &self.setting.step,
            &self.setting.roster,
            (self.setting.trustee, key),
        )?;
        if let Some(before) = self.uploads.get(&client) {
            return match before.digest() == opened.digest() {
                true => Ok(client),
                false => Err(UploadRefused::Second { client }),
            };
        }
        self.uploads.insert(client, opened);
        Ok(client)
    }

    /// Closes the phase of uploads.
    ///
    /// # Errors
    /// When it is closed, or the attempt has ended.
    pub fn close_uploads(&mut self) -> Result<(), Refused> {
        if self.has_ended || self.own_list().is_some() {
            return Err(Refused::Ended);
        }
        let uploads = self.uploads.iter();
        let list = UploadList {
            fresh: self.setting.fresh,
            uploads: uploads
                .map(|(client, upload)| (*client, *upload.digest()))
                .collect(),
        };
        let digest = list.digest(&self.setting.attempt, self.setting.trustee);
        self.persist(JournalLine::ListSent { digest })?;
        let signature = Statement::List.sign(&self.setting.identity, &digest);
        self.tell_peers(&Body::List(list.clone(), signature));
        self.keep_list(self.setting.trustee, list);
        self.sign_set()
    }

    /// Ends the attempt if this trustee's opening share has not left: by order of the coordinator,
    /// after some time, or because a peer did.
    ///
    /// # Errors
    /// When it has ended, or counts as opened.
    pub fn give_up(&mut self) -> Result<(), Refused> {
        if self.has_ended {
            return Err(Refused::Ended);
        }
        let has_peer_opened = self.run.as_ref().is_some_and(Run::has_opening);
        if has_peer_opened || !self.book.may_give_up() {
            return Err(Refused::Spent);
        }
        // What was not stored or sent yet never will be.
        self.effects.clear();
        self.persist(JournalLine::GivenUp)?;
        let digest = unopened_digest(&self.setting.attempt);
        let signature = Statement::Unopened.sign(&self.setting.identity, &digest);
        self.tell_peers(&Body::Unopened(signature));
        self.tell_coordinator(Body::Unopened(signature));
        self.end(Ending::Unopened);
        Ok(())
    }

    /// Ends an attempt that counts as opened and has no outcome yet: this trustee will sign none. An outcome that it
    /// signed stands.
    pub fn leave(&mut self) {
        if !self.has_ended && self.output.is_none() {
            self.end(Ending::Spent);
        }
    }

    /// Takes a message of a peer.
    ///
    /// # Errors
    /// When it is refused; nothing is changed.
    pub fn receive(&mut self, from: TrusteeId, bytes: &[u8]) -> Result<(), Refused> {
        if self.has_ended {
            return Err(Refused::Ended);
        }
        if from == self.setting.trustee {
            return Err(Refused::NotAPeer { from });
        }
        let message = Message::decode(bytes)?;
        if message.attempt != self.setting.attempt {
            return Err(Refused::OtherAttempt);
        }
        match message.body {
            Body::List(list, signature) => self.receive_list(from, list, &signature),
            Body::Set(signature) => self.receive_signature(from, Statement::Set, signature),
            Body::Outcome(signature) => self.receive_signature(from, Statement::Outcome, signature),
            Body::Frame(frame) => self.receive_frame(from, frame),
            Body::Unopened(signature) => self.receive_unopened(from, &signature),
            Body::SecondSet(signature) => {
                self.receive_signature(from, Statement::SecondSet, signature)
            }
            Body::Checked(signature) => self.receive_signature(from, Statement::Checked, signature),
            Body::Refusal(finding, signature) => self.receive_refusal(from, finding, &signature),
        }
    }

    fn receive_list(
        &mut self,
        from: TrusteeId,
        list: UploadList,
        signature: &[u8; 64],
    ) -> Result<(), Refused> {
        if self.list_of(from).is_some() {
            return Err(Refused::OutOfTurn { from });
        }
        let digest = list.digest(&self.setting.attempt, from);
        if !Statement::List.is_signed(self.identity_of(from), &digest, signature) {
            return Err(Refused::Signature { from });
        }
        self.keep_list(from, list);
        self.sign_set()
    }

    /// Signs the set once all three lists are there.
    fn sign_set(&mut self) -> Result<(), Refused> {
        let [Some(first), Some(second), Some(third)] = &self.lists else {
            return Ok(());
        };
        let lists = [first.clone(), second.clone(), third.clone()];
        let clients: Vec<_> = intersection(&lists).into_keys().collect();
        if clients.is_empty() {
            // Only noise would be opened, and it would be charged.
            return self.give_up();
        }
        let (circuit, phase) = match self.setting.step.norm_circuit(&clients) {
            Some(norms) => (norms, Phase::Norms),
            None => (self.setting.step.circuit(&clients)?, Phase::Outcome),
        };
        let circuit = Arc::new(circuit);
        let batch = self.setting.step.batch_words();
        let set = set_digest(&self.setting.attempt, &lists, &circuit.digest(), batch);
        self.persist(JournalLine::SetSigned { digest: set })?;
        let signature = Statement::Set.sign(&self.setting.identity, &set);
        self.tell_peers(&Body::Set(signature));
        self.set = Some(set);
        self.uploads.retain(|client, _| clients.contains(client));
        self.clients.inside = clients;
        self.run = Some(Run::new(circuit, phase, &self.setting, &set));
        keep(&mut self.set_signatures, self.setting.trustee, signature);
        self.take_early(Statement::Set)
    }

    fn take_early(&mut self, statement: Statement) -> Result<(), Refused> {
        for from in self.setting.trustee.peers() {
            let early = self.early.remove(&(from, statement));
            let received =
                early.map(|signature| self.receive_signature(from, statement, signature));
            // A forged one is dropped: the true one may still come.
            if !matches!(
                received,
                None | Some(Ok(()) | Err(Refused::Signature { .. }))
            ) {
                return received.unwrap_or(Ok(()));
            }
        }
        Ok(())
    }

    fn receive_signature(
        &mut self,
        from: TrusteeId,
        statement: Statement,
        signature: [u8; 64],
    ) -> Result<(), Refused> {
        let digest = match statement {
            Statement::Set => self.set.filter(|_| !self.is_second_set),
            Statement::SecondSet => self.set.filter(|_| self.is_second_set),
            Statement::Checked => self
                .set
                .map(|set| checked_digest(&self.setting.attempt, &set)),
            _ => self.outcome(),
        };
        let Some(digest) = digest else {
            // One is kept until it can be checked.
            return match self.early.insert((from, statement), signature) {
                None => Ok(()),
                Some(before) => {
                    self.early.insert((from, statement), before);
                    Err(Refused::OutOfTurn { from })
                }
            };
        };
        if !statement.is_signed(self.identity_of(from), &digest, &signature) {
            return Err(Refused::Signature { from });
        }
        let signatures = match statement {
            Statement::Set | Statement::SecondSet => &mut self.set_signatures,
            Statement::Checked => &mut self.checked_signatures,
            _ => &mut self.outcome_signatures,
        };
        if signatures.get(from.place()).is_some_and(Option::is_some) {
            return Err(Refused::OutOfTurn { from });
        }
        keep(signatures, from, signature);
        match statement {
            Statement::Set | Statement::SecondSet | Statement::Checked => self.proceed(),
            _ => {
                self.end_if_all_signed();
                Ok(())
            }
        }
    }

    fn outcome(&self) -> Option<[u8; 32]> {
        let (set, output) = (self.set.as_ref()?, self.output.as_ref()?);
        Some(outcome_digest(
            &self.setting.attempt,
            set,
            &self.clients,
            output,
        ))
    }

    fn receive_unopened(&mut self, from: TrusteeId, signature: &[u8; 64]) -> Result<(), Refused> {
        let digest = unopened_digest(&self.setting.attempt);
        if !Statement::Unopened.is_signed(self.identity_of(from), &digest, signature) {
            return Err(Refused::Signature { from });
        }
        match self.give_up() {
            // What it signed stands: it says nothing else of this attempt.
            Err(Refused::Spent) if self.output.is_some() => Ok(()),
            // Without that peer no outcome gets three signatures.
            Err(Refused::Spent) => {
                self.end(Ending::Spent);
                Ok(())
            }
            ended => ended,
        }
    }

    fn end_if_all_signed(&mut self) {
        let [Some(first), Some(second), Some(third)] = self.outcome_signatures else {
            return;
        };
        if let (Some(output), Some(set)) = (self.output.take(), self.set) {
            let clients = core::mem::take(&mut self.clients);
            self.end(Ending::Opened {
                output,
                set,
                clients,
                signatures: ThreeSignatures(Box::new([first, second, third])),
            });
        }
    }

    /// Erases everything secret of the attempt.
    fn end(&mut self, ending: Ending) {
        self.has_ended = true;
        self.run = None;
        self.noise = None;
        self.uploads.clear();
        self.effects.push_back(Effect::Ended(ending));
    }

    fn persist(&mut self, line: JournalLine) -> Result<(), OutOfOrder> {
        self.book.enter(&line)?;
        self.effects.push_back(Effect::Persist(line));
        Ok(())
    }

    fn tell_peers(&mut self, body: &Body) {
        for peer in self.setting.trustee.peers() {
            self.tell(peer, body.clone());
        }
    }

    fn tell(&mut self, peer: TrusteeId, body: Body) {
        let bytes = self.message(body);
        self.effects.push_back(Effect::SendPeer(peer, bytes));
    }

    fn tell_coordinator(&mut self, body: Body) {
        let bytes = self.message(body);
        self.effects.push_back(Effect::SendCoordinator(bytes));
    }

    fn message(&self, body: Body) -> Vec<u8> {
        let attempt = self.setting.attempt;
        Message { attempt, body }.encode()
    }

    fn identity_of(&self, trustee: TrusteeId) -> &[u8; 32] {
        const NONE: [u8; 32] = [0; 32];
        self.setting
            .identities
            .get(trustee.place())
            .unwrap_or(&NONE)
    }

    fn list_of(&self, trustee: TrusteeId) -> Option<&UploadList> {
        self.lists.get(trustee.place()).and_then(Option::as_ref)
    }

    fn own_list(&self) -> Option<&UploadList> {
        self.list_of(self.setting.trustee)
    }

    fn keep_list(&mut self, trustee: TrusteeId, list: UploadList) {
        if let Some(place) = self.lists.get_mut(trustee.place()) {
            *place = Some(list);
        }
    }
}

fn keep(signatures: &mut [Option<[u8; 64]>; 3], of: TrusteeId, signature: [u8; 64]) {
    if let Some(place) = signatures.get_mut(of.place()) {
        *place = Some(signature);
    }
}
