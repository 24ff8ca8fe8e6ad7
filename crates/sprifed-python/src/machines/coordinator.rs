//! The coordinator of a study whose messages an engine carries.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sprifed::study_files;
use sprifed_party::{Invitation, parse_key};
use sprifed_secure_sum::{ClientId, IdentityKey, Phase};
use sprifed_study::{
    Agreed, CoordinatorEffect, SignedReceipt, StudyCoordinator, StudyPhase, TrusteePhase,
};

use super::envelope::{Answer, Request, Unchecked, VERSION, seal};
use super::failure::Failure;
use super::journal::{Input, Journal};
use super::party::SOFTWARE;

/// The coordinator of one study.
///
/// `invitation` is the content of `invitation.json`, `key` that of `coordinator.key`. What it is told is kept
/// in the file `journal`, from which a new process goes on.
#[pyclass(frozen, module = "sprifed._core")]
#[derive(Debug)]
pub(crate) struct CoordinatorMachine {
    agreed: Arc<Agreed>,
    invitation: Vec<u8>,
    identity: IdentityKey,
    running: Mutex<Running>,
}

#[derive(Debug)]
struct Running {
    study: StudyCoordinator,
    journal: Option<Journal>,
}

/// What is to be done next: bytes for a party, or nothing more because the study is over.
type Effect<'py> = (&'static str, Option<u32>, Bound<'py, PyBytes>);

#[pymethods]
impl CoordinatorMachine {
    #[new]
    #[pyo3(signature = (invitation, key, *, journal=None))]
    fn new(
        py: Python<'_>,
        invitation: Vec<u8>,
        key: &str,
        journal: Option<PathBuf>,
    ) -> PyResult<Self> {
        let secret = parse_key("the coordinator's key", key).map_err(Failure::from)?;
        let machine = py.detach(|| {
            let identity = IdentityKey::from_stored(&secret);
            Self::open(invitation, identity, journal)
        })?;
        Ok(machine)
    }

    /// The study's digest.
    #[getter]
    fn study(&self) -> String {
        self.agreed.digest().to_string()
    }

    /// What the study is about.
    #[getter]
    fn title(&self) -> String {
        self.agreed.agreement().title.clone()
    }

    /// The names of the parties, by place in the roster.
    #[getter]
    fn parties(&self) -> Vec<String> {
        self.names()
    }

    /// Takes a report of a party; raises if the study refuses it, and nothing has changed then.
    fn receive(&self, py: Python<'_>, party: u32, report: &[u8]) -> PyResult<()> {
        Ok(py.detach(|| self.hand_over(party, report))?)
    }

    /// A party may have lost what it was told: it is told again.
    fn returned(&self, py: Python<'_>, party: u32) {
        py.detach(|| self.tell_again(party));
    }

    /// The next thing to do: `("send", party, order)` or `("ended", None, receipt)`.
    fn poll<'py>(&self, py: Python<'py>) -> PyResult<Option<Effect<'py>>> {
        let effect = py.detach(|| self.next_effect())?;
        let bytes = |bytes: &[u8]| PyBytes::new(py, bytes);
        Ok(match effect {
            Some(CoordinatorEffect::Send(party, order)) => {
                Some(("send", Some(party.0), bytes(&order)))
            }
            Some(CoordinatorEffect::Ended(receipt)) => {
                Some(("ended", None, bytes(&receipt.to_json())))
            }
            Some(CoordinatorEffect::Checkpoint { .. }) | None => None,
        })
    }

    /// Whose answer the phase lacks.
    fn waits_for(&self) -> Vec<u32> {
        self.missing()
    }

    /// Ends the phase: a party that has not answered has dropped out of it.
    fn close_phase(&self, py: Python<'_>) -> PyResult<()> {
        Ok(py.detach(|| self.end_phase())?)
    }

    /// The phase: its kind, and the sum it belongs to if there is one.
    fn phase(&self) -> (&'static str, Option<u32>) {
        self.phase_and_sum()
    }

    /// Public facts for logs: survivors of each sum that has ended, and who declined and why.
    #[expect(clippy::type_complexity, reason = "two lists for Python")]
    fn status(&self) -> (Vec<(u32, Vec<u32>)>, Vec<(u32, String)>) {
        let running = self.running();
        let survivors = running.study.history().iter().map(|record| {
            let survivors = record.outcome.survivors().unwrap_or_default();
            (record.sum, survivors.to_vec())
        });
        let survivors = survivors.collect();
        drop(running);
        (survivors, self.declined())
    }

    /// The signed receipt as JSON, once the last sum has ended.
    fn receipt<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let receipt = self.running().study.receipt().map(SignedReceipt::to_json);
        receipt.map(|json| PyBytes::new(py, &json))
    }

    /// The request that carries `orders` to `node`; without a party it carries the invitation.
    ///
    /// `number` must be larger than that of any earlier request of this study.
    #[pyo3(signature = (node, number, orders, *, party=None))]
    fn request<'py>(
        &self,
        py: Python<'py>,
        node: u64,
        number: u64,
        orders: Vec<Vec<u8>>,
        party: Option<u32>,
    ) -> Bound<'py, PyBytes> {
        let request = py.detach(|| self.sign_request(node, number, orders, party));
        PyBytes::new(py, &request)
    }

    /// Who answered from `node`, its reports, and the orders it refused with the reasons.
    ///
    /// Raises if the answer is not signed by a party of the roster, is of another node, or answers
    /// another request than `number`.
    fn open_answer<'py>(
        &self,
        py: Python<'py>,
        node: u64,
        number: u64,
        answer: &[u8],
    ) -> PyResult<(u32, Vec<Bound<'py, PyBytes>>, Vec<String>)> {
        let (party, answer) = py.detach(|| self.check(node, number, answer))?;
        let reports = answer.reports.iter();
        let reports = reports.map(|report| PyBytes::new(py, report)).collect();
        Ok((party.0, reports, answer.refusals))
    }
}

impl CoordinatorMachine {
    fn open(
        invitation: Vec<u8>,
        identity: IdentityKey,
        journal: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        let (_, agreed) = Invitation::open(&invitation, "invitation.json")?;
        Failure::refuse_trustees(&agreed)?;
        let agreed = Arc::new(agreed);
        let mut study = StudyCoordinator::open(Arc::clone(&agreed), identity.clone(), SOFTWARE)?;
        let journal = journal.map(|path| Journal::open(&path, &mut study));
        let running = Running {
            journal: journal.transpose()?,
            study,
        };
        Ok(Self {
            agreed,
            invitation,
            identity,
            running: Mutex::new(running),
        })
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of the parties, by place in the roster.
    pub(super) fn names(&self) -> Vec<String> {
        let parties = self.agreed.agreement().parties.iter();
        parties.map(|party| party.name.clone()).collect()
    }

    /// Takes a report of a party, and keeps it.
    pub(super) fn hand_over(&self, party: u32, report: &[u8]) -> Result<(), Failure> {
        let Running { study, journal } = &mut *self.running();
        let epoch = study.epoch();
        study.receive(ClientId(party), report)?;
        let bytes = report.to_vec();
        let received = Input::Received {
            epoch,
            party,
            bytes,
        };
        keep(journal, &received)
    }

    /// A party may have lost what it was told.
    pub(super) fn tell_again(&self, party: u32) {
        self.running().study.returned(ClientId(party));
    }

    /// The next effect; checkpoints are kept.
    fn next_effect(&self) -> Result<Option<CoordinatorEffect>, Failure> {
        let Running { study, journal } = &mut *self.running();
        loop {
            match study.poll() {
                Some(CoordinatorEffect::Checkpoint { epoch, bytes }) => {
                    keep(journal, &Input::Checkpoint { epoch, bytes })?;
                }
                other => return Ok(other),
            }
        }
    }

    /// Everything that is to be said now, by party.
    pub(super) fn orders(&self) -> Result<BTreeMap<u32, Vec<Vec<u8>>>, Failure> {
        let mut orders: BTreeMap<u32, Vec<Vec<u8>>> = BTreeMap::new();
        while let Some(effect) = self.next_effect()? {
            if let CoordinatorEffect::Send(party, order) = effect {
                orders.entry(party.0).or_default().push(order.to_vec());
            }
        }
        Ok(orders)
    }

    /// Whose answer the phase lacks.
    pub(super) fn missing(&self) -> Vec<u32> {
        let waits = self.running().study.waits_for();
        waits.into_iter().map(|id| id.0).collect()
    }

    /// Ends the phase, and keeps that.
    pub(super) fn end_phase(&self) -> Result<(), Failure> {
        let Running { study, journal } = &mut *self.running();
        let epoch = study.epoch();
        keep(journal, &Input::Closed { epoch })?;
        study.close_phase();
        Ok(())
    }

    /// The kind of the phase, and the sum it belongs to if there is one.
    pub(super) fn phase_and_sum(&self) -> (&'static str, Option<u32>) {
        match self.running().study.phase() {
            StudyPhase::Keys => ("keys", None),
            StudyPhase::Shares => ("shares", None),
            StudyPhase::Sum { sum, phase, .. } => (phase_name(phase), Some(sum)),
            StudyPhase::Attempt { sum, phase, .. } => {
                let name = match phase {
                    TrusteePhase::Noise => "noise",
                    TrusteePhase::Uploads => "uploads",
                    TrusteePhase::Running => "running",
                    TrusteePhase::Abandoning => "abandoning",
                };
                (name, Some(sum))
            }
            StudyPhase::Receipts => ("receipts", None),
            StudyPhase::Ended => ("over", None),
        }
    }

    /// Which parties have declined, and why.
    pub(super) fn declined(&self) -> Vec<(u32, String)> {
        let running = self.running();
        let declined = running.study.declined().iter();
        let declined = declined.map(|(id, reason)| (id.0, reason.clone()));
        declined.collect()
    }

    /// The request that carries `orders` to `node`; without a party it carries the invitation.
    pub(super) fn sign_request(
        &self,
        node: u64,
        number: u64,
        orders: Vec<Vec<u8>>,
        party: Option<u32>,
    ) -> Vec<u8> {
        let request = Request {
            version: VERSION,
            study: *self.agreed.digest(),
            node,
            number,
            party,
            invitation: party.is_none().then(|| self.invitation.clone()),
            orders,
        };
        seal(&request, &self.identity)
    }

    /// Who answered the request `number` from `node`, and what.
    pub(super) fn check(
        &self,
        node: u64,
        number: u64,
        bytes: &[u8],
    ) -> Result<(ClientId, Answer), Failure> {
        let answer = Unchecked::<Answer>::read(bytes)?;
        let identity = answer.claimed().identity;
        // The signature first: no key is called unknown for what another one signed.
        let answer = answer.signed_by(&identity)?;
        let place = self.agreed.place_of(&identity).ok_or_else(|| {
            let words = format!("node {node} is a stranger: the study does not invite {identity}");
            Failure::Refused(words)
        })?;
        let found = (answer.study, answer.node, answer.number);
        if found != (*self.agreed.digest(), node, number) {
            let words = format!("node {node} answered another request than {number}");
            return Err(Failure::Refused(words));
        }
        Ok((place, answer))
    }
}

/// The files that a receipt (JSON) becomes: its own, and the model in the units of the tables.
#[pyfunction]
pub(super) fn files_of_receipt<'py>(
    py: Python<'py>,
    receipt: &[u8],
) -> PyResult<Vec<(String, Bound<'py, PyBytes>)>> {
    let receipt: SignedReceipt = serde_json::from_slice(receipt)
        .map_err(|error| Failure::unusable("the receipt", error, "the receipt of a study"))?;
    let files = study_files(&receipt).into_iter();
    Ok(files
        .map(|(name, bytes)| (name, PyBytes::new(py, &bytes)))
        .collect())
}

fn keep(journal: &mut Option<Journal>, input: &Input) -> Result<(), Failure> {
    journal
        .as_mut()
        .map_or(Ok(()), |journal| journal.add(input))
}

pub(super) const fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Keys => "keys",
        Phase::Agree => "agree",
        Phase::Shares => "shares",
        Phase::Upload => "upload",
        Phase::Confirm => "confirm",
        Phase::Unmask => "unmask",
    }
}
