use super::*;
use crate::agreement::tests::{TestStudy, agreed};

fn key() -> PartyKey {
    PartyKey::assume_fresh_entropy([42; 32])
}

/// What the noise of a sum is drawn from.
fn drawn(key: &PartyKey, agreed: &Agreed, sum: u32, context: u8) -> Option<[u8; 32]> {
    let bits = key.noise_key(agreed, sum, &Digest([context; 32]))?;
    Some(*bits)
}

#[test]
fn a_split_key_is_the_same_key() {
    let study = agreed(TestStudy::default());
    let split = key().split(study.n_steps());
    assert_eq!(split.identity_bits(), key().identity_bits());
    assert_eq!(split.nonce(), key().nonce());
    assert!(split.masks(&study) == key().masks(&study));
    for sum in 0..study.n_sums() {
        let noise = drawn(&key(), &study, sum, 1);
        assert!(noise.is_some() && noise == drawn(&split, &study, sum, 1));
        assert_ne!(noise, drawn(&key(), &study, sum, 2), "of another context");
    }
    assert!(key().noise(&study, 99_999, &Digest([1; 32])).is_none());
}

#[test]
fn a_stored_key_is_read_back_without_what_was_erased() {
    let study = agreed(TestStudy::default());
    let n_steps = study.n_steps();
    let mut split = key().split(n_steps);
    let whole = split.to_stored().expect("split");
    split.forget_step(0);
    split.forget_setup();
    let stored = split.to_stored().expect("split");
    let read = PartyKey::from_stored(&stored, n_steps).expect("a key");
    assert_eq!(*read.to_stored().expect("split"), *stored);
    assert!(read.masks(&study) == split.masks(&study));
    for sum in 0..study.n_sums() {
        let (step, _) = study.step_of(sum).expect("a sum");
        let noise = drawn(&read, &study, sum, 1);
        let expected = drawn(&key(), &study, sum, 1).filter(|_| step != 0);
        assert_eq!(noise, expected, "sum {sum}");
    }
    // The secrets that are gone were in the text before, and neither they nor what they come from
    // is there now; nor do secrets that are left derive from each other.
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let (before, after) = (lines(&whole), lines(&stored));
    let gone: Vec<_> = before.iter().zip(&after).filter(|(b, a)| b != a).collect();
    assert_eq!(gone.len(), 2, "the set-up and one step");
    for (was, is) in gone {
        let secret = was.rsplit(' ').next().expect("a secret");
        assert!(secret.len() == 64 && is.ends_with("erased"), "{is}");
        assert!(!stored.contains(secret));
    }
    let master = "2a".repeat(32);
    assert!(!whole.contains(&master) && !stored.contains(&master));
}

#[test]
fn keys_that_are_whole_or_simulated_are_not_stored() {
    assert!(key().to_stored().is_none());
    let mut whole = key();
    whole.forget_step(0);
    whole.forget_setup();
    assert_eq!(whole.identity_bits(), key().identity_bits());
    assert!(PartyKey::simulated(1, 0).split(3).to_stored().is_none());
    let split = key().split(2).split(5);
    assert_eq!(split.to_stored().expect("split").lines().count(), 5);
    assert_eq!(format!("{split:?}"), "PartyKey(Cryptographic)");
}

#[test]
fn text_that_is_no_key_is_refused_and_the_line_named() {
    let good = key().split(2).to_stored().expect("split");
    assert!(PartyKey::from_stored(&good, 2).is_ok());
    let refused = |text: &str, n_steps| PartyKey::from_stored(text, n_steps).map(|_| ());
    let line = |line, required: &str| {
        let required = required.to_owned();
        Err(StoredKeyError::Line { line, required })
    };
    assert_eq!(refused(&"2a".repeat(32), 2), Err(StoredKeyError::Title));
    assert_eq!(
        refused(&good.replace("key 1", "key 2"), 2),
        Err(StoredKeyError::Title)
    );
    assert_eq!(refused(&good, 3), line(6, "step 2"));
    assert_eq!(refused(&good, 1), line(5, "the end"));
    assert_eq!(
        refused(&good.replace("set-up", "setup"), 2),
        line(3, "set-up")
    );
    let cut = good.trim_end().split_at(good.trim_end().len() - 1).0;
    assert_eq!(refused(cut, 2), line(5, "step 1"));
    let rootless = good.replacen(good.lines().nth(1).expect("a root"), "root erased", 1);
    assert_eq!(refused(&rootless, 2), line(2, "root"));
}
