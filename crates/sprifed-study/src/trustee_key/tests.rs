use super::*;

fn chain_of(byte: u8) -> Chain {
    Chain::new([byte; 32])
}

#[test]
fn a_stored_key_is_read_back_and_holds_nothing_that_was_erased() {
    let fresh = TrusteeKey::assume_fresh_entropy(&[7; 32]);
    let identity = IdentityKey::from_stored(&[3; 32]);
    let read = |key: &TrusteeKey| {
        let text = key.to_stored().expect("stored");
        TrusteeKey::from_stored(&text).expect("a key")
    };
    let again = read(&fresh);
    assert_eq!(fresh.entry("T", &identity), again.entry("T", &identity));
    let mut enrolled = fresh;
    enrolled.enrol(
        [chain_of(1), chain_of(2)],
        vec![Some(chain_of(3)), None, Some(chain_of(4))],
    );
    let before = enrolled.to_stored().expect("stored");
    enrolled.erase_before(2);
    let text = enrolled.to_stored().expect("stored");
    let again = read(&enrolled);
    assert!(again.is_enrolled() && again.entry("T", &identity).is_none());
    assert_eq!(again.to_stored(), Some(text.clone()));
    assert_eq!((again.step(), again.clients().len()), (2, 3));
    for byte in [1u8, 2, 3, 4] {
        let digits = hex::encode([byte; 32]);
        assert!(before.contains(&digits) && !text.contains(&digits));
    }
    let attempt = |step| AttemptId {
        study: [0; 32],
        step,
        attempt: 0,
        transcript: [0; 32],
    };
    assert!(again.noise(&attempt(1)).is_none() && again.noise(&attempt(2)).is_some());
    assert!(TrusteeKey::simulated(1, 0).to_stored().is_none());
}

#[test]
fn damaged_text_is_refused() {
    let key = TrusteeKey::assume_fresh_entropy(&[7; 32]);
    let text = key.to_stored().expect("stored");
    assert_eq!(
        TrusteeKey::from_stored("other").map(drop),
        Err(StoredKeyError::Title)
    );
    for line in 1..text.lines().count() {
        let kept: Vec<&str> = text.lines().take(line).collect();
        assert!(TrusteeKey::from_stored(&kept.join("\n")).is_err(), "{line}");
    }
    let changed = text.replace("noise 0 ", "noise 0 x");
    assert!(TrusteeKey::from_stored(&changed).is_err());
}
