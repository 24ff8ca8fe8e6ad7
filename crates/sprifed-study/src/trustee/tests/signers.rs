//! What parties and trustees do not sign, say or charge, although a coordinator asks for it.

use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::party_key::PartyKey;
use crate::receipt::SumRecord;

type Lie = fn(&mut Outcome);

/// A study whose coordinator tells all others a receipt with another first sum, and signs it.
fn with_other_receipt(lie: Lie) -> (usize, usize) {
    let (agreed, world) = (small(0), world());
    let mut net = Net::new(&agreed, &world);
    net.lie = Some(Box::new(move |_, bytes| {
        let Ok(Order::Ended { receipt }) = Order::decode(&bytes) else {
            return bytes;
        };
        let signed: SignedReceipt = serde_json::from_slice(&receipt).expect("its own");
        let mut receipt = signed.receipt;
        let is_sum =
            |sum: &&mut SumRecord| matches!(sum.outcome, Outcome::Opened { index: None, .. });
        let sum = receipt.sums.iter_mut().find(is_sum);
        lie(&mut sum.expect("a sum").outcome);
        let signed = receipt.sign(&PartyKey::simulated(6, 0).identity());
        signed.verify().expect("the values of a sum are not in it");
        let receipt = signed.to_json();
        Order::Ended { receipt }.encode()
    }));
    net.run(|_, _| ());
    (net.refused_by_parties.len(), net.refused_by_trustees.len())
}

#[test]
fn a_receipt_that_says_something_else_of_a_sum_is_signed_by_no_party_and_no_trustee() {
    let lies: [Lie; 4] = [
        |outcome| {
            if let Outcome::Opened { clients, .. } = outcome {
                clients.pop();
            }
        },
        |outcome| {
            if let Outcome::Opened { transcript, .. } = outcome {
                transcript.0[0] ^= 1;
            }
        },
        |outcome| {
            if let Outcome::Opened { signed, .. } = outcome {
                signed.set.0[0] ^= 1;
            }
        },
        |outcome| {
            if let Outcome::Opened { signed, .. } = outcome {
                signed.signatures.swap(0, 1);
            }
        },
    ];
    assert_eq!(with_other_receipt(|_| ()), (0, 0), "the truth is signed");
    for (index, lie) in lies.into_iter().enumerate() {
        assert_eq!(with_other_receipt(lie), (4, 3), "lie {index}");
    }
}

/// The order of the first attempt at the first step.
fn first_attempt(net: &Net<'_>) -> (Digest, Digest) {
    let mut told = net.told.iter();
    let found = told.find_map(|(_, bytes)| match Order::decode(bytes) {
        Ok(Order::Trustees(TrusteesOrder::Attempt {
            transcript,
            question,
            ..
        })) => Some((transcript, question)),
        _ => None,
    });
    found.expect("it was ordered")
}

#[test]
fn an_attempt_whose_keys_are_erased_is_not_charged() {
    let (agreed, world) = (small(1), world());
    let mut net = Net::new(&agreed, &world);
    let (seat, second) = (net.seat(0), agreed.sum_number(1, 0).expect("agreed"));
    let nothing = Order::Trustees(TrusteesOrder::Close { sum: u32::MAX }).encode();
    // The step after the first one is not ordered yet.
    net.lie = Some(Box::new(move |to, bytes| match Order::decode(&bytes) {
        Ok(Order::Trustees(TrusteesOrder::Attempt { sum, .. })) if (to, sum) == (seat, second) => {
            nothing.clone()
        }
        _ => bytes,
    }));
    net.run_steps(1, |_, _| ());
    let (transcript, question) = first_attempt(&net);
    assert_eq!(net.trustee_keys[0].step(), 1);
    // A trustee that was restarted knows no outcome until the coordinator tells it.
    net.trustees[0] = None;
    net.restart_killed();
    net.refused_by_trustees.clear();
    let (lines, sum) = (net.lines[0].len(), agreed.sum_number(0, 1).expect("agreed"));
    let order = TrusteesOrder::Attempt {
        sum,
        transcript,
        question,
        unopened: Vec::new(),
    };
    net.hand_over(seat, &Order::Trustees(order).encode());
    let refused = TrusteeRefused::OtherTranscript { sum };
    assert_eq!(net.refused_by_trustees, [(0, refused)]);
    assert_eq!(net.lines[0].len(), lines, "nothing was charged");
    net.lie = None;
    net.run(|_, _| ());
    check(&net);
}

/// Whether an order passes on a trustee's share of what is opened.
fn is_opening(bytes: &[u8]) -> bool {
    // A version, an attempt of 72 bytes, a kind, and the content of a frame.
    matches!(
        Order::decode(bytes),
        Ok(Order::Trustees(TrusteesOrder::Peer { bytes, .. }))
            if bytes.get(73..75) == Some(&[3, 3])
    )
}

#[test]
fn a_trustee_that_said_that_a_charge_is_spent_signs_no_outcome_on_it() {
    let (agreed, world) = (small(1), world());
    let mut net = Net::new(&agreed, &world);
    let (seat, held) = (net.seat(0), Rc::new(RefCell::new(Vec::new())));
    let keep = Rc::clone(&held);
    let nothing = Order::Trustees(TrusteesOrder::Close { sum: u32::MAX }).encode();
    let mut is_first = true;
    net.lie = Some(Box::new(move |to, bytes| {
        if to != seat || !is_opening(&bytes) || !core::mem::take(&mut is_first) {
            return bytes;
        }
        keep.borrow_mut().push(bytes);
        nothing.clone()
    }));
    while held.borrow().is_empty() {
        net.deliver();
        net.close();
    }
    let has = |net: &Net<'_>, stage: fn(&AttemptLine) -> bool| {
        net.lines[0]
            .iter()
            .filter_map(book_line)
            .any(|line| stage(&line))
    };
    assert!(has(&net, |line| matches!(line, AttemptLine::Opening)));
    // The phase of computing is closed while the share is still on its way.
    net.deliver();
    let late = held.borrow_mut().pop().expect("held");
    net.hand_over(seat, &late);
    net.deliver();
    assert!(!has(&net, |line| matches!(
        line,
        AttemptLine::Opened { .. }
    )));
    net.run(|_, _| ());
    assert!(net.receipt().receipt.fit.is_some());
    check(&net);
}

#[test]
fn what_a_party_or_a_trustee_says_again_is_not_stored_again() {
    let (agreed, world) = (small(0), world());
    let mut net = Net::new(&agreed, &world);
    let (mut again, mut said) = (0, 0);
    net.run(|net, _| {
        for (from, bytes) in net.stored_messages() {
            said += 1;
            let epoch = net.coordinator.epoch();
            if net.coordinator.receive(from, &bytes).is_ok() {
                assert!(!net.coordinator.keeps(&bytes), "epoch {epoch}: {bytes:?}");
                again += 1;
            }
        }
    });
    assert!(said > again && again > 7, "{again} of {said} were accepted");
    assert!(net.receipt().receipt.fit.is_some());
    check(&net);
}
