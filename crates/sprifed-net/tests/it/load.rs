use std::time::Instant;

use crate::stage::{Stage, all_finish, open, run};
use crate::toy::N_SUMS;

/// Many clients with messages of 20 KB; says how many requests there were in a second.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "asks whether there is time for the long version, and says what it measured"
)]
#[tokio::test(flavor = "multi_thread")]
async fn many_clients_are_served() {
    let is_slow = std::env::var_os("SPRIFED_SLOW").is_some_and(|value| value == "1");
    let n_clients = if is_slow { 200 } else { 40 };
    let stage = Stage::new("load", n_clients);
    let server = open(stage.server()).unwrap();
    let address = server.address();
    let begun = Instant::now();
    let clients: Vec<_> = (0..n_clients)
        .map(|client| stage.start_client(client, address, 20_000))
        .collect();
    run(server).await.unwrap().unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    all_finish(clients).await;
    stage.check_totals(0..n_clients);
    // A return, a good-bye, a message and a notice for joining and for each phase, the last notice.
    let n_requests = n_clients * (2 + 2 * (1 + 2 * N_SUMS) + 1);
    let rate = f64::from(n_requests) / seconds;
    eprintln!(
        "{n_clients} clients: {n_requests} requests in {seconds:.2} s, {rate:.0} in a second"
    );
}
