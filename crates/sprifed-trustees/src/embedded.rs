//! Three trustees and all clients in one process, through the same messages as between machines.
//!
//! The process sees everything, so it is a trusted curator, and what it reports must say so. Keys come
//! from one seed; how two parties agree on them between machines is in [`PairingKeys`].
//!
//! [`PairingKeys`]: crate::PairingKeys

use std::collections::VecDeque;
use std::sync::Arc;

use sprifed_crypto::derivation::derive;
use sprifed_crypto::identity::{ClientId, Roster, RosterError};
use sprifed_crypto::identity_key::IdentityKey;
use sprifed_crypto::secret;
use zeroize::Zeroizing;

use crate::attempt::{Attempt, Effect, Ending, Refused, Setting};
use crate::attempt_id::AttemptId;
use crate::book::{Book, JournalLine, OutOfOrder};
use crate::chain::Chain;
use crate::dealt_noise::DealtNoise;
use crate::set::{Counted, outcome_digest};
use crate::step::{IllegalStep, Output, Step};
use crate::streams::StepKey;
use crate::trustee_id::TrusteeId;
use crate::upload::{ClientKeys, Upload, UploadRefused};

secret! {
    /// What all keys of the embedded parties are made from.
    struct Seed([u8; 32])
}

/// Why an embedded step failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddedFailed {
    /// The clients have no legal roster.
    #[error(transparent)]
    Roster(#[from] RosterError),
    /// Contributions or noise do not fit the step.
    #[error(transparent)]
    Step(#[from] IllegalStep),
    /// A trustee refused an upload.
    #[error(transparent)]
    Upload(#[from] UploadRefused),
    /// A trustee refused a message.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// A trustee's journal refused the step.
    #[error(transparent)]
    OutOfOrder(#[from] OutOfOrder),
    /// The trustees did not come to one outcome.
    #[error("the three trustees did not sign one outcome")]
    NoOutcome,
}

/// What was opened, the digest of the set, and who is in it.
type Opened = (Output, [u8; 32], Counted);

/// Three trustees and their clients.
#[derive(Debug)]
pub struct Embedded {
    seed: Seed,
    study: [u8; 32],
    transcript: [u8; 32],
    step: u32,
    trustees: [IdentityKey; 3],
    clients: Vec<IdentityKey>,
    roster: Arc<Roster>,
    books: [Book; 3],
}

impl Embedded {
    /// Parties whose keys come from `seed`, for the study with this agreement.
    ///
    /// # Errors
    /// When there are too many clients.
    pub fn new(seed: [u8; 32], study: [u8; 32], n_clients: u32) -> Result<Self, EmbeddedFailed> {
        let seed = Seed::from_bytes(seed);
        let key = |label: &[u8], number: u32| {
            let mut bytes = Zeroizing::new([0; 32]);
            derive(
                seed.expose(),
                &study,
                &[label, &number.to_le_bytes()],
                &mut *bytes,
            );
            IdentityKey::from_stored(&bytes)
        };
        let clients: Vec<_> = (0..n_clients)
            .map(|number| key(b"client", number))
            .collect();
        let public: Vec<_> = clients.iter().map(IdentityKey::public).collect();
        Ok(Self {
            trustees: [0, 1, 2].map(|number| key(b"trustee", number)),
            clients,
            roster: Arc::new(Roster::new(&public)?),
            seed,
            study,
            transcript: [0; 32],
            step: 0,
            books: [Book::default(); 3],
        })
    }

    /// The public identities of the trustees.
    #[must_use]
    pub fn identities(&self) -> [[u8; 32]; 3] {
        self.trustees.each_ref().map(IdentityKey::public)
    }

    /// The attempt with this number at the present step.
    #[must_use]
    pub const fn attempt(&self, attempt: u32) -> AttemptId {
        AttemptId {
            study: self.study,
            step: self.step,
            attempt,
            transcript: self.transcript,
        }
    }

    #[cfg(test)]
    pub(crate) fn client_identity(&self, client: ClientId) -> &IdentityKey {
        &self.clients[client.0 as usize]
    }

    fn chain(&self, label: &[u8; 6], number: u32) -> StepKey {
        let mut first = Zeroizing::new([0; 32]);
        let info: [&[u8]; 3] = [b"chain", label, &number.to_le_bytes()];
        derive(self.seed.expose(), &self.study, &info, &mut *first);
        let mut chain = Chain::new(*first);
        chain.erase_before(self.step);
        chain.key(self.step).expect("the chain is at this step")
    }

    /// The step's key of a client and a trustee.
    fn client_key(&self, client: ClientId, trustee: TrusteeId) -> StepKey {
        let label = [b"with 0", b"with 1", b"with 2"];
        self.chain(label.get(trustee.place()).unwrap_or(&b"with ?"), client.0)
    }

    /// The upload of a client.
    ///
    /// # Errors
    /// When its numbers do not fit the step.
    pub fn upload(
        &self,
        attempt: AttemptId,
        step: &Step,
        client: ClientId,
        numbers: &[i64],
    ) -> Result<Upload, EmbeddedFailed> {
        let planes = Zeroizing::new(step.contribution(client, numbers)?);
        let identity = self.clients.get(client.0 as usize);
        let identity = identity.ok_or(IllegalStep::Stranger { client })?;
        let keys = ClientKeys {
            identity,
            own: &self.chain(b"client", client.0),
            trustees: &TrusteeId::ALL.map(|trustee| self.client_key(client, trustee)),
        };
        Ok(Upload::new(attempt, client, &planes, &keys))
    }

    /// What a trustee brings into an attempt.
    #[must_use]
    pub fn setting(&self, attempt: AttemptId, step: &Arc<Step>, trustee: TrusteeId) -> Setting {
        let link = |number: TrusteeId| self.chain(b"kappa ", u32::from(number.share()));
        let mut fresh = [0; 32];
        let info: [&[u8]; 4] = [
            b"fresh",
            &[trustee.share()],
            &attempt.step.to_le_bytes(),
            &attempt.attempt.to_le_bytes(),
        ];
        derive(self.seed.expose(), &self.study, &info, &mut fresh);
        let [first, second, third] = &self.trustees;
        let identity = match trustee.share() {
            0 => first,
            1 => second,
            _ => third,
        };
        let clients = self.roster.clients();
        Setting {
            attempt,
            step: Arc::clone(step),
            trustee,
            identity: identity.clone(),
            identities: self.identities(),
            roster: Arc::clone(&self.roster),
            links: [link(trustee), link(trustee.next())],
            client_keys: clients
                .map(|client| Some(self.client_key(client, trustee)))
                .collect(),
            fresh,
        }
    }

    /// Runs one step with the numbers of the clients that take part and one noise share of each
    /// trustee.
    ///
    /// # Errors
    /// When the numbers do not fit the step.
    pub fn run(
        &mut self,
        step: Step,
        contributions: &[(ClientId, Vec<i64>)],
        noise: [DealtNoise; 3],
    ) -> Result<Output, EmbeddedFailed> {
        self.run_on(step, noise, contributions.iter().cloned().map(Ok))
    }

    /// As [`Self::run`], with contributions that are made when it is their turn: after the charges were
    /// stored and the noise was checked, and not all at once.
    ///
    /// # Errors
    /// When the numbers do not fit the step, or one of them could not be made.
    pub fn run_on<E: From<EmbeddedFailed>>(
        &mut self,
        step: Step,
        noise: [DealtNoise; 3],
        contributions: impl Iterator<Item = Result<(ClientId, Vec<i64>), E>>,
    ) -> Result<Output, E> {
        let (step, id) = (Arc::new(step), self.attempt(0));
        let mut attempts = self.begin(id, &step, noise)?;
        for contribution in contributions {
            let (client, numbers) = contribution?;
            self.pass_on_upload(id, &step, &mut attempts, (client, &numbers))?;
        }
        Ok(self.end(id, &mut attempts)?)
    }

    /// Charges the three books and begins their attempts.
    fn begin(
        &mut self,
        id: AttemptId,
        step: &Arc<Step>,
        noise: [DealtNoise; 3],
    ) -> Result<Vec<Attempt>, EmbeddedFailed> {
        for book in &mut self.books {
            let line = book.charge(id.step, id.attempt, false)?;
            book.enter(&line)?;
        }
        let mut attempts = Vec::with_capacity(3);
        for ((trustee, book), noise) in TrusteeId::ALL.iter().zip(&self.books).zip(noise) {
            let setting = self.setting(id, step, *trustee);
            attempts.push(Attempt::new(setting, *book, noise)?);
        }
        Ok(attempts)
    }

    fn pass_on_upload(
        &self,
        id: AttemptId,
        step: &Step,
        attempts: &mut [Attempt],
        (client, numbers): (ClientId, &[i64]),
    ) -> Result<(), EmbeddedFailed> {
        let bytes = self.upload(id, step, client, numbers)?.encode();
        for attempt in attempts {
            attempt.receive_upload(&bytes)?;
        }
        Ok(())
    }

    fn end(&mut self, id: AttemptId, attempts: &mut [Attempt]) -> Result<Output, EmbeddedFailed> {
        for attempt in attempts.iter_mut() {
            attempt.close_uploads()?;
        }
        let (output, set, clients) = self.deliver(attempts)?;
        self.transcript = outcome_digest(&id, &set, &clients, &output);
        self.step += 1;
        Ok(output)
    }

    /// Passes messages on until all three have ended.
    fn deliver(&mut self, attempts: &mut [Attempt]) -> Result<Opened, EmbeddedFailed> {
        let mut outcomes = Vec::new();
        let mut mail = VecDeque::new();
        loop {
            for (from, attempt) in TrusteeId::ALL.iter().zip(attempts.iter_mut()) {
                while let Some(effect) = attempt.poll() {
                    match effect {
                        Effect::Persist(line) => self.store(*from, &line)?,
                        Effect::SendPeer(to, bytes) => mail.push_back((*from, to, bytes)),
                        Effect::SendCoordinator(_) => {}
                        Effect::Ended(Ending::Opened {
                            output,
                            set,
                            clients,
                            ..
                        }) => {
                            outcomes.push((output, set, clients));
                        }
                        Effect::Ended(_) => return Err(EmbeddedFailed::NoOutcome),
                    }
                }
            }
            let Some((from, to, bytes)) = mail.pop_front() else {
                break;
            };
            if let Some(attempt) = attempts.get_mut(to.place()) {
                attempt.receive(from, &bytes)?;
            }
        }
        match outcomes.as_slice() {
            [first, second, third] if first == second && second == third => Ok(first.clone()),
            _ => Err(EmbeddedFailed::NoOutcome),
        }
    }

    fn store(&mut self, trustee: TrusteeId, line: &JournalLine) -> Result<(), OutOfOrder> {
        let book = self.books.get_mut(trustee.place());
        book.map_or(Ok(()), |book| book.enter(line))
    }
}
