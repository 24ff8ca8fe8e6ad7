//! A party that is woken for each errand: it opens its sealed state, answers, and seals it again
//! before the answer leaves.
//!
//! The order of things is the point: invitation, signature, policy, lifetime ledger and the charge come before the
//! records. They are read for a sum whose charge is sealed, and never for another order. Before that the file of the
//! table is only hashed, for the ledger.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sprifed_noise::Provenance;
use sprifed_party::{
    Cost, Invitation, LedgerPlace, LifetimeLedger, LifetimeLine, PartyTable, PublicParty,
    begun_mark, create_private_folder, folder_name, lock_private, put_private, read_policy,
    terms_of,
};
use sprifed_secure_sum::{ClientId, IdentityKey};
use sprifed_study::{
    Agreed, Digest, JournalLine, Order, PartyEffect, PartyKey, PartyReceipt, Report, StudyParty,
};
use zeroize::Zeroizing;

use super::envelope::{Answer, Errand, Unchecked, VERSION, seal};
use super::failure::Failure;
use super::files::{parse_key, party_table, read, read_if_there, read_key};
use super::sealed_state::{PartyState, Seal};
use crate::entropy::fresh_bits;

/// A party of studies that an engine carries.
///
/// `identity` is the folder of `sprifed study identity`, `state` one that only this party uses, `data` its
/// table, `ledger` the folder of the ledger that accounts for the table, the identity folder without it. The state is
/// sealed with a key derived from `state_key` (64 hexadecimal digits), or from the identity key without it. `simulate_noise` is the seed of a rehearsal: NOT PRIVATE.
#[pyclass(frozen, module = "sprifed._core")]
#[derive(Debug)]
pub(crate) struct PartyMachine {
    identity: PathBuf,
    state: PathBuf,
    data: PathBuf,
    ledger: Option<PathBuf>,
    state_key: Option<Zeroizing<[u8; 32]>>,
    simulate_noise: Option<u64>,
}

#[pymethods]
impl PartyMachine {
    #[new]
    #[pyo3(signature = (identity, state, data, *, ledger=None, state_key=None, simulate_noise=None))]
    fn new(
        identity: PathBuf,
        state: PathBuf,
        data: PathBuf,
        ledger: Option<PathBuf>,
        state_key: Option<&str>,
        simulate_noise: Option<u64>,
    ) -> PyResult<Self> {
        let state_key = state_key.map(|text| parse_key("the state key", text));
        Ok(Self {
            identity,
            state,
            data,
            ledger,
            state_key: state_key.transpose()?,
            simulate_noise,
        })
    }

    /// Answers an errand that reached `node`. Everything that must be remembered is on the disk then.
    ///
    /// A table that can not be used is an answer too. The reason goes to the log `sprifed` of Python and not to the
    /// coordinator, as it may repeat cells.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        errand: &[u8],
        node: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (answer, problem) = py.detach(|| self.take(errand, node))?;
        if let Some(problem) = problem {
            // The answer does not depend on the log.
            let _ = log(py, &problem);
        }
        Ok(PyBytes::new(py, &answer))
    }
}

impl PartyMachine {
    /// The answer, and why the table can not be used if it was opened.
    fn take(
        &self,
        errand: &[u8],
        node: u64,
    ) -> Result<(Vec<u8>, Option<sprifed::Failure>), Failure> {
        let secret = read_key(&self.identity.join("identity.key"))?;
        let identity = IdentityKey::from_stored(&secret);
        let errand = Unchecked::<Errand>::read(errand)?;
        let study = errand.claimed().study;
        let folder = self.state.join(folder_name(&study.to_string()));
        let document = folder.join("invitation.json");
        let (agreed, is_new) = match (&errand.claimed().invitation, read_if_there(&document)?) {
            (_, Some(known)) => (open_invitation(&known)?, None),
            (Some(sent), None) => (open_invitation(sent)?, Some(sent.clone())),
            (None, None) => {
                let words =
                    format!("study {study} is not known here and no invitation came with it");
                return Err(Failure::Refused(words));
            }
        };
        let errand = errand.signed_by(&agreed.agreement().coordinator)?;
        let agreed = Arc::new(agreed);
        let public = Digest(identity.public());
        let mut answer = Answer {
            version: VERSION,
            study,
            node,
            number: errand.number,
            identity: public,
            reports: Vec::new(),
            refusals: Vec::new(),
        };
        let Some(me) = agreed.place_of(&public) else {
            let words = format!("the study does not invite the identity {public}");
            answer.refusals.push(words);
            return Ok((seal(&answer, &identity), None));
        };
        check_address(&errand, &agreed, node, me)?;
        let table = party_table(&self.data, &agreed, me);
        // It stays open until the study is in it, so that no other study is checked in between.
        let place = self.place(&identity);
        let mut ledger = place.open_for(&self.homes())?;
        // The coordinator is not told: the reason names paths of this machine.
        place.require_own(&ledger, &self.data, &[])?;
        match self.allowed(&ledger, &agreed, me)? {
            Err(reason) => answer
                .reports
                .push(declined(&identity, &agreed, me, &reason)),
            Ok(is_known) => {
                // Not before: strangers must not fill the disk.
                create_private_folder(&folder)?;
                let _only_one = lock_private(&folder.join("lock"))?;
                if let Some(sent) = is_new {
                    put_private(&document, &sent)?;
                }
                let visit = Visit {
                    machine: self,
                    table: &table,
                    seal: Seal::of(&folder, self.sealing_key(&secret), &study),
                    agreed: &agreed,
                    me,
                    identity: &identity,
                };
                if !is_known {
                    // It is there before the ledger knows of the study: whoever is known without it
                    // has lost it.
                    visit.begin()?;
                    let bound = place.bind(&ledger, &self.data, &[])?;
                    ledger.reserve(&LifetimeLine::of(&agreed).over(bound.data))?;
                }
                // From here on something may be sent; a search for lost studies sees it without a key.
                let begun = begun_mark(&folder);
                if !begun.exists() {
                    put_private(&begun, b"")?;
                }
                let answered = ledger.answered(&study.to_string())?;
                drop(ledger);
                let receipt = visit.carry_out(&errand, answered, &mut answer)?;
                // Before the answer leaves, so that an older copy of the state is noticed.
                let mut ledger = place.open()?;
                let sealed = visit.seal.open()?.map_or(0, |state| state.number);
                ledger.count(&study.to_string(), sealed)?;
                if let Some(receipt) = receipt {
                    put_private(&folder.join("receipt.json"), &receipt.to_json())?;
                    let delta = receipt.study.receipt.guarantee.delta;
                    let cost = Cost::charged(receipt.statement.ledger.spent, delta);
                    ledger.settle(&study.to_string(), cost)?;
                }
            }
        }
        Ok((
            seal(&answer, &identity),
            table.problem().cloned().map(Into::into),
        ))
    }

    fn sealing_key<'a>(&'a self, secret: &'a Zeroizing<[u8; 32]>) -> &'a [u8; 32] {
        self.state_key.as_ref().unwrap_or(secret)
    }

    /// Where the lifetime ledger is: as for `sprifed join`.
    fn place(&self, identity: &IdentityKey) -> LedgerPlace {
        let folder = self.ledger.as_ref().unwrap_or(&self.identity);
        LedgerPlace::new(folder, identity.clone())
    }

    /// Where this party keeps its parts of studies, whichever runtime takes part for it.
    fn homes(&self) -> [PathBuf; 3] {
        let (own, flower) = (self.identity.clone(), self.identity.join("flower"));
        [own, flower, self.state.clone()]
    }

    /// Whether the study, which the policy allows, is in the lifetime ledger; or why it is not allowed.
    fn allowed(
        &self,
        ledger: &LifetimeLedger,
        agreed: &Agreed,
        me: ClientId,
    ) -> Result<Result<bool, String>, Failure> {
        let path = self.identity.join("party.json");
        let public: PublicParty = serde_json::from_slice(&read(&path)?).map_err(|error| {
            Failure::unusable(path.display().to_string(), error, "a party.json")
        })?;
        let seat = agreed.agreement().parties.get(me.0 as usize);
        if let Some(problem) =
            seat.and_then(|seat| public.refuses(seat, agreed.agreement().plan.unit))
        {
            return Ok(Err(problem));
        }
        if public.simulated && agreed.agreement().noise != Provenance::Simulated {
            let words = "its identity was made from a seed for rehearsals, and the study is none";
            return Ok(Err(words.to_owned()));
        }
        let columns = terms_of(agreed.agreement())?.columns();
        let own = seat.map_or(agreed.agreement().coordinator, |seat| seat.identity);
        let policy = read_policy(&self.identity, None, &own, read_if_there)?;
        let admission = match ledger.admit(&policy, agreed, own, &columns)? {
            Ok(admission) => admission,
            Err(forbidden) => return Ok(Err(forbidden.to_string())),
        };
        let line = LifetimeLine::of(agreed);
        Ok(match ledger.within_limit(&line) {
            Err(over) if !admission.is_known => Err(over.to_string()),
            _ => Ok(admission.is_known),
        })
    }
}

fn declined(identity: &IdentityKey, agreed: &Agreed, me: ClientId, reason: &str) -> Vec<u8> {
    Report::declined(identity, agreed, me, reason).encode()
}

fn is_released(order: &[u8]) -> bool {
    matches!(Order::decode(order), Ok(Order::Released(_)))
}

fn check_address(errand: &Errand, agreed: &Agreed, node: u64, me: ClientId) -> Result<(), Failure> {
    if errand.study != *agreed.digest() || errand.node != node {
        let words = "the errand is for another study or node than it reached";
        return Err(Failure::Refused(words.to_owned()));
    }
    if errand.party.is_some_and(|party| party != me.0) {
        let words = format!("the errand is for another party than {me}, whose key is here");
        return Err(Failure::Refused(words));
    }
    Ok(())
}

/// One errand of a party that takes part.
struct Visit<'a> {
    machine: &'a PartyMachine,
    table: &'a PartyTable,
    seal: Seal,
    agreed: &'a Arc<Agreed>,
    me: ClientId,
    identity: &'a IdentityKey,
}

impl Visit<'_> {
    /// Carries out the orders; the state is sealed when this returns.
    fn carry_out(
        &self,
        errand: &Errand,
        answered: u64,
        answer: &mut Answer,
    ) -> Result<Option<Box<PartyReceipt>>, Failure> {
        let Some(mut state) = self.seal.open()? else {
            // With new masks, old confirmations would count for a second vector of the same sum.
            let reason = "it has joined this study before, but its sealed state is gone";
            answer.reports.push(self.declined(reason));
            return Ok(None);
        };
        if state.number < answered {
            let (found, last) = (state.number, answered);
            let words = format!(
                "the sealed state is of errand {found}, but {last} was answered: it is an older copy, with which \
                 sums would be answered a second time"
            );
            return Err(Failure::Refused(words));
        }
        if errand.number <= state.number {
            let (found, last) = (errand.number, state.number);
            let words = format!("the errand has number {found}, but {last} was answered before");
            return Err(Failure::Refused(words));
        }
        state.number = errand.number;
        let (mut party, told) = match self.rebuild(&mut state)? {
            Ok(rebuilt) => rebuilt,
            Err(reason) => {
                // It takes no part, but follows what is released, so that it can check the receipt.
                for order in errand.orders.iter().filter(|order| is_released(order)) {
                    state.remember(order);
                }
                self.seal.close(&state)?;
                answer.reports.push(self.declined(&reason));
                return Ok(None);
            }
        };
        repeat(errand, &state, told, answer);
        let mut receipt = None;
        for order in &errand.orders {
            if state.notices.contains(order) {
                continue;
            }
            match party.receive(order) {
                Ok(()) => state.remember(order),
                Err(refused) => answer.refusals.push(refused.to_string()),
            }
            while let Some(effect) = party.poll() {
                match effect {
                    // The charge is sealed before the table is opened for it.
                    PartyEffect::Persist(line) => {
                        state.persist(line);
                        self.seal.close(&state)?;
                    }
                    PartyEffect::Forget { lines, .. } => {
                        state.erase(lines);
                        if let Some(stored) = party.stored_key() {
                            state.replace_secret(&stored);
                        }
                    }
                    PartyEffect::Send(report) => answer.reports.push(report),
                    PartyEffect::Ended(ended) => {
                        state.replace_secret("");
                        receipt = Some(ended);
                    }
                }
            }
        }
        self.seal.close(&state)?;
        Ok(receipt)
    }

    fn declined(&self, reason: &str) -> Vec<u8> {
        declined(self.identity, self.agreed, self.me, reason)
    }

    /// A first state, unless there is one; on the disk before anything leaves.
    fn begin(&self) -> Result<(), Failure> {
        if self.seal.open()?.is_some() {
            return Ok(());
        }
        let mut state = PartyState::default();
        let key = PartyKey::assume_fresh_entropy(fresh_bits()?).split(self.agreed.n_steps());
        if let Some(stored) = key.to_stored() {
            state.secret.clone_from(&stored);
        }
        self.seal.close(&state)
    }

    /// The machine as it was, and what it says unasked and to each notice it is told again; or why
    /// it takes no part.
    #[expect(
        clippy::type_complexity,
        reason = "two ways to fail, one of them an answer"
    )]
    fn rebuild(
        &self,
        state: &mut PartyState,
    ) -> Result<Result<(StudyParty<PartyTable>, Vec<Vec<Vec<u8>>>), String>, Failure> {
        let key = match self.key(state) {
            Ok(key) => key,
            Err(reason) => return Ok(Err(reason)),
        };
        let joined = StudyParty::join(
            Arc::clone(self.agreed),
            self.me,
            self.identity.clone(),
            key,
            self.table.clone(),
            &state.journal,
            SOFTWARE,
        );
        let mut party = match joined {
            Ok(party) => party,
            Err(declined) => return Ok(Err(declined.to_string())),
        };
        let mut lines = Vec::new();
        let mut told = vec![sends(&mut party, &mut lines)];
        let notices = if party.is_over() {
            &[]
        } else {
            &state.notices[..]
        };
        for notice in notices {
            party.receive(notice).map_err(|refused| {
                Failure::Refused(format!("the sealed state contradicts itself: {refused}"))
            })?;
            told.push(sends(&mut party, &mut lines));
        }
        lines.into_iter().for_each(|line| state.persist(line));
        Ok(Ok((party, told)))
    }

    fn key(&self, state: &PartyState) -> Result<PartyKey, String> {
        let noise = self.agreed.agreement().noise;
        match (noise, self.machine.simulate_noise) {
            (Provenance::Cryptographic, None) => {
                let key = PartyKey::from_stored(&state.secret, self.agreed.n_steps());
                key.map_err(|error| error.to_string())
            }
            (Provenance::Simulated, Some(seed)) => {
                Ok(PartyKey::simulated(seed, 0).of_party(self.me.0))
            }
            (Provenance::Simulated, None) => {
                Err("the study is a rehearsal, but this party has no seed for one".to_owned())
            }
            (Provenance::Cryptographic, Some(_)) => {
                Err("this party has a seed for rehearsals, but the study is none".to_owned())
            }
        }
    }
}

/// What this party says unasked, while it is not set up, and to notices that it was told before: its
/// words may have been lost.
fn repeat(errand: &Errand, state: &PartyState, told: Vec<Vec<Vec<u8>>>, answer: &mut Answer) {
    let mut told = told.into_iter();
    let unasked = told.next().unwrap_or_default();
    if errand.orders.is_empty() && state.notices.is_empty() {
        answer.reports.extend(unasked);
    }
    let said = state.notices.iter().zip(told);
    let again = said.filter(|(notice, _)| errand.orders.contains(notice));
    answer
        .reports
        .extend(again.flat_map(|(_, reports)| reports));
}

/// What a machine that is rebuilt sends; what it persists was persisted before.
fn sends(party: &mut StudyParty<PartyTable>, lines: &mut Vec<JournalLine>) -> Vec<Vec<u8>> {
    let mut reports = Vec::new();
    while let Some(effect) = party.poll() {
        match effect {
            PartyEffect::Persist(line) => lines.push(line),
            PartyEffect::Send(report) => reports.push(report),
            PartyEffect::Forget { .. } | PartyEffect::Ended(_) => {}
        }
    }
    reports
}

fn open_invitation(bytes: &[u8]) -> Result<Agreed, Failure> {
    let (_, agreed) = Invitation::open(bytes, "the invitation")?;
    Ok(agreed)
}

/// Says in the log of this node why the table can not be used.
fn log(py: Python<'_>, problem: &sprifed::Failure) -> PyResult<()> {
    let words = format!(
        "the table can not be used: {}. The sum is charged all the same. The coordinator is told only that this party \
         takes no part",
        problem.message
    );
    let log = py
        .import("logging")?
        .call_method1("getLogger", ("sprifed",))?;
    log.call_method1("error", ("%s", words)).map(drop)
}

/// The name and version of this program in receipts.
pub(super) const SOFTWARE: &str = concat!("sprifed for Python ", env!("CARGO_PKG_VERSION"));
