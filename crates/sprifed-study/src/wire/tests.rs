use proptest::prelude::*;
use sprifed_trustees::TrusteeId;

use super::*;
use crate::agreement::tests::{TestStudy, agreed};
use crate::enrolment::{ClientEnrolment, TrusteeEnrolment};
use crate::party_key::PartyKey;
use crate::transcript::SignedOutcome;
use crate::trustee_attempt::UnopenedSum;

fn orders() -> [Order; 3] {
    [
        Order::Ask {
            sum: 7,
            transcript: Digest([1; 32]),
            question: Digest([2; 32]),
        },
        Order::Released(Released {
            trustees: None,
            outside: Vec::new(),
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

/// Messages without a part that may be of any length.
fn about_trustees() -> (Vec<Order>, Vec<Report>) {
    let agreed = crate::test_trustees::small(1);
    let key = PartyKey::simulated(5, 0).of_party(1);
    let keys = key.pairing(&agreed, key.identity().public());
    let keys = keys.expect("not erased");
    let client = ClientEnrolment::new(&agreed, ClientId(1), &key.identity(), &keys);
    let client = client.expect("an enrolment").0;
    let identity = crate::agreement::tests::trustee_identity(0);
    let pairing = crate::agreement::tests::trustee_key(0).pairing(identity.public());
    let first = TrusteeId::ALL[0];
    let trustee = TrusteeEnrolment::new(&agreed, first, &identity, &pairing.expect("fresh"));
    let trustee = trustee.expect("an enrolment");
    assert!(client.is_signed(&agreed) && trustee.is_signed(&agreed));
    let released = Released {
        sum: 2,
        survivors: vec![1],
        outside: vec![0, 3],
        values: vec![5],
        trustees: Some(Box::new(SignedOutcome {
            set: Digest([4; 32]),
            signatures: [Signature([5; 64]); 3],
        })),
    };
    let orders = [
        TrusteesOrder::Directory {
            trustees: vec![trustee.clone()],
            clients: vec![client.clone()],
        },
        TrusteesOrder::Attempt {
            sum: 1,
            transcript: Digest([1; 32]),
            question: Digest([2; 32]),
            unopened: vec![UnopenedSum {
                sum: 0,
                signatures: [Signature([6; 64]); 3],
            }],
        },
        TrusteesOrder::Close { sum: 3 },
        TrusteesOrder::GiveUp { sum: 3 },
    ];
    let reports = [
        TrusteesReport::Client(client),
        TrusteesReport::Trustee(trustee),
        TrusteesReport::Charged { sum: 9 },
        TrusteesReport::Spent { sum: 9 },
        TrusteesReport::Settled(Box::new(released)),
    ];
    (
        orders.map(Order::Trustees).into(),
        reports.map(Report::Trustees).into(),
    )
}

#[test]
fn messages_about_trustees_are_read_back_whole_or_not_at_all() {
    let (orders, reports) = about_trustees();
    for order in orders {
        let bytes = order.encode();
        for end in (0..bytes.len()).step_by(7) {
            assert!(Order::decode(&bytes[..end]).is_err(), "cut at {end}");
        }
        assert!(Order::decode(&[&bytes[..], &[0]].concat()).is_err());
        assert_eq!(Order::decode(&bytes), Ok(order));
    }
    for report in reports {
        let bytes = report.encode();
        for end in (0..bytes.len()).step_by(7) {
            assert!(Report::decode(&bytes[..end]).is_err(), "cut at {end}");
        }
        assert!(Report::decode(&[&bytes[..], &[0]].concat()).is_err());
        assert!(!is_passed_on(&bytes));
        assert_eq!(Report::decode(&bytes), Ok(report));
    }
    let to = TrusteeId::ALL[2];
    let opaque = [
        TrusteesReport::Peer {
            to,
            bytes: vec![1, 2],
        },
        TrusteesReport::Upload(vec![3]),
        TrusteesReport::Outcome(vec![4]),
        TrusteesReport::Unopened(vec![5]),
    ];
    for report in opaque.map(Report::Trustees) {
        let bytes = report.encode();
        let is_frame = matches!(report, Report::Trustees(TrusteesReport::Peer { .. }));
        assert_eq!(is_passed_on(&bytes), is_frame);
        assert_eq!(Report::decode(&bytes), Ok(report));
    }
    for order in [
        TrusteesOrder::Peer {
            from: to,
            bytes: vec![1],
        },
        TrusteesOrder::Upload(vec![2]),
    ] {
        let order = Order::Trustees(order);
        assert_eq!(Order::decode(&order.encode()), Ok(order));
    }
}
