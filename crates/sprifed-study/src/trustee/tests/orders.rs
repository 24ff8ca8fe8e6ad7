//! Whole studies in which messages of different connections come in any order, connections break with what is on them,
//! trustees and the coordinator are killed, and phases are closed before all have answered.

use super::*;

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).expect("31 bits") % most.max(1)
    }
}

/// One thing that goes wrong.
fn disturb(net: &mut Net<'_>, dice: &mut Dice) {
    let trustee = dice.below(3);
    match dice.below(8) {
        0..3 => net.lose_connection(trustee, dice.below(4)),
        3..6 => {
            let after = net.effects[trustee] + u64::try_from(dice.below(5)).expect("few");
            net.kills.push(Kill { trustee, after });
        }
        6 => net.restart_coordinator(),
        _ => {
            // The time is over. That of trustees which say how an attempt ended is long enough.
            let phase = net.coordinator.phase();
            let may_close = matches!(phase, StudyPhase::Attempt { phase, .. } if phase != TrusteePhase::Abandoning);
            if may_close {
                net.close();
            }
        }
    }
}

/// A study that is disturbed so often, at moments that `seed` gives.
fn disturbed<'a>(agreed: &Arc<Agreed>, world: &'a TestWorld, seed: u64, often: usize) -> Net<'a> {
    let mut dice = Dice(seed);
    let mut net = Net::new(agreed, world);
    // A study takes some two thousand messages; half of the disturbances come within a step.
    let (mut left, mut moment) = (often, 20 + dice.below(1_000));
    // Every second disturbance waits until something is opened.
    let is_opening = |lines: &Vec<TrusteeLine>| {
        let last = lines.last();
        matches!(
            last,
            Some(TrusteeLine::Attempt(
                AttemptLine::Opening | AttemptLine::Opened(_)
            ))
        )
    };
    for handed_over in 0..200_000 {
        let may_wait = left % 2 == 0 && !net.lines.iter().any(is_opening);
        if left > 0 && moment <= handed_over && !may_wait {
            left -= 1;
            moment = handed_over
                + match dice.below(2) {
                    0 => dice.below(30),
                    _ => dice.below(500),
                };
            disturb(&mut net, &mut dice);
        }
        if net.ended.is_some() {
            return net;
        }
        if dice.below(10) == 0 {
            net.restart_killed();
        }
        if net.deliver_one(|connections| dice.below(connections.len())) {
            // As soon as no answer is awaited.
            if net.coordinator.waits_for().is_empty() {
                net.close();
            }
            continue;
        }
        net.restart_killed();
        if !net.deliver_one(|_| 0) {
            net.close();
        }
    }
    panic!("the study does not end: {:?}", net.coordinator);
}

/// With as many attempts as things go wrong, a study ends with its model; whatever goes wrong, no charge pays for two openings.
#[test]
fn no_order_of_messages_and_crashes_pays_once_for_two_openings_and_a_study_with_attempts_left_ends()
{
    let (agreed, world) = (small(3), world());
    let (mut repeated, mut spent) = (0, 0);
    for seed in 0..n_studies() {
        let net = disturbed(&agreed, &world, seed, 3);
        check(&net);
        let receipt = &net.receipt().receipt;
        assert_eq!(receipt.ending, "complete", "seed {seed}");
        let attempts = receipt.sums.iter();
        repeated += attempts
            .clone()
            .filter(|sum| matches!(sum.outcome, Outcome::Unopened { .. }))
            .count();
        spent += attempts
            .filter(|sum| matches!(sum.outcome, Outcome::Abandoned { .. }))
            .count();
        if seed % 4 == 0 {
            assert_eq!(receipt.fit, Some(embedded(&net, &world)), "seed {seed}");
        }
    }
    assert!(
        repeated > 5 && spent > 0,
        "{repeated} unopened, {spent} spent"
    );
}

/// More goes wrong than there are attempts: studies may end without a model, and still open nothing twice on one charge.
#[test]
fn studies_with_too_many_crashes_open_nothing_twice_on_one_charge() {
    let (agreed, world) = (small(1), world());
    let mut without = 0;
    for seed in 1_000..1_000 + n_studies() / 2 {
        let net = disturbed(&agreed, &world, seed, 12);
        check(&net);
        without += u64::from(net.receipt().receipt.fit.is_none());
    }
    assert!(without > 0);
}

/// Studies in the first test: more where long tests were asked for.
#[expect(
    clippy::disallowed_methods,
    reason = "long tests run only where they were asked for"
)]
fn n_studies() -> u64 {
    let is_slow = std::env::var_os("SPRIFED_SLOW").is_some_and(|value| value == "1");
    if is_slow { 300 } else { 16 }
}

/// Two trustees are restarted in one attempt, while the third sends the frames of before again and others in their place.
#[test]
fn trustees_that_were_restarted_take_no_frame_of_the_attempt_that_they_were_in() {
    let (agreed, world) = (small(1), world());
    let mut net = Net::new(&agreed, &world);
    let seats = [1, 2].map(|trustee| net.seat(trustee));
    // A version, an attempt of 72 bytes, and the kind of a frame.
    let is_frame = |order: &[u8]| {
        matches!(
            Order::decode(order),
            Ok(Order::Trustees(TrusteesOrder::Peer { from, bytes }))
                if from.place() == 0 && bytes.get(73) == Some(&3)
        )
    };
    let mut frames: Vec<(ClientId, Vec<u8>)> = Vec::new();
    while frames.len() < 6 {
        if !net.deliver_one(|_| 0) {
            net.close();
        }
        let told = core::mem::take(&mut net.told).into_iter();
        frames.extend(told.filter(|(to, order)| seats.contains(to) && is_frame(order)));
    }
    net.lose_connection(1, 0);
    net.lose_connection(2, 0);
    let said = seats.map(|seat| net.on_the_way_from(seat));
    let lines = net.lines.clone();
    net.refused_by_trustees.clear();
    for (to, order) in &frames {
        let mut other = order.clone();
        *other.last_mut().expect("bytes") ^= 1;
        net.hand_over(*to, order);
        net.hand_over(*to, &other);
    }
    assert_eq!(net.refused_by_trustees.len(), 2 * frames.len());
    assert_eq!(seats.map(|seat| net.on_the_way_from(seat)), said);
    assert_eq!(net.lines, lines);
    net.run(|_, _| ());
    let first = &net.receipt().receipt.sums[0].outcome;
    assert!(matches!(first, Outcome::Unopened { .. }), "{first:?}");
    assert_eq!(net.receipt().receipt.fit, Some(embedded(&net, &world)));
    check(&net);
}
