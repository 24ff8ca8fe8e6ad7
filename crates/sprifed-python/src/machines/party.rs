//! A party that is woken for each request: it answers from its sealed state and seals it before the answer leaves.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sprifed::party_files;
use sprifed_party::{
    Application, Invitation, Outgoing, PartyError, PartyFolder, PartyRuntime, PartyTable,
    SealedStore, Seat, StudyFolder, parse_key, read_if_there,
};
use sprifed_secure_sum::{ClientId, IdentityKey};
use sprifed_study::{Agreed, Digest, Report};
use zeroize::Zeroizing;

use super::envelope::{Answer, Request, Unchecked, VERSION, seal};
use super::failure::Failure;
use crate::entropy::fresh_bits;

/// A party of studies that an engine carries.
///
/// `identity` is the folder of `sprifed study identity`, `state` one that only this party uses, `data` its
/// table, `ledger` the folder of the ledger that accounts for the table, the identity folder without it. The state is
/// sealed with a key derived from `state_key` (64 hexadecimal digits), or from the identity key without it.
/// `simulate_noise` is the seed of a rehearsal: NOT PRIVATE.
#[pyclass(frozen, module = "sprifed._core")]
#[derive(Debug)]
pub(crate) struct PartyMachine {
    party: PartyFolder,
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
            party: PartyFolder::new(identity),
            state,
            data,
            ledger,
            state_key: state_key.transpose().map_err(Failure::from)?,
            simulate_noise,
        })
    }

    /// Answers a request that reached `node`. Everything that must be remembered is on the disk then.
    ///
    /// A table that cannot be used is an answer too. The reason goes to the log `sprifed` of Python and not to the
    /// coordinator, as it may repeat cells.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        request: &[u8],
        node: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (answer, problem) = py.detach(|| self.take(request, node))?;
        if let Some(problem) = problem {
            // The answer does not depend on the log.
            let _ = log(py, &problem);
        }
        Ok(PyBytes::new(py, &answer))
    }
}

/// A request that the coordinator of the study has signed.
struct Asked {
    request: Request,
    agreed: Arc<Agreed>,
    folder: StudyFolder,
    invitation: Vec<u8>,
}

impl PartyMachine {
    /// The answer, and why the table cannot be used if it was opened.
    fn take(&self, request: &[u8], node: u64) -> Result<(Vec<u8>, Option<PartyError>), Failure> {
        let secret = self.party.secret()?;
        let identity = IdentityKey::from_stored(&secret);
        let asked = self.open(request)?;
        let mut answer = Answer {
            version: VERSION,
            study: asked.request.study,
            node,
            number: asked.request.number,
            identity: Digest(identity.public()),
            reports: Vec::new(),
            refusals: Vec::new(),
        };
        let Some(me) = asked.agreed.place_of(&answer.identity) else {
            let identity = answer.identity;
            answer
                .refusals
                .push(PartyError::NotInvited { identity }.to_string());
            return Ok((seal(&answer, &IdentityKey::from_stored(&secret)), None));
        };
        check_address(&asked, node, me)?;
        let table = PartyTable::in_file(&self.data, &asked.agreed, me);
        let taken = self.take_part(&asked, me, &identity, &secret, &table, &mut answer);
        if let Err(error) = taken {
            // What is not for the coordinator stops this node.
            let reason = error.to_coordinator().ok_or(error)?;
            let report = Report::declined(&identity, &asked.agreed, me, &reason);
            answer.reports = vec![report.encode()];
        }
        Ok((seal(&answer, &identity), table.problem().cloned()))
    }

    /// Reads a request, and checks that the coordinator of its study has signed it.
    fn open(&self, request: &[u8]) -> Result<Asked, Failure> {
        let request = Unchecked::<Request>::read(request)?;
        let study = request.claimed().study;
        let folder = StudyFolder::in_home(&self.state, &study);
        let known = read_if_there(&folder.invitation())?;
        let Some(invitation) = known.or_else(|| request.claimed().invitation.clone()) else {
            let words = format!("study {study} is not known here and no invitation came with it");
            return Err(Failure::Refused(words));
        };
        let (_, agreed) = Invitation::open(&invitation, "the invitation")?;
        Ok(Asked {
            request: request.signed_by(&agreed.agreement().coordinator)?,
            agreed: Arc::new(agreed),
            folder,
            invitation,
        })
    }

    fn take_part(
        &self,
        asked: &Asked,
        me: ClientId,
        identity: &IdentityKey,
        secret: &[u8; 32],
        table: &PartyTable,
        answer: &mut Answer,
    ) -> Result<(), PartyError> {
        let Asked { agreed, folder, .. } = asked;
        let ledger = self.party.ledger(self.ledger.as_deref())?;
        let application = Application {
            party: &self.party,
            agreed,
            identity,
            folder,
            state: &folder.sealed(),
            data: &self.data,
            phenotypes: None,
            ledger: &ledger,
            other_ledgers: &[],
            policy: None,
            marks_again: false,
        };
        let admitted = application.apply()?;
        // Not before: requests of other parties must not fill the disk.
        folder.begin(&asked.invitation)?;
        let sealing_key = self.state_key.as_deref().unwrap_or(secret);
        let mut store = SealedStore::open(folder, sealing_key, agreed.digest(), entropy)?;
        admitted.enter(&mut store, self.simulate_noise, entropy)?;
        let seat = Seat {
            agreed: Arc::clone(agreed),
            me,
            identity: identity.clone(),
            seed: self.simulate_noise,
            folder: folder.clone(),
            software: SOFTWARE.to_owned(),
            files: party_files,
        };
        let mut runtime = PartyRuntime::new(seat, table.clone(), store, Some(ledger))?;
        runtime.begin_request(asked.request.number)?;
        runtime.restart()?;
        for order in &asked.request.orders {
            if let Err(refused) = runtime.receive(order) {
                answer.refusals.push(refused.to_string());
            }
            collect(&mut runtime, &mut answer.reports)?;
        }
        collect(&mut runtime, &mut answer.reports)
    }
}

/// Everything that the party wants carried; its files are written by the runtime.
fn collect(
    runtime: &mut PartyRuntime<SealedStore, PartyTable>,
    reports: &mut Vec<Vec<u8>>,
) -> Result<(), PartyError> {
    while let Some(outgoing) = runtime.poll()? {
        if let Outgoing::Send(report) = outgoing {
            reports.push(report);
        }
    }
    Ok(())
}

fn entropy() -> Result<[u8; 32], PartyError> {
    fresh_bits().map_err(|error| PartyError::NoEntropy {
        reason: error.to_string(),
    })
}

fn check_address(asked: &Asked, node: u64, me: ClientId) -> Result<(), Failure> {
    let Asked {
        request, agreed, ..
    } = asked;
    if request.study != *agreed.digest() || request.node != node {
        let words = "the request is for another study or node than it reached";
        return Err(Failure::Refused(words.to_owned()));
    }
    if request.party.is_some_and(|party| party != me.0) {
        let words = format!("the request is for another party than {me}, whose key is here");
        return Err(Failure::Refused(words));
    }
    Ok(())
}

/// Says in the log of this node why the table cannot be used.
fn log(py: Python<'_>, problem: &PartyError) -> PyResult<()> {
    let words = format!(
        "the table cannot be used: {problem}. The sum is charged all the same. The coordinator is told only that this \
         party takes no part"
    );
    let log = py
        .import("logging")?
        .call_method1("getLogger", ("sprifed",))?;
    log.call_method1("error", ("%s", words)).map(drop)
}

/// The name and version of this program in receipts.
pub(super) const SOFTWARE: &str = concat!("sprifed for Python ", env!("CARGO_PKG_VERSION"));
