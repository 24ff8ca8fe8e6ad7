//! What the exchange of keys costs. Run with `SPRIFED_SLOW=1` and `--nocapture`, in a release build.

#![expect(clippy::disallowed_types, reason = "a measurement")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use sprifed_secure_sum::*;

use crate::many_clients::is_slow_run;
use crate::world::{participation, seed, study};

const N_SUMS: u32 = 20;

#[test]
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a measurement"
)]
fn cost_of_the_exchange_of_keys() {
    if !is_slow_run() {
        return;
    }
    for (n_clients, quorum, colluders) in [(3, 3, 1), (50, 40, 2), (500, 450, 5)] {
        let (study, identities) = study(participation(n_clients, quorum, colluders), 3, 16, N_SUMS);
        let (mut by_clients, mut by_coordinator) = (Duration::ZERO, Duration::ZERO);
        let (mut sent, mut told) = (0, 0);
        let start = Instant::now();
        let joined = (0..).zip(&identities).map(|(id, identity)| {
            Client::join(Arc::clone(&study), ClientId(id), identity.clone(), seed(id))
        });
        let mut clients: Vec<Client> = joined.map(|client| client.expect("invited")).collect();
        by_clients += start.elapsed();
        let mut coordinator = Coordinator::open(Arc::clone(&study));
        while !clients.iter().all(Client::is_ready) {
            let start = Instant::now();
            for client in &mut clients {
                while let Some(output) = client.poll_output() {
                    if let ClientOutput::Send(message) = output {
                        sent += message.encode().len();
                        let from = client.id();
                        coordinator.handle_message(from, &message).expect("honest");
                    }
                }
            }
            coordinator.close_phase();
            by_coordinator += start.elapsed();
            while let Some(CoordinatorOutput::Send(to, notice)) = coordinator.poll_output() {
                told += notice.encode().len();
                let start = Instant::now();
                let client = &mut clients[to.0 as usize];
                client.handle_message(&notice).expect("honest");
                by_clients += start.elapsed();
            }
        }
        let n = n_clients as usize;
        let neighbours = study.parameters().neighbours();
        eprintln!(
            "{n_clients} clients, {neighbours} neighbours, {N_SUMS} sums: each sends {} and receives {} bytes, {:?} of one client, {by_coordinator:?} of the coordinator",
            sent / n,
            told / n,
            by_clients / n_clients,
        );
    }
}
