//! Encodings: one for each message, and no bytes make a decoder panic or waste memory.

use std::sync::Arc;

use proptest::prelude::*;
use sprifed_secure_sum::*;

fn bytes<const N: usize>() -> impl Strategy<Value = [u8; N]> {
    any::<[u8; 8]>().prop_map(|key| core::array::from_fn(|at| key[at % 8] ^ key[at / 8 % 8]))
}

fn ciphertext() -> impl Strategy<Value = Arc<Ciphertext>> {
    (bytes(), bytes()).prop_map(|(bytes, signature)| Arc::new(Ciphertext { bytes, signature }))
}

fn body() -> impl Strategy<Value = Body> {
    let sum_keys = (bytes(), bytes()).prop_map(|(mask, commitment)| SumKeys { mask, commitment });
    let keys = (
        bytes(),
        bytes(),
        bytes(),
        prop::collection::vec(sum_keys, 0..5),
    )
        .prop_map(|(channel, sealing, kem, sums)| {
            Body::Keys(Keys {
                channel,
                sealing,
                kem: Box::new(kem),
                sums,
            })
        });
    let sent = prop::collection::vec((any::<u8>(), ciphertext()), 0..4)
        .prop_map(|ciphertexts| Body::Ciphertexts(Ciphertexts { ciphertexts }));
    let wrap = (bytes(), bytes()).prop_map(|(hidden, commitment)| Wrap { hidden, commitment });
    let (sealed, wraps) = (
        prop::collection::vec(any::<u8>(), 0..90),
        prop::collection::vec(wrap, 0..3),
    );
    let bundle = (any::<u8>(), sealed, wraps).prop_map(|(slot, sealed, wraps)| Bundle {
        slot,
        sealed,
        wraps,
    });
    let shares =
        prop::collection::vec(bundle, 0..5).prop_map(|bundles| Body::Shares(Shares { bundles }));
    let tags = prop::collection::vec((any::<u8>(), bytes()), 0..5);
    let upload = (bytes(), tags, prop::collection::vec(any::<u8>(), 0..99)).prop_map(
        |(context, tags, packed)| {
            Body::Upload(Upload {
                context,
                tags,
                packed,
            })
        },
    );
    let confirmation = bytes().prop_map(|digest| Body::Confirmation(Confirmation { digest }));
    let share =
        (any::<u8>(), any::<bool>(), bytes()).prop_map(|(slot, key, share)| RevealedShare {
            slot,
            kind: if key {
                ShareKind::MaskKey
            } else {
                ShareKind::SelfSeed
            },
            share,
        });
    let unmask =
        prop::collection::vec(share, 0..5).prop_map(|shares| Body::Unmask(Unmask { shares }));
    prop_oneof![keys, sent, shares, upload, confirmation, unmask]
}

fn message() -> impl Strategy<Value = SignedMessage> {
    (body(), any::<u32>(), any::<u32>(), bytes()).prop_map(|(body, sum, sender, signature)| {
        SignedMessage {
            phase: body.phase(),
            sum,
            sender: ClientId(sender),
            body: body.encode(),
            signature,
        }
    })
}

fn clients() -> impl Strategy<Value = ClientSet> {
    (0..40u32, any::<u64>()).prop_map(|(n_clients, bits)| {
        let mut set = ClientSet::empty(n_clients);
        set.extend(
            (0..n_clients)
                .filter(|id| bits >> id & 1 == 1)
                .map(ClientId),
        );
        set
    })
}

fn notice() -> impl Strategy<Value = Notice> {
    let id = || any::<u32>().prop_map(ClientId);
    let keys = prop::collection::vec(message().prop_map(Arc::new), 0..4);
    let bundle = (
        id(),
        prop::collection::vec(any::<u8>(), 0..50).prop_map(Arc::new),
    );
    let bundles = (clients(), prop::collection::vec(bundle, 0..4));
    let neighbour = (id(), prop::option::of(ciphertext()));
    let agreed = prop::collection::vec(neighbour, 0..4);
    let survivors = (any::<u32>(), clients().prop_map(Arc::new));
    let signatures = prop::collection::vec((id(), bytes()), 0..4);
    let tags = prop::collection::vec((id(), bytes()), 0..4);
    prop_oneof![
        keys.prop_map(|keys| Notice::Directory { keys }),
        agreed.prop_map(|neighbours| Notice::Ciphertexts { neighbours }),
        bundles.prop_map(|(sharers, bundles)| Notice::Bundles { sharers, bundles }),
        survivors.prop_map(|(sum, survivors)| Notice::Survivors { sum, survivors }),
        (any::<u32>(), signatures, tags).prop_map(|(sum, signatures, tags)| {
            Notice::Certificate {
                sum,
                certificate: Arc::new(Certificate { signatures }),
                tags,
            }
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_encoded_is_decoded(message in message(), notice in notice(), body in body()) {
        prop_assert_eq!(SignedMessage::decode(&message.encode()), Ok(message));
        prop_assert_eq!(Notice::decode(&notice.encode()), Ok(notice));
        prop_assert_eq!(Body::decode(body.phase(), &body.encode()), Ok(body));
    }

    #[test]
    fn what_is_decoded_has_one_encoding(mut bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 0..7u8) {
        bytes.splice(0..0, [2, kind]);
        if let Ok(message) = SignedMessage::decode(&bytes) {
            prop_assert_eq!(message.encode(), bytes.clone());
        }
        if let Ok(notice) = Notice::decode(&bytes) {
            prop_assert_eq!(notice.encode(), bytes.clone());
        }
        for phase in Phase::ALL {
            if let Ok(body) = Body::decode(phase, &bytes) {
                prop_assert_eq!(body.encode(), bytes.clone());
            }
        }
    }

    #[test]
    fn a_cut_message_is_no_message(message in message(), notice in notice(), cut in 1..20usize) {
        let bytes = message.encode();
        prop_assert!(SignedMessage::decode(&bytes[..bytes.len() - cut]).is_err());
        let bytes = notice.encode();
        prop_assert!(Notice::decode(&bytes[..bytes.len() - cut.min(bytes.len())]).is_err());
    }
}

#[test]
fn a_list_that_says_it_is_long_is_refused_before_anything_is_allocated() {
    for kind in [1, 2, 3, 5] {
        let mut bytes = vec![2, kind];
        bytes.extend([0xff; 12]);
        assert!(Notice::decode(&bytes).is_err());
    }
    for (phase, before) in [
        (Phase::Keys, 64 + 1184),
        (Phase::Agree, 0),
        (Phase::Shares, 0),
    ] {
        let mut bytes = vec![0; before];
        bytes.extend(u32::MAX.to_le_bytes());
        assert_eq!(Body::decode(phase, &bytes), Err(DecodeError::Truncated));
    }
    // A bundle with a list of wraps that it does not have.
    let bytes = [&[1, 0, 0, 0, 0][..], &[0; 4], &[0xff; 4]].concat();
    assert_eq!(
        Body::decode(Phase::Shares, &bytes),
        Err(DecodeError::Truncated)
    );
    assert!(matches!(
        SignedMessage::decode(&[9, 1]),
        Err(DecodeError::Version {
            found: 9,
            required: 2
        })
    ));
}
