//! Exact sums of the numbers of clients that studies have, up to thousands.

use sprifed_secure_sum::{Client, SumOutcome};

use crate::world::{World, participation};

/// Two sums; the second has dropouts at every stage.
fn two_exact_sums(clients: u32, quorum: u32, colluders: u32, n_sums: u32) {
    let mut world = World::new(participation(clients, quorum, colluders), 7, 24, n_sums);
    world.exchange_keys(&[], &[]);
    assert!(
        world.clients.iter().all(Client::is_ready),
        "{clients} clients"
    );
    let expected = world.sum(0, &[], &[], &[]);
    assert_eq!(world.last_values(), expected, "{clients} clients");
    let gone = |from: u32| -> Vec<u32> {
        (0..(clients - quorum) / 3)
            .map(|id| 3 * id + from)
            .collect()
    };
    let expected = world.sum(1, &gone(0), &gone(1), &gone(2));
    assert_eq!(
        world.last_values(),
        expected,
        "{clients} clients with dropouts"
    );
    let Some(SumOutcome::Unmasked(last)) = world.outcomes.last() else {
        panic!("no sum")
    };
    let n_gone = u32::try_from(gone(0).len()).expect("few");
    assert_eq!(last.survivors().len(), clients - n_gone);
}

#[test]
fn two_to_a_hundred_clients_give_exact_sums() {
    for (clients, quorum, colluders) in [(2, 2, 0), (3, 3, 1), (5, 4, 1), (20, 14, 2), (100, 88, 2)]
    {
        two_exact_sums(clients, quorum, colluders, 2);
    }
}

#[test]
fn eleven_hundred_clients_give_exact_sums() {
    two_exact_sums(1100, 1091, 1, 2);
}

#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test that did not run must not look like one that did"
)]
pub(crate) fn is_slow_run() -> bool {
    let is_slow = std::env::var_os("SPRIFED_SLOW").is_some_and(|value| value == "1");
    if !is_slow {
        eprintln!("SKIPPED: set SPRIFED_SLOW=1");
    }
    is_slow
}

/// With as many sums set up as a study has.
fn slowly(clients: u32) {
    if is_slow_run() {
        two_exact_sums(clients, clients * 4 / 5, clients / 20, 12);
    }
}

#[test]
fn thousands_1100_clients_a_fifth_of_which_may_leave_give_exact_sums() {
    slowly(1100);
}

#[test]
fn thousands_2100_clients_give_exact_sums() {
    slowly(2100);
}

#[test]
fn thousands_8000_clients_give_exact_sums() {
    slowly(8000);
}

#[test]
fn thousands_faithful_8000_clients_have_few_neighbours_and_give_exact_sums() {
    if is_slow_run() {
        two_exact_sums(8000, 7991, 1, 12);
    }
}
