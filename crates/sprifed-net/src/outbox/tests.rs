use std::sync::Arc;
use std::time::Duration;

use super::{Asked, Outboxes, Session};

fn notice(text: &str) -> Arc<[u8]> {
    Arc::from(text.as_bytes())
}

#[tokio::test(flavor = "current_thread")]
async fn notices_come_in_order_and_stay_until_a_later_one_is_asked_for() {
    let mut outboxes = Outboxes::new(2, Duration::from_secs(60));
    let session = outboxes.open(1);
    assert!(outboxes.put(1, notice("a")));
    assert!(outboxes.put(1, notice("b")));
    for _ in 0..2 {
        assert_eq!(outboxes.ask(1, session, 0), Asked::Notice(1, notice("a")));
    }
    assert_eq!(outboxes.ask(1, session, 1), Asked::Notice(2, notice("b")));
    assert_eq!(outboxes.ask(1, session, 2), Asked::Nothing);
    // Done with is done with.
    assert_eq!(outboxes.ask(1, session, 0), Asked::Nothing);
}

#[tokio::test(flavor = "current_thread")]
async fn an_older_session_gets_nothing_of_a_newer_one() {
    let mut outboxes = Outboxes::new(1, Duration::from_secs(60));
    let old = outboxes.open(0);
    outboxes.put(0, notice("a"));
    let new = outboxes.open(0);
    assert_eq!(outboxes.ask(0, old, 0), Asked::Superseded);
    assert_eq!(outboxes.ask(0, new, 0), Asked::Nothing);
    assert!(!outboxes.close(0, old));
    assert!(outboxes.is_here(0));
    assert!(outboxes.close(0, new));
    assert!(!outboxes.is_here(0));
}

#[tokio::test(flavor = "current_thread")]
async fn nothing_is_kept_for_those_who_are_away() {
    let mut outboxes = Outboxes::new(2, Duration::ZERO);
    assert!(!outboxes.put(0, notice("a")));
    let session = outboxes.open(1);
    assert!(!outboxes.put(1, notice("a")));
    assert_eq!(outboxes.ask(1, session, 0), Asked::Forgotten);
    assert_eq!(outboxes.ask(1, Session(0), 0), Asked::Superseded);
}

#[tokio::test(flavor = "current_thread")]
async fn what_another_program_carries_waits_for_it_and_is_taken_once() {
    let mut outboxes = Outboxes::new(2, Duration::ZERO);
    outboxes.carry(1);
    assert!(outboxes.is_here(1) && !outboxes.is_here(0));
    assert!(outboxes.put(1, notice("a")) && outboxes.put(1, notice("b")));
    assert_eq!(outboxes.take(1), [notice("a"), notice("b")]);
    assert!(outboxes.take(1).is_empty());
}
