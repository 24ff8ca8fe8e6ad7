//! What a coordinator sees, with everything that it can take off, is uniform; and what it is
//! shown of one sum is of no use in another.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::keys::{ClientSecrets, self_mask_seed};
use crate::mask::{Residues, Sign, Stream};
use crate::message::ShareKind;
use crate::secret_sharing::{Polynomial, Share};
use crate::study::SumShape;

use super::*;

#[path = "../../tests/it/statistics.rs"]
mod statistics;
mod uniformity;
#[allow(
    dead_code,
    clippy::indexing_slicing,
    reason = "shared with the tests from outside"
)]
#[path = "../../tests/it/world.rs"]
mod world;

use statistics::DEVIATE;
use uniformity::{is_uniform, serial_correlation};
use world::{CONTEXT, World, noised, participation, seed};

fn secret(client: u32) -> ClientSecrets {
    seed(client).into()
}

/// One client's upload in `context` from which the coordinator has taken what it can rebuild once
/// the sum is open: the sender's own mask.
fn opened(world: &World, client: &mut Client, context: &[u8; 32], part: &Noised) -> Residues {
    let shape = world.study.sum(0).expect("a sum");
    client.upload(0, context, part).expect("uploads");
    let mut view = Residues::zero(shape);
    while let Some(output) = client.poll_output() {
        let Output::Send(message) = output else {
            continue;
        };
        if let Ok(Body::Upload(upload)) = Body::decode(message.phase, &message.body) {
            assert!(view.add_packed(&upload.packed));
        }
    }
    let study = world.study.id();
    let own = secret(client.id().0).self_seed(study, 0).expect("kept");
    view.add_mask(&self_mask_seed(&own, study, (0, context)), Sign::Minus);
    view
}

/// Whether the difference of two views is that of the vectors: one mask hid both.
fn leaks(views: [&Residues; 2], parts: [&Noised; 2], shape: SumShape) -> bool {
    let difference = |one: &[i64], other: &[i64]| -> Vec<i64> {
        let modulus = 1i64 << shape.bits();
        let pairs = one.iter().zip(other);
        pairs
            .map(|(one, other)| (one - other).rem_euclid(modulus))
            .collect()
    };
    let [one, other] = views.map(Residues::to_centred);
    let [first, second] = parts.map(Noised::values);
    let (shown, hidden) = (difference(&one, &other), difference(first, second));
    shown
        .iter()
        .zip(&hidden)
        .any(|(shown, hidden)| shown == hidden)
}

/// A client whose folder was restored is asked again: in another context its second vector is under
/// other masks of both kinds, also for a coordinator that rebuilt its own mask of the first.
#[test]
fn a_client_put_back_into_another_context_hides_its_second_vector_under_other_masks() {
    let participation = participation(3, 3, 0);
    let mut world = World::new(participation, 3, 40, 1);
    world.exchange_keys(&[], &[]);
    let shape = world.study.sum(0).expect("a sum");
    let parts = [noised(participation, 3, 1), noised(participation, 3, 2)];
    let twin = || {
        let mut twin = World::new(participation, 3, 40, 1);
        twin.exchange_keys(&[], &[]);
        twin.clients.swap_remove(0)
    };
    let [one, other] = &parts;
    let first = opened(&world, &mut twin(), &CONTEXT, one);
    let second = opened(&world, &mut twin(), &[8; 32], other);
    assert!(!leaks([&first, &second], [one, other], shape));
    // In the same context one mask hides both, as a planted bug (no context in the pairwise masks)
    // would have it in two: the check sees that.
    let again = opened(&world, &mut twin(), &CONTEXT, other);
    assert!(leaks([&first, &again], [one, other], shape));
    // No own mask is used in two contexts.
    let study = world.study.id();
    let own = secret(0).self_seed(study, 0).expect("kept");
    let masks = [[7; 32], [8; 32]].map(|context| self_mask_seed(&own, study, (0, &context)));
    assert!(masks.first() != masks.last());
}

/// Uploads to the first sum, as residues from which the coordinator has taken the senders' own
/// masks, which it rebuilds; and the vectors that they hide.
fn views(clients: u32, shape: SumShape) -> Vec<(Residues, Residues)> {
    let participation = participation(clients, clients, 0);
    let mut world = World::new(participation, shape.coordinates(), shape.bits(), 1);
    world.exchange_keys(&[], &[]);
    let mut views = Vec::new();
    for (id, client) in (0..clients).zip(&mut world.clients) {
        let part = noised(participation, shape.coordinates(), u64::from(id));
        client.upload(0, &CONTEXT, &part).expect("uploads");
        let mut view = Residues::zero(shape);
        while let Some(output) = client.poll_output() {
            let Output::Send(message) = output else {
                continue;
            };
            let Ok(Body::Upload(upload)) = Body::decode(Phase::Upload, &message.body) else {
                panic!("not an upload")
            };
            assert!(view.add_packed(&upload.packed));
        }
        let study = world.study.id();
        let own = self_mask_seed(
            &secret(id).self_seed(study, 0).expect("kept"),
            study,
            (0, &CONTEXT),
        );
        view.add_mask(&own, Sign::Minus);
        let mut hidden = Residues::zero(shape);
        hidden.add_values(part.values());
        views.push((view, hidden));
    }
    views
}

fn total<'r>(parts: impl IntoIterator<Item = &'r Residues>, shape: SumShape) -> Residues {
    let mut total = Residues::zero(shape);
    for part in parts {
        assert!(total.add_packed(&part.pack()));
    }
    total
}

/// Why these residues are not those of independent uniform numbers.
fn flaws(residues: &Residues, shape: SumShape) -> Vec<String> {
    let modulus = 1i64 << shape.bits();
    let values = residues.to_centred();
    let values: Vec<i64> = values
        .iter()
        .map(|value| value.rem_euclid(modulus))
        .collect();
    let index = |value: i64| usize::try_from(value).expect("small");
    let mut flaws = Vec::new();
    let widths = [1, 2, 3, 5, 8, 11].into_iter();
    for bits in widths.filter(|bits| *bits <= shape.bits()) {
        let low = values.iter().map(|value| index(value % (1 << bits)));
        if !is_uniform(low, 1 << bits) {
            flaws.push(format!("the residues modulo 2^{bits}"));
        }
        let high = values
            .iter()
            .map(|value| index(value >> (shape.bits() - bits)));
        if !is_uniform(high, 1 << bits) {
            flaws.push(format!("the upper {bits} bits"));
        }
    }
    let next = values.iter().skip(1);
    let pairs = values
        .iter()
        .zip(next)
        .map(|(one, other)| index(one % 16 * 16 + other % 16));
    if !is_uniform(pairs, 256) {
        flaws.push("pairs".to_owned());
    }
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let reals: Vec<f64> = values.iter().map(|value| *value as f64).collect();
    if (1..=16).any(|lag| serial_correlation(&reals, lag).abs() > DEVIATE) {
        flaws.push("serial correlation".to_owned());
    }
    flaws
}

#[test]
fn an_upload_is_uniform_whatever_else_is_known() {
    for bits in [11, 16, 20] {
        let shape = SumShape::new(60_000, bits).expect("legal");
        let views = views(3, shape);
        // Any of them, and any two, with their own masks taken off.
        for left_out in 0..3 {
            let others = || (0..).zip(&views).filter(move |(id, _)| *id != left_out);
            let pair = total(others().map(|(_, (view, _))| view), shape);
            assert_eq!(
                flaws(&pair, shape),
                [""; 0],
                "{bits} bits, all but {left_out}"
            );
        }
        for (view, hidden) in &views {
            assert_eq!(flaws(view, shape), [""; 0], "{bits} bits");
            // The upload does not depend on what it hides.
            let mut difference = Residues::zero(shape);
            difference.add_values(
                &hidden
                    .to_centred()
                    .iter()
                    .map(|value| -value)
                    .collect::<Vec<_>>(),
            );
            assert!(difference.add_packed(&view.pack()));
            assert_eq!(flaws(&difference, shape), [""; 0], "{bits} bits");
        }
        // All of them are what they should be, and nothing is hidden any more.
        let all = total(views.iter().map(|(view, _)| view), shape);
        let hidden = total(views.iter().map(|(_, hidden)| hidden), shape);
        assert_eq!(all.to_centred(), hidden.to_centred());
        assert!(!flaws(&all, shape).is_empty());
    }
}

#[test]
fn impostors_are_distinguished_from_uniform_uploads() {
    let shape = SumShape::new(60_000, 16).expect("legal");
    let (_, hidden) = views(2, shape).swap_remove(0);
    let masked = |mask: &dyn Fn(&mut Stream) -> i64| {
        let mut stream = Stream::new(&[5; 32]);
        let mut residues = Residues::zero(shape);
        let values = hidden
            .to_centred()
            .into_iter()
            .map(|value| value + mask(&mut stream));
        residues.add_values(&values.collect::<Vec<_>>());
        flaws(&residues, shape)
    };
    let draw = |stream: &mut Stream, below: u64| i64::try_from(stream.below(below)).expect("small");
    assert_eq!(
        masked(&|stream| draw(stream, 1 << 16)),
        [""; 0],
        "a good mask"
    );
    // Without a pairwise mask nothing is left when the own mask is off.
    assert!(!masked(&|_| 0).is_empty());
    // A mask of one bit too few, of an odd modulus, and one that is a little uneven.
    assert!(!masked(&|stream| draw(stream, 1 << 15)).is_empty());
    assert!(!masked(&|stream| draw(stream, 40_000)).is_empty());
    assert!(!masked(&|stream| draw(stream, (1 << 16) + 9000)).is_empty());
    // One word of key stream for two entries is uniform in each of them, and not in both.
    let last = core::cell::Cell::new(None);
    let twice = masked(&|stream| match last.take() {
        Some(word) => word,
        None => {
            let word = draw(stream, 1 << 16);
            last.set(Some(word));
            word
        }
    });
    assert!(twice.contains(&"pairs".to_owned()), "{twice:?}");
    // A slowly changing mask.
    let sum = core::cell::Cell::new(0);
    let slow = masked(&|stream| {
        sum.set(sum.get() + draw(stream, 1 << 12));
        sum.get()
    });
    assert!(slow.contains(&"serial correlation".to_owned()), "{slow:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pairwise_masks_of_all_clients_cancel_and_those_of_fewer_do_not(
        clients in 2..7u32,
        bits in 9..=62u32,
        missing in any::<u32>(),
    ) {
        let shape = SumShape::new(4, bits).expect("legal");
        let views = views(clients, shape);
        let hidden = total(views.iter().map(|(_, hidden)| hidden), shape);
        let view = total(views.iter().map(|(view, _)| view), shape);
        prop_assert_eq!(view.to_centred(), hidden.to_centred());
        let fewer = || (0..).zip(&views).filter(|(id, _)| *id != missing % clients).map(|(_, both)| both);
        let (view, hidden) = (total(fewer().map(|(view, _)| view), shape), total(fewer().map(|(_, hidden)| hidden), shape));
        prop_assert_ne!(view.to_centred(), hidden.to_centred());
    }
}

/// The secrets that the coordinator can interpolate, by sum, owner and kind.
fn interpolated(world: &World) -> BTreeMap<(u32, u32, bool), Share> {
    let mut points = BTreeMap::<(u32, u32, bool), Vec<(u8, Share)>>::new();
    let graph = world.study.graph();
    let messages = world
        .transcript
        .iter()
        .filter_map(|bytes| SignedMessage::decode(bytes).ok());
    for message in messages {
        let Ok(Body::Unmask(unmask)) = Body::decode(message.phase, &message.body) else {
            continue;
        };
        for share in unmask.shares {
            let owner = graph
                .neighbour(message.sender, u32::from(share.slot))
                .expect("a neighbour");
            let point = graph.slot(owner, message.sender).expect("a neighbour") + 1;
            let key = (message.sum, owner.0, share.kind == ShareKind::MaskKey);
            points
                .entry(key)
                .or_default()
                .push((point, Share::from_bytes(share.share)));
        }
    }
    let threshold = world.study.parameters().threshold() as usize;
    points.retain(|_, shares| shares.len() >= threshold);
    let value = |shares: Vec<(u8, Share)>| Polynomial::through(shares.split_at(threshold).0).at(0);
    points
        .into_iter()
        .map(|(key, shares)| (key, value(shares)))
        .collect()
}

#[test]
fn a_sum_opens_one_secret_of_each_client_and_none_of_another_sum() {
    let mut world = World::new(participation(6, 4, 1), 3, 16, 4);
    world.exchange_keys(&[], &[]);
    world.sum(0, &[2], &[], &[]);
    world.sum(1, &[4], &[1], &[]);
    let opened = interpolated(&world);
    let study = world.study.id();
    for owner in 0..6 {
        let secrets: Vec<(u32, bool, Share)> = (0..4)
            .flat_map(|sum| {
                let key = secret(owner).mask_secret(study, sum).expect("kept");
                let own = secret(owner).self_seed(study, sum).expect("kept");
                let key = Share::from_bytes(*key.expose());
                let own = Share::from_bytes(*own.expose());
                [(sum, true, key), (sum, false, own)]
            })
            .collect();
        for (sum, dropped) in [(0, 2), (1, 4)] {
            let is_key = owner == dropped;
            let secret = opened
                .get(&(sum, owner, is_key))
                .expect("what the sum needs");
            assert!(
                !opened.contains_key(&(sum, owner, !is_key)),
                "the other kind is not there"
            );
            for (other, other_is_key, hidden) in &secrets {
                let is_it = (*other, *other_is_key) == (sum, is_key);
                assert_eq!(
                    secret == hidden,
                    is_it,
                    "sum {sum} opens sum {other} of {owner}"
                );
            }
        }
    }
    assert!(
        opened.keys().all(|(sum, _, _)| *sum < 2),
        "nothing of sums that were not asked for"
    );
}

/// The Shares message of `owner` with a share for `victim` that is none.
fn badly_dealt(
    world: &World,
    owner: &Client,
    honest: &SignedMessage,
    victim: ClientId,
) -> SignedMessage {
    let Stage::Sharing(sharing) = &owner.phase else {
        panic!("not sharing")
    };
    let peer = sharing
        .peers
        .iter()
        .find(|peer| peer.id == victim)
        .expect("a neighbour");
    let (study, route) = (world.study.id(), (owner.id(), victim));
    let sealing = secret(owner.id().0).sealing_key(study).expect("kept");
    let sealed_by = crate::pair::agree(&sealing, peer.channel_key().expect("a key"));
    let key = peer
        .channel
        .bundle_key(&sealed_by.expect("full order"), study, route);
    let Ok(Body::Shares(mut shares)) = Body::decode(Phase::Shares, &honest.body) else {
        panic!("not shares")
    };
    for bundle in &mut shares.bundles {
        if bundle.slot == peer.slot {
            let sealed = &bundle.sealed;
            let mut plain = bundle::decrypt(&key, study, route, sealed).expect("its own bundle");
            plain.iter_mut().for_each(|byte| *byte ^= 0x55);
            bundle.sealed = bundle::encrypt(&key, study, route, &plain);
        }
    }
    let body = Body::Shares(shares).encode();
    SignedMessage::sign(
        &owner.own.identity,
        study,
        Phase::Shares,
        0,
        owner.id(),
        body,
    )
}

#[test]
fn an_owner_that_deals_a_wrong_share_does_not_frame_its_neighbour() {
    let (owner, victim) = (ClientId(2), ClientId(5));
    let mut world = World::new(participation(6, 4, 1), 3, 16, 1);
    for _ in 0..2 {
        world.deliver(&[]);
        world.coordinator.close_phase();
    }
    while let Some(crate::CoordinatorOutput::Send(to, notice)) = world.coordinator.poll_output() {
        let client = world.clients.get_mut(to.0 as usize).expect("a client");
        client.handle_message(&notice).expect("ciphertexts");
    }
    let dealer = world.clients.get_mut(owner.0 as usize).expect("a client");
    let said = core::iter::from_fn(|| dealer.poll_output());
    let sent = said.filter_map(|output| match output {
        Output::Send(message) => Some(message),
        Output::Persist(_) => None,
    });
    let honest = sent.last().expect("shares");
    let dealer = world.clients.get(owner.0 as usize).expect("a client");
    let bad = badly_dealt(&world, dealer, &honest, victim);
    world
        .coordinator
        .handle_message(owner, &bad)
        .expect("it cannot be seen");
    world.deliver(&[]);
    world.coordinator.close_phase();
    world.deliver(&[]);
    let expected = world.sum(0, &[], &[], &[]);
    assert_eq!(world.last_values(), expected);
    let Some(crate::SumOutcome::Unmasked(sum)) = world.outcomes.last() else {
        panic!("no sum")
    };
    let pair = crate::WrongShare {
        sender: victim,
        owner,
    };
    assert_eq!(sum.wrong_shares(), [pair]);
    assert_eq!(sum.culprits(), [], "either of the two may have lied");
}

#[test]
fn neither_clients_nor_their_secrets_nor_shares_print() {
    let mut world = World::new(participation(3, 3, 0), 2, 16, 1);
    world.exchange_keys(&[], &[]);
    world.coordinator.open_sum(0, CONTEXT).expect("idle");
    for id in 0..3 {
        let part = noised(world.study.participation(), 2, id);
        let client = world.clients.get_mut(usize::try_from(id).expect("small"));
        client
            .expect("a client")
            .upload(0, &CONTEXT, &part)
            .expect("uploads");
    }
    for _ in 0..3 {
        world.deliver(&[]);
        let printed = format!("{:?} {:?}", world.coordinator, world.clients);
        for secret in [
            seed(0).to_stored(),
            *secret(1)
                .mask_secret(world.study.id(), 0)
                .expect("kept")
                .expose(),
            *secret(2)
                .self_seed(world.study.id(), 0)
                .expect("kept")
                .expose(),
        ] {
            let start = format!("{:?}", &secret.split_at(8).0);
            assert!(!printed.contains(start.trim_matches(['[', ']'])));
        }
        for message in world
            .transcript
            .iter()
            .filter_map(|bytes| SignedMessage::decode(bytes).ok())
        {
            if let Ok(Body::Unmask(unmask)) = Body::decode(message.phase, &message.body) {
                let printed = format!("{printed} {unmask:?} {message:?}");
                for share in unmask.shares {
                    let start = format!("{:?}", &share.share.split_at(4).0);
                    assert!(!printed.contains(start.trim_matches(['[', ']'])));
                }
            }
        }
        if world.outcomes.is_empty() {
            world.coordinator.close_phase();
        }
    }
}

/// Secrets where each part has its own seed, so that some can be erased.
fn parts(client: u32) -> ClientSecrets {
    let groups = vec![Some(seed(200 + client)), Some(seed(300 + client))];
    ClientSecrets::new(seed(client), Some(seed(100 + client)), groups)
}

/// The thief has every message that was ever sent, and what is left in the folder: the root, from
/// which it computes what the client has agreed on with its neighbours.
#[test]
fn what_is_left_opens_no_bundle_that_its_owner_sealed_and_gives_no_mask_of_an_erased_sum() {
    let (study, identities) = world::study(participation(4, 3, 1), 3, 16, 2);
    let mut world = World::of(study, identities);
    for id in 0..4 {
        let identity = world.identities.get(id as usize).expect("a client").clone();
        let study = Arc::clone(&world.study);
        let client = Client::join(study, ClientId(id), identity, parts(id));
        *world.clients.get_mut(id as usize).expect("a client") = client.expect("on the roster");
    }
    world.exchange_keys(&[], &[]);
    world.sum(0, &[], &[], &[]);
    let client = world.clients.first_mut().expect("a client");
    client.forget(0);
    let left = &client.own.secrets;
    let study = world.study.id();
    assert!(left.mask_secret(study, 0).is_none() && left.self_seed(study, 0).is_none());
    assert!(left.dealing_seed(study, 0).is_none() && left.sealing_key(study).is_none());
    assert!(left.mask_secret(study, 1).is_some());
    let Stage::Ready(ready) = &client.phase else {
        panic!("not ready")
    };
    let messages = world.transcript.iter();
    let sealed = messages.filter_map(|bytes| SignedMessage::decode(bytes).ok());
    let of_client = |message: &SignedMessage| message.sender == ClientId(0);
    let shares = sealed.filter(of_client).find_map(|message| {
        match Body::decode(message.phase, &message.body) {
            Ok(Body::Shares(shares)) => Some(shares),
            _ => None,
        }
    });
    let sealing = parts(0).sealing_key(study).expect("before it was erased");
    let own_sealing = x25519_dalek::PublicKey::from(&sealing).to_bytes();
    for bundle in shares.expect("its shares").bundles {
        let trusted = ready.trusted.iter().find(|t| t.peer.slot == bundle.slot);
        let peer = &trusted.expect("a neighbour").peer;
        let route = (ClientId(0), peer.id);
        let opened = |agreed: Option<crate::pair::Agreed>| {
            let key = peer
                .channel
                .bundle_key(&agreed.expect("full order"), study, route);
            bundle::decrypt(&key, study, route, &bundle.sealed).is_some()
        };
        let theirs = peer.channel_key().expect("a key");
        let root = left.channel_key(study);
        assert!(!opened(crate::pair::agree(&root, theirs)));
        assert!(!opened(crate::pair::agree(&root, &own_sealing)));
        // With what was erased it opens, so that the test could have failed.
        assert!(opened(crate::pair::agree(&sealing, theirs)));
    }
}
