//! A study with all its clients in this process, clocked step by step and checked to be exact.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use sprifed_noise::{BoundedSum, DrawnNoise, NoiseGenerator, Noised};
use sprifed_privacy::{
    ApproxDp, Block, Delta, Epsilon, IntegerBounds, Ledger, NoiseOrigin, NoiseVariance,
    Participation, PrivacyUnit, RecordPart, Relation, SumPlan, SumPurchase,
};
use sprifed_secure_sum::{
    Client, ClientId, ClientOutput, ClientSeed, Coordinator, CoordinatorOutput, IdentityKey,
    Parameters, Roster, SignedMessage, Study, SumOutcome, SumShape,
};

use crate::cpu_clock::{clocked, median};

/// What the sum is about: nothing.
const CONTEXT: [u8; 32] = [7; 32];

pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// What is rehearsed.
#[derive(Clone, Debug)]
pub(crate) struct Rehearsal {
    pub(crate) participation: Participation,
    pub(crate) parameters: Parameters,
    pub(crate) n_dropouts: u32,
    /// Sums that the exchange of keys is for; the first of them is made.
    pub(crate) n_sums: u32,
    pub(crate) coordinates: u32,
    pub(crate) bits: u32,
}

/// What one sum costs: seconds and bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    /// Seconds of one client: the exchange of keys, for all sums.
    pub(crate) client_setup: f64,
    /// Seconds of one client: key agreement with all neighbours.
    pub(crate) agree: f64,
    /// Seconds of one client: masks on, signed.
    pub(crate) upload: f64,
    /// Seconds of one client: the survivors confirmed.
    pub(crate) confirm: f64,
    /// Seconds of one client: signatures checked, shares revealed.
    pub(crate) reveal: f64,
    /// Seconds of one client: its noise.
    pub(crate) noise: f64,
    /// Seconds of the coordinator: the exchange of keys.
    pub(crate) server_setup: f64,
    /// Seconds of the coordinator: one sum.
    pub(crate) server: f64,
    /// Bytes of the largest upload.
    pub(crate) upload_bytes: usize,
    /// Bytes of all that one client sends for one sum.
    pub(crate) sum_bytes: usize,
    /// Bytes that one client sends in the exchange of keys.
    pub(crate) setup_bytes: usize,
}

impl Costs {
    /// What a client spends on one sum, beside its noise and the exchange of keys.
    pub(crate) fn client(&self) -> f64 {
        self.agree + self.upload + self.confirm + self.reveal
    }

    /// The median of each figure; sizes are the same in every run.
    pub(crate) fn medians(runs: &[Self]) -> Option<Self> {
        let of = |figure: fn(&Self) -> f64| median(runs.iter().map(figure).collect());
        runs.last().map(|last| Self {
            client_setup: of(|run| run.client_setup),
            agree: of(|run| run.agree),
            upload: of(|run| run.upload),
            confirm: of(|run| run.confirm),
            reveal: of(|run| run.reveal),
            noise: of(|run| run.noise),
            server_setup: of(|run| run.server_setup),
            server: of(|run| run.server),
            ..*last
        })
    }
}

#[derive(Default)]
struct Clocks {
    client_setup: Duration,
    agree: Duration,
    upload: Duration,
    confirm: Duration,
    reveal: Duration,
    noise: Duration,
    server_setup: Duration,
    server: Duration,
}

impl Rehearsal {
    /// Exchanges keys and makes one sum.
    ///
    /// # Errors
    /// When the sum is not exactly the sum of what the survivors sent.
    pub(crate) fn run(&self) -> Outcome<Costs> {
        let mut clocks = Clocks::default();
        let (mut coordinator, mut clients) = self.open(&mut clocks)?;
        let mut setup_bytes = 0;
        for _ in 0..3 {
            setup_bytes += collect(&mut coordinator, &mut clients, &mut clocks.server_setup)?;
            clocked(&mut clocks.server_setup, || coordinator.close_phase());
            let clocks = (&mut clocks.server_setup, &mut clocks.client_setup);
            spread(&mut coordinator, &mut clients, clocks)?;
        }
        coordinator.open_sum(0, CONTEXT)?;
        let (expected, upload_bytes) = self.upload(&mut coordinator, &mut clients, &mut clocks)?;
        let mut sum_bytes = upload_bytes;
        for client_clock in [&mut clocks.confirm, &mut clocks.reveal] {
            clocked(&mut clocks.server, || coordinator.close_phase());
            spread(
                &mut coordinator,
                &mut clients,
                (&mut clocks.server, client_clock),
            )?;
            sum_bytes += collect(&mut coordinator, &mut clients, &mut clocks.server)?;
        }
        let ended = clocked(&mut clocks.server, || {
            coordinator.close_phase();
            coordinator.poll_output()
        });
        let Some(CoordinatorOutput::SumEnded(SumOutcome::Unmasked(sum))) = ended else {
            return Err(format!("the sum was not unmasked: {ended:?}").into());
        };
        if sum.values() != expected {
            return Err("the sum is not the sum of what the survivors sent".into());
        }
        Ok(self.costs(&clocks, (upload_bytes, sum_bytes, setup_bytes)))
    }

    fn costs(&self, clocks: &Clocks, (upload, sum, setup): (usize, usize, usize)) -> Costs {
        let n_clients = self.participation.clients();
        let n_survivors = f64::from(n_clients - self.n_dropouts);
        let of_survivor = |total: Duration| total.as_secs_f64() / n_survivors;
        Costs {
            client_setup: clocks.client_setup.as_secs_f64() / f64::from(n_clients),
            agree: of_survivor(clocks.agree),
            upload: of_survivor(clocks.upload),
            confirm: of_survivor(clocks.confirm),
            reveal: of_survivor(clocks.reveal),
            noise: of_survivor(clocks.noise),
            server_setup: clocks.server_setup.as_secs_f64(),
            server: clocks.server.as_secs_f64(),
            upload_bytes: upload,
            sum_bytes: sum,
            setup_bytes: setup,
        }
    }

    fn open(&self, clocks: &mut Clocks) -> Outcome<(Coordinator, Vec<Client>)> {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let identities: Vec<_> = (0..self.participation.clients())
            .map(|_| IdentityKey::draw(&mut rng))
            .collect();
        let keys: Vec<_> = identities.iter().map(IdentityKey::public).collect();
        let shape = SumShape::new(self.coordinates, self.bits)?;
        let study = Arc::new(Study::with_parameters(
            [1; 32],
            Roster::new(&keys)?,
            self.participation,
            self.parameters,
            [2; 32],
            vec![shape; self.n_sums as usize],
        )?);
        let mut clients = Vec::with_capacity(identities.len());
        for (id, identity) in (0..).zip(identities) {
            let seed = ClientSeed::draw(&mut rng);
            let joined = clocked(&mut clocks.client_setup, || {
                Client::join(Arc::clone(&study), ClientId(id), identity, seed)
            });
            clients.push(joined.ok_or("a client is not on the roster")?);
        }
        Ok((Coordinator::open(study), clients))
    }

    /// All but the dropouts upload; what they sent in sum, and the size of the largest upload.
    fn upload(
        &self,
        coordinator: &mut Coordinator,
        clients: &mut [Client],
        clocks: &mut Clocks,
    ) -> Outcome<(Vec<i64>, usize)> {
        let mut expected = vec![0; self.coordinates as usize];
        let mut largest = 0;
        for client in clients.iter_mut().skip(self.n_dropouts as usize) {
            let noised = self.noised(u64::from(client.id().0), &mut clocks.noise)?;
            clocked(&mut clocks.agree, || client.prepare(0, &CONTEXT));
            let message = clocked(&mut clocks.upload, || {
                client.upload(0, &CONTEXT, &noised).map(|()| sent(client))
            })?;
            let message = message.ok_or("a client uploaded nothing")?;
            for (total, value) in expected.iter_mut().zip(noised.values()) {
                *total += value;
            }
            largest = largest.max(message.encode().len());
            clocked(&mut clocks.server, || {
                coordinator.handle_message(client.id(), &message)
            })?;
        }
        Ok((expected, largest))
    }

    /// A vector of nothing but noise; the draw is clocked, what is bought for it is not.
    fn noised(&self, seed: u64, clock: &mut Duration) -> Outcome<Noised> {
        let plan = SumPlan {
            blocks: vec![Block {
                name: "all".to_owned(),
                coordinates: self.coordinates,
                bounds: IntegerBounds::Ball {
                    bound: 50,
                    squared_norm: 2500,
                },
                share_variance: NoiseVariance::try_from("9".to_owned())?,
            }],
            part: RecordPart::All,
        };
        let purchase = SumPurchase {
            plan: plan.clone(),
            origin: NoiseOrigin::Shares(self.participation),
            unit: PrivacyUnit::Record,
        };
        let budget = ApproxDp::new(Epsilon::try_from(1e6)?, Delta::try_from(0.1)?);
        let permit = Ledger::open(budget, Relation::ZeroOut, PrivacyUnit::Record)
            .spend("a measurement", purchase)?;
        let mut generator = NoiseGenerator::simulated(seed);
        let noise = clocked(clock, || DrawnNoise::draw(permit, &mut generator))?;
        Ok(noise.release(BoundedSum::zero(plan))?)
    }
}

fn sent(client: &mut Client) -> Option<SignedMessage> {
    while let Some(output) = client.poll_output() {
        if let ClientOutput::Send(message) = output {
            return Some(message);
        }
    }
    None
}

/// What clients have to send reaches the coordinator; the size of the largest message.
fn collect(
    coordinator: &mut Coordinator,
    clients: &mut [Client],
    server: &mut Duration,
) -> Outcome<usize> {
    let mut largest = 0;
    for client in clients {
        let Some(message) = sent(client) else {
            continue;
        };
        largest = largest.max(message.encode().len());
        clocked(server, || coordinator.handle_message(client.id(), &message))?;
    }
    Ok(largest)
}

/// What the coordinator has to say reaches the clients.
fn spread(
    coordinator: &mut Coordinator,
    clients: &mut [Client],
    (server, of_clients): (&mut Duration, &mut Duration),
) -> Outcome<()> {
    loop {
        let output = clocked(server, || coordinator.poll_output());
        let Some(CoordinatorOutput::Send(to, notice)) = output else {
            return output.map_or(Ok(()), |output| Err(format!("{output:?}").into()));
        };
        let client = clients
            .get_mut(to.0 as usize)
            .ok_or("a message to a stranger")?;
        clocked(of_clients, || client.handle_message(&notice))?;
    }
}

#[cfg(test)]
mod tests {
    use sprifed::MessageSizes;

    use super::*;

    #[test]
    fn the_sizes_that_plans_state_are_those_of_real_messages() {
        let participation = Participation::new(20, 20, 1).unwrap();
        for (neighbours, n_sums) in [(8, 1), (8, 12), (12, 3)] {
            let rehearsal = Rehearsal {
                participation,
                parameters: Parameters::assume_sufficient(participation, neighbours, 4).unwrap(),
                n_dropouts: 0,
                n_sums,
                coordinates: 100,
                bits: 16,
            };
            let costs = rehearsal.run().unwrap();
            let sizes = MessageSizes::of(neighbours, n_sums as usize);
            let shape = SumShape::new(100, 16).unwrap();
            assert_eq!(sizes.for_sum(shape), costs.sum_bytes);
            // The largest exchange encapsulates to all neighbours, the average one to half of them.
            let rest = (1 + 1088 + 64) * neighbours as usize / 2;
            assert_eq!(sizes.setup + rest, costs.setup_bytes);
        }
    }
}
