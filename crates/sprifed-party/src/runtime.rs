//! One party of one study at work: orders in, messages out, and everything that must be kept in between.
//!
//! ```text
//! order ─▶ StudyParty ─▶ Persist, Forget ─▶ store, ledger      carried out here, each before the next
//!                     ─▶ Send, Ended ──────▶ whatever carries messages: the network, Flower
//! ```

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use sprifed_noise::Provenance;
use sprifed_secure_sum::{ClientId, IdentityKey};
use sprifed_study::{
    Agreed, JournalLine, OrderRefused, PartyEffect, PartyKey, PartyReceipt, RecordStore,
    StudyParty, Transcript,
};
use tracing::warn;

use crate::database::StoreError;
use crate::error::PartyError;
use crate::folder::{RECEIPT, StudyFolder};
use crate::ledger::LedgerPlace;
use crate::private_files::write_artefacts;
use crate::store::{Artefacts, PartyEnd, PartyStore, SealedStore};

#[cfg(test)]
mod tests;

/// What a party wants carried to the coordinator, or that it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// A message to the coordinator. Everything that it depends on is stored.
    Send(Vec<u8>),
    /// The party's part is over.
    Ended(Finished),
}

/// How a party's part ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Whether the study ended with a model.
    pub success: bool,
    /// The files that were written.
    pub files: Vec<PathBuf>,
}

/// Who takes part in what.
#[derive(Clone, Debug)]
pub struct Seat {
    /// What was agreed on.
    pub agreed: Arc<Agreed>,
    /// The party's seat.
    pub me: ClientId,
    /// Its key.
    pub identity: IdentityKey,
    /// The seed of a rehearsal.
    pub seed: Option<u64>,
    /// Where the files of a study that is over go.
    pub folder: StudyFolder,
    /// The name and version of the program, for receipts.
    pub software: String,
    /// The files that the study leaves behind; one of them is [`RECEIPT`].
    pub files: fn(&PartyReceipt, &Transcript) -> Artefacts,
}

impl Seat {
    fn study(&self) -> String {
        self.agreed.digest().to_string()
    }
}

/// One party of one study.
#[derive(Debug)]
pub struct PartyRuntime<S, R> {
    seat: Seat,
    records: R,
    store: S,
    /// None for measurements, which protect no record.
    ledger: Option<LedgerPlace>,
    /// How far the ledger says that the store is.
    counted: u64,
    /// None before the start, and after the end without its key.
    party: Option<StudyParty<R>>,
    /// What it says before it is told anything.
    unasked: VecDeque<Vec<u8>>,
    /// Orders that it was told before, and what it says to each.
    known: Vec<(Vec<u8>, Vec<Vec<u8>>)>,
    /// Messages that it repeats.
    repeated: VecDeque<Vec<u8>>,
}

impl<S: PartyStore, R: RecordStore + Clone> PartyRuntime<S, R> {
    /// The party in `seat`, which was admitted and entered in `ledger`. It does nothing before [`restart`](Self::restart).
    ///
    /// # Errors
    /// If the state is an older copy, or the ledger cannot be opened.
    pub fn new(
        seat: Seat,
        records: R,
        store: S,
        ledger: Option<LedgerPlace>,
    ) -> Result<Self, PartyError> {
        let counted = match &ledger {
            Some(place) => place.open()?.answered(&seat.study())?,
            None => 0,
        };
        refuse_older(&store, counted)?;
        Ok(Self {
            seat,
            records,
            store,
            ledger,
            counted,
            party: None,
            unasked: VecDeque::new(),
            known: Vec::new(),
            repeated: VecDeque::new(),
        })
    }

    /// Begins, or begins again, with what is stored, as after a restart of the process. Says how the party's part
    /// ended, if it did: no coordinator is needed then.
    ///
    /// # Errors
    /// If the state cannot be used or written.
    pub fn restart(&mut self) -> Result<Option<Finished>, PartyError> {
        self.party = None;
        self.unasked.clear();
        self.known.clear();
        self.repeated.clear();
        if let Some(end) = self.store.end()? {
            return self.deliver(&end).map(Some);
        }
        let key = match self.key() {
            // Its key was erased: it refuses whatever it is told.
            Err(_) if self.store.is_over()? => return Ok(None),
            key => key?,
        };
        let mut party = StudyParty::join(
            Arc::clone(&self.seat.agreed),
            self.seat.me,
            self.seat.identity.clone(),
            key,
            self.records.clone(),
            &self.store.lines()?,
            &self.seat.software,
        )?;
        if let Some(sum) = party.unanswered() {
            warn!(
                sum,
                "this sum was charged before, but the process ended before it was answered; it counts as spent"
            );
        }
        let orders = if party.is_over() {
            Vec::new()
        } else {
            self.store.orders()
        };
        self.tell_again(&mut party, orders)?;
        self.party = Some(party);
        Ok(None)
    }

    /// Takes an order of the coordinator.
    ///
    /// # Errors
    /// If the party refuses it; nothing has changed then. It may have something to say all the same.
    pub fn receive(&mut self, order: &[u8]) -> Result<(), OrderRefused> {
        self.unasked.clear();
        if let Some((_, said)) = self.known.iter().find(|(known, _)| known == order) {
            // Its words may have been lost.
            self.repeated.extend(said.iter().cloned());
            return Ok(());
        }
        let party = self.party.as_mut().ok_or(OrderRefused::Over)?;
        party.receive(order)?;
        self.store.accept(order);
        Ok(())
    }

    /// What is to be carried next; poll until there is nothing. Everything else that the party wants done is done in
    /// here, in order: a charge is stored and counted before a record is read for it.
    ///
    /// # Errors
    /// If something could not be stored; nothing that depends on it is sent.
    pub fn poll(&mut self) -> Result<Option<Outgoing>, PartyError> {
        let again = self.unasked.pop_front();
        if let Some(message) = again.or_else(|| self.repeated.pop_front()) {
            self.count()?;
            return Ok(Some(Outgoing::Send(message)));
        }
        while let Some(effect) = self.party.as_mut().and_then(StudyParty::poll) {
            match effect {
                PartyEffect::Persist(line) => self.persist(&line)?,
                PartyEffect::Forget { lines, .. } => {
                    // Everything before this was carried out: what was erased is not needed any more.
                    let secret = self.party.as_ref().and_then(StudyParty::stored_key);
                    let secret = secret.as_ref().map(|text| text.as_str());
                    self.store.forget(&lines, secret)?;
                }
                PartyEffect::Send(report) => {
                    self.count()?;
                    return Ok(Some(Outgoing::Send(report.encode())));
                }
                PartyEffect::Ended(receipt) => {
                    let ended = self.end(&receipt)?;
                    return Ok(Some(Outgoing::Ended(ended)));
                }
            }
        }
        self.store.flush()?;
        Ok(None)
    }

    /// Tells a party that was rebuilt what it was told before, and keeps what it says.
    fn tell_again(
        &mut self,
        party: &mut StudyParty<R>,
        orders: Vec<Vec<u8>>,
    ) -> Result<(), PartyError> {
        let mut forgotten = Vec::new();
        let unasked = self.drain(party, &mut forgotten)?;
        if self.store.orders().is_empty() {
            // A coordinator that has told it something has received its messages.
            self.unasked.extend(unasked);
        }
        for order in orders {
            party
                .receive(&order)
                .map_err(|refused| PartyError::Contradiction {
                    path: self.store.path(),
                    found: refused.to_string(),
                })?;
            let said = self.drain(party, &mut forgotten)?;
            self.known.push((order, said));
        }
        // A kill may have come before all of it was erased.
        let lines = self.store.lines()?;
        let is_left = |(place, line): &(u64, JournalLine)| {
            let place = usize::try_from(*place).unwrap_or(usize::MAX);
            lines.get(place) != Some(line)
        };
        forgotten.retain(is_left);
        let secret = party.stored_key();
        let secret = if self.known.is_empty() || secret == self.store.secret()? {
            None
        } else {
            secret
        };
        if !forgotten.is_empty() || secret.is_some() {
            let secret = secret.as_ref().map(|text| text.as_str());
            self.store.forget(&forgotten, secret)?;
        }
        Ok(())
    }

    /// What a rebuilt party says. What it persists is stored; what it forgets is collected.
    fn drain(
        &mut self,
        party: &mut StudyParty<R>,
        forgotten: &mut Vec<(u64, JournalLine)>,
    ) -> Result<Vec<Vec<u8>>, PartyError> {
        let mut said = Vec::new();
        while let Some(effect) = party.poll() {
            match effect {
                PartyEffect::Persist(line) => self.persist(&line)?,
                PartyEffect::Send(report) => said.push(report.encode()),
                PartyEffect::Forget { lines, .. } => forgotten.extend(lines),
                PartyEffect::Ended(_) => {}
            }
        }
        Ok(said)
    }

    fn persist(&mut self, line: &JournalLine) -> Result<(), PartyError> {
        self.store.append(line)?;
        self.count()
    }

    /// Lets the ledger know how far the store is, so that an older copy of it is noticed. The store comes first: a kill
    /// in between leaves a store that is further than the count, which is as it should be.
    fn count(&mut self) -> Result<(), PartyError> {
        self.store.flush()?;
        let progress = self.store.progress();
        if let (Some(place), true) = (&self.ledger, progress > self.counted) {
            place.open()?.count(&self.seat.study(), progress)?;
            self.counted = progress;
        }
        Ok(())
    }

    fn end(&mut self, receipt: &PartyReceipt) -> Result<Finished, PartyError> {
        let transcript = self.party.as_ref().map(StudyParty::transcript);
        let files = transcript.map(|transcript| (self.seat.files)(receipt, transcript));
        let end = PartyEnd {
            artefacts: files.unwrap_or_default(),
            success: receipt.study.receipt.fit.is_some(),
        };
        self.store.finish(&end)?;
        self.deliver(&end)
    }

    /// Writes the files, counts what the receipt says, and then erases the secret. A second time changes nothing.
    fn deliver(&mut self, end: &PartyEnd) -> Result<Finished, PartyError> {
        let files = write_artefacts(self.seat.folder.path(), &end.artefacts)?;
        if let Some(place) = &self.ledger {
            let receipt = receipt_in(end)?;
            let cost = self.seat.agreed.cost_of(receipt.statement.ledger.spent);
            place.open()?.settle(&self.seat.study(), cost)?;
        }
        self.store.erase_secret()?;
        Ok(Finished {
            success: end.success,
            files,
        })
    }

    /// The key of this party as it is stored: the store alone knows what was erased.
    fn key(&mut self) -> Result<PartyKey, PartyError> {
        let Seat {
            agreed, me, seed, ..
        } = &self.seat;
        match (agreed.agreement().noise, seed) {
            (Provenance::Simulated, Some(seed)) => Ok(PartyKey::simulated(*seed, 0).of_party(me.0)),
            (Provenance::Simulated, None) => Err(PartyError::NoSeed),
            (Provenance::Cryptographic, Some(_)) => Err(PartyError::SeedGiven),
            (Provenance::Cryptographic, None) => {
                let path = self.store.secret_path();
                let Some(text) = self.store.secret()? else {
                    return Err(PartyError::StateLost { path });
                };
                PartyKey::from_stored(&text, agreed.n_steps()).map_err(|error| {
                    PartyError::unusable(path.display().to_string(), error, "the key of this study")
                })
            }
        }
    }
}

impl<R: RecordStore + Clone> PartyRuntime<SealedStore, R> {
    /// Begins the request with this number.
    ///
    /// # Errors
    /// If it, or a later one, was answered before.
    pub fn begin_request(&mut self, number: u64) -> Result<(), PartyError> {
        self.store.begin_request(number)
    }
}

/// Refuses a store that is not as far as the ledger says.
pub(crate) fn refuse_older(store: &dyn PartyStore, counted: u64) -> Result<(), PartyError> {
    let found = store.progress();
    if found >= counted {
        return Ok(());
    }
    Err(PartyError::Store(StoreError::PutBack {
        path: store.path(),
        found,
        required: counted,
    }))
}

fn receipt_in(end: &PartyEnd) -> Result<PartyReceipt, PartyError> {
    let file = end.artefacts.iter().find(|(name, _)| name == RECEIPT);
    let bytes = file.map_or(&[][..], |(_, bytes)| bytes);
    serde_json::from_slice(bytes)
        .map_err(|error| PartyError::unusable(RECEIPT, error, "the receipt of a party"))
}
