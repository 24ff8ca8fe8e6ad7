//! Honest clients whose coordinator says whatever it likes, and whose fifth one colludes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use arbitrary::{Arbitrary, Unstructured};
use sprifed_noise::Noised;
use sprifed_privacy::Participation;
use sprifed_secure_sum::*;

#[path = "../../crates/sprifed-secure-sum/tests/it/world.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod world;

const CLIENTS: u32 = 5;
const SUMS: u32 = 2;
/// Colludes: it forgets its journal whenever the coordinator wants another signature.
const COLLUDER: u32 = 4;

/// What the coordinator does. Sets are bit masks, or as [`usual`] reads them.
#[derive(Arbitrary, Debug)]
enum Op {
    Directory {
        to: u8,
        listed: u8,
    },
    Ciphertexts {
        to: u8,
        listed: u8,
        swapped: bool,
    },
    Bundles {
        to: u8,
        sharers: u8,
        swapped: bool,
    },
    Survivors {
        to: u8,
        sum: u8,
        survivors: u8,
    },
    /// With the signatures for one of the digests that a client has signed.
    Certificate {
        to: u8,
        sum: u8,
        digest: u8,
        signers: u8,
        tags: u8,
    },
    /// Signatures for different digests in one certificate.
    MixedCertificate {
        to: u8,
        sum: u8,
        picks: [u8; 4],
    },
    Raw {
        to: u8,
        bytes: Vec<u8>,
    },
    Upload {
        id: u8,
        sum: u8,
        context: u8,
    },
    Restart {
        id: u8,
    },
    /// A restart after which the client receives the same directory and bundles again.
    Return {
        id: u8,
    },
}

/// A client, and for one of them a twin that receives only what the client accepted.
struct Pair {
    client: Client,
    twin: Option<Client>,
    journal: Vec<JournalEntry>,
}

struct Coordinator {
    study: Arc<Study>,
    identities: Vec<IdentityKey>,
    watched: u32,
    pairs: Vec<Pair>,
    keys: BTreeMap<u32, Arc<SignedMessage>>,
    ciphertexts: BTreeMap<(ClientId, ClientId), Arc<Ciphertext>>,
    bundles: BTreeMap<(ClientId, ClientId), Arc<Vec<u8>>>,
    tags: BTreeMap<(u32, ClientId, ClientId), [u8; 16]>,
    /// By sum and digest.
    signatures: BTreeMap<(u32, [u8; 32]), BTreeMap<ClientId, [u8; 64]>>,
    uploads: BTreeMap<(ClientId, u32), Vec<u8>>,
    digests: BTreeMap<(ClientId, u32), [u8; 32]>,
    /// By sum, owner and kind: the clients that have revealed a share.
    revealed: BTreeMap<(u32, ClientId, bool), BTreeSet<ClientId>>,
}

fn participation() -> Participation {
    world::participation(CLIENTS, 4, 1)
}

fn study() -> &'static (Arc<Study>, Vec<IdentityKey>) {
    static STUDY: OnceLock<(Arc<Study>, Vec<IdentityKey>)> = OnceLock::new();
    STUDY.get_or_init(|| world::study(participation(), 3, 16, SUMS))
}

fn part(client: u32) -> &'static Noised {
    static PARTS: OnceLock<Vec<Noised>> = OnceLock::new();
    let draw = || {
        (0..5)
            .map(|seed| world::noised(participation(), 3, seed))
            .collect()
    };
    &PARTS.get_or_init(draw)[client as usize]
}

fn set(listed: u8) -> ClientSet {
    let mut set = ClientSet::empty(CLIENTS);
    set.extend(
        (0..CLIENTS)
            .filter(|id| listed >> id & 1 == 1)
            .map(ClientId),
    );
    set
}

impl Coordinator {
    fn open(watched: u32) -> Self {
        let (study, identities) = study().clone();
        let mut coordinator = Self {
            study,
            identities,
            watched,
            pairs: Vec::new(),
            keys: BTreeMap::new(),
            ciphertexts: BTreeMap::new(),
            bundles: BTreeMap::new(),
            tags: BTreeMap::new(),
            signatures: BTreeMap::new(),
            uploads: BTreeMap::new(),
            digests: BTreeMap::new(),
            revealed: BTreeMap::new(),
        };
        for id in 0..CLIENTS {
            let client = coordinator.resumed(id, &[]);
            let twin = (id == watched).then(|| coordinator.resumed(id, &[]));
            coordinator.pairs.push(Pair {
                client,
                twin,
                journal: Vec::new(),
            });
        }
        for id in 0..CLIENTS {
            coordinator.collect(id);
        }
        coordinator
    }

    fn resumed(&self, id: u32, journal: &[JournalEntry]) -> Client {
        let identity = self.identities[id as usize].clone();
        Client::resume(
            Arc::clone(&self.study),
            ClientId(id),
            identity,
            world::seed(id),
            journal,
        )
        .expect("on the roster")
    }

    fn collect(&mut self, id: u32) {
        let pair = &mut self.pairs[id as usize];
        let mut said = Vec::new();
        while let Some(output) = pair.client.poll_output() {
            if let Some(twin) = &mut pair.twin {
                assert_eq!(
                    Some(&output),
                    twin.poll_output().as_ref(),
                    "same input, same output"
                );
            }
            match output {
                ClientOutput::Persist(entry) => pair.journal.push(entry),
                ClientOutput::Send(message) => said.push(message),
            }
        }
        assert_eq!(pair.twin.as_mut().and_then(Client::poll_output), None);
        for message in said {
            self.hear(&message);
        }
    }

    fn hear(&mut self, message: &SignedMessage) {
        let (from, sum) = (message.sender, message.sum);
        let honest = from.0 != COLLUDER;
        let neighbour = |slot: u8| {
            let mut neighbours = self.study.graph().neighbours(from);
            neighbours.nth(usize::from(slot)).expect("a neighbour")
        };
        match Body::decode(message.phase, &message.body).expect("an honest message") {
            Body::Keys(_) => {
                let before = self.keys.insert(from.0, Arc::new(message.clone()));
                assert!(
                    before.is_none_or(|before| *before == *message),
                    "the same keys again"
                );
            }
            Body::Ciphertexts(sent) => {
                for (slot, ciphertext) in sent.ciphertexts {
                    let route = (from, neighbour(slot));
                    let before = self.ciphertexts.insert(route, ciphertext.clone());
                    assert!(
                        before.is_none_or(|before| before == ciphertext),
                        "the same ciphertexts again"
                    );
                }
            }
            Body::Shares(shares) => {
                for bundle in shares.bundles {
                    let route = (from, neighbour(bundle.slot));
                    let sealed = Arc::new(bundle.sealed);
                    let before = self.bundles.insert(route, Arc::clone(&sealed));
                    assert!(
                        before.is_none_or(|before| before == sealed),
                        "the same shares again"
                    );
                }
            }
            Body::Upload(upload) => {
                let before = self.uploads.insert((from, sum), message.body.clone());
                assert!(before.is_none() || !honest, "one upload for each sum");
                for (slot, tag) in upload.tags {
                    self.tags.insert((sum, from, neighbour(slot)), tag);
                }
            }
            Body::Confirmation(Confirmation { digest }) => {
                let before = self.digests.insert((from, sum), digest);
                assert!(
                    !honest || before.is_none_or(|before| before == digest),
                    "one set"
                );
                let signatures = self.signatures.entry((sum, digest)).or_default();
                signatures.insert(from, message.signature);
            }
            Body::Unmask(unmask) => {
                for share in unmask.shares {
                    let is_key = share.kind == ShareKind::MaskKey;
                    let owner = neighbour(share.slot);
                    self.revealed
                        .entry((sum, owner, is_key))
                        .or_default()
                        .insert(from);
                }
            }
        }
    }

    /// The colluder adds both kinds of every share: one kind at most has enough of them.
    fn check(&self) {
        let threshold = self.study.parameters().threshold() as usize;
        for sum in 0..SUMS {
            for owner in (0..COLLUDER).map(ClientId) {
                let is_open = |is_key| {
                    let mut senders: BTreeSet<ClientId> = self
                        .revealed
                        .get(&(sum, owner, is_key))
                        .cloned()
                        .unwrap_or_default();
                    senders.insert(ClientId(COLLUDER));
                    senders.len() >= threshold
                };
                assert!(
                    !(is_open(true) && is_open(false)),
                    "both secrets of {owner} are open"
                );
            }
        }
    }

    fn tell(&mut self, to: u32, notice: &Notice) {
        let pair = &mut self.pairs[to as usize];
        let taken = pair.client.handle_message(notice);
        if let Err(rejected) = &taken {
            assert_eq!(rejected.sender, Sender::Coordinator);
        }
        if let Some(twin) = &mut pair.twin {
            if taken.is_ok() {
                twin.handle_message(notice).expect("the twin is its equal");
            }
            assert_eq!(pair.client, *twin, "a refused notice changes nothing");
        }
        self.collect(to);
    }

    fn restart(&mut self, id: u32) {
        if id == COLLUDER {
            self.pairs[id as usize].journal.clear();
        }
        let journal = self.pairs[id as usize].journal.clone();
        let client = self.resumed(id, &journal);
        let twin = (id == self.watched).then(|| self.resumed(id, &journal));
        self.pairs[id as usize] = Pair {
            client,
            twin,
            journal,
        };
        self.collect(id);
    }

    fn directory(&self, to: u32, listed: u8) -> Notice {
        let neighbours = self.study.graph().neighbours(ClientId(to));
        let listed = neighbours.filter(|id| listed >> id.0 & 1 == 1);
        let keys = listed
            .filter_map(|id| self.keys.get(&id.0).cloned())
            .collect();
        Notice::Directory { keys }
    }

    fn ciphertexts(&self, to: u32, listed: u8, swapped: bool) -> Notice {
        let to = ClientId(to);
        let neighbours = self.study.graph().neighbours(to);
        let listed = neighbours.filter(|id| listed >> id.0 & 1 == 1);
        let sent = |id: ClientId| {
            let route = if swapped { (to, id) } else { (id, to) };
            (id, self.ciphertexts.get(&route).cloned())
        };
        Notice::Ciphertexts {
            neighbours: listed.map(sent).collect(),
        }
    }

    fn bundles(&self, to: u32, sharers: u8, swapped: bool) -> Notice {
        let to = ClientId(to);
        let senders = self
            .study
            .graph()
            .neighbours(to)
            .filter(|id| sharers >> id.0 & 1 == 1);
        let of = |id: ClientId| {
            let route = if swapped { (to, id) } else { (id, to) };
            self.bundles.get(&route).cloned().map(|bundle| (id, bundle))
        };
        Notice::Bundles {
            sharers: set(sharers),
            bundles: senders.filter_map(of).collect(),
        }
    }

    fn certificate(
        &self,
        to: u32,
        sum: u32,
        signatures: Vec<(ClientId, [u8; 64])>,
        tags: u8,
    ) -> Notice {
        let neighbours = self.study.graph().neighbours(ClientId(to));
        let told = neighbours.filter(|id| tags > 99 || tags >> id.0 & 1 == 1);
        let tag = |id: ClientId| {
            self.tags
                .get(&(sum, id, ClientId(to)))
                .map(|tag| (id, *tag))
        };
        let certificate = Arc::new(Certificate { signatures });
        Notice::Certificate {
            sum,
            certificate,
            tags: told.filter_map(tag).collect(),
        }
    }

    fn run(&mut self, op: &Op) {
        let client = |id: &u8| u32::from(*id) % CLIENTS;
        match op {
            Op::Directory { to, listed } => {
                let to = client(to);
                self.tell(to, &self.directory(to, *listed));
            }
            Op::Ciphertexts {
                to,
                listed,
                swapped,
            } => {
                let to = client(to);
                self.tell(to, &self.ciphertexts(to, usual(*listed), *swapped));
            }
            Op::Bundles {
                to,
                sharers,
                swapped,
            } => {
                let to = client(to);
                self.tell(to, &self.bundles(to, usual(*sharers), *swapped));
            }
            Op::Survivors { to, sum, survivors } => {
                let (sum, survivors) = (usual_sum(*sum), Arc::new(set(usual(*survivors))));
                self.tell(client(to), &Notice::Survivors { sum, survivors });
            }
            Op::Certificate {
                to,
                sum,
                digest,
                signers,
                tags,
            } => {
                let (to, sum) = (client(to), usual_sum(*sum));
                let known: Vec<_> = self
                    .signatures
                    .iter()
                    .filter(|((of, _), _)| *of == sum)
                    .collect();
                let Some((_, signed)) = known.get(usize::from(*digest) % known.len().max(1)) else {
                    return;
                };
                let shown = signed
                    .iter()
                    .filter(|(id, _)| *signers > 99 || signers >> id.0 & 1 == 1);
                let shown = shown.map(|(id, signature)| (*id, *signature)).collect();
                self.tell(to, &self.certificate(to, sum, shown, *tags));
            }
            Op::MixedCertificate { to, sum, picks } => {
                let (to, sum) = (client(to), usual_sum(*sum));
                let all: Vec<_> = self.signatures.values().flatten().collect();
                let picked = picks.iter().filter_map(|pick| all.get(usize::from(*pick)));
                let mut shown: Vec<_> = picked.map(|(id, signature)| (**id, **signature)).collect();
                shown.sort_unstable();
                self.tell(to, &self.certificate(to, sum, shown, u8::MAX));
            }
            Op::Raw { to, bytes } => {
                if let Ok(notice) = Notice::decode(bytes) {
                    self.tell(client(to), &notice);
                }
            }
            Op::Upload { id, sum, context } => {
                let (id, sum) = (client(id), usual_sum(*sum));
                // Most clients are led along one transcript, some along another.
                let context = [u8::from(*context > 199); 32];
                let pair = &mut self.pairs[id as usize];
                let taken = pair.client.upload(sum, &context, part(id));
                if let Some(twin) = &mut pair.twin {
                    if taken.is_ok() {
                        twin.upload(sum, &context, part(id))
                            .expect("the twin is its equal");
                    }
                    assert_eq!(pair.client, *twin, "a refused upload changes nothing");
                }
                self.collect(id);
            }
            Op::Restart { id } => self.restart(client(id)),
            Op::Return { id } => {
                let id = client(id);
                self.restart(id);
                self.tell(id, &self.directory(id, u8::MAX));
                self.tell(id, &self.ciphertexts(id, 0b11111, false));
                self.tell(id, &self.bundles(id, 0b11111, false));
            }
        }
    }
}

/// Most sets are all clients, or all but one: others are refused at once.
const fn usual(listed: u8) -> u8 {
    match listed % 8 {
        7 => listed >> 3,
        gone @ 0..=4 => 0b11111 & !(1 << gone),
        _ => 0b11111,
    }
}

/// Most of what happens is about the first sum.
const fn usual_sum(sum: u8) -> u32 {
    if sum < 200 { 0 } else { sum as u32 % 3 }
}

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    // Whose state is compared after every operation, and how far all clients are at the start.
    let [watched, start]: [u8; 2] = input.arbitrary().unwrap_or_default();
    let mut coordinator = Coordinator::open(u32::from(watched) % CLIENTS);
    if start > 9 {
        for to in 0..5 {
            coordinator.run(&Op::Directory {
                to,
                listed: u8::MAX,
            });
        }
        for to in 0..5 {
            coordinator.run(&Op::Ciphertexts {
                to,
                listed: 5,
                swapped: false,
            });
        }
        for to in 0..5 {
            coordinator.run(&Op::Bundles {
                to,
                sharers: 5,
                swapped: false,
            });
        }
    }
    if start > 19 {
        for id in 0..5 {
            coordinator.run(&Op::Upload {
                id,
                sum: 0,
                context: 0,
            });
        }
    }
    for _ in 0..80 {
        if input.is_empty() {
            return;
        }
        let Ok(op) = Op::arbitrary(&mut input) else {
            return;
        };
        coordinator.run(&op);
        coordinator.check();
    }
}
