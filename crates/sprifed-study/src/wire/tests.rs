use proptest::prelude::*;
use sprifed_query::{FeatureSet, LinearModel, Question};

use super::*;

fn order() -> Order {
    let question = Question::RowClippedGradient {
        model: LinearModel {
            intercept: 0.5,
            terms: vec![(3, 1.25)],
        },
        features: FeatureSet::only(&[1, 2, 3, 9]),
        row_norm: 2.0,
        residual_limit: 1.0,
    };
    Order::Ask {
        sum: 7,
        query: SumQuery {
            step: 2,
            questions: vec![question],
        },
    }
}

#[test]
fn messages_are_read_back() {
    let ended = Order::Ended {
        receipt: b"{}".to_vec(),
    };
    for order in [order(), ended] {
        assert_eq!(Order::decode(&order.encode()), Ok(order));
    }
    let reason = "no".to_owned();
    for report in [
        Report::Declined { reason },
        Report::Countersigned { signature: [3; 64] },
    ] {
        assert_eq!(Report::decode(&report.encode()), Ok(report));
    }
}

#[test]
fn features_that_overlap_or_descend_are_refused() {
    let runs: Vec<core::ops::Range<u32>> = vec![5..7, 2..3];
    let honest = postcard::to_allocvec(&FeatureSet::only(&[2, 5, 6])).expect("bytes");
    let wrong = postcard::to_allocvec(&runs).expect("bytes");
    assert!(postcard::from_bytes::<FeatureSet>(&honest).is_ok());
    assert!(postcard::from_bytes::<FeatureSet>(&wrong).is_err());
}

#[test]
fn a_message_cut_anywhere_or_with_more_is_refused() {
    let bytes = order().encode();
    for end in 0..bytes.len() {
        assert!(Order::decode(&bytes[..end]).is_err(), "cut at {end}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(Order::decode(&longer).is_err());
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 0u8..5) {
        let framed = [&[VERSION, kind], &bytes[..]].concat();
        let _ = Order::decode(&framed);
        let _ = Report::decode(&framed);
    }
}
