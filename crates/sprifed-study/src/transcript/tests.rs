use proptest::prelude::*;

use super::*;

fn released() -> impl Strategy<Value = Released> {
    let values = prop::collection::vec(any::<i64>(), 0..6);
    (
        any::<u32>(),
        prop::collection::vec(any::<u32>(), 0..4),
        values,
    )
        .prop_map(|(sum, survivors, values)| Released {
            trustees: None,
            outside: Vec::new(),
            sum,
            survivors,
            values,
        })
}

fn head_of(sums: &[Released]) -> Digest {
    let mut transcript = Transcript::begin(&Digest([7; 32]));
    for sum in sums {
        assert_eq!(transcript.head_after(sum), {
            let mut next = transcript.clone();
            next.push(sum.clone());
            next.head()
        });
        transcript.push(sum.clone());
    }
    transcript.head()
}

proptest! {
    #[test]
    fn two_transcripts_with_one_digest_are_equal(
        one in prop::collection::vec(released(), 0..4),
        other in prop::collection::vec(released(), 0..4),
    ) {
        prop_assert_eq!(head_of(&one) == head_of(&other), one == other);
    }

    #[test]
    fn bytes_give_back_what_was_written_and_nothing_longer_is_read(sum in released()) {
        let mut bytes = sum.encode();
        prop_assert_eq!(Released::decode(&bytes), Some(sum));
        bytes.push(0);
        prop_assert_eq!(Released::decode(&bytes), None);
    }
}

#[test]
fn numbers_do_not_move_between_survivors_and_values() {
    let sum = |survivors, values| Released {
        trustees: None,
        outside: Vec::new(),
        sum: 0,
        survivors,
        values,
    };
    assert_ne!(
        head_of(&[sum(vec![1, 0], vec![])]),
        head_of(&[sum(vec![], vec![1])])
    );
    assert_ne!(
        head_of(&[]),
        Transcript::begin(&Digest([8; 32])).head(),
        "another agreement"
    );
}
