use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use sprifed_privacy::Participation;

use super::*;
use crate::identity::Roster;
use crate::study::{Study, SumShape};

const CONTEXT: [u8; 32] = [7; 32];

fn study() -> Study {
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

#[test]
fn both_ends_agree_on_the_same_mask_and_nobody_else_does() {
    let (study, one, other) = (study(), seed(1), seed(2));
    let id = study.id();
    let pair = (ClientId(0), ClientId(1));
    let public = |seed: &ClientSeed| PublicKey::from(&seed.mask_key(id, 0)).to_bytes();
    let place = (0, &CONTEXT);
    let mine = pair_seed(&one.mask_key(id, 0), &public(&other), id, place, pair);
    let theirs = pair_seed(
        &other.mask_key(id, 0),
        &public(&one),
        id,
        place,
        (pair.1, pair.0),
    );
    assert!(mine.is_some() && mine == theirs);
    let third = pair_seed(&seed(3).mask_key(id, 0), &public(&one), id, place, pair);
    assert!(third != mine);
}

/// The attack that one agreed key for all sums would allow: after a dropout in sum 0 its key is
/// rebuilt, and with it every mask that the key ever agreed on.
fn masks_of_sum_1_from_the_key_of_sum_0(
    revealed: &StaticSecret,
    published_for_sum_1: &[u8; 32],
    published_for_sum_0: &[u8; 32],
    study: &StudyId,
) -> Vec<MaskSeed> {
    let pair = (ClientId(0), ClientId(1));
    let mut masks = Vec::new();
    for public in [published_for_sum_0, published_for_sum_1] {
        for sum in 0..3 {
            masks.extend(pair_seed(revealed, public, study, (sum, &CONTEXT), pair));
        }
    }
    masks
}

#[test]
fn what_is_revealed_of_one_sum_gives_no_mask_of_another() {
    let (study, dropped, survivor) = (study(), seed(1), seed(2));
    let id = study.id();
    let public = |sum| PublicKey::from(&survivor.mask_key(id, sum)).to_bytes();
    let pair = (ClientId(0), ClientId(1));
    let revealed = dropped.mask_key(id, 0);
    let (own, place) = (dropped.mask_key(id, 1), (1, &CONTEXT));
    let truth = pair_seed(&own, &public(1), id, place, pair).expect("full order");
    let derived = masks_of_sum_1_from_the_key_of_sum_0(&revealed, &public(1), &public(0), id);
    assert_eq!(derived.len(), 6);
    assert!(derived.iter().all(|mask| *mask != truth));
    // The same attack succeeds where one key serves both sums, so the test could have failed.
    let reused = pair_seed(&revealed, &public(0), id, place, pair).expect("full order");
    assert!(derived.contains(&reused));
    // Nor are the secrets of two sums equal, or known from what the owner publishes.
    let secrets: Vec<[u8; 32]> = (0..3)
        .flat_map(|sum| {
            let own = dropped.self_seed(id, sum);
            let key = dropped.mask_key(id, sum).to_bytes();
            [
                key,
                *own.expose(),
                commitment(&own, id, sum, ClientId(0)),
                *self_mask_seed(&own, id, (sum, &CONTEXT)).expose(),
            ]
        })
        .collect();
    for (index, secret) in secrets.iter().enumerate() {
        assert!(!secrets.iter().take(index).any(|earlier| earlier == secret));
    }
}

#[test]
fn a_key_of_small_order_agrees_on_nothing() {
    let study = study();
    let pair = (ClientId(0), ClientId(1));
    assert!(
        pair_seed(
            &seed(1).mask_key(study.id(), 0),
            &[0; 32],
            study.id(),
            (0, &CONTEXT),
            pair
        )
        .is_none()
    );
    assert!(channel_secret(&seed(1).channel_key(study.id()), &[0; 32], study.id(), pair).is_none());
}

#[test]
fn secrets_do_not_print() {
    assert_eq!(format!("{:?}", seed(1)), "ClientSeed(..)");
    let study = study();
    assert_eq!(
        format!("{:?}", seed(1).self_seed(study.id(), 0)),
        "SelfSeed(..)"
    );
}
