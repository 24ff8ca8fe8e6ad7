//! Clients and a coordinator in one process.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use sprifed_noise::{BoundedSum, DrawnNoise, NoiseGenerator, Noised};
use sprifed_privacy::{
    ApproxDp, Block, Delta, Epsilon, IntegerBounds, Ledger, NoiseOrigin, NoiseVariance,
    Participation, PrivacyUnit, RecordPart, Relation, SumPlan, SumPurchase,
};
use sprifed_secure_sum::*;

/// A study of `n_sums` sums with the same shape.
pub(crate) fn study(
    participation: Participation,
    coordinates: u32,
    bits: u32,
    n_sums: u32,
) -> (Arc<Study>, Vec<IdentityKey>) {
    let mut rng = ChaCha20Rng::seed_from_u64(u64::from(participation.clients()));
    let identities: Vec<_> = (0..participation.clients())
        .map(|_| IdentityKey::draw(&mut rng))
        .collect();
    let keys: Vec<_> = identities.iter().map(IdentityKey::public).collect();
    let roster = Roster::new(&keys).expect("distinct keys");
    let shape = SumShape::new(coordinates, bits).expect("a legal shape");
    let sums = vec![shape; n_sums as usize];
    let study = Study::new([1; 32], roster, participation, [2; 32], sums).expect("a legal study");
    (Arc::new(study), identities)
}

fn plan(coordinates: u32, share_variance: &str) -> SumPlan {
    let share_variance =
        NoiseVariance::try_from(share_variance.to_owned()).expect("a legal variance");
    let bounds = IntegerBounds::Ball {
        bound: 50,
        squared_norm: 50,
    };
    SumPlan {
        blocks: vec![Block {
            name: "all".to_owned(),
            coordinates,
            bounds,
            share_variance,
        }],
        part: RecordPart::All,
    }
}

/// The variance of every share of noise, unless a test says otherwise.
pub(crate) const SHARE_VARIANCE: &str = "9";

/// A vector with a share of noise.
pub(crate) fn noised(participation: Participation, coordinates: u32, seed: u64) -> Noised {
    noised_with(participation, coordinates, SHARE_VARIANCE, seed)
}

/// A vector with a share of noise of this variance: (3, 0, 0, …) before the noise.
pub(crate) fn noised_with(
    participation: Participation,
    coordinates: u32,
    share_variance: &str,
    seed: u64,
) -> Noised {
    let purchase = SumPurchase {
        plan: plan(coordinates, share_variance),
        origin: NoiseOrigin::Shares(participation),
        unit: PrivacyUnit::Record,
    };
    let budget = ApproxDp::new(
        Epsilon::try_from(1e6).expect("legal"),
        Delta::try_from(0.1).expect("legal"),
    );
    let mut ledger = Ledger::open(budget, Relation::ZeroOut, PrivacyUnit::Record);
    let permit = ledger.spend("a test", purchase).expect("affordable");
    let noise = DrawnNoise::draw(permit, &mut NoiseGenerator::simulated(seed)).expect("drawable");
    let mut sum = BoundedSum::zero(plan(coordinates, share_variance));
    let mut unit = vec![0; coordinates as usize];
    if let Some(first) = unit.first_mut() {
        *first = 3;
    }
    sum.add_unit(0, &unit).expect("within bounds");
    noise.release(sum).expect("the same plan")
}

/// In which sums are made, unless a test says otherwise.
pub(crate) const CONTEXT: [u8; 32] = [7; 32];

/// All clients.
pub(crate) struct World {
    pub(crate) study: Arc<Study>,
    pub(crate) identities: Vec<IdentityKey>,
    pub(crate) coordinator: Coordinator,
    pub(crate) clients: Vec<Client>,
    pub(crate) journals: Vec<Vec<JournalEntry>>,
    pub(crate) outcomes: Vec<SumOutcome>,
    pub(crate) abandoned: Option<Abandoned>,
    /// Everything that went over the wire, in order.
    pub(crate) transcript: Vec<Vec<u8>>,
    /// Of every client's share of noise.
    pub(crate) share_variance: &'static str,
}

pub(crate) fn seed(client: u32) -> ClientSeed {
    ClientSeed::draw(&mut ChaCha20Rng::seed_from_u64(1000 + u64::from(client)))
}

impl World {
    pub(crate) fn new(
        participation: Participation,
        coordinates: u32,
        bits: u32,
        n_sums: u32,
    ) -> Self {
        let (study, identities) = study(participation, coordinates, bits, n_sums);
        Self::of(study, identities)
    }

    /// All clients on the roster of `study`.
    pub(crate) fn of(study: Arc<Study>, identities: Vec<IdentityKey>) -> Self {
        Self::of_seeds(study, identities, seed)
    }

    /// All clients on the roster of `study`, with these seeds.
    pub(crate) fn of_seeds(
        study: Arc<Study>,
        identities: Vec<IdentityKey>,
        seed: impl Fn(u32) -> ClientSeed,
    ) -> Self {
        let clients = (0..).zip(&identities).map(|(id, identity)| {
            Client::join(Arc::clone(&study), ClientId(id), identity.clone(), seed(id))
                .expect("on the roster")
        });
        let clients: Vec<_> = clients.collect();
        Self {
            coordinator: Coordinator::open(Arc::clone(&study)),
            journals: vec![Vec::new(); clients.len()],
            clients,
            study,
            identities,
            outcomes: Vec::new(),
            abandoned: None,
            transcript: Vec::new(),
            share_variance: SHARE_VARIANCE,
        }
    }

    /// Carries messages until no client has any; clients in `away` neither send nor receive.
    ///
    /// With many clients the first one checks a certificate for all, and messages are handed over
    /// as they are, without bytes and without a transcript.
    pub(crate) fn deliver(&mut self, away: &[u32]) {
        let mut checked: Option<CheckedCertificate> = None;
        let is_large = self.clients.len() > 50;
        loop {
            let mut quiet = true;
            for (id, client) in (0..).zip(&mut self.clients) {
                if away.contains(&id) {
                    continue;
                }
                while let Some(output) = client.poll_output() {
                    quiet = false;
                    match output {
                        ClientOutput::Persist(entry) => self.journals[id as usize].push(entry),
                        ClientOutput::Send(mut message) => {
                            if !is_large {
                                let bytes = message.encode();
                                message = SignedMessage::decode(&bytes).expect("well formed");
                                self.transcript.push(bytes);
                            }
                            // A late message is refused, which is as it should be.
                            let _late = self.coordinator.handle_message(ClientId(id), &message);
                        }
                    }
                }
            }
            while let Some(output) = self.coordinator.poll_output() {
                quiet = false;
                match output {
                    CoordinatorOutput::Send(to, mut notice) => {
                        if !is_large {
                            let bytes = notice.encode();
                            notice = Notice::decode(&bytes).expect("well formed");
                            self.transcript.push(bytes);
                        }
                        if away.contains(&to.0) {
                            continue;
                        }
                        let client = &mut self.clients[to.0 as usize];
                        if is_large && checked.is_none() {
                            checked = client.check_certificate(&notice).ok();
                        }
                        let _refused = match (&checked, &notice) {
                            (Some(checked), Notice::Certificate { .. }) => {
                                client.handle_checked(&notice, checked)
                            }
                            _ => client.handle_message(&notice),
                        };
                    }
                    CoordinatorOutput::SumEnded(outcome) => self.outcomes.push(outcome),
                    CoordinatorOutput::StudyAbandoned(reason) => self.abandoned = Some(reason),
                }
            }
            if quiet {
                return;
            }
        }
    }

    pub(crate) fn exchange_keys(&mut self, before_keys: &[u32], before_shares: &[u32]) {
        self.exchange_keys_of(before_keys, &[], before_shares);
    }

    /// Exchanges keys; some leave before each of the three messages.
    pub(crate) fn exchange_keys_of(
        &mut self,
        before_keys: &[u32],
        before_ciphertexts: &[u32],
        before_shares: &[u32],
    ) {
        let mut away = Vec::new();
        for leaving in [before_keys, before_ciphertexts, before_shares] {
            away.extend_from_slice(leaving);
            self.deliver(&away);
            self.coordinator.close_phase();
        }
        self.deliver(&away);
    }

    /// Runs one sum; returns what the survivors sent, added up.
    pub(crate) fn sum(
        &mut self,
        sum: u32,
        before_upload: &[u32],
        before_confirm: &[u32],
        before_unmask: &[u32],
    ) -> Vec<i64> {
        let coordinates = self.study.sum(sum).expect("a sum").coordinates();
        self.coordinator.open_sum(sum, CONTEXT).expect("idle");
        let mut expected = vec![0; coordinates as usize];
        for id in 0..self.study.roster().n_clients() {
            if before_upload.contains(&id) || !self.clients[id as usize].is_ready() {
                continue;
            }
            let part = noised_with(
                self.study.participation(),
                coordinates,
                self.share_variance,
                u64::from(id) * 100 + u64::from(sum),
            );
            self.clients[id as usize]
                .upload(sum, &CONTEXT, &part)
                .expect("uploads");
            for (total, value) in expected.iter_mut().zip(part.values()) {
                *total += value;
            }
        }
        self.deliver(before_upload);
        self.coordinator.close_phase();
        self.deliver(&[before_upload, before_confirm].concat());
        self.coordinator.close_phase();
        self.deliver(&[before_upload, before_confirm, before_unmask].concat());
        self.coordinator.close_phase();
        self.deliver(&[before_upload, before_confirm, before_unmask].concat());
        expected
    }

    pub(crate) fn last_values(&self) -> Vec<i64> {
        match self.outcomes.last() {
            Some(SumOutcome::Unmasked(unmasked)) => unmasked.values().to_vec(),
            other => panic!("no sum: {other:?}"),
        }
    }
}

pub(crate) fn participation(clients: u32, quorum: u32, colluders: u32) -> Participation {
    Participation::new(clients, quorum, colluders).expect("legal")
}
