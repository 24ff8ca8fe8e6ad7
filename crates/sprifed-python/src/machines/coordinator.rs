//! The coordinator of a study whose messages to parties an engine carries. Trustees connect to it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sprifed_coordinator::{CoordinatorFolder, StudyMachine};
use sprifed_net::{CarriedStudy, LogLevel, PartyId, start_logs};
use sprifed_party::{read_file, read_key, seat_names};
use sprifed_secure_sum::{ClientId, IdentityKey, Phase};
use sprifed_study::{Agreed, SignedReceipt, StudyCoordinator, StudyPhase, TrusteePhase};

use super::envelope::{Answer, Request, Unchecked, VERSION, seal};
use super::failure::Failure;

/// The coordinator of one study.
///
/// `folder` is what `sprifed study init` made. What it is told is kept there in `state.sqlite`, as by
/// `sprifed coordinate`, and a new process goes on from it. The trustees of a study that has them connect to `listen`
/// (`ADDRESS:PORT`) as long as this object lives.
#[pyclass(frozen, module = "sprifed._core")]
#[derive(Debug)]
pub(crate) struct CoordinatorMachine {
    agreed: Arc<Agreed>,
    invitation: Vec<u8>,
    identity: IdentityKey,
    study: Mutex<CarriedStudy<StudyMachine>>,
}

/// The orders of a party, in order.
type Orders<'py> = Vec<Bound<'py, PyBytes>>;

#[pymethods]
impl CoordinatorMachine {
    #[new]
    #[pyo3(signature = (folder, *, listen="127.0.0.1:0"))]
    fn new(py: Python<'_>, folder: PathBuf, listen: &str) -> PyResult<Self> {
        Ok(py.detach(|| Self::open(&CoordinatorFolder::new(folder), listen))?)
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
        let parties = self.agreed.agreement().parties.iter();
        parties.map(|party| party.name.clone()).collect()
    }

    /// Where trustees connect, if the study has them.
    #[getter]
    fn address(&self) -> Option<String> {
        self.running().address().map(|address| address.to_string())
    }

    /// Takes a report of a party; raises if the study refuses it, and nothing has changed then.
    fn receive(&self, py: Python<'_>, party: u32, report: &[u8]) -> PyResult<()> {
        Ok(py.detach(|| self.hand_over(party, report))?)
    }

    /// A party may have lost what it was told: it is told again.
    fn returned(&self, py: Python<'_>, party: u32) -> PyResult<()> {
        Ok(py.detach(|| self.tell_again(party))?)
    }

    /// Everything that parties are to be told now, by party and in order; it is told once.
    #[pyo3(name = "orders")]
    fn orders_to_parties<'py>(&self, py: Python<'py>) -> PyResult<BTreeMap<u32, Orders<'py>>> {
        let orders = py.detach(|| self.orders())?;
        let bytes = |orders: Vec<Vec<u8>>| {
            let orders = orders.iter().map(|order| PyBytes::new(py, order));
            orders.collect()
        };
        let orders = orders.into_iter();
        Ok(orders
            .map(|(party, orders)| (party, bytes(orders)))
            .collect())
    }

    /// Whose answer the phase lacks; trustees come after the parties.
    fn waits_for(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        Ok(py.detach(|| self.missing())?)
    }

    /// Ends the phase: a party that has not answered has dropped out of it.
    fn close_phase(&self, py: Python<'_>) -> PyResult<()> {
        Ok(py.detach(|| self.end_phase())?)
    }

    /// The phase: its kind, and the sum it belongs to if there is one.
    fn phase(&self, py: Python<'_>) -> PyResult<(&'static str, Option<u32>)> {
        Ok(py.detach(|| self.phase_and_sum())?)
    }

    /// Public facts for logs: survivors of each sum that has ended, and who declined and why.
    #[expect(clippy::type_complexity, reason = "two lists for Python")]
    fn status(&self, py: Python<'_>) -> PyResult<(Vec<(u32, Vec<u32>)>, Vec<(u32, String)>)> {
        let survivors = |study: &StudyCoordinator| {
            let ended = study.history().iter().map(|record| {
                let survivors = record.outcome.survivors().unwrap_or_default();
                (record.sum, survivors.to_vec())
            });
            ended.collect()
        };
        Ok(py.detach(|| Ok::<_, Failure>((self.look(survivors)?, self.declined()?)))?)
    }

    /// The signed receipt as JSON, once the last sum has ended.
    fn receipt<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let json = |study: &StudyCoordinator| study.receipt().map(SignedReceipt::to_json);
        let receipt = py.detach(|| self.look(json))?;
        Ok(receipt.map(|json| PyBytes::new(py, &json)))
    }

    /// The files of a study that is over, by name: receipt, transcript, and the model in the units of the tables.
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyBytes>)>> {
        let files = py.detach(|| self.running().artefacts().map_err(Failure::from))?;
        let files = files.unwrap_or_default().into_iter();
        Ok(files
            .map(|(name, bytes)| (name, PyBytes::new(py, &bytes)))
            .collect())
    }

    /// Waits until all trustees have fetched the receipt, but no longer than this; none is served afterwards.
    fn farewell(&self, py: Python<'_>, seconds: f64) -> PyResult<()> {
        let time = Duration::try_from_secs_f64(seconds)
            .map_err(|error| Failure::unusable("the time to wait", error, "seconds"))?;
        py.detach(|| self.running().farewell(time));
        Ok(())
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
    fn open(folder: &CoordinatorFolder, listen: &str) -> Result<Self, Failure> {
        let listen: SocketAddr = listen
            .parse()
            .map_err(|error| Failure::unusable("where trustees connect", error, "ADDRESS:PORT"))?;
        let invitation = read_file(&folder.invitation())?;
        let (_, agreed) = folder.study()?;
        if agreed.trustees().is_some() {
            // On standard error, which Flower takes into the log of the run.
            start_logs(LogLevel::Info);
        }
        let study = folder.carried(&agreed, listen)?;
        Ok(Self {
            agreed,
            invitation,
            identity: IdentityKey::from_stored(&*read_key(&folder.identity_key())?),
            study: Mutex::new(study),
        })
    }

    fn running(&self) -> MutexGuard<'_, CarriedStudy<StudyMachine>> {
        self.study.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look<T>(&self, look: impl FnOnce(&StudyCoordinator) -> T) -> Result<T, Failure> {
        Ok(self.running().look(|machine| look(machine.study()))?)
    }

    /// The names of the parties, by place in the roster, and of the trustees after them.
    pub(super) fn names(&self) -> Vec<String> {
        seat_names(self.agreed.agreement())
    }

    /// Whether the engine reaches this party. Trustees connect by themselves.
    pub(super) fn is_carried(&self, seat: u32) -> bool {
        (seat as usize) < self.agreed.agreement().parties.len()
    }

    /// Takes a report of a party, and keeps it.
    pub(super) fn hand_over(&self, party: u32, report: &[u8]) -> Result<(), Failure> {
        let taken = self.running().receive(PartyId(party), report)?;
        taken.map_err(|refused| Failure::Message { party, refused })
    }

    /// A party may have lost what it was told.
    pub(super) fn tell_again(&self, party: u32) -> Result<(), Failure> {
        Ok(self.running().returned(PartyId(party))?)
    }

    /// Everything that is to be said now, by party.
    pub(super) fn orders(&self) -> Result<BTreeMap<u32, Vec<Vec<u8>>>, Failure> {
        let notices = self.running().notices()?.into_iter();
        let orders = notices.map(|(party, notices)| {
            let orders = notices.iter().map(|notice| notice.to_vec());
            (party.0, orders.collect())
        });
        Ok(orders.collect())
    }

    /// Whose answer the phase lacks.
    pub(super) fn missing(&self) -> Result<Vec<u32>, Failure> {
        self.look(|study| study.waits_for().into_iter().map(|id| id.0).collect())
    }

    /// Ends the phase, and keeps that.
    pub(super) fn end_phase(&self) -> Result<(), Failure> {
        Ok(self.running().close_phase()?)
    }

    /// The kind of the phase, and the sum it belongs to if there is one.
    pub(super) fn phase_and_sum(&self) -> Result<(&'static str, Option<u32>), Failure> {
        self.look(|study| match study.phase() {
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
        })
    }

    /// Which parties have declined, and why.
    pub(super) fn declined(&self) -> Result<Vec<(u32, String)>, Failure> {
        self.look(|study| {
            let declined = study.declined().iter();
            let declined = declined.map(|(id, reason)| (id.0, reason.clone()));
            declined.collect()
        })
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
