//! Outcomes that a trustee signed: they are not lost with its process, with a connection, or behind a later attempt.

use super::*;

fn has_stored_outcome(net: &Net<'_>, trustee: usize) -> bool {
    let mut lines = net.lines[trustee].iter().filter_map(book_line);
    lines.any(|line| matches!(line, AttemptLine::Opened { .. }))
}

/// Nothing is attempted a second time.
fn check_first_step(net: &Net<'_>, of: &str) {
    assert!(
        net.ended.is_none(),
        "{of}: {:?}",
        net.receipt().receipt.ending
    );
    assert_eq!(net.coordinator.transcript().released().len(), 1, "{of}");
    assert_eq!(net.coordinator.history().len(), 1, "{of}");
    check_openings(net);
}

#[test]
fn a_trustee_that_is_killed_after_it_stored_an_outcome_signs_it_still() {
    let (agreed, world) = (small(0), world());
    let mut whole = Net::new(&agreed, &world);
    whole.run_steps(1, |_, _| ());
    let mut n_stored = 0;
    for trustee in 0..3 {
        let last = whole.effects[trustee];
        for after in last - 9..last {
            let mut net = Net::new(&agreed, &world);
            net.kills.push(Kill { trustee, after });
            net.run_steps(1, |_, _| ());
            assert!(net.kills.is_empty());
            // Without an outcome the charge is spent, and no attempt is left.
            if has_stored_outcome(&net, trustee) {
                n_stored += 1;
                check_first_step(&net, &format!("trustee {trustee} after {after}"));
            }
        }
    }
    assert!(n_stored > 15, "{n_stored}");
}

/// Closes phases and hands over messages in the order of places until `is_enough`.
fn run_until(net: &mut Net<'_>, mut is_enough: impl FnMut(&Net<'_>) -> bool) {
    for _ in 0..10_000 {
        if is_enough(net) {
            return;
        }
        if !net.deliver_one(|_| 0) {
            net.close();
        }
    }
    panic!("it does not come so far: {:?}", net.coordinator);
}

#[test]
fn what_is_lost_with_a_connection_is_said_again_although_the_keys_of_the_step_are_erased() {
    let (agreed, world) = (small(0), world());
    let mut n_erased = 0;
    for trustee in 0..3 {
        for later in 0..16 {
            let mut net = Net::new(&agreed, &world);
            // Before that an opening share may be lost too: then a trustee lacks it, and the charge is spent.
            run_until(&mut net, |net| {
                (0..3).all(|trustee| has_stored_outcome(net, trustee))
            });
            for _ in 0..later {
                net.deliver_one(|_| 0);
            }
            n_erased += usize::from(
                net.trustee_keys[trustee].step() == 1
                    && net.coordinator.transcript().released().is_empty(),
            );
            net.lose_connection(trustee, 0);
            net.run_steps(1, |_, _| ());
            check_first_step(&net, &format!("trustee {trustee}, {later} messages later"));
        }
    }
    assert!(
        n_erased > 0,
        "no trustee had erased its keys before the coordinator knew the outcome"
    );
}

#[test]
fn a_restart_that_is_reported_before_the_outcomes_of_the_peers_ends_nothing() {
    let (agreed, world) = (small(0), world());
    let mut net = Net::new(&agreed, &world);
    let seats = [0, 1, 2].map(|trustee| net.seat(trustee));
    run_until(&mut net, |net| {
        (0..3).all(|trustee| has_stored_outcome(net, trustee))
    });
    let from = |seat: ClientId| {
        move |connections: &[(bool, ClientId)]| {
            let place = connections.iter().position(|one| *one == (true, seat));
            place.expect("on the way")
        }
    };
    // The two others get all signatures. The last that they say stays on the way: that the step is over for them.
    for _ in 0..200 {
        let is_order = |one: &(bool, ClientId)| !one.0 && one.1 != seats[2];
        let is_early = seats.map(|seat| net.on_the_way_from(seat) > usize::from(seat != seats[2]));
        net.deliver_one(|connections| {
            let early = seats.iter().zip(is_early).find(|(_, is_early)| *is_early);
            let early = early.map(|(seat, _)| (true, *seat));
            let place = connections
                .iter()
                .position(|one| is_order(one) || Some(*one) == early);
            place.unwrap_or(0)
        });
        if net.trustee_keys[0].step() == 1 && net.trustee_keys[1].step() == 1 {
            break;
        }
    }
    for seat in &seats[..2] {
        while net.on_the_way_from(*seat) > 1 {
            net.deliver_one(from(*seat));
        }
        assert_eq!(net.on_the_way_from(*seat), 1);
    }
    assert!(net.coordinator.transcript().released().is_empty());
    net.lose_connection(2, 0);
    while net.on_the_way_from(seats[2]) > 0 {
        net.deliver_one(from(seats[2]));
    }
    assert!(
        net.coordinator.waits_for().is_empty(),
        "all have said how it ended"
    );
    net.close();
    net.run_steps(1, |_, _| ());
    check_first_step(&net, "a restart");
}

/// A coordinator that lies orders another attempt and shows the outcome of the one before.
#[test]
fn a_trustee_that_began_another_attempt_goes_on_when_it_gets_the_outcome_of_the_one_before() {
    let (agreed, world) = (small(1), world());
    let mut net = Net::new(&agreed, &world);
    let (seat, step) = (net.seat(1), agreed.sum_number(0, 1).expect("agreed"));
    run_until(&mut net, |net| has_stored_outcome(net, 1));
    // It signed, and gets no signature of its peers.
    let again = net
        .told
        .iter()
        .find_map(|(to, bytes)| match Order::decode(bytes) {
            Ok(Order::Trustees(TrusteesOrder::Attempt {
                transcript,
                question,
                ..
            })) if *to == seat => {
                let unopened = Vec::new();
                let order = TrusteesOrder::Attempt {
                    sum: step,
                    transcript,
                    question,
                    unopened,
                };
                Some(Order::Trustees(order).encode())
            }
            _ => None,
        });
    net.hand_over(seat, &again.expect("it was ordered"));
    let charges = |net: &Net<'_>| {
        let lines = net.lines[1].iter().filter_map(book_line);
        Book::from_stored(&lines.collect::<Vec<_>>())
            .expect("a book")
            .charges()
    };
    assert_eq!(
        charges(&net),
        2,
        "another attempt after an outcome costs again"
    );
    net.run(|_, _| ());
    let receipt = net.receipt();
    assert_eq!(receipt.receipt.ending, "complete");
    assert_eq!(receipt.receipt.fit, Some(embedded(&net, &world)));
    // It does not sign a receipt that lacks the attempt that it began.
    let verified = receipt.verify().expect("good");
    assert_eq!(verified.trustees_not_signed, ["trustee 1"]);
    assert!(verified.is_confirmed());
    check_openings(&net);
}
