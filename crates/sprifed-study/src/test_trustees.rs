//! A whole study with trustees for tests: all roles, a store for each, and a line between them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use sprifed_privacy::Gates;
use sprifed_query::Part;
use sprifed_recovery::CertifiedProcedure;
use sprifed_secure_sum::ClientId;
use sprifed_trustees::{JournalLine as AttemptLine, TrusteeId};

use crate::agreement::Agreed;
use crate::agreement::tests::{TestStudy, agreement_of_trustees, trustee_identity, trustee_key};
use crate::answering_party::JournalLine;
use crate::coordinator::{CoordinatorEffect, MessageRefused, StudyCoordinator};
use crate::party::{OrderRefused, StudyParty};
use crate::party_effect::PartyEffect;
use crate::party_key::PartyKey;
use crate::receipt::{PartyReceipt, SignedReceipt};
use crate::test_line::{Lie, SOFTWARE, Stored, carry_out, open_coordinator};
use crate::test_world::TestWorld;
use crate::trustee::{StudyTrustee, TrusteeEffect, TrusteeLine, TrusteeRefused};
use crate::trustee_key::TrusteeKey;
use crate::wire::Report;

/// A trustee that ends after so many effects of all its life.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kill {
    pub(crate) trustee: usize,
    pub(crate) after: u64,
}

/// From a trustee and its report to what it sends.
pub(crate) type Deviate = Box<dyn FnMut(&StudyTrustee, Report) -> Report>;

/// From the place of a party, its key and its report to what it sends.
pub(crate) type Forge = Box<dyn FnMut(usize, &PartyKey, Report) -> Report>;

pub(crate) struct Net<'a> {
    pub(crate) agreed: Arc<Agreed>,
    world: &'a TestWorld,
    pub(crate) coordinator: StudyCoordinator,
    store: Vec<Stored>,
    pub(crate) parties: Vec<Option<StudyParty<Part<'a, TestWorld>>>>,
    pub(crate) journals: Vec<Vec<JournalLine>>,
    pub(crate) keys: Vec<PartyKey>,
    pub(crate) trustees: [Option<StudyTrustee>; 3],
    pub(crate) lines: [Vec<TrusteeLine>; 3],
    pub(crate) trustee_keys: [TrusteeKey; 3],
    /// Effects of each trustee that were carried out.
    pub(crate) effects: [u64; 3],
    pub(crate) kills: Vec<Kill>,
    starts: u8,
    orders: VecDeque<(ClientId, Vec<u8>)>,
    reports: VecDeque<(ClientId, Vec<u8>)>,
    /// Every order that was handed over.
    pub(crate) told: Vec<(ClientId, Vec<u8>)>,
    pub(crate) lie: Option<Lie>,
    /// What a deviating trustee sends in place of its reports.
    pub(crate) deviate: Option<Deviate>,
    /// What a deviating party sends in place of its reports.
    pub(crate) forge: Option<Forge>,
    pub(crate) refused: Vec<MessageRefused>,
    pub(crate) refused_by_parties: Vec<(ClientId, OrderRefused)>,
    pub(crate) refused_by_trustees: Vec<(usize, TrusteeRefused)>,
    pub(crate) receipts: BTreeMap<u32, PartyReceipt>,
    pub(crate) ended: Option<SignedReceipt>,
}

/// Four parties, a choice and sums, small, without proofs: they take most of the time of a run.
pub(crate) fn small(repeats: u32) -> Arc<Agreed> {
    small_with(Gates::Unproved, repeats)
}

/// The same with proved gates and verified norms.
pub(crate) fn small_proved(repeats: u32) -> Arc<Agreed> {
    small_with(Gates::Proved, repeats)
}

fn small_with(gates: Gates, repeats: u32) -> Arc<Agreed> {
    let agreement = agreement_of_trustees(TestStudy {
        parties: 4,
        units: 25,
        features: 20,
        repeats,
        procedure: CertifiedProcedure::ARGMAX,
        gates,
        ..TestStudy::default()
    });
    Arc::new(Agreed::new(agreement).expect("legal"))
}

impl<'a> Net<'a> {
    pub(crate) fn new(agreed: &Arc<Agreed>, world: &'a TestWorld) -> Self {
        let n_parties = agreed.agreement().parties.len();
        let party_key = |id| PartyKey::simulated(5, 0).of_party(u32::try_from(id).expect("few"));
        let mut net = Self {
            coordinator: open_coordinator(agreed),
            agreed: Arc::clone(agreed),
            world,
            store: Vec::new(),
            parties: (0..n_parties).map(|_| None).collect(),
            journals: vec![Vec::new(); n_parties],
            keys: (0..n_parties)
                .map(|id| party_key(id).split(agreed.n_steps()))
                .collect(),
            trustees: [const { None }; 3],
            lines: [const { Vec::new() }; 3],
            trustee_keys: [0, 1, 2].map(trustee_key),
            effects: [0; 3],
            kills: Vec::new(),
            starts: 0,
            orders: VecDeque::new(),
            reports: VecDeque::new(),
            told: Vec::new(),
            lie: None,
            deviate: None,
            forge: None,
            refused: Vec::new(),
            refused_by_parties: Vec::new(),
            refused_by_trustees: Vec::new(),
            receipts: BTreeMap::new(),
            ended: None,
        };
        for id in 0..n_parties {
            net.start_party(id);
        }
        for trustee in 0..3 {
            net.start_trustee(trustee);
        }
        net
    }

    /// Starts a party with only its journal and the rest of its key.
    pub(crate) fn start_party(&mut self, id: usize) {
        let (key, place) = (
            self.keys[id].clone(),
            ClientId(u32::try_from(id).expect("few")),
        );
        let first = usize::try_from(self.agreed.first_unit(place)).expect("small");
        let units = self.agreed.agreement().parties[id].units as usize;
        let records = Part::of(self.world, first..first + units);
        let (agreed, identity) = (Arc::clone(&self.agreed), key.identity());
        let journal = &self.journals[id];
        let party = StudyParty::join(agreed, place, identity, key, records, journal, SOFTWARE);
        self.parties[id] = Some(party.expect("invited"));
        self.drain_party(id);
    }

    /// Starts a trustee with only its journal and the rest of its key.
    pub(crate) fn start_trustee(&mut self, trustee: usize) {
        self.starts += 1;
        let place = u8::try_from(trustee).expect("three");
        let joined = StudyTrustee::join(
            Arc::clone(&self.agreed),
            trustee_identity(place),
            self.trustee_keys[trustee].clone(),
            [self.starts; 32],
            &self.lines[trustee],
        );
        self.trustees[trustee] = Some(joined.expect("named"));
        self.drain_trustee(trustee);
    }

    pub(crate) fn seat(&self, trustee: usize) -> ClientId {
        let trustees = self.agreed.trustees().expect("trustees");
        trustees.seat(TrusteeId::ALL[trustee])
    }

    fn drain_party(&mut self, id: usize) {
        let seat = ClientId(u32::try_from(id).expect("few"));
        let party = self.parties[id].as_mut().expect("present");
        while let Some(effect) = party.poll() {
            match effect {
                PartyEffect::Persist(line) => self.journals[id].push(line),
                PartyEffect::Forget { lines, .. } => {
                    for (place, line) in lines {
                        self.journals[id][usize::try_from(place).expect("small")] = line;
                    }
                    self.keys[id] = party.key().clone();
                }
                PartyEffect::Send(report) => {
                    let report = match &mut self.forge {
                        Some(forge) => forge(id, &self.keys[id], report),
                        None => report,
                    };
                    self.reports.push_back((seat, report.encode()));
                }
                PartyEffect::Ended(receipt) => drop(self.receipts.insert(seat.0, *receipt)),
            }
        }
    }

    fn drain_trustee(&mut self, trustee: usize) {
        let seat = self.seat(trustee);
        loop {
            let is_killed =
                |kill: &Kill| (kill.trustee, kill.after) == (trustee, self.effects[trustee]);
            if let Some(kill) = self.kills.iter().position(is_killed) {
                self.kills.remove(kill);
                self.trustees[trustee] = None;
                return;
            }
            let Some(running) = self.trustees[trustee].as_mut() else {
                return;
            };
            let Some(effect) = running.poll().expect("it can begin") else {
                return;
            };
            self.effects[trustee] += 1;
            match effect {
                TrusteeEffect::Persist(line) => {
                    assert_eq!(TrusteeLine::decode(&line.encode()).as_ref(), Ok(&line));
                    self.lines[trustee].push(line);
                }
                TrusteeEffect::Forget => self.trustee_keys[trustee] = running.key().clone(),
                TrusteeEffect::Send(report) => {
                    let report = match &mut self.deviate {
                        Some(deviate) => deviate(running, report),
                        None => report,
                    };
                    self.reports.push_back((seat, report.encode()));
                }
                TrusteeEffect::Ended(_) => {}
            }
        }
    }

    fn drain_coordinator(&mut self) {
        let ended = carry_out(&mut self.coordinator, &mut self.orders, &mut self.store);
        self.ended = ended.or(self.ended.take());
    }

    /// Hands over everything that is on the line.
    pub(crate) fn deliver(&mut self) {
        loop {
            if let Some((from, bytes)) = self.reports.pop_front() {
                self.pass_report(from, bytes);
            } else if let Some((to, bytes)) = self.orders.pop_front() {
                self.pass_order(to, bytes);
            } else {
                return;
            }
        }
    }

    fn pass_report(&mut self, from: ClientId, bytes: Vec<u8>) {
        let epoch = self.coordinator.epoch();
        match self.coordinator.receive(from, &bytes) {
            Ok(()) if !self.coordinator.keeps(&bytes) => {}
            Ok(()) => self.store.push(Stored::Message(epoch, from, bytes)),
            Err(refused) => self.refused.push(refused),
        }
        self.drain_coordinator();
    }

    fn pass_order(&mut self, to: ClientId, mut bytes: Vec<u8>) {
        if let Some(lie) = &mut self.lie {
            bytes = lie(to, bytes);
        }
        self.told.push((to, bytes.clone()));
        self.hand_over(to, &bytes);
    }

    /// Hands over the first message of one connection. `choose` picks among those that have one: whether it goes to the
    /// coordinator, and who is at the other end. False if nothing is on the way.
    pub(crate) fn deliver_one(
        &mut self,
        choose: impl FnOnce(&[(bool, ClientId)]) -> usize,
    ) -> bool {
        let mut connections = BTreeMap::new();
        let reports = (0..).zip(self.reports.iter().map(|(from, _)| (true, *from)));
        let orders = (0..).zip(self.orders.iter().map(|(to, _)| (false, *to)));
        for (place, connection) in reports.chain(orders) {
            connections.entry(connection).or_insert(place);
        }
        let (connections, places): (Vec<_>, Vec<usize>) = connections.into_iter().unzip();
        if connections.is_empty() {
            return false;
        }
        let picked = choose(&connections);
        let (is_report, _) = connections[picked];
        if is_report {
            let (from, bytes) = self.reports.remove(places[picked]).expect("there");
            self.pass_report(from, bytes);
        } else {
            let (to, bytes) = self.orders.remove(places[picked]).expect("there");
            self.pass_order(to, bytes);
        }
        true
    }

    /// How many messages to the coordinator are on the way from here.
    pub(crate) fn on_the_way_from(&self, seat: ClientId) -> usize {
        let reports = self.reports.iter();
        reports.filter(|(from, _)| *from == seat).count()
    }

    /// Loses the connection of a trustee: the orders on it, and its reports but for the first `kept`. It begins again with
    /// what it stored.
    pub(crate) fn lose_connection(&mut self, trustee: usize, kept: usize) {
        let seat = self.seat(trustee);
        self.orders.retain(|(to, _)| *to != seat);
        let mut left = kept;
        self.reports.retain(|(from, _)| {
            let is_kept = *from != seat || left > 0;
            left -= usize::from(*from == seat && left > 0);
            is_kept
        });
        self.trustees[trustee] = None;
        self.restart_killed();
    }

    pub(crate) fn hand_over(&mut self, to: ClientId, bytes: &[u8]) {
        let n_parties = self.parties.len();
        if let Some(party) = self.parties.get_mut(to.0 as usize) {
            let Some(party) = party else { return };
            if let Err(refused) = party.receive(bytes) {
                self.refused_by_parties.push((to, refused));
            }
            self.drain_party(to.0 as usize);
            return;
        }
        let trustee = to.0 as usize - n_parties;
        let Some(running) = self.trustees[trustee].as_mut() else {
            return;
        };
        if let Err(refused) = running.receive(bytes) {
            self.refused_by_trustees.push((trustee, refused));
        }
        self.drain_trustee(trustee);
    }

    /// Every message that is stored.
    pub(crate) fn stored_messages(&self) -> Vec<(ClientId, Vec<u8>)> {
        let message = |stored: &Stored| match stored {
            Stored::Message(_, from, bytes) => Some((*from, bytes.clone())),
            Stored::Close(_) | Stored::Checkpoint(..) => None,
        };
        self.store.iter().filter_map(message).collect()
    }

    pub(crate) fn close(&mut self) {
        self.store.push(Stored::Close(self.coordinator.epoch()));
        self.coordinator.close_phase();
        self.drain_coordinator();
    }

    /// Starts every trustee that was killed.
    pub(crate) fn restart_killed(&mut self) {
        for trustee in 0..3 {
            if self.trustees[trustee].is_none() {
                self.start_trustee(trustee);
                self.coordinator.returned(self.seat(trustee));
                self.drain_coordinator();
            }
        }
    }

    /// The coordinator loses everything but its store; all others come back.
    pub(crate) fn restart_coordinator(&mut self) {
        self.orders.clear();
        self.reports.clear();
        self.coordinator = open_coordinator(&self.agreed);
        let (setup, sums): (Vec<_>, Vec<_>) = self
            .store
            .clone()
            .into_iter()
            .partition(|stored| matches!(stored, Stored::Message(0, ..) | Stored::Close(0)));
        for stored in setup.into_iter().chain(sums) {
            match stored {
                Stored::Message(_, from, bytes) => {
                    let taken = self.coordinator.receive(from, &bytes);
                    taken.expect("accepted before");
                }
                Stored::Close(_) => self.coordinator.close_phase(),
                Stored::Checkpoint(epoch, bytes) => {
                    let restored = self.coordinator.restore(epoch, &bytes);
                    restored.expect("a checkpoint");
                }
            }
            while let Some(effect) = self.coordinator.poll() {
                if let CoordinatorEffect::Ended(receipt) = effect {
                    self.ended = Some(*receipt);
                }
            }
        }
        for id in 0..self.parties.len() {
            if self.parties[id].is_some() {
                self.start_party(id);
                let seat = ClientId(u32::try_from(id).expect("few"));
                self.coordinator.returned(seat);
            }
        }
        for trustee in 0..3 {
            self.start_trustee(trustee);
            self.coordinator.returned(self.seat(trustee));
        }
        self.drain_coordinator();
    }

    /// Runs to the end; `disturb` is called before each phase is closed.
    pub(crate) fn run(&mut self, disturb: impl FnMut(&mut Self, u64)) {
        self.run_steps(usize::MAX, disturb);
    }

    /// Runs until so many steps are over, or to the end.
    pub(crate) fn run_steps(&mut self, steps: usize, mut disturb: impl FnMut(&mut Self, u64)) {
        for phase in 0..400 {
            self.deliver();
            self.restart_killed();
            self.deliver();
            let released = self.coordinator.transcript().released().len();
            if self.ended.is_some() || released >= steps {
                return;
            }
            disturb(self, phase);
            self.restart_killed();
            self.deliver();
            self.close();
        }
        panic!("the study does not end: {:?}", self.coordinator);
    }

    pub(crate) fn receipt(&self) -> &SignedReceipt {
        self.ended.as_ref().expect("a receipt")
    }

    /// The attempts in which a trustee's opening share may have left.
    pub(crate) fn opened(&self) -> BTreeSet<u32> {
        let mut opened = BTreeSet::new();
        for lines in &self.lines {
            let mut open = None;
            for line in lines {
                match line {
                    TrusteeLine::Begun {
                        line: AttemptLine::Charged { step, attempt, .. },
                        ..
                    } => open = self.agreed.sum_number(*step as usize, *attempt),
                    TrusteeLine::Attempt(AttemptLine::Opening) => opened.extend(open),
                    _ => {}
                }
            }
        }
        opened
    }
}
