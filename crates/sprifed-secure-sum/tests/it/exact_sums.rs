//! Any quorum of survivors gives the exact sum of what they sent.

use crate::world::{World, participation};

#[test]
fn two_three_five_twenty_and_a_hundred_clients_give_exact_sums() {
    for (clients, quorum, colluders) in [(2, 2, 0), (3, 3, 1), (5, 4, 1), (20, 15, 2), (100, 80, 5)]
    {
        let mut world = World::new(participation(clients, quorum, colluders), 7, 20, 2);
        world.exchange_keys(&[], &[]);
        for sum in 0..2 {
            let expected = world.sum(sum, &[], &[], &[]);
            assert_eq!(
                world.last_values(),
                expected,
                "{clients} clients, sum {sum}"
            );
        }
    }
}

#[test]
fn dropouts_at_every_stage_leave_the_exact_sum_of_the_survivors() {
    let mut world = World::new(participation(20, 12, 2), 5, 16, 3);
    world.exchange_keys(&[3], &[7, 8]);
    let expected = world.sum(0, &[3, 7, 8, 11], &[0], &[19]);
    assert_eq!(world.last_values(), expected);
    // Whoever was away comes back in the next sum, except those without keys.
    let expected = world.sum(1, &[3, 7, 8], &[], &[]);
    assert_eq!(world.last_values(), expected);
}
