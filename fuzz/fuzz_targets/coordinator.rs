//! All clients in one process, with a network that loses, repeats and reorders, clients that
//! restart, and clients that lie.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use arbitrary::{Arbitrary, Unstructured};
use sprifed_noise::Noised;
use sprifed_secure_sum::*;

#[path = "../../crates/sprifed-secure-sum/tests/it/world.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod world;

use world::World;

const CLIENTS: u32 = 5;
const SUMS: u32 = 2;

/// One thing that happens. Numbers are reduced to what exists.
#[derive(Arbitrary, Debug)]
enum Op {
    /// Carries everything that is under way, until no client has a message.
    DeliverAll,
    /// Carries one message; any of them, so that they overtake each other.
    Deliver(u8),
    Drop(u8),
    Duplicate(u8),
    Tell(u8),
    DropNotice(u8),
    DuplicateNotice(u8),
    /// Sends again what was sent at any time.
    Replay(u8),
    /// A client sends another client's message as its own.
    ForgedSender(u8, u8),
    /// The sender lies: its message is altered and signed again.
    Altered(u8, Change),
    /// The network alters it.
    BadSignature(u8, u8),
    Upload(u8, u8),
    Open(u8),
    Close,
    Restart(u8),
}

#[derive(Arbitrary, Debug)]
enum Change {
    Sum(u8),
    Phase(u8),
    Cut(u8),
    Flip(u16),
    Body(Vec<u8>),
}

struct Network {
    world: World,
    under_way: Vec<(ClientId, SignedMessage)>,
    notices: Vec<(ClientId, Notice)>,
    past: Vec<(ClientId, SignedMessage)>,
    honest: Honest,
    /// Clients that got a lie about their keys or their vector accepted.
    liars: Vec<ClientId>,
}

/// What honest clients have sent, by client and sum.
#[derive(Default)]
struct Honest {
    uploads: BTreeMap<(ClientId, u32), Vec<u8>>,
    digests: BTreeMap<(ClientId, u32), Vec<u8>>,
    kinds: BTreeMap<(ClientId, u32, u8), ShareKind>,
}

impl Honest {
    fn said(&mut self, message: &SignedMessage) {
        let key = (message.sender, message.sum);
        match Body::decode(message.phase, &message.body).expect("an honest message") {
            Body::Upload(_) => {
                let before = self.uploads.insert(key, message.body.clone());
                assert!(before.is_none(), "one upload for each sum");
            }
            Body::Confirmation(_) => {
                let before = self.digests.insert(key, message.body.clone());
                assert!(
                    before.is_none_or(|before| before == message.body),
                    "one set for each sum"
                );
            }
            Body::Unmask(unmask) => {
                for share in unmask.shares {
                    let key = (message.sender, message.sum, share.slot);
                    let before = self.kinds.insert(key, share.kind);
                    assert!(
                        before.is_none_or(|before| before == share.kind),
                        "one kind of share"
                    );
                }
            }
            Body::Keys(_) | Body::Ciphertexts(_) | Body::Shares(_) => {}
        }
    }
}

fn part(client: u32, sum: u32) -> &'static Noised {
    static PARTS: OnceLock<Vec<Noised>> = OnceLock::new();
    let parts = PARTS.get_or_init(|| {
        let seeds = 0..u64::from(CLIENTS * SUMS);
        seeds
            .map(|seed| world::noised(world::participation(CLIENTS, 4, 1), 3, seed))
            .collect()
    });
    &parts[(client * SUMS + sum) as usize]
}

impl Network {
    fn collect(&mut self) {
        for (client, journal) in self.world.clients.iter_mut().zip(&mut self.world.journals) {
            while let Some(output) = client.poll_output() {
                match output {
                    ClientOutput::Persist(entry) => journal.push(entry),
                    ClientOutput::Send(message) => {
                        self.honest.said(&message);
                        self.past.push((message.sender, message.clone()));
                        self.under_way.push((message.sender, message));
                    }
                }
            }
        }
        while let Some(output) = self.world.coordinator.poll_output() {
            match output {
                CoordinatorOutput::Send(to, notice) => self.notices.push((to, notice)),
                CoordinatorOutput::SumEnded(outcome) => self.check(&outcome),
                CoordinatorOutput::StudyAbandoned(_) => {}
            }
        }
    }

    /// A reported sum is the sum of what its survivors sent.
    fn check(&self, outcome: &SumOutcome) {
        let SumOutcome::Unmasked(sum) = outcome else {
            return;
        };
        assert!(sum.survivors().len() >= 4, "the quorum");
        if sum
            .survivors()
            .iter()
            .any(|survivor| self.liars.contains(&survivor))
        {
            return;
        }
        let mut expected = vec![0; 3];
        for survivor in sum.survivors().iter() {
            for (total, value) in expected
                .iter_mut()
                .zip(part(survivor.0, sum.sum()).values())
            {
                *total += value;
            }
        }
        assert_eq!(sum.values(), expected, "a sum is exact or there is none");
    }

    fn hand_over(&mut self, from: ClientId, message: &SignedMessage, is_lie: bool) {
        let before = self.world.coordinator.clone();
        match self.world.coordinator.handle_message(from, message) {
            // Altered wraps are found out when they are needed: there is no sum then.
            Ok(()) if is_lie && matches!(message.phase, Phase::Keys | Phase::Upload) => {
                self.liars.push(from);
            }
            Ok(()) => {}
            Err(rejected) => {
                assert_eq!(
                    before, self.world.coordinator,
                    "a refused message changes nothing"
                );
                assert_eq!(
                    rejected.sender,
                    Sender::Client(from),
                    "a refusal names its sender"
                );
            }
        }
    }

    fn alter(&mut self, message: &SignedMessage, change: &Change) -> SignedMessage {
        let SignedMessage {
            mut phase,
            mut sum,
            sender,
            mut body,
            ..
        } = message.clone();
        match change {
            Change::Sum(other) => sum = u32::from(*other),
            Change::Phase(other) => phase = Phase::ALL[usize::from(*other) % 6],
            Change::Cut(len) => body.truncate(body.len().saturating_sub(usize::from(*len))),
            Change::Flip(bit) => {
                let at = usize::from(*bit) % (8 * body.len().max(1));
                if let Some(byte) = body.get_mut(at / 8) {
                    *byte ^= 1 << (at % 8);
                }
            }
            Change::Body(other) => body.clone_from(other),
        }
        let identity = &self.world.identities[sender.0 as usize];
        SignedMessage::sign(identity, self.world.study.id(), phase, sum, sender, body)
    }

    fn run(&mut self, op: &Op) {
        let at = |index: u8, len: usize| (len > 0).then(|| usize::from(index) % len.max(1));
        let client = |id: u8| u32::from(id) % CLIENTS;
        let n_messages = self.under_way.len();
        match op {
            Op::DeliverAll => {
                while !self.under_way.is_empty() || !self.notices.is_empty() {
                    for (from, message) in core::mem::take(&mut self.under_way) {
                        self.hand_over(from, &message, false);
                    }
                    for (to, notice) in core::mem::take(&mut self.notices) {
                        let _refused = self.world.clients[to.0 as usize].handle_message(&notice);
                    }
                    self.collect();
                }
            }
            Op::Deliver(index) => {
                if let Some(index) = at(*index, n_messages) {
                    let (from, message) = self.under_way.remove(index);
                    self.hand_over(from, &message, false);
                }
            }
            Op::Drop(index) => {
                at(*index, n_messages).map(|index| self.under_way.remove(index));
            }
            Op::Duplicate(index) => {
                if let Some(index) = at(*index, n_messages) {
                    self.under_way.push(self.under_way[index].clone());
                }
            }
            Op::Tell(index) => {
                if let Some(index) = at(*index, self.notices.len()) {
                    let (to, notice) = self.notices.remove(index);
                    let _refused = self.world.clients[to.0 as usize].handle_message(&notice);
                }
            }
            Op::DropNotice(index) => {
                at(*index, self.notices.len()).map(|index| self.notices.remove(index));
            }
            Op::DuplicateNotice(index) => {
                if let Some(index) = at(*index, self.notices.len()) {
                    self.notices.push(self.notices[index].clone());
                }
            }
            Op::Replay(index) => {
                if let Some(index) = at(*index, self.past.len()) {
                    let (from, message) = self.past[index].clone();
                    self.hand_over(from, &message, false);
                }
            }
            Op::ForgedSender(index, from) => {
                if let Some(index) = at(*index, n_messages) {
                    let (sender, message) = self.under_way[index].clone();
                    let from = ClientId(u32::from(*from));
                    self.hand_over(from, &message, from != sender);
                }
            }
            Op::Altered(index, change) => {
                if let Some(index) = at(*index, n_messages) {
                    let (from, message) = self.under_way[index].clone();
                    let altered = self.alter(&message, change);
                    self.hand_over(from, &altered, altered != message);
                }
            }
            Op::BadSignature(index, bit) => {
                if let Some(index) = at(*index, n_messages) {
                    let (from, mut message) = self.under_way[index].clone();
                    message.signature[usize::from(*bit) / 8] ^= 1 << (bit % 8);
                    let before = self.world.coordinator.clone();
                    let taken = self.world.coordinator.handle_message(from, &message);
                    assert!(taken.is_err(), "a signature has one form");
                    assert_eq!(before, self.world.coordinator);
                }
            }
            Op::Upload(id, sum) => {
                let (id, sum) = (client(*id), u32::from(*sum) % SUMS);
                let _may_be_refused =
                    self.world.clients[id as usize].upload(sum, &world::CONTEXT, part(id, sum));
            }
            Op::Open(sum) => {
                let _may_be_refused = self
                    .world
                    .coordinator
                    .open_sum(u32::from(*sum) % 3, world::CONTEXT);
            }
            Op::Close => self.world.coordinator.close_phase(),
            Op::Restart(id) => {
                let id = client(*id);
                let index = id as usize;
                let resumed = Client::resume(
                    Arc::clone(&self.world.study),
                    ClientId(id),
                    self.world.identities[index].clone(),
                    world::seed(id),
                    &self.world.journals[index],
                );
                self.world.clients[index] = resumed.expect("on the roster");
                self.world.coordinator.handle_return(ClientId(id));
            }
        }
        self.collect();
    }
}

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    // How far all clients are at the start, and which do not upload.
    let [start, gone]: [u8; 2] = input.arbitrary().unwrap_or_default();
    let world = World::new(world::participation(CLIENTS, 4, 1), 3, 16, SUMS);
    let mut network = Network {
        world,
        under_way: Vec::new(),
        notices: Vec::new(),
        past: Vec::new(),
        honest: Honest::default(),
        liars: Vec::new(),
    };
    network.collect();
    if start > 19 {
        for op in [
            Op::DeliverAll,
            Op::Close,
            Op::DeliverAll,
            Op::Close,
            Op::DeliverAll,
        ] {
            network.run(&op);
        }
    }
    if start > 39 {
        network.run(&Op::Open(0));
        for id in (0..5).filter(|id| *id != gone % 8) {
            network.run(&Op::Upload(id, 0));
        }
    }
    for _ in 0..80 {
        if input.is_empty() {
            return;
        }
        let Ok(op) = Op::arbitrary(&mut input) else {
            return;
        };
        network.run(&op);
    }
}
