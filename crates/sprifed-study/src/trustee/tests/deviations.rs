//! Trustees and parties that deviate, in studies whose gates are proved.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use sprifed_trustees::test_support::{FrameKind, OpenedFrame};
use sprifed_trustees::{ClientKeys, Upload};

use super::*;
use crate::party_key::PartyKey;
use crate::receipt::Verified;
use crate::test_trustees::{Deviate, small_proved};
use crate::trustee_attempt::RefusedPart;

/// The first choice of the study.
fn choice_of(agreed: &Agreed) -> u32 {
    let mut steps = 0..agreed.n_steps();
    let step = steps.find(|step| agreed.step(*step).is_none());
    u32::try_from(step.expect("a choice")).expect("few")
}

/// The first sum with verified norms.
fn norms_of(agreed: &Agreed) -> u32 {
    let clients: Vec<_> = agreed.roster().clients().collect();
    let steps = 0..agreed.n_steps();
    let has_norms = |step: &usize| {
        let trustees = agreed.trustees().expect("trustees");
        let step = trustees.step(*step).expect("planned");
        step.norm_circuit(&clients).is_some()
    };
    let step = steps.into_iter().find(has_norms);
    u32::try_from(step.expect("norms")).expect("few")
}

/// Where a frame of an attempt is: its sender and receiver, which of the two sets, its kind and its round.
type Place = (TrusteeId, TrusteeId, usize, FrameKind, u32);

/// Shows each frame of the first attempt at `step` to `look`, which may change it.
fn frames_of(step: u32, mut look: impl FnMut(Place, &mut Vec<u64>) + 'static) -> Deviate {
    let mut sets: Vec<[u8; 32]> = Vec::new();
    Box::new(move |trustee, report| {
        let Report::Trustees(TrusteesReport::Peer { to, bytes }) = report else {
            return report;
        };
        let unchanged = |bytes| Report::Trustees(TrusteesReport::Peer { to, bytes });
        let (me, Some(links)) = (trustee.id(), trustee.key().links()) else {
            return unchanged(bytes);
        };
        let [previous, next] = links;
        let link = if to == me.next() { next } else { previous };
        let present = trustee.attempt.as_ref();
        let present = present.and_then(|(sum, attempt)| {
            let (of, _) = trustee.agreed.step_of(*sum)?;
            (u32::try_from(of) == Ok(step)).then(|| attempt.set().copied())?
        });
        if let Some(set) = present.filter(|set| !sets.contains(set)) {
            sets.push(set);
        }
        let Some(key) = link.key(step) else {
            return unchanged(bytes);
        };
        let found = sets.iter().enumerate().find_map(|(number, set)| {
            let frame = OpenedFrame::open(&bytes, &key, set, (me, to))?;
            Some((number, frame))
        });
        let Some((number, mut frame)) = found else {
            return unchanged(bytes);
        };
        look(
            (me, to, number, frame.kind(), frame.number),
            &mut frame.words,
        );
        unchanged(frame.seal())
    })
}

/// All frames of the first attempt at `step`, with their numbers of words, of a study that ends as it should.
fn frames(agreed: &Arc<Agreed>, world: &TestWorld, step: u32) -> Vec<(Place, usize)> {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let mut net = Net::new(agreed, world);
    let all = Rc::clone(&seen);
    net.deviate = Some(frames_of(step, move |place, words| {
        all.borrow_mut().push((place, words.len()));
    }));
    net.run_steps(step as usize + 1, |_, _| ());
    assert!(net.ended.is_none());
    seen.take()
}

/// A study in which one bit of one frame is changed.
fn with_changed_bit<'a>(
    agreed: &Arc<Agreed>,
    world: &'a TestWorld,
    (at, word): (Place, usize),
    step: u32,
) -> Net<'a> {
    let mut net = Net::new(agreed, world);
    let mut is_changed = false;
    net.deviate = Some(frames_of(step, move |place, words| {
        if place == at && !is_changed {
            is_changed = true;
            words[word] ^= 1;
        }
    }));
    net.run_steps(step as usize + 1, |_, _| ());
    net
}

/// A frame of each kind, of each set and of each trustee: the first, one in the middle and the last of them. Deals define
/// noise, whatever they are.
fn some_of_each(frames: &[(Place, usize)]) -> Vec<(Place, usize)> {
    let kind = |(from, to, set, kind, _): Place| (from, to, set, kind);
    let mut picked = BTreeSet::new();
    for (place, _) in frames {
        if place.3 == FrameKind::Deal {
            continue;
        }
        let same: Vec<_> = frames
            .iter()
            .filter(|(other, _)| kind(*other) == kind(*place))
            .collect();
        for at in [0, same.len() / 2, same.len() - 1] {
            let (place, words) = *same[at];
            picked.insert((place, words - 1));
        }
    }
    picked.into_iter().collect()
}

/// What must hold after a trustee deviated in `step`.
fn check_refused(net: &Net<'_>, step: u32, who: TrusteeId, kind: FrameKind) -> Verified {
    let receipt = net.receipt();
    assert_eq!(net.coordinator.transcript().released().len(), step as usize);
    assert!(receipt.receipt.fit.is_none());
    let ending = &receipt.receipt.ending;
    assert!(ending.contains("deviated from the protocol"), "{ending}");
    let Some(Outcome::Refused { refused, .. }) =
        receipt.receipt.sums.last().map(|sum| &sum.outcome)
    else {
        panic!("{:?}", receipt.receipt.sums.last());
    };
    match kind {
        FrameKind::Opening => assert!(matches!(refused.part, RefusedPart::Opening(_))),
        _ => assert!(matches!(refused.part, RefusedPart::Proof(_))),
    }
    for honest in who.peers() {
        let lines: Vec<AttemptLine> = net.lines[honest.place()]
            .iter()
            .filter_map(book_line)
            .collect();
        let of_step = lines
            .iter()
            .rposition(|line| matches!(line, AttemptLine::Charged { step: of, .. } if *of == step));
        let of_step = &lines[of_step.expect("begun")..];
        // Before anything is opened, or before anything that was opened is accepted.
        let is_opened = of_step
            .iter()
            .any(|line| matches!(line, AttemptLine::Opening | AttemptLine::Opened { .. }));
        assert!(!is_opened || kind == FrameKind::Opening, "{of_step:?}");
        assert!(
            matches!(of_step.last(), Some(AttemptLine::Refused { .. })),
            "{of_step:?}"
        );
    }
    receipt.verify().expect("a good receipt")
}

#[test]
fn one_changed_bit_ends_the_study_before_anything_is_opened() {
    let (agreed, world) = (small_proved(1), world());
    let mut kinds = BTreeSet::new();
    for step in [norms_of(&agreed), choice_of(&agreed)] {
        let picked = some_of_each(&frames(&agreed, &world, step));
        // Some of them for each test run; the crate of the trustees tries all bits of a smaller one.
        for (at, word) in picked.into_iter().step_by(5) {
            let (who, _, set, kind, number) = at;
            let net = with_changed_bit(&agreed, &world, (at, word), step);
            assert!(net.ended.is_some(), "{who}: {kind:?} {number} of set {set}");
            let verified = check_refused(&net, step, who, kind);
            assert!(verified.is_confirmed());
            kinds.insert((set, kind));
        }
    }
    assert!(kinds.len() >= 5, "{kinds:?}");
}

/// The control: what the proof is for.
#[test]
fn without_the_proof_a_changed_bit_is_not_found() {
    let (agreed, world) = (small(0), world());
    let step = choice_of(&agreed);
    let all = frames(&agreed, &world, step);
    let is_gates = |((.., kind, _), _): &&(Place, usize)| *kind == FrameKind::Layer;
    let (at, words) = *all.iter().find(is_gates).expect("gates");
    let net = with_changed_bit(&agreed, &world, (at, words - 1), step);
    assert!(net.ended.is_none());
    assert_eq!(
        net.coordinator.transcript().released().len(),
        step as usize + 1
    );
}

#[test]
fn nothing_of_a_study_goes_on_after_a_refusal() {
    let (agreed, world) = (small_proved(3), world());
    let step = choice_of(&agreed);
    let all = frames(&agreed, &world, step);
    let is_gates = |((from, _, _, kind, _), _): &&(Place, usize)| {
        (*from, *kind) == (TrusteeId::ALL[1], FrameKind::Layer)
    };
    let (at, words) = *all.iter().find(is_gates).expect("gates");
    let mut net = with_changed_bit(&agreed, &world, (at, words - 1), step);
    check_refused(&net, step, at.0, FrameKind::Layer);
    // Restarted, the honest ones refuse a next attempt that the coordinator orders, with a proof or without.
    let transcript = net.coordinator.transcript().head();
    for honest in [0, 2] {
        net.start_trustee(honest);
        let trustee = net.trustees[honest].as_mut().expect("running");
        // It signed the receipt, so it is over whatever comes.
        assert!(trustee.is_over());
        let order = TrusteesOrder::Attempt {
            sum: agreed.sum_number(step as usize, 1).expect("agreed"),
            transcript,
            question: Digest([0; 32]),
            unopened: Vec::new(),
        };
        let bytes = Order::Trustees(order).encode();
        assert_eq!(trustee.receive(&bytes), Err(TrusteeRefused::Over));
    }
    // Without the receipt the journal itself refuses.
    let lines: Vec<AttemptLine> = net.lines[0].iter().filter_map(book_line).collect();
    let book = Book::from_stored(&lines).expect("a book");
    for is_unopened in [true, false] {
        assert!(matches!(
            book.charge(step, 1, is_unopened),
            Err(OutOfOrder::Ended { .. })
        ));
    }
}

/// The finding of one trustee, which tells the coordinator alone, ends the study as well; one that is forged does not.
#[test]
fn a_coordinator_believes_signed_findings_only() {
    let (agreed, world) = (small_proved(0), world());
    let step = choice_of(&agreed);
    let all = frames(&agreed, &world, step);
    let is_gates = |((.., kind, _), _): &&(Place, usize)| *kind == FrameKind::Layer;
    let (at, words) = *all.iter().find(is_gates).expect("gates");
    let mut change = {
        let mut is_changed = false;
        frames_of(step, move |place, found| {
            if place == at && !is_changed {
                is_changed = true;
                found[words - 1] ^= 1;
            }
        })
    };
    let forged = Rc::new(RefCell::new(0));
    let count = Rc::clone(&forged);
    let mut net = Net::new(&agreed, &world);
    net.deviate = Some(Box::new(move |trustee, report| {
        match change(trustee, report) {
            Report::Trustees(TrusteesReport::Refused(mut bytes)) => {
                *count.borrow_mut() += 1;
                let last = bytes.len() - 1;
                bytes[last] ^= 1;
                Report::Trustees(TrusteesReport::Refused(bytes))
            }
            other => other,
        }
    }));
    net.run_steps(step as usize + 1, |_, _| ());
    assert!(*forged.borrow() > 0);
    assert_eq!(net.refused.len(), *forged.borrow());
    let receipt = net.receipt();
    assert!(receipt.receipt.fit.is_none());
    let last = receipt.receipt.sums.last().expect("an attempt");
    assert!(
        matches!(last.outcome, Outcome::Abandoned { .. }),
        "{last:?}"
    );
}

/// A verifier that was restarted takes nothing more of the attempt, whatever the prover sends now.
#[test]
fn another_proof_after_a_restart_of_its_verifier_is_refused() {
    let (agreed, world) = (small_proved(1), world());
    let step = choice_of(&agreed);
    let sent = Rc::new(RefCell::new(Vec::new()));
    let all = Rc::clone(&sent);
    let [verifier, prover, _] = TrusteeId::ALL;
    let mut net = Net::new(&agreed, &world);
    let mut look = frames_of(step, |place, words| {
        // Another proof than the honest one.
        if (place.0, place.1, place.3) == (TrusteeId::ALL[1], TrusteeId::ALL[0], FrameKind::Proof) {
            words[0] ^= 2;
        }
    });
    net.deviate = Some(Box::new(move |trustee, report| {
        let changed = look(trustee, report.clone());
        if changed != report
            && let Report::Trustees(TrusteesReport::Peer { to, bytes }) = &changed
            && *to == verifier
        {
            all.borrow_mut().push(bytes.clone());
        }
        report
    }));
    // The verifier is killed in the middle of the proofs.
    net.run_steps(step as usize, |_, _| ());
    let before = net.effects[verifier.place()];
    let mut whole = Net::new(&agreed, &world);
    whole.run_steps(step as usize + 1, |_, _| ());
    let after = whole.effects[verifier.place()];
    net.kills.push(Kill {
        trustee: verifier.place(),
        after: before + (after - before) * 3 / 4,
    });
    let mut is_tried = false;
    let seat = net.seat(verifier.place());
    net.run_steps(step as usize + 1, |net, _| {
        if net.kills.is_empty() && !is_tried && !sent.borrow().is_empty() {
            is_tried = true;
            let lines = net.lines[verifier.place()].clone();
            for bytes in sent.take() {
                let order = TrusteesOrder::Peer {
                    from: prover,
                    bytes,
                };
                let refused = net.refused_by_trustees.len();
                net.hand_over(seat, &Order::Trustees(order).encode());
                assert_eq!(net.refused_by_trustees.len(), refused + 1);
            }
            assert_eq!(net.lines[verifier.place()], lines, "nothing is stored");
        }
    });
    assert!(is_tried);
    assert!(net.ended.is_none(), "the next attempt is honest");
    check_openings(&net);
}

#[test]
fn kills_in_a_proved_step_open_nothing_twice_and_end_nothing() {
    let (agreed, world) = (small_proved(1), world());
    for step in [norms_of(&agreed), choice_of(&agreed)] {
        let mut whole = Net::new(&agreed, &world);
        whole.run_steps(step as usize, |_, _| ());
        let before = whole.effects;
        whole.run_steps(step as usize + 1, |_, _| ());
        let after = whole.effects;
        for trustee in 0..3 {
            let many = after[trustee] - before[trustee];
            for part in 1..5 {
                let mut net = Net::new(&agreed, &world);
                let killed = before[trustee] + many * part / 5;
                net.kills.push(Kill {
                    trustee,
                    after: killed,
                });
                net.run_steps(step as usize + 1, |_, _| ());
                assert!(net.kills.is_empty());
                assert!(net.ended.is_none(), "{trustee} {killed}");
                check_openings(&net);
                // No frame of a proof that was begun comes again: each attempt has a set of its own.
                let refused = net.refused_by_trustees.iter();
                let findings = refused.filter(|(_, why)| {
                    matches!(why, TrusteeRefused::OutOfOrder(OutOfOrder::Ended { .. }))
                });
                assert_eq!(findings.count(), 0, "an honest run is not refused");
            }
        }
    }
}

/// The upload of a party, with numbers at the edge of their width.
pub(super) fn forged_upload(
    agreed: &Agreed,
    place: usize,
    key: &PartyKey,
    bytes: &[u8],
) -> Vec<u8> {
    let upload = Upload::decode(bytes).expect("its own");
    let attempt = *upload.attempt();
    let client = upload.client();
    assert_eq!(client.0 as usize, place);
    let step = agreed
        .trustees()
        .and_then(|all| all.step(attempt.step as usize))
        .expect("planned");
    let bits = step.client_bits(client).expect("in the plan");
    let numbers = vec![(1i64 << (bits - 1)) - 1; step.n_numbers() as usize];
    let planes = step.contribution(client, &numbers).expect("they fit");
    let (own, trustees) = key.upload_keys(&attempt).expect("enrolled");
    let keys = ClientKeys {
        identity: &key.identity(),
        own: &own,
        trustees: &trustees,
    };
    Upload::new(attempt, client, &planes, &keys).encode()
}

#[test]
fn a_party_that_leaves_its_norm_is_named_and_left_out() {
    let (agreed, world) = (small_proved(0), world());
    let step = norms_of(&agreed);
    let mut net = Net::new(&agreed, &world);
    let forging = Arc::clone(&agreed);
    net.forge = Some(Box::new(move |place, key, report| match report {
        Report::Trustees(TrusteesReport::Upload(bytes)) if place == 2 => {
            let upload = Upload::decode(&bytes).expect("its own");
            let bytes = match upload.attempt().step == step {
                true => forged_upload(&forging, place, key, &bytes),
                false => bytes,
            };
            Report::Trustees(TrusteesReport::Upload(bytes))
        }
        other => other,
    }));
    net.run(|_, _| ());
    let released = net.coordinator.transcript().released();
    for (number, one) in (0..).zip(released) {
        let (inside, outside): (&[u32], &[u32]) = match number == step {
            true => (&[0, 1, 3], &[2]),
            false => (&[0, 1, 2, 3], &[]),
        };
        assert_eq!((&*one.survivors, &*one.outside), (inside, outside));
    }
    let receipt = net.receipt();
    assert_eq!(receipt.receipt.ending, "complete");
    // The run in one process without that party in that step: the same noise, so the same model.
    assert_eq!(receipt.receipt.fit, Some(embedded(&net, &world)));
    check(&net);
    let verified = receipt.verify().expect("a good receipt");
    let said: Vec<String> = verified
        .records_in_sums
        .iter()
        .map(ToString::to_string)
        .collect();
    let named = "left out because of their numbers: party 2";
    assert!(said.iter().any(|line| line.contains(named)), "{said:?}");
    // Receipts and transcripts that name another party, or none, are refused.
    for outside in [vec![], vec![1], vec![2, 7], vec![2, 3]] {
        let mut other = released.to_vec();
        other[step as usize].outside.clone_from(&outside);
        assert!(receipt.verify_transcript(&other).is_err());
        let mut changed = receipt.receipt.clone();
        if let Outcome::Opened { outside: named, .. } = &mut changed.sums[step as usize].outcome {
            *named = outside;
        }
        let changed = changed.sign(&PartyKey::simulated(6, 0).identity());
        assert!(changed.verify().is_err() || changed.verify_transcript(&other).is_err());
        assert!(changed.verify_transcript(released).is_err());
    }
}

/// Which parties are counted is in the transcript, whichever trustee signed it.
#[test]
fn a_transcript_counts_the_same_parties_whether_or_not_trustees_sign() {
    let (agreed, world) = (small_proved(0), world());
    let mut net = Net::new(&agreed, &world);
    net.run_steps(1, |_, _| ());
    let transcript = Transcript::begin(agreed.digest());
    let signed = net.coordinator.transcript().released()[0].clone();
    let mut unsigned = signed.clone();
    unsigned.trustees = None;
    assert_eq!(
        transcript.head_after(&signed),
        transcript.head_after(&unsigned)
    );
    let mut outside = unsigned.clone();
    outside.outside = vec![2];
    assert_ne!(
        transcript.head_after(&outside),
        transcript.head_after(&unsigned)
    );
    let mut other = outside.clone();
    other.outside = vec![2, 3];
    assert_ne!(
        transcript.head_after(&outside),
        transcript.head_after(&other)
    );
}
