//! How fast, how large: `cargo run --release -p sprifed-secure-sum --example throughput [clients …]`.
//!
//! Without arguments: the two settings of the performance goals. With arguments: exact sums of that
//! many clients, 10 % of whom drop out, with parameters chosen by the program.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement reads the clock and its arguments, and prints"
)]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aes::cipher::{KeyIvInit, StreamCipher};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use sprifed_noise::{BoundedSum, DrawnNoise, NoiseGenerator, Noised};
use sprifed_privacy::{
    ApproxDp, Block, Delta, Epsilon, IntegerBounds, Ledger, NoiseOrigin, NoiseVariance,
    Participation, PrivacyUnit, Relation, SumPlan, SumPurchase,
};
use sprifed_secure_sum::{
    Client, ClientId, ClientOutput, ClientSeed, Coordinator, CoordinatorOutput, IdentityKey,
    MaskSeed, Parameters, Residues, Roster, Sign, SignedMessage, Study, SumOutcome, SumShape,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

const COORDINATES: u32 = 10_000;
const BITS: u32 = 16;

fn main() -> Outcome<()> {
    let sizes: Vec<u32> = std::env::args()
        .skip(1)
        .map(|size| size.parse())
        .collect::<Result<_, _>>()?;
    if sizes.is_empty() {
        masks()?;
        let few = Participation::new(100, 80, 5)?;
        run(
            "n=100, 32 neighbours by hand, no dropouts",
            few,
            Some((32, 16)),
            0,
        )?;
        run(
            "n=100, 32 neighbours by hand, 10 % dropouts",
            few,
            Some((32, 16)),
            10,
        )?;
        run("n=100, chosen parameters, 10 % dropouts", few, None, 10)?;
        let many = Participation::new(600, 480, 30)?;
        run("n=600, chosen parameters, 10 % dropouts", many, None, 60)?;
    }
    for n_clients in sizes {
        let participation = Participation::new(n_clients, n_clients * 4 / 5, n_clients / 20)?;
        run("as many as asked for", participation, None, n_clients / 10)?;
    }
    Ok(())
}

/// Masks against the bare key stream of the same cipher, and of ChaCha20.
fn masks() -> Outcome<()> {
    const REPETITIONS: u32 = 2000;
    let shape = SumShape::new(COORDINATES, BITS)?;
    let mut residues = Residues::zero(shape);
    let masked = fastest(|| {
        for repetition in 0..REPETITIONS {
            let mut seed = [7; 32];
            seed[..4].copy_from_slice(&repetition.to_le_bytes());
            residues.add_mask(&MaskSeed::assume_secret(seed), Sign::Plus);
        }
    });
    let mut bytes = vec![0; shape.packed_len()];
    let aes = fastest(|| {
        for repetition in 0..REPETITIONS {
            let mut key = [7; 32];
            key[..4].copy_from_slice(&repetition.to_le_bytes());
            ctr::Ctr64LE::<aes::Aes256>::new(&key.into(), &[0; 16].into())
                .write_keystream(&mut bytes);
        }
    });
    let chacha = fastest(|| {
        for repetition in 0..REPETITIONS {
            let mut key = [7; 32];
            key[..4].copy_from_slice(&repetition.to_le_bytes());
            rand_core::Rng::fill_bytes(&mut ChaCha20Rng::from_seed(key), &mut bytes);
        }
    });
    println!("masks of {COORDINATES} x {BITS} bits, per mask (best of 5):");
    println!(
        "  one mask put on       {:8.2} us",
        micros(masked, REPETITIONS)
    );
    println!(
        "  AES-256-CTR stream    {:8.2} us; a mask takes {:.2} times that",
        micros(aes, REPETITIONS),
        masked.as_secs_f64() / aes.as_secs_f64()
    );
    println!(
        "  ChaCha20 stream       {:8.2} us",
        micros(chacha, REPETITIONS)
    );
    Ok(())
}

fn fastest(mut work: impl FnMut()) -> Duration {
    let runs = (0..5).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    runs.min().unwrap_or_default()
}

fn micros(total: Duration, count: u32) -> f64 {
    total.as_secs_f64() * 1e6 / f64::from(count)
}

#[derive(Clone, Copy, Default)]
struct Clocks {
    setup_client: Duration,
    setup_server: Duration,
    prepare: Duration,
    upload: Duration,
    confirm: Duration,
    unmask: Duration,
    server: Duration,
    noise: Duration,
}

impl Clocks {
    /// The best of two runs, step by step: what else the machine did is not of interest.
    fn least(self, other: Self) -> Self {
        Self {
            setup_client: self.setup_client.min(other.setup_client),
            setup_server: self.setup_server.min(other.setup_server),
            prepare: self.prepare.min(other.prepare),
            upload: self.upload.min(other.upload),
            confirm: self.confirm.min(other.confirm),
            unmask: self.unmask.min(other.unmask),
            server: self.server.min(other.server),
            noise: self.noise.min(other.noise),
        }
    }
}

/// Runs and prints one setting, several times if it is small.
fn run(
    title: &str,
    participation: Participation,
    by_hand: Option<(u32, u32)>,
    n_dropouts: u32,
) -> Outcome<()> {
    let parameters = match by_hand {
        Some((neighbours, threshold)) => {
            Parameters::assume_sufficient(participation, neighbours, threshold)?
        }
        None => Parameters::choose(participation)?,
    };
    let n_clients = participation.clients();
    let messages = n_clients - n_dropouts;
    let (mut clocks, largest) = measure(participation, parameters, n_dropouts)?;
    let repetitions = if n_clients <= 100 { 8 } else { 1 };
    for _ in 1..repetitions {
        clocks = clocks.least(measure(participation, parameters, n_dropouts)?.0);
    }
    println!(
        "{title}: n={n_clients} p={COORDINATES} b={BITS} k={} t={} dropouts={n_dropouts}: exact (best of {repetitions})",
        parameters.neighbours(),
        parameters.threshold()
    );
    let client = clocks.prepare + clocks.upload + clocks.confirm + clocks.unmask;
    println!(
        "  client, per sum   {:9.3} ms = agree {:.3} + mask and sign {:.3} + confirm {:.3} + check {} signatures and reveal {:.3}",
        each(client, messages),
        each(clocks.prepare, messages),
        each(clocks.upload, messages),
        each(clocks.confirm, messages),
        parameters.confirmations(),
        each(clocks.unmask, messages)
    );
    println!(
        "  noise draw beside {:9.3} ms",
        each(clocks.noise, messages)
    );
    println!(
        "  server, per sum   {:9.3} ms",
        clocks.server.as_secs_f64() * 1e3
    );
    println!(
        "  upload            {:9.3} KiB",
        f64::from(u32::try_from(largest)?) / 1024.0
    );
    println!(
        "  set-up of 1 sum   {:9.3} ms per client, {:.3} ms server",
        each(clocks.setup_client, n_clients),
        clocks.setup_server.as_secs_f64() * 1e3
    );
    Ok(())
}

fn measure(
    participation: Participation,
    parameters: Parameters,
    n_dropouts: u32,
) -> Outcome<(Clocks, usize)> {
    let n_clients = participation.clients();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let identities: Vec<_> = (0..n_clients)
        .map(|_| IdentityKey::draw(&mut rng))
        .collect();
    let roster = Roster::new(
        &identities
            .iter()
            .map(IdentityKey::public)
            .collect::<Vec<_>>(),
    )?;
    let sums = vec![SumShape::new(COORDINATES, BITS)?];
    let study = Study::with_parameters([1; 32], roster, participation, parameters, [2; 32], sums)?;
    let study = Arc::new(study);
    let mut clocks = Clocks::default();
    let mut coordinator = Coordinator::open(Arc::clone(&study));
    let start = Instant::now();
    let mut clients = Vec::new();
    for (id, identity) in (0..).zip(identities) {
        let seed = ClientSeed::draw(&mut rng);
        clients.push(
            Client::join(Arc::clone(&study), ClientId(id), identity, seed)
                .ok_or("not on the roster")?,
        );
    }
    clocks.setup_client += start.elapsed();
    for _ in 0..2 {
        collect(&mut coordinator, &mut clients, &mut clocks.setup_server)?;
        spread(
            &mut coordinator,
            &mut clients,
            &mut clocks.setup_server,
            &mut clocks.setup_client,
        )?;
    }
    coordinator.open_sum(0)?;
    let mut expected = vec![0; COORDINATES as usize];
    let mut largest = 0;
    for client in clients.iter_mut().skip(n_dropouts as usize) {
        let start = Instant::now();
        let noised = noised(participation, u64::from(client.id().0))?;
        clocks.noise += start.elapsed();
        let start = Instant::now();
        client.prepare(0);
        clocks.prepare += start.elapsed();
        let start = Instant::now();
        client.upload(0, &noised)?;
        let message = sent(client).ok_or("no upload")?;
        clocks.upload += start.elapsed();
        for (total, value) in expected.iter_mut().zip(noised.values()) {
            *total += value;
        }
        largest = largest.max(message.encode().len());
        let start = Instant::now();
        coordinator.handle_message(client.id(), &message)?;
        clocks.server += start.elapsed();
    }
    for clock in [0, 1] {
        let start = Instant::now();
        coordinator.close_phase();
        clocks.server += start.elapsed();
        let client_clock = if clock == 0 {
            &mut clocks.confirm
        } else {
            &mut clocks.unmask
        };
        spread(
            &mut coordinator,
            &mut clients,
            &mut clocks.server,
            client_clock,
        )?;
        collect_open(&mut coordinator, &mut clients, &mut clocks.server)?;
    }
    let start = Instant::now();
    coordinator.close_phase();
    clocks.server += start.elapsed();
    let Some(CoordinatorOutput::SumEnded(SumOutcome::Unmasked(sum))) = coordinator.poll_output()
    else {
        return Err("no sum".into());
    };
    if sum.values() != expected {
        return Err("the sum is wrong".into());
    }
    Ok((clocks, largest))
}

fn each(total: Duration, count: u32) -> f64 {
    total.as_secs_f64() * 1e3 / f64::from(count)
}

fn sent(client: &mut Client) -> Option<SignedMessage> {
    while let Some(output) = client.poll_output() {
        if let ClientOutput::Send(message) = output {
            return Some(message);
        }
    }
    None
}

fn collect(
    coordinator: &mut Coordinator,
    clients: &mut [Client],
    clock: &mut Duration,
) -> Outcome<()> {
    collect_open(coordinator, clients, clock)?;
    let start = Instant::now();
    coordinator.close_phase();
    *clock += start.elapsed();
    Ok(())
}

fn collect_open(
    coordinator: &mut Coordinator,
    clients: &mut [Client],
    clock: &mut Duration,
) -> Outcome<()> {
    for client in clients {
        let Some(message) = sent(client) else {
            continue;
        };
        let start = Instant::now();
        coordinator.handle_message(client.id(), &message)?;
        *clock += start.elapsed();
    }
    Ok(())
}

fn spread(
    coordinator: &mut Coordinator,
    clients: &mut [Client],
    server: &mut Duration,
    clock: &mut Duration,
) -> Outcome<()> {
    loop {
        let start = Instant::now();
        let output = coordinator.poll_output();
        *server += start.elapsed();
        let Some(CoordinatorOutput::Send(to, notice)) = output else {
            return output.map_or(Ok(()), |output| Err(format!("{output:?}").into()));
        };
        let client = clients.get_mut(to.0 as usize).ok_or("a stranger")?;
        let start = Instant::now();
        client.handle_message(&notice)?;
        *clock += start.elapsed();
    }
}

fn noised(participation: Participation, seed: u64) -> Outcome<Noised> {
    let block = Block {
        name: "all".to_owned(),
        coordinates: COORDINATES,
        bounds: IntegerBounds::Ball {
            bound: 50,
            squared_norm: 2500,
        },
        share_variance: NoiseVariance::try_from("9".to_owned())?,
    };
    let plan = SumPlan {
        blocks: vec![block],
    };
    let purchase = SumPurchase {
        plan: plan.clone(),
        origin: NoiseOrigin::Shares(participation),
        unit: PrivacyUnit::Record,
    };
    let budget = ApproxDp::new(Epsilon::try_from(1e6)?, Delta::try_from(0.1)?);
    let permit = Ledger::open(budget, Relation::ZeroOut, PrivacyUnit::Record)
        .spend("a measurement", purchase)?;
    let noise = DrawnNoise::draw(permit, &mut NoiseGenerator::simulated(seed))?;
    Ok(noise.release(BoundedSum::zero(plan))?)
}
