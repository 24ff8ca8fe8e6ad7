//! A whole study for tests: all parties, a store for each, and a line between them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use sprifed_query::Part;
use sprifed_secure_sum::ClientId;

use crate::agreement::Agreed;
use crate::answering_party::JournalLine;
use crate::coordinator::{CoordinatorEffect, MessageRefused, StudyCoordinator};
use crate::party::{OrderRefused, StudyParty};
use crate::party_effect::PartyEffect;
use crate::party_key::PartyKey;
use crate::receipt::{PartyReceipt, SignedReceipt};
use crate::test_world::TestWorld;

/// What the coordinator's shell stores.
#[derive(Clone, Debug)]
pub(crate) enum Stored {
    Message(u32, ClientId, Vec<u8>),
    Close(u32),
    Checkpoint(u32, Vec<u8>),
}

/// All parties of a study, a store for each, and a line between them that loses messages on
/// request.
pub(crate) struct Line<'a> {
    pub(crate) study: Arc<Agreed>,
    pub(crate) world: &'a TestWorld,
    pub(crate) coordinator: StudyCoordinator,
    pub(crate) store: Vec<Stored>,
    pub(crate) parties: Vec<Option<StudyParty<Part<'a, TestWorld>>>>,
    pub(crate) journals: Vec<Vec<JournalLine>>,
    /// As they are stored: without what was erased.
    pub(crate) keys: Vec<PartyKey>,
    pub(crate) orders: VecDeque<(ClientId, Vec<u8>)>,
    pub(crate) reports: VecDeque<(ClientId, Vec<u8>)>,
    /// Every order that was handed over.
    pub(crate) told: Vec<(ClientId, Vec<u8>)>,
    /// The replacement orders of a lying coordinator.
    pub(crate) lie: Option<Lie>,
    pub(crate) refused: Vec<MessageRefused>,
    pub(crate) receipts: BTreeMap<u32, PartyReceipt>,
    pub(crate) ended: Option<SignedReceipt>,
}

/// Other bytes for a party.
pub(crate) type Lie = Box<dyn FnMut(ClientId, Vec<u8>) -> Vec<u8>>;

pub(crate) const SOFTWARE: &str = "sprifed test";

pub(crate) fn open_coordinator(study: &Arc<Agreed>) -> StudyCoordinator {
    let identity = PartyKey::simulated(6, 0).identity();
    StudyCoordinator::open(Arc::clone(study), identity, SOFTWARE).expect("a coordinator")
}

/// Does what the coordinator asks of its shell; the receipt, if the study ended by it.
pub(crate) fn carry_out(
    coordinator: &mut StudyCoordinator,
    orders: &mut VecDeque<(ClientId, Vec<u8>)>,
    store: &mut Vec<Stored>,
) -> Option<SignedReceipt> {
    let mut ended = None;
    while let Some(effect) = coordinator.poll() {
        match effect {
            CoordinatorEffect::Send(to, bytes) => orders.push_back((to, bytes.to_vec())),
            CoordinatorEffect::Checkpoint { epoch, bytes } => {
                store.retain(|stored| match stored {
                    Stored::Message(of, ..) | Stored::Close(of) => *of != epoch,
                    Stored::Checkpoint(..) => true,
                });
                store.push(Stored::Checkpoint(epoch, bytes));
            }
            CoordinatorEffect::Ended(receipt) => ended = Some(*receipt),
        }
    }
    ended
}

impl<'a> Line<'a> {
    pub(crate) fn new(study: &Arc<Agreed>, world: &'a TestWorld) -> Self {
        let n_parties = study.agreement().parties.len();
        let mut line = Self {
            study: Arc::clone(study),
            world,
            coordinator: open_coordinator(study),
            store: Vec::new(),
            parties: (0..n_parties).map(|_| None).collect(),
            journals: vec![Vec::new(); n_parties],
            keys: (0..n_parties)
                .map(|id| {
                    let id = u32::try_from(id).expect("few");
                    let key = PartyKey::simulated(5, 0).of_party(id);
                    key.split(study.n_steps())
                })
                .collect(),
            orders: VecDeque::new(),
            reports: VecDeque::new(),
            told: Vec::new(),
            lie: None,
            refused: Vec::new(),
            receipts: BTreeMap::new(),
            ended: None,
        };
        for id in 0..n_parties {
            line.start(ClientId(u32::try_from(id).expect("few")));
        }
        line
    }

    /// Starts a party with only its journal and the rest of its key.
    pub(crate) fn start(&mut self, id: ClientId) {
        let key = self.keys[id.0 as usize].clone();
        let first = usize::try_from(self.study.first_unit(id)).expect("small");
        let units = self.study.agreement().parties[id.0 as usize].units as usize;
        let records = Part::of(self.world, first..first + units);
        let journal = &self.journals[id.0 as usize];
        let (study, identity) = (Arc::clone(&self.study), key.identity());
        let party = StudyParty::join(study, id, identity, key, records, journal, SOFTWARE);
        self.parties[id.0 as usize] = Some(party.expect("invited"));
        self.drain_party(id);
    }

    pub(crate) fn drain_party(&mut self, id: ClientId) {
        let party = self.parties[id.0 as usize].as_mut().expect("present");
        while let Some(effect) = party.poll() {
            match effect {
                PartyEffect::Persist(line) => self.journals[id.0 as usize].push(line),
                PartyEffect::Forget { lines, .. } => {
                    for (place, line) in lines {
                        let place = usize::try_from(place).expect("small");
                        self.journals[id.0 as usize][place] = line;
                    }
                    self.keys[id.0 as usize] = party.key().clone();
                }
                PartyEffect::Send(report) => self.reports.push_back((id, report.encode())),
                PartyEffect::Ended(receipt) => drop(self.receipts.insert(id.0, *receipt)),
            }
        }
    }

    pub(crate) fn drain_coordinator(&mut self) {
        let ended = carry_out(&mut self.coordinator, &mut self.orders, &mut self.store);
        self.ended = ended.or(self.ended.take());
    }

    /// Hands over everything that is on the line.
    pub(crate) fn deliver(&mut self) {
        loop {
            if let Some((from, bytes)) = self.reports.pop_front() {
                let epoch = self.coordinator.epoch();
                match self.coordinator.receive(from, &bytes) {
                    Ok(()) => self.store.push(Stored::Message(epoch, from, bytes)),
                    Err(refused) => self.refused.push(refused),
                }
                self.drain_coordinator();
            } else if let Some((to, mut bytes)) = self.orders.pop_front() {
                if let Some(lie) = &mut self.lie {
                    bytes = lie(to, bytes);
                }
                self.told.push((to, bytes.clone()));
                if let Some(party) = self.parties[to.0 as usize].as_mut() {
                    let _refused: Result<(), OrderRefused> = party.receive(&bytes);
                    self.drain_party(to);
                }
            } else {
                return;
            }
        }
    }

    pub(crate) fn close(&mut self) {
        self.store.push(Stored::Close(self.coordinator.epoch()));
        self.coordinator.close_phase();
        self.drain_coordinator();
    }

    /// The coordinator loses everything but its store; parties return.
    pub(crate) fn restart_coordinator(&mut self) {
        self.orders.clear();
        self.coordinator = open_coordinator(&self.study);
        let (setup, sums): (Vec<_>, Vec<_>) = self
            .store
            .clone()
            .into_iter()
            .partition(|stored| matches!(stored, Stored::Message(0, ..) | Stored::Close(0)));
        for stored in setup.into_iter().chain(sums) {
            match stored {
                Stored::Message(_, from, bytes) => {
                    self.coordinator
                        .receive(from, &bytes)
                        .expect("accepted before");
                }
                Stored::Close(_) => self.coordinator.close_phase(),
                Stored::Checkpoint(epoch, bytes) => {
                    self.coordinator
                        .restore(epoch, &bytes)
                        .expect("a checkpoint");
                }
            }
            while let Some(effect) = self.coordinator.poll() {
                if let CoordinatorEffect::Ended(receipt) = effect {
                    self.ended = Some(*receipt);
                }
            }
        }
        for id in 0..self.parties.len() {
            let id = ClientId(u32::try_from(id).expect("few"));
            if self.parties[id.0 as usize].is_some() {
                self.start(id);
                self.coordinator.returned(id);
            }
        }
        self.drain_coordinator();
    }

    /// Runs to the end; `disturb` is called before each phase is closed.
    pub(crate) fn run(&mut self, mut disturb: impl FnMut(&mut Self, u64)) {
        for phase in 0..200 {
            self.deliver();
            if self.ended.is_some() {
                return;
            }
            disturb(self, phase);
            self.deliver();
            self.close();
        }
        panic!("the study does not end: {:?}", self.coordinator);
    }

    pub(crate) fn receipt(&self) -> &SignedReceipt {
        self.ended.as_ref().expect("a receipt")
    }
}
