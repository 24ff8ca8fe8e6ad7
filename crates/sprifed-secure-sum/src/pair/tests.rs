use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use x25519_dalek::PublicKey;

use super::*;
use crate::kem;
use crate::keys::tests::study;
use crate::keys::{ClientSecrets, ClientSeed};
use crate::study::Study;

const CONTEXT: [u8; 32] = [7; 32];
const PAIR: (ClientId, ClientId) = (ClientId(0), ClientId(1));

fn secrets(number: u64) -> ClientSecrets {
    ClientSeed::draw(&mut ChaCha20Rng::seed_from_u64(number)).into()
}

fn mask(of: &ClientSecrets, study: &Study, sum: u32) -> MaskSecret {
    of.mask_secret(study.id(), sum).expect("kept")
}

/// The channel of clients 0 and 1 as each of them has it.
fn channels(one: &ClientSecrets, other: &ClientSecrets, study: &Study) -> [ChannelSecret; 2] {
    let id = study.id();
    let public = |of: &ClientSecrets| PublicKey::from(&of.channel_key(id)).to_bytes();
    let (smaller, larger) = (public(one), public(other));
    let kem = other.kem_key(id).public();
    let coins = one.coins(id, PAIR.1, &kem);
    let (ciphertext, sent) = kem::encapsulate(&kem, &coins).expect("a key");
    let opened = other.kem_key(id).open(&ciphertext);
    let transcript = Transcript {
        smaller: (PAIR.0, &smaller),
        larger: (PAIR.1, &larger),
        kem: &kem,
        ciphertext: &ciphertext,
    };
    let agreed = [(one, &larger), (other, &smaller)]
        .map(|(own, public)| agree(&own.channel_key(id), public).expect("full order"));
    let [left, right] = &agreed;
    [(left, &sent), (right, &opened)]
        .map(|(agreed, secret)| ChannelSecret::new(agreed, secret, id, &transcript))
}

#[test]
fn only_the_two_ends_agree_on_the_same_secret() {
    let (study, one, other) = (study(), secrets(1), secrets(2));
    let id = study.id();
    let [mine, theirs] = channels(&one, &other, &study);
    assert!(mine == theirs);
    let [_, third] = channels(&one, &secrets(3), &study);
    assert!(third != mine);
    let place = (0, &CONTEXT);
    let seed = |own: &ClientSecrets, peer: &ClientSecrets, channel: &ChannelSecret, pair| {
        let (own, peer) = (mask(own, &study, 0), mask(peer, &study, 0));
        let keys = (&own.key(id), &peer.public(id));
        pair_seed(keys, &channel.pair_secret(id, 0), id, place, pair)
    };
    let masks = [
        seed(&one, &other, &mine, PAIR),
        seed(&other, &one, &theirs, (PAIR.1, PAIR.0)),
    ];
    assert!(masks.iter().all(Option::is_some) && masks.first() == masks.last());
    // Either half alone gives another mask: X25519 with another channel, the channel with other keys.
    assert!(Some(&seed(&one, &other, &third, PAIR)) != masks.first());
    assert!(Some(&seed(&secrets(3), &other, &mine, PAIR)) != masks.first());
}

/// Everything public and both X25519 secrets, as a quantum computer has them, but no ML-KEM secret.
#[test]
fn x25519_alone_does_not_give_the_channel_nor_the_mask_secret_its_wrap() {
    let (study, one, other) = (study(), secrets(1), secrets(2));
    let id = study.id();
    let [channel, _] = channels(&one, &other, &study);
    let (smaller, larger) = [&one, &other]
        .map(|of| PublicKey::from(&of.channel_key(id)).to_bytes())
        .into();
    let kem = other.kem_key(id).public();
    let coins = one.coins(id, PAIR.1, &kem);
    let (ciphertext, _) = kem::encapsulate(&kem, &coins).expect("a key");
    let transcript = Transcript {
        smaller: (PAIR.0, &smaller),
        larger: (PAIR.1, &larger),
        kem: &kem,
        ciphertext: &ciphertext,
    };
    let agreed = agree(&one.channel_key(id), &larger).expect("full order");
    let guess = secrets(9).kem_key(id).open(&ciphertext);
    assert!(ChannelSecret::new(&agreed, &guess, id, &transcript) != channel);
    // The scalar of a mask key, which a quantum computer finds, is not the secret of the wrap.
    let (owner, pair_secret) = (mask(&one, &study, 0), channel.pair_secret(id, 0));
    let wrap = pair_secret.wrapped(&owner, id, 0, PAIR.1);
    let scalar = MaskSecret::from_bytes(owner.key(id).to_bytes());
    assert!(PairSecret::unwrapped(&wrap, &scalar, id, PAIR.1) != pair_secret);
    assert!(PairSecret::unwrapped(&wrap, &owner, id, PAIR.1) == pair_secret);
    assert!(PairSecret::unwrapped(&wrap, &owner, id, ClientId(2)) != pair_secret);
}

#[test]
fn a_bundle_is_opened_by_its_receiver_and_not_by_the_root_of_its_sender() {
    let (study, one, other) = (study(), secrets(1), secrets(2));
    let id = study.id();
    let [channel, _] = channels(&one, &other, &study);
    let public = |key: &StaticSecret| PublicKey::from(key).to_bytes();
    let sealing = one.sealing_key(id).expect("kept");
    let sealed = agree(&sealing, &public(&other.channel_key(id))).expect("full order");
    let opened = agree(&other.channel_key(id), &public(&sealing)).expect("full order");
    let key = channel.bundle_key(&sealed, id, PAIR);
    assert!(key == channel.bundle_key(&opened, id, PAIR));
    // What the sender still knows when its set-up secret is erased.
    let root = agree(&one.channel_key(id), &public(&other.channel_key(id))).expect("full order");
    assert!(channel.bundle_key(&root, id, PAIR) != key);
    let own = agree(&one.channel_key(id), &public(&sealing)).expect("full order");
    assert!(channel.bundle_key(&own, id, PAIR) != key);
}

/// The attack that one agreed key for all sums would allow: after a dropout in sum 0 its secret is
/// rebuilt, and with it every mask that the secret ever agreed on.
fn masks_of_sum_1_from_the_secret_of_sum_0(
    revealed: &MaskSecret,
    published: [&[u8; 32]; 2],
    wraps: [&Wrap; 2],
    study: &StudyId,
) -> Vec<MaskSeed> {
    let mut masks = Vec::new();
    for public in published {
        for wrap in wraps {
            let pair_secret = PairSecret::unwrapped(wrap, revealed, study, PAIR.1);
            for sum in 0..3 {
                let keys = (&revealed.key(study), public);
                masks.extend(pair_seed(keys, &pair_secret, study, (sum, &CONTEXT), PAIR));
            }
        }
    }
    masks
}

#[test]
fn what_is_revealed_of_one_sum_gives_no_mask_of_another() {
    let (study, dropped, survivor) = (study(), secrets(1), secrets(2));
    let id = study.id();
    let [channel, _] = channels(&dropped, &survivor, &study);
    let public = |sum| mask(&survivor, &study, sum).public(id);
    let wrap = |sum| {
        let owner = mask(&dropped, &study, sum);
        let pair_secret = channel.pair_secret(id, sum);
        pair_secret.wrapped(&owner, id, sum, PAIR.1)
    };
    let truth = |sum| {
        let own = mask(&dropped, &study, sum);
        let (keys, place) = ((&own.key(id), &public(sum)), (sum, &CONTEXT));
        pair_seed(keys, &channel.pair_secret(id, sum), id, place, PAIR).expect("full order")
    };
    let revealed = mask(&dropped, &study, 0);
    let derived = masks_of_sum_1_from_the_secret_of_sum_0(
        &revealed,
        [&public(0), &public(1)],
        [&wrap(0), &wrap(1)],
        id,
    );
    assert_eq!(derived.len(), 12);
    assert!(derived.contains(&truth(0)), "what the sum is opened with");
    assert!(!derived.contains(&truth(1)));
    // The same attack succeeds where one secret serves both sums, so the test could have failed.
    let keys = (&revealed.key(id), &public(0));
    let reused = pair_seed(keys, &channel.pair_secret(id, 0), id, (1, &CONTEXT), PAIR);
    assert!(derived.contains(&reused.expect("full order")));
}

#[test]
fn a_commitment_is_of_one_pair_secret() {
    let (study, one, other) = (study(), secrets(1), secrets(2));
    let [channel, _] = channels(&one, &other, &study);
    let commitment = |sum| {
        channel
            .pair_secret(study.id(), sum)
            .commitment(study.id(), sum)
    };
    assert_ne!(commitment(0), commitment(1));
    let start = |sum| {
        let secret = channel.pair_secret(study.id(), sum);
        <[u8; 8]>::try_from(secret.expose().split_at(8).0).expect("eight")
    };
    assert_ne!(commitment(0), start(0));
}

#[test]
fn a_key_of_small_order_agrees_on_nothing() {
    let (study, one) = (study(), secrets(1));
    let [channel, _] = channels(&one, &secrets(2), &study);
    let id = study.id();
    let secret = channel.pair_secret(id, 0);
    let key = mask(&one, &study, 0).key(id);
    assert!(pair_seed((&key, &[0; 32]), &secret, id, (0, &CONTEXT), PAIR).is_none());
    assert!(agree(&one.channel_key(id), &[0; 32]).is_none());
}
