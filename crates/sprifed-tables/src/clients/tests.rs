use proptest::prelude::*;

use super::*;

#[test]
fn interleaved_records_are_grouped_by_client() {
    let index = ClientIndex::group(&[0, 1, 0, 3, 1], 4);
    let rows: Vec<&[u32]> = index.iter().collect();
    assert_eq!(rows, [&[0, 2][..], &[1, 4], &[], &[3]]);
}

#[test]
fn a_split_that_leaves_a_client_empty_is_refused() {
    for (records, clients) in [(3, 4), (3, 0), (0, 0), (0, 1)] {
        let refused = ClientIndex::split_evenly(records, clients);
        assert_eq!(refused, Err(TableError::EmptyClient { clients, records }));
    }
}

proptest! {
    #[test]
    fn a_split_covers_every_record_once_and_evenly(records in 1usize..200, share in 0.0f64..1.0) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small, positive")]
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let clients = 1 + (share * (records - 1) as f64) as usize;
        let index = ClientIndex::split_evenly(records, clients).expect("enough records");
        let rows: Vec<u32> = index.iter().flatten().copied().collect();
        prop_assert_eq!(rows, (0..u32::try_from(records).expect("small")).collect::<Vec<_>>());
        let sizes: Vec<usize> = index.iter().map(<[u32]>::len).collect();
        let (least, most) = (sizes.iter().min(), sizes.iter().max());
        prop_assert!(most.expect("clients") - least.expect("clients") <= 1);
    }
}
