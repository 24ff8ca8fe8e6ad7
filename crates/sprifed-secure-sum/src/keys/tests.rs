use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use sprifed_crypto::identity_key::IdentityKey;
use sprifed_privacy::Participation;

use super::*;
use crate::identity::Roster;
use crate::study::{Study, SumShape};

const CONTEXT: [u8; 32] = [7; 32];

/// Three clients and three sums.
pub(crate) fn study() -> Study {
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let keys: Vec<_> = (0..3)
        .map(|_| IdentityKey::draw(&mut rng).public())
        .collect();
    let participation = Participation::new(3, 3, 1).expect("legal");
    let sums = vec![SumShape::new(4, 16).expect("legal"); 3];
    let roster = Roster::new(&keys).expect("distinct");
    Study::new([0; 32], roster, participation, [0; 32], sums).expect("legal")
}

fn seed(number: u64) -> ClientSeed {
    ClientSeed::draw(&mut ChaCha20Rng::seed_from_u64(number))
}

fn secrets(number: u64) -> ClientSecrets {
    seed(number).into()
}

#[test]
fn no_two_secrets_are_equal_or_known_from_what_is_published() {
    let (study, client) = (study(), secrets(1));
    let id = study.id();
    let mut known: Vec<[u8; 32]> = vec![
        client.channel_key(id).to_bytes(),
        client.sealing_key(id).expect("kept").to_bytes(),
        *client.coins(id, ClientId(1), &[1; KEY_BYTES]).expose(),
        *client.coins(id, ClientId(2), &[1; KEY_BYTES]).expose(),
        *client.coins(id, ClientId(2), &[2; KEY_BYTES]).expose(),
    ];
    for sum in 0..3 {
        let own = client.self_seed(id, sum).expect("kept");
        let mask = client.mask_secret(id, sum).expect("kept");
        known.extend([
            *own.expose(),
            *mask.expose(),
            mask.key(id).to_bytes(),
            mask.public(id),
            *client.dealing_seed(id, sum).expect("kept").expose(),
            commitment(&own, id, sum, ClientId(0)),
            *self_mask_seed(&own, id, (sum, &CONTEXT)).expose(),
        ]);
    }
    for (index, secret) in known.iter().enumerate() {
        assert!(!known.iter().take(index).any(|earlier| earlier == secret));
    }
}

#[test]
fn sums_belong_to_groups_in_turn_and_nothing_of_an_erased_group_is_left() {
    let study = study();
    let id = study.id();
    let groups = vec![Some(seed(2)), None];
    let client = ClientSecrets::new(seed(1), None, groups);
    for (sum, is_kept) in [(0, true), (1, false), (2, true)] {
        assert_eq!(client.mask_secret(id, sum).is_some(), is_kept, "sum {sum}");
        assert_eq!(client.self_seed(id, sum).is_some(), is_kept, "sum {sum}");
        assert_eq!(client.dealing_seed(id, sum).is_some(), is_kept, "sum {sum}");
    }
    assert!(client.sealing_key(id).is_none());
    assert!(client.mask_secret(id, 0) != client.mask_secret(id, 2));
    assert_eq!(format!("{client:?}"), "ClientSecrets(1 of 2)");
    assert!(
        ClientSecrets::new(seed(1), None, Vec::new())
            .self_seed(id, 0)
            .is_none()
    );
}

#[test]
fn secrets_do_not_print() {
    assert_eq!(format!("{:?}", seed(1)), "ClientSeed(..)");
    let study = study();
    assert_eq!(
        format!("{:?}", secrets(1).self_seed(study.id(), 0).expect("kept")),
        "SelfSeed(..)"
    );
}
