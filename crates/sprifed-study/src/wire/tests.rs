use proptest::prelude::*;

use super::*;
use crate::agreement::tests::{TestStudy, agreed};
use crate::party_key::PartyKey;

fn orders() -> [Order; 3] {
    [
        Order::Ask {
            sum: 7,
            transcript: Digest([1; 32]),
            question: Digest([2; 32]),
        },
        Order::Released(Released {
            sum: 3,
            survivors: vec![0, 2, 4],
            values: vec![-1, 0, i64::MAX, i64::MIN],
        }),
        Order::Ended {
            receipt: b"{}".to_vec(),
        },
    ]
}

fn declined() -> Report {
    let identity = PartyKey::simulated(5, 0).of_party(1).identity();
    Report::declined(
        &identity,
        &agreed(TestStudy::default()),
        ClientId(1),
        "not today",
    )
}

#[test]
fn messages_are_read_back() {
    for order in orders() {
        assert_eq!(Order::decode(&order.encode()), Ok(order));
    }
    for report in [declined(), Report::Countersigned { signature: [3; 64] }] {
        assert_eq!(Report::decode(&report.encode()), Ok(report));
    }
}

#[test]
fn a_message_cut_anywhere_or_with_more_is_refused() {
    for order in &orders()[..2] {
        let bytes = order.encode();
        for end in 0..bytes.len() {
            assert!(Order::decode(&bytes[..end]).is_err(), "cut at {end}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(Order::decode(&longer).is_err());
    }
}

#[test]
fn a_reason_counts_only_with_the_signature_of_its_party_in_this_study() {
    let study = agreed(TestStudy::default());
    let Report::Declined { reason, signature } = declined() else {
        panic!("another report");
    };
    let is_signed = |study: &Agreed, party: u32, reason: &str| {
        is_declined_by(study, ClientId(party), reason, &signature)
    };
    assert!(is_signed(&study, 1, &reason));
    assert!(!is_signed(&study, 0, &reason), "another party");
    assert!(!is_signed(&study, 9, &reason), "no party");
    assert!(!is_signed(&study, 1, "another reason"));
    let other = agreed(TestStudy {
        features: 31,
        ..TestStudy::default()
    });
    assert!(!is_signed(&other, 1, &reason), "another study");
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 0u8..6) {
        let framed = [&[VERSION, kind], &bytes[..]].concat();
        let _ = Order::decode(&framed);
        let _ = Report::decode(&framed);
    }
}
