//! The messages of one study that an engine carries: which party is at which node, what is sent next, and how long an
//! answer is waited for. Time is an argument; the engine is not known here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::coordinator::CoordinatorMachine;
use super::failure::Failure;

/// The messages of one study.
///
/// Which party is at a node is learnt from signed answers and from nothing else. A node that cannot sign for a party of
/// the roster is refused and left alone. All times are seconds of one clock that only grows.
#[pyclass(frozen, module = "sprifed._core")]
#[derive(Debug)]
pub(crate) struct Exchange {
    machine: Py<CoordinatorMachine>,
    names: Vec<String>,
    patience: Patience,
    state: Mutex<State>,
}

/// How many seconds are waited.
#[derive(Debug)]
struct Patience {
    /// For parties to appear.
    enrolment: f64,
    /// For answers in each phase.
    phase: f64,
    /// Between two looks at which nodes are there.
    between_censuses: f64,
    /// Before a node that failed is asked again which party it is.
    before_asking_again: f64,
}

#[derive(Debug)]
struct State {
    node_of: BTreeMap<u32, u64>,
    refused: BTreeSet<u64>,
    /// Messages on their way, by number.
    sent: BTreeMap<u64, Sent>,
    /// Parties that must be told again what they missed.
    returned: BTreeSet<u32>,
    number: u64,
    present: BTreeSet<u64>,
    census_due: f64,
    ask_again: BTreeMap<u64, f64>,
    /// Nodes that are to be asked which party they are.
    unknown: BTreeSet<u64>,
    is_enrolling: bool,
    n_declined: usize,
    started: f64,
    counts: Counts,
    log: Vec<(bool, String)>,
}

/// A message on its way; the party is not known before the first answer from its node.
#[derive(Debug)]
struct Sent {
    node: u64,
    party: Option<u32>,
}

/// Messages, answers, bytes out and bytes in of a phase.
type Counts = (usize, usize, usize, usize);

#[pymethods]
impl Exchange {
    #[new]
    #[pyo3(signature = (machine, *, enrolment, phase, between_censuses=5.0, before_asking_again=60.0))]
    fn new(
        machine: Py<CoordinatorMachine>,
        enrolment: f64,
        phase: f64,
        between_censuses: f64,
        before_asking_again: f64,
    ) -> Self {
        Self {
            names: machine.get().names(),
            machine,
            patience: Patience {
                enrolment,
                phase,
                between_censuses,
                before_asking_again,
            },
            state: Mutex::new(State {
                node_of: BTreeMap::new(),
                refused: BTreeSet::new(),
                sent: BTreeMap::new(),
                returned: BTreeSet::new(),
                number: 0,
                present: BTreeSet::new(),
                census_due: 0.0,
                ask_again: BTreeMap::new(),
                unknown: BTreeSet::new(),
                // Also a coordinator that goes on after a crash has to find its parties first.
                is_enrolling: true,
                n_declined: 0,
                started: 0.0,
                counts: Counts::default(),
                log: Vec::new(),
            }),
        }
    }

    /// Begins a phase, with the nodes that are there.
    fn begin_phase(&self, now: f64, nodes: Vec<u64>) -> PyResult<()> {
        let state = &mut *self.state();
        (state.started, state.counts) = (now, Counts::default());
        for party in std::mem::take(&mut state.returned) {
            self.machine.get().tell_again(party)?;
        }
        self.look_around(state, now, nodes);
        Ok(())
    }

    /// Whether it is time to look which nodes are there.
    fn is_census_due(&self, now: f64) -> bool {
        now > self.state().census_due
    }

    /// The nodes that are there.
    fn census(&self, now: f64, nodes: Vec<u64>) {
        self.look_around(&mut self.state(), now, nodes);
    }

    /// What is to be sent now: `(node, number, request)` each. Numbers grow with `clock`, in nanoseconds since 1970, so
    /// that they also grow over a restart of the coordinator.
    fn messages<'py>(
        &self,
        py: Python<'py>,
        clock: u64,
    ) -> PyResult<Vec<(u64, u64, Bound<'py, PyBytes>)>> {
        let messages = py.detach(|| self.next_messages(clock))?;
        let message =
            |(node, number, bytes): (u64, u64, Vec<u8>)| (node, number, PyBytes::new(py, &bytes));
        Ok(messages.into_iter().map(message).collect())
    }

    /// The message with this number did not leave.
    fn not_sent(&self, number: u64) {
        self.state().sent.remove(&number);
    }

    /// Takes the answer to the message with this number.
    fn take(&self, py: Python<'_>, number: u64, answer: &[u8]) -> PyResult<()> {
        Ok(py.detach(|| self.take_answer(number, answer))?)
    }

    /// The node could not answer the message with this number, or not in a way that can be read.
    fn fail(&self, now: f64, number: u64, reason: &str) {
        let state = &mut *self.state();
        let Some(sent) = state.sent.remove(&number) else {
            return;
        };
        let words = format!("node {} failed: {reason}", sent.node);
        state.log.push((true, words));
        match sent.party {
            Some(party) => {
                state.returned.insert(party);
            }
            None => {
                let due = now + self.patience.before_asking_again;
                state.ask_again.insert(sent.node, due);
            }
        }
    }

    /// Whether the phase goes on: an answer that it lacks may still come, and its time is not over.
    fn is_waiting(&self, now: f64) -> PyResult<bool> {
        let machine = self.machine.get();
        let missing = machine.missing()?;
        let state = self.state();
        let is_in_time = now < state.started + self.limit_of(&state);
        let may_come = |sent: &Sent| {
            let is_wanted = sent.party.is_none_or(|party| missing.contains(&party));
            is_wanted && state.present.contains(&sent.node)
        };
        let connects = |seat: &u32| !machine.is_carried(*seat);
        let may_come =
            state.is_enrolling || missing.iter().any(connects) || state.sent.values().any(may_come);
        Ok(!missing.is_empty() && is_in_time && may_come)
    }

    /// How many seconds a message of this phase is of use: what is not waited for any more must not be asked, as it would
    /// be charged.
    fn limit(&self) -> f64 {
        self.limit_of(&self.state())
    }

    /// Ends the phase: a party that has not answered has dropped out of it. Returns the messages, answers, bytes out and
    /// bytes in.
    fn end_phase(&self, py: Python<'_>, now: f64) -> PyResult<Counts> {
        Ok(py.detach(|| self.end(now))?)
    }

    /// Lines for the log since the last call, and whether each is a warning.
    fn log(&self) -> Vec<(bool, String)> {
        std::mem::take(&mut self.state().log)
    }
}

impl Exchange {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self, party: u32) -> &str {
        self.names.get(party as usize).map_or("?", String::as_str)
    }

    const fn limit_of(&self, state: &State) -> f64 {
        if state.is_enrolling {
            self.patience.enrolment
        } else {
            self.patience.phase
        }
    }

    /// Notes which nodes are there, and which of them are to be asked which party they are.
    fn look_around(&self, state: &mut State, now: f64, nodes: Vec<u64>) {
        state.present = nodes.into_iter().collect();
        state.census_due = now + self.patience.between_censuses;
        let asked: BTreeSet<u64> = state.sent.values().map(|sent| sent.node).collect();
        let known: BTreeSet<u64> = state.node_of.values().copied().collect();
        let is_unknown = |node: &u64| {
            let has_failed = state.ask_again.get(node).is_some_and(|due| now < *due);
            !has_failed
                && !asked.contains(node)
                && !known.contains(node)
                && !state.refused.contains(node)
        };
        let unknown = state.present.iter().copied().filter(is_unknown);
        state.unknown = unknown.collect();
    }

    fn next_messages(&self, clock: u64) -> Result<Vec<(u64, u64, Vec<u8>)>, Failure> {
        let machine = self.machine.get();
        let missing = machine.missing()?;
        let is_asking = missing.iter().any(|seat| machine.is_carried(*seat));
        // Each message starts a process at a node: what no party has to answer is told with the next question.
        let orders = if is_asking {
            machine.orders()?
        } else {
            BTreeMap::new()
        };
        let state = &mut *self.state();
        let mut batches = Vec::new();
        for (party, orders) in orders {
            let node = state.node_of.get(&party).copied();
            match node.filter(|node| state.present.contains(node)) {
                Some(node) => batches.push((Some(party), node, orders)),
                // Told again when it is back.
                None => {
                    state.returned.insert(party);
                }
            }
        }
        let unknown = std::mem::take(&mut state.unknown);
        batches.extend(unknown.into_iter().map(|node| (None, node, Vec::new())));
        let mut messages = Vec::new();
        for (party, node, orders) in batches {
            state.number = (state.number + 1).max(clock);
            let number = state.number;
            let request = machine.sign_request(node, number, orders, party);
            state.counts.0 += 1;
            state.counts.2 += request.len();
            state.sent.insert(number, Sent { node, party });
            messages.push((node, number, request));
        }
        Ok(messages)
    }

    fn take_answer(&self, number: u64, answer: &[u8]) -> Result<(), Failure> {
        let machine = self.machine.get();
        let state = &mut *self.state();
        let Some(Sent { node, .. }) = state.sent.remove(&number) else {
            return Ok(());
        };
        state.counts.3 += answer.len();
        let (party, answer) = match machine.check(node, number, answer) {
            Ok((party, answer)) => (party.0, answer),
            Err(refused) => {
                refuse(state, node, &refused.to_string());
                return Ok(());
            }
        };
        let known = state.node_of.get(&party).copied();
        if let Some(at) = known.filter(|at| *at != node && state.present.contains(at)) {
            let words = format!("{} is at node {at} already", self.name(party));
            refuse(state, node, &words);
            return Ok(());
        }
        state.counts.1 += 1;
        for refusal in answer.refusals {
            let words = format!("{} refused an order: {refusal}", self.name(party));
            state.log.push((false, words));
        }
        for report in &answer.reports {
            match machine.hand_over(party, report) {
                Err(refused @ Failure::Message { .. }) => {
                    state.log.push((false, refused.to_string()));
                }
                other => other?,
            }
        }
        if known != Some(node) {
            let words = format!("{} is at node {node}", self.name(party));
            state.log.push((false, words));
            state.node_of.insert(party, node);
            machine.tell_again(party)?;
        }
        Ok(())
    }

    fn end(&self, now: f64) -> Result<Counts, Failure> {
        let machine = self.machine.get();
        let state = &mut *self.state();
        let missing = machine.missing()?;
        let (phase, sum) = machine.phase_and_sum()?;
        let about = sum.map_or_else(|| phase.to_owned(), |sum| format!("{phase} of sum {sum}"));
        let absent: Vec<&str> = missing.iter().map(|party| self.name(*party)).collect();
        let absent = if absent.is_empty() {
            String::new()
        } else {
            format!("; without {}", absent.join(", "))
        };
        let (answers, seconds) = (state.counts.1, now - state.started);
        let words = format!("{about}: {answers} answers in {seconds:.1} s{absent}");
        state.log.push((false, words));
        let declined = machine.declined()?;
        for (party, reason) in declined.iter().skip(state.n_declined) {
            let words = format!("{} declined: {reason}", self.name(*party));
            state.log.push((false, words));
        }
        state.n_declined = declined.len();
        let carried = missing.into_iter();
        let carried = carried.filter(|seat| machine.is_carried(*seat));
        state.returned.extend(carried);
        state.is_enrolling = false;
        machine.end_phase()?;
        Ok(state.counts)
    }
}

fn refuse(state: &mut State, node: u64, why: &str) {
    let words = format!("node {node} is refused: {why}");
    state.log.push((true, words));
    if !state.node_of.values().any(|known| *known == node) {
        state.refused.insert(node);
    }
}
