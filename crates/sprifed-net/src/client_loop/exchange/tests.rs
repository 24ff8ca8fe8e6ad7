use std::time::Duration;

use super::body::{Missed, Pieces, in_time, time_for};

#[test]
fn a_body_is_read_to_its_end_and_not_beyond_the_largest() {
    let read = |n_pieces, largest| {
        let mut pieces = Pieces::none_yet(largest, None)?;
        for _ in 0..n_pieces {
            pieces.add(&[7; 100])?;
        }
        Ok(pieces.whole())
    };
    let too_long = |largest| Err(Missed::TooLong { largest });
    assert_eq!(read(3, 300), Ok(vec![7; 300]));
    assert_eq!(read(3, 299), too_long(299));
    assert_eq!(read(u32::MAX, 4000), too_long(4000));
    for announced in [301, u64::MAX] {
        let refused = Pieces::none_yet(300, Some(announced)).map(Pieces::whole);
        assert_eq!(refused, too_long(300));
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_trickles_for_ever_is_given_up() {
    let since = tokio::time::Instant::now();
    // A byte a minute: never silent for long, and far from the largest number of bytes.
    let trickle = async {
        let mut pieces = Pieces::none_yet(1 << 20, None)?;
        loop {
            tokio::time::sleep(Duration::from_secs(60)).await;
            pieces.add(&[0])?;
        }
    };
    let longest = Duration::from_secs(60) + time_for(1 << 20);
    let read: Result<(), Missed> = in_time(longest, trickle).await;
    let Err(Missed::Lost(reason)) = read else {
        panic!("{read:?}");
    };
    assert!(reason.contains("not complete after 124 s"), "{reason}");
    assert_eq!(since.elapsed(), longest);
}
