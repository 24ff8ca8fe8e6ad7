//! A coordinator that lies, and clients that replay.

use std::cell::RefCell;
use std::rc::Rc;

use sprifed_trustees::Upload;

use super::deviations::forged_upload;
use super::*;

fn order(bytes: &[u8]) -> Option<TrusteesOrder> {
    match Order::decode(bytes) {
        Ok(Order::Trustees(order)) => Some(order),
        _ => None,
    }
}

fn encoded(order: TrusteesOrder) -> Vec<u8> {
    Order::Trustees(order).encode()
}

/// The first order to a trustee for which `pick` says something.
fn told<T>(net: &Net<'_>, pick: impl Fn(TrusteesOrder) -> Option<T>) -> T {
    let mut told = net.told.iter();
    let found = told.find_map(|(_, bytes)| pick(order(bytes)?));
    found.expect("it was told")
}

#[test]
fn an_upload_that_one_trustee_does_not_get_is_left_out_for_all() {
    let (agreed, world) = (small(0), world());
    let mut net = Net::new(&agreed, &world);
    let seat = net.seat(1);
    let mut seen = 0;
    net.lie = Some(Box::new(move |to, bytes| match order(&bytes) {
        Some(TrusteesOrder::Upload(upload)) if to == seat => {
            seen += 1;
            match seen {
                // Another client's bytes in place of the first upload.
                1 => encoded(TrusteesOrder::Upload(upload[1..].to_vec())),
                _ => bytes,
            }
        }
        _ => bytes,
    }));
    net.run(|_, _| ());
    let released = net.coordinator.transcript().released();
    assert_eq!(released[0].survivors.len(), 3);
    assert_eq!(released[1].survivors.len(), 4);
    assert_eq!(net.receipt().receipt.fit, Some(embedded(&net, &world)));
    check(&net);
}

#[test]
fn a_client_that_signs_two_uploads_for_different_trustees_is_left_out() {
    let (agreed, world) = (small(0), world());
    let mut net = Net::new(&agreed, &world);
    let (forging, seat) = (Arc::clone(&agreed), net.seat(2));
    let (second, passed_on) = (Rc::new(RefCell::new(None)), Rc::new(RefCell::new(0)));
    let is_forged = |bytes: &[u8]| {
        Upload::decode(bytes).is_ok_and(|one| (one.client().0, one.attempt().step) == (2, 0))
    };
    let made = Rc::clone(&second);
    net.forge = Some(Box::new(move |place, key, report| {
        if let Report::Trustees(TrusteesReport::Upload(bytes)) = &report
            && is_forged(bytes)
        {
            let other = forged_upload(&forging, place, key, bytes);
            assert_ne!(other, *bytes);
            *made.borrow_mut() = Some(other);
        }
        report
    }));
    let given = Rc::clone(&passed_on);
    net.lie = Some(Box::new(move |to, bytes| match order(&bytes) {
        Some(TrusteesOrder::Upload(upload)) if to == seat && is_forged(&upload) => {
            *given.borrow_mut() += 1;
            let other = second.borrow().clone().expect("made before");
            encoded(TrusteesOrder::Upload(other))
        }
        _ => bytes,
    }));
    net.run(|_, _| ());
    assert_eq!(*passed_on.borrow(), 1);
    // Each of the two is good in itself: no trustee refuses one.
    assert!(net.refused_by_trustees.is_empty());
    let released = net.coordinator.transcript().released();
    assert_eq!(released[0].survivors, [0, 1, 3]);
    assert_eq!(released[1].survivors.len(), 4);
    assert_eq!(net.receipt().receipt.fit, Some(embedded(&net, &world)));
    check(&net);
}

#[test]
fn a_set_without_clients_opens_nothing_and_is_not_charged_again() {
    let (agreed, world) = (small(1), world());
    let mut net = Net::new(&agreed, &world);
    // The first uploads of four parties to three trustees.
    let mut left = 12;
    net.lie = Some(Box::new(move |_, bytes| match order(&bytes) {
        Some(TrusteesOrder::Upload(mut upload)) if left > 0 => {
            left -= 1;
            let last = upload.len() - 1;
            upload[last] ^= 1;
            encoded(TrusteesOrder::Upload(upload))
        }
        _ => bytes,
    }));
    net.run(|_, _| ());
    let receipt = &net.receipt().receipt;
    assert!(matches!(receipt.sums[0].outcome, Outcome::Unopened { .. }));
    assert_eq!(receipt.ledger.entries.len(), agreed.n_steps());
    assert!(receipt.fit.is_some());
    check(&net);
}

#[test]
fn every_order_twice_changes_nothing() {
    let (agreed, world) = (small(0), world());
    let mut once = Net::new(&agreed, &world);
    once.run(|_, _| ());
    let mut twice = Net::new(&agreed, &world);
    twice.run(|net, _| {
        for (to, bytes) in net.told.clone() {
            net.hand_over(to, &bytes);
        }
        net.told.clear();
    });
    let fit = |net: &Net<'_>| net.receipt().receipt.fit.clone();
    assert_eq!(fit(&once), fit(&twice));
    for (one, other) in once.lines.iter().zip(&twice.lines) {
        let lines = |lines: &[TrusteeLine]| {
            let attempts = lines
                .iter()
                .filter(|line| matches!(line, TrusteeLine::Begun { .. }));
            attempts.cloned().collect::<Vec<_>>()
        };
        assert_eq!(lines(one), lines(other));
    }
    check(&twice);
}

#[test]
fn an_outcome_with_another_number_client_or_signature_is_refused() {
    let (agreed, world) = (small(0), world());
    let mut whole = Net::new(&agreed, &world);
    whole.run(|_, _| ());
    let released = whole.coordinator.transcript().released().to_vec();
    let mut net = Net::new(&agreed, &world);
    // The first step is over for no party yet.
    for _ in 0..4 {
        net.deliver();
        net.close();
    }
    let mut changed = vec![released[0].clone(); 4];
    changed[0].values[0] += 1;
    changed[1].survivors.pop();
    if let Some(signed) = &mut changed[2].trustees {
        signed.signatures[1] = signed.signatures[0];
    }
    changed[3].trustees = None;
    changed.push(released[1].clone());
    let trustee = net.seat(0);
    for wrong in changed {
        let is_next = wrong == released[1];
        let bytes = Order::Released(wrong).encode();
        let (parties, trustees) = (net.refused_by_parties.len(), net.refused_by_trustees.len());
        net.hand_over(ClientId(1), &bytes);
        assert_eq!(net.refused_by_parties.len(), parties + 1);
        // A trustee has the first outcome itself, and the next one is signed like any other.
        if !is_next {
            net.hand_over(trustee, &bytes);
            assert_eq!(net.refused_by_trustees.len(), trustees + 1);
        }
    }
}

#[test]
fn attempts_that_were_not_agreed_on_are_not_charged() {
    let (agreed, world) = (small(1), world());
    let mut net = Net::new(&agreed, &world);
    net.deliver();
    net.close();
    net.deliver();
    let (transcript, question) = told(&net, |order| match order {
        TrusteesOrder::Attempt {
            transcript,
            question,
            ..
        } => Some((transcript, question)),
        _ => None,
    });
    let attempt = |step, number, transcript| {
        encoded(TrusteesOrder::Attempt {
            sum: agreed.sum_number(step, number).unwrap_or(u32::MAX),
            transcript,
            question,
            unopened: Vec::new(),
        })
    };
    let seat = net.seat(0);
    let lines = net.lines[0].len();
    for bytes in [
        // More attempts than agreed, a later step, another transcript, another question.
        attempt(0, 2, transcript),
        attempt(1, 0, transcript),
        attempt(0, 1, Digest([9; 32])),
        encoded(TrusteesOrder::Attempt {
            sum: agreed.sum_number(0, 1).expect("agreed"),
            transcript,
            question: Digest([9; 32]),
            unopened: Vec::new(),
        }),
    ] {
        let refused = net.refused_by_trustees.len();
        net.hand_over(seat, &bytes);
        assert_eq!(net.refused_by_trustees.len(), refused + 1);
        assert_eq!(net.lines[0].len(), lines, "nothing was charged");
    }
    // The second attempt, with a proof that is forged: it is charged again, and the first is over.
    net.hand_over(
        seat,
        &encoded(TrusteesOrder::Attempt {
            sum: agreed.sum_number(0, 1).expect("agreed"),
            transcript,
            question,
            unopened: vec![UnopenedSum {
                sum: 0,
                signatures: [Signature([1; 64]); 3],
            }],
        }),
    );
    let charges = |net: &Net<'_>| {
        let lines = net.lines[0].iter().filter_map(book_line);
        Book::from_stored(&lines.collect::<Vec<_>>())
            .expect("a book")
            .charges()
    };
    assert_eq!(charges(&net), 2);
    let refused = net.refused_by_trustees.len();
    net.hand_over(seat, &attempt(0, 0, transcript));
    assert_eq!(
        net.refused_by_trustees.len(),
        refused + 1,
        "below one that was charged"
    );
    assert_eq!(charges(&net), 2);
}

#[test]
fn an_upload_is_taken_in_its_own_attempt_only() {
    let (agreed, world) = (small(1), world());
    let mut net = Net::new(&agreed, &world);
    let mut kept: Vec<Vec<u8>> = Vec::new();
    let (first, mut replayed) = (net.seat(0), 0);
    net.run(|net, phase| {
        // While the uploads of a step are collected, all earlier ones come once more.
        if phase % 3 == 2 {
            for bytes in &kept {
                let refused = net.refused_by_trustees.len();
                net.hand_over(first, bytes);
                let last = net.refused_by_trustees.get(refused);
                assert!(
                    matches!(
                        last,
                        Some((0, TrusteeRefused::Upload(UploadRefused::OtherAttempt)))
                    ),
                    "{last:?}"
                );
                replayed += 1;
            }
        }
        for (to, bytes) in &net.told {
            if *to == first && matches!(order(bytes), Some(TrusteesOrder::Upload(_))) {
                kept.push(bytes.clone());
            }
        }
        net.told.clear();
    });
    assert!(replayed > 10);
    assert_eq!(net.receipt().receipt.fit, Some(embedded(&net, &world)));
}

#[test]
fn a_journal_or_key_of_another_time_is_refused() {
    let (agreed, world) = (small(0), world());
    let mut net = Net::new(&agreed, &world);
    for _ in 0..6 {
        net.deliver();
        net.close();
    }
    net.deliver();
    let join = |key: TrusteeKey, place, lines: &[TrusteeLine]| {
        let identity = crate::agreement::tests::trustee_identity(place);
        StudyTrustee::join(Arc::clone(&agreed), identity, key, [9; 32], lines).map(drop)
    };
    let fresh = crate::agreement::tests::trustee_key;
    // A stored key from before the enrolment with a journal from after it.
    let stored = TrusteeKey::assume_fresh_entropy(&[7; 32]);
    let mut secret = agreed.agreement().clone();
    secret.noise = Provenance::Cryptographic;
    let identity = crate::agreement::tests::trustee_identity(0);
    if let Some(entries) = &mut secret.trustees {
        entries[0] = stored.entry("trustee 0", &identity).expect("not enrolled");
    }
    let secret = Arc::new(Agreed::new(secret).expect("legal"));
    let join_stored = |lines: &[TrusteeLine]| {
        let (identity, key) = (identity.clone(), stored.clone());
        StudyTrustee::join(Arc::clone(&secret), identity, key, [9; 32], lines).map(drop)
    };
    assert_eq!(join_stored(&[]), Ok(()));
    assert_eq!(
        join_stored(&net.lines[0]),
        Err(TrusteeRefused::OtherJournal)
    );
    // Another trustee's key, and an identity that the agreement does not name.
    assert_eq!(join(fresh(1), 0, &[]), Err(TrusteeRefused::NotNamed));
    assert_eq!(join(fresh(0), 7, &[]), Err(TrusteeRefused::NotNamed));
    // A key that is further than the journal.
    assert!(net.trustee_keys[0].step() > 0);
    assert_eq!(
        join(net.trustee_keys[0].clone(), 0, &[]),
        Err(TrusteeRefused::OtherJournal)
    );
    let mut gap = net.lines[0].clone();
    gap.remove(1);
    assert!(join(net.trustee_keys[0].clone(), 0, &gap).is_err());
    assert_eq!(join(net.trustee_keys[0].clone(), 0, &net.lines[0]), Ok(()));
}
