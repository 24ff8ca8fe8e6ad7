//! Lies in the agreement of pairs: what is found out at once, and what ends a sum.

use std::sync::Arc;

use sprifed_secure_sum::*;

use crate::equivocation::sent;
use crate::world::{World, participation};

/// All clients have published keys and got the directory, and have sent no answer.
fn agreeing() -> World {
    let mut world = World::new(participation(6, 4, 1), 3, 16, 2);
    world.deliver(&[]);
    world.coordinator.close_phase();
    while let Some(CoordinatorOutput::Send(to, notice)) = world.coordinator.poll_output() {
        let client = &mut world.clients[to.0 as usize];
        client.handle_message(&notice).expect("a directory");
    }
    world
}

fn ciphertexts(message: &SignedMessage) -> Ciphertexts {
    match Body::decode(message.phase, &message.body) {
        Ok(Body::Ciphertexts(sent)) => sent,
        other => panic!("no ciphertexts: {other:?}"),
    }
}

fn signed(world: &World, from: u32, body: &Body) -> SignedMessage {
    let (identity, study) = (&world.identities[from as usize], world.study.id());
    SignedMessage::sign(
        identity,
        study,
        body.phase(),
        0,
        ClientId(from),
        body.encode(),
    )
}

#[test]
fn of_each_pair_the_smaller_one_encapsulates() {
    let mut world = agreeing();
    for id in 0..6 {
        let said = sent(&mut world.clients[id as usize], &mut Vec::new());
        let slots = ciphertexts(said.last().expect("ciphertexts")).ciphertexts;
        let to = slots
            .iter()
            .map(|(slot, _)| u32::from(*slot) + u32::from(u32::from(*slot) >= id));
        assert!(to.eq(id + 1..6), "client {id}");
    }
}

#[test]
fn the_coordinator_refuses_ciphertexts_that_are_missing_foreign_or_altered() {
    let mut world = agreeing();
    let good = sent(&mut world.clients[1], &mut Vec::new()).remove(0);
    let honest = ciphertexts(&good);
    let mut fewer = honest.clone();
    fewer.ciphertexts.pop();
    let mut foreign = honest.clone();
    // To client 0, which is smaller.
    foreign.ciphertexts[0].0 = 0;
    let mut swapped = honest.clone();
    let other = Arc::clone(&swapped.ciphertexts[1].1);
    swapped.ciphertexts[0].1 = other;
    let mut altered = honest;
    Arc::make_mut(&mut altered.ciphertexts[0].1).bytes[7] ^= 1;
    let unsigned = Reason::UnsignedCiphertext {
        from: ClientId(1),
        to: ClientId(2),
    };
    let length = Reason::WrongLength {
        what: "the list of ciphertexts",
        found: 3,
        required: 4,
    };
    for (lie, reason) in [
        (fewer, length),
        (foreign, Reason::NotANeighbour),
        (swapped, unsigned.clone()),
        (altered, unsigned),
    ] {
        let message = signed(&world, 1, &Body::Ciphertexts(lie));
        let before = world.coordinator.clone();
        let refused = world.coordinator.handle_message(ClientId(1), &message);
        assert_eq!(refused.expect_err("a lie").reason, reason);
        assert_eq!(before, world.coordinator);
    }
    let taken = world.coordinator.handle_message(ClientId(1), &good);
    taken.expect("honest ciphertexts");
}

/// A coordinator that encapsulates itself would know half of the secret of a pair, and the other
/// half on the day on which it has a quantum computer.
#[test]
fn a_client_refuses_a_ciphertext_that_its_neighbour_did_not_make() {
    let mut world = agreeing();
    world.deliver(&[]);
    world.coordinator.close_phase();
    let mut told = None;
    while let Some(CoordinatorOutput::Send(to, notice)) = world.coordinator.poll_output() {
        if to == ClientId(3) {
            told = Some(notice);
        }
    }
    let Some(Notice::Ciphertexts { neighbours }) = told else {
        panic!("no ciphertexts: {told:?}")
    };
    let refused = |world: &mut World, neighbours: Vec<_>| {
        let notice = Notice::Ciphertexts { neighbours };
        let refused = world.clients[3].handle_message(&notice);
        assert_eq!(sent(&mut world.clients[3], &mut Vec::new()), []);
        refused.expect_err("a lie").reason
    };
    let swap = |place: usize, with: Option<Arc<Ciphertext>>| {
        let mut changed = neighbours.clone();
        changed[place].1 = with;
        changed
    };
    // Of another client, which is signed for client 3 but by client 1.
    let others = swap(0, neighbours[1].1.clone());
    let (from, to) = (ClientId(0), ClientId(3));
    assert_eq!(
        refused(&mut world, others),
        Reason::UnsignedCiphertext { from, to }
    );
    let mut altered = neighbours[0].1.clone();
    Arc::make_mut(altered.as_mut().expect("of client 0")).bytes[0] ^= 1;
    assert_eq!(
        refused(&mut world, swap(0, altered)),
        Reason::UnsignedCiphertext { from, to }
    );
    // None of a smaller one, or one of a larger one, which opens and does not send.
    assert_eq!(refused(&mut world, swap(0, None)), Reason::NotANeighbour);
    let larger = swap(4, neighbours[1].1.clone());
    assert_eq!(refused(&mut world, larger), Reason::NotANeighbour);
    // Too few neighbours to rebuild a secret, and one neighbour twice.
    let few = refused(&mut world, neighbours[..1].to_vec());
    assert!(matches!(few, Reason::WrongLength { .. }), "{few:?}");
    let twice = [&neighbours[..2], &neighbours[1..]].concat();
    assert_eq!(refused(&mut world, twice), Reason::NotANeighbour);
    let notice = Notice::Ciphertexts { neighbours };
    world.clients[3].handle_message(&notice).expect("honest");
}

/// A world in which all clients have the ciphertexts, and the shares that client 2 would send.
fn with_honest_shares() -> (World, Shares) {
    let mut world = agreeing();
    world.deliver(&[]);
    world.coordinator.close_phase();
    while let Some(CoordinatorOutput::Send(to, notice)) = world.coordinator.poll_output() {
        let client = &mut world.clients[to.0 as usize];
        client.handle_message(&notice).expect("ciphertexts");
    }
    let honest = sent(&mut world.clients[2], &mut Vec::new()).remove(0);
    match Body::decode(Phase::Shares, &honest.body) {
        Ok(Body::Shares(shares)) => (world, shares),
        _ => panic!("no shares"),
    }
}

/// The shares of client 2, with one of its wraps altered: of sum 0, for client 4.
fn with_a_wrong_wrap(change: impl Fn(&mut Wrap)) -> World {
    let (mut world, mut shares) = with_honest_shares();
    let slot = world.study.graph().slot(ClientId(2), ClientId(4));
    let bundle = shares
        .bundles
        .iter_mut()
        .find(|bundle| Some(bundle.slot) == slot);
    change(&mut bundle.expect("for client 4").wraps[0]);
    let message = signed(&world, 2, &Body::Shares(shares));
    let taken = world.coordinator.handle_message(ClientId(2), &message);
    taken.expect("it cannot be seen");
    world.deliver(&[]);
    world.coordinator.close_phase();
    world.deliver(&[]);
    world
}

#[test]
fn a_wrong_wrap_ends_the_sum_that_its_owner_drops_out_of_and_no_other() {
    let wrong = |owner, neighbour| SumOutcome::Abandoned {
        sum: 0,
        reason: Abandoned::WrongWrap {
            owner: ClientId(owner),
            neighbour: ClientId(neighbour),
        },
    };
    // The liar drops out: what it hid is not what client 4 committed to.
    let mut world = with_a_wrong_wrap(|wrap| wrap.hidden[0] ^= 1);
    world.sum(0, &[2], &[], &[]);
    assert_eq!(world.outcomes, [wrong(2, 4)]);
    let expected = world.sum(1, &[2], &[], &[]);
    assert_eq!(world.last_values(), expected);
    // The liar stays, and what it hid is not needed.
    let mut world = with_a_wrong_wrap(|wrap| wrap.hidden[0] ^= 1);
    let expected = world.sum(0, &[3], &[], &[]);
    assert_eq!(world.last_values(), expected);
    // A client that lied about its commitment spoils the sum that its neighbour drops out of.
    let mut world = with_a_wrong_wrap(|wrap| wrap.commitment[0] ^= 1);
    world.sum(0, &[4], &[], &[]);
    assert_eq!(world.outcomes, [wrong(4, 2)]);
}

#[test]
fn shares_without_a_wrap_for_each_sum_are_refused() {
    let (mut world, mut shares) = with_honest_shares();
    shares.bundles[1].wraps.pop();
    let message = signed(&world, 2, &Body::Shares(shares));
    let refused = world.coordinator.handle_message(ClientId(2), &message);
    assert_eq!(
        refused.expect_err("one too few").reason,
        Reason::WrongLength {
            what: "a list of wraps",
            found: 1,
            required: 2
        }
    );
}
