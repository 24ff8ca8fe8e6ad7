use sprifed_recovery::CertifiedProcedure;

use super::*;
use crate::agreement::tests::{TestStudy, agreed};
use crate::answering_party::JournalLine;
use crate::embedded::{Embedded, all_present};
use crate::party::OrderRefused;
use crate::party_key::PartyKey;
use crate::receipt::PartyReceipt;
use crate::test_line::{Line, SOFTWARE, Stored};
use crate::test_world::TestWorld;

fn small() -> TestStudy {
    TestStudy {
        parties: 5,
        quorum: 4,
        units: 40,
        ..TestStudy::default()
    }
}

#[test]
fn a_study_over_the_line_equals_the_one_in_one_process() {
    let study = agreed(small());
    let world = TestWorld::new(200, 30);
    let mut line = Line::new(&study, &world);
    line.run(|_, _| ());
    let key = PartyKey::simulated(5, 0);
    let mut embedded =
        Embedded::over(&world, Arc::clone(&study), &key, Box::new(all_present)).expect("a study");
    let setting = study.agreement().setting;
    let fit = CertifiedProcedure::SIEVE
        .run_on_sums(&setting, &mut embedded, |_| ())
        .expect("a fit");
    assert_eq!(line.receipt().receipt.fit.as_ref(), Some(&fit));
    assert!(line.refused.is_empty(), "{:?}", line.refused);
    let verified = line.receipt().verify().expect("a good receipt");
    assert_eq!(verified.signed_by.len(), 5);
    assert_eq!(line.receipts.len(), 5);
    for receipt in line.receipts.values() {
        receipt.verify().expect("a good receipt");
        assert_eq!(receipt.statement.ledger, line.receipt().receipt.ledger);
    }
}

#[test]
fn a_coordinator_that_is_killed_in_any_phase_ends_with_the_same_fit() {
    let study = agreed(small());
    let world = TestWorld::new(200, 30);
    let mut undisturbed = Line::new(&study, &world);
    undisturbed.run(|_, _| ());
    let phases = undisturbed.coordinator.phases_closed();
    for killed in 0..phases {
        let mut line = Line::new(&study, &world);
        line.run(|line, phase| {
            if phase == killed {
                line.restart_coordinator();
            }
        });
        assert_eq!(
            line.receipt().receipt,
            undisturbed.receipt().receipt,
            "killed in {killed}"
        );
    }
}

#[test]
fn a_coordinator_that_is_killed_between_messages_asks_for_what_it_lacks() {
    let study = agreed(small());
    let world = TestWorld::new(200, 30);
    let mut undisturbed = Line::new(&study, &world);
    undisturbed.run(|_, _| ());
    for lost in 0..5 {
        let mut line = Line::new(&study, &world);
        line.run(|line, _| {
            // The last messages of the phase were taken but never stored.
            let is_message = |stored: &Stored| matches!(stored, Stored::Message(..));
            for _ in 0..lost {
                if line.store.last().is_some_and(is_message) {
                    line.store.pop();
                }
            }
            line.restart_coordinator();
        });
        assert_eq!(
            line.receipt().receipt,
            undisturbed.receipt().receipt,
            "{lost} lost"
        );
    }
}

#[test]
fn a_party_that_is_killed_in_any_phase_returns() {
    let study = agreed(small());
    let world = TestWorld::new(200, 30);
    let mut undisturbed = Line::new(&study, &world);
    undisturbed.run(|_, _| ());
    for killed in 0..undisturbed.coordinator.phases_closed() {
        let mut line = Line::new(&study, &world);
        line.run(|line, phase| {
            if phase == killed {
                line.start(ClientId(2));
                line.coordinator.returned(ClientId(2));
                line.drain_coordinator();
            }
        });
        assert_eq!(
            line.receipt().receipt.fit,
            undisturbed.receipt().receipt.fit,
            "{killed}"
        );
        line.receipts[&2].verify().expect("a good receipt");
    }
}

#[test]
fn a_party_that_leaves_permanently_is_a_dropout_and_its_ledger_counts_its_answers() {
    let study = agreed(small());
    let world = TestWorld::new(200, 30);
    let mut line = Line::new(&study, &world);
    line.run(|line, phase| {
        if phase == 3 {
            line.parties[4] = None;
        }
    });
    let receipt = &line.receipt().receipt;
    assert!(receipt.fit.is_some(), "{}", receipt.ending);
    let counts: Vec<usize> = receipt
        .sums
        .iter()
        .map(|sum| sum.outcome.survivors().map_or(0, <[u32]>::len))
        .collect();
    assert_eq!(counts.last(), Some(&4), "{counts:?}");
    let verified = line.receipt().verify().expect("a good receipt");
    assert_eq!(verified.not_signed_by, ["party 4"]);
    let charged = |line: &&JournalLine| matches!(line, JournalLine::Charged { .. });
    let gave = counts.iter().filter(|count| **count == 5).count();
    assert!(line.journals[4].iter().filter(charged).count() >= gave);
}

#[test]
fn a_lost_quorum_is_a_clean_end_and_still_has_a_receipt() {
    let study = agreed(small());
    let world = TestWorld::new(200, 30);
    let mut line = Line::new(&study, &world);
    line.run(|line, phase| {
        if phase == 2 {
            line.parties[3] = None;
            line.parties[4] = None;
            line.reports.clear();
            line.orders.clear();
        }
        if phase == 5 {
            line.restart_coordinator();
        }
    });
    let receipt = &line.receipt().receipt;
    assert_eq!(receipt.fit, None);
    line.receipt().verify().expect("a good receipt");
}

#[test]
fn a_study_that_is_cancelled_in_any_phase_ends_for_all_parties_and_stays_cancelled() {
    let (study, world) = (agreed(small()), TestWorld::new(200, 30));
    let mut n_charged = 0;
    // Two phases of the exchange of keys, then three for each sum.
    for moment in 0..8 {
        let mut line = Line::new(&study, &world);
        line.run(|line, phase| {
            if phase == moment {
                line.coordinator.cancel();
                line.drain_coordinator();
                if moment % 2 == 0 {
                    line.restart_coordinator();
                }
            }
        });
        let receipt = line.receipt();
        assert_eq!(receipt.receipt.ending, "cancelled by the coordinator");
        receipt.verify().expect("a valid receipt");
        assert_eq!(receipt.receipt.fit, None);
        assert_eq!(
            line.receipts.len(),
            5,
            "all parties are informed, in {moment}"
        );
        for kept in line.receipts.values() {
            kept.verify().expect("a valid receipt");
            let charged = kept.statement.ledger.spent;
            assert!(charged <= receipt.receipt.ledger.spent);
            n_charged += usize::from(charged.is_some());
        }
        let ended = receipt.clone();
        line.restart_coordinator();
        line.coordinator.cancel();
        assert_eq!(line.coordinator.receipt(), Some(&ended), "once and for all");
    }
    assert!(n_charged > 0, "ledgers keep what was charged");
}

#[test]
fn a_failed_sum_is_repeated_if_that_was_agreed_on_and_charged_again() {
    let study = agreed(TestStudy {
        repeats: 1,
        ..small()
    });
    let world = TestWorld::new(200, 30);
    let mut line = Line::new(&study, &world);
    line.run(|line, phase| {
        // Two parties miss the confirmations of one sum.
        if phase == 3 {
            line.parties[3] = None;
            line.parties[4] = None;
        }
        if phase == 5 {
            for id in [3, 4] {
                line.start(ClientId(id));
                line.coordinator.returned(ClientId(id));
            }
            line.drain_coordinator();
        }
    });
    let receipt = &line.receipt().receipt;
    assert!(receipt.fit.is_some(), "{}", receipt.ending);
    let abandoned = |sum: &&SumRecord| matches!(sum.outcome, Outcome::Abandoned { .. });
    assert_eq!(receipt.sums.iter().filter(abandoned).count(), 1);
    assert_eq!(receipt.ledger.entries.len(), study.n_steps() + 1);
    line.receipt().verify().expect("a good receipt");
    for (id, receipt) in &line.receipts {
        let spent = receipt.statement.ledger.spent;
        assert!(spent <= line.receipt().receipt.ledger.spent, "{id}");
    }
}

#[test]
fn a_party_that_declines_is_not_waited_for() {
    let study = agreed(small());
    let world = TestWorld::new(200, 30);
    let mut line = Line::new(&study, &world);
    let identity = PartyKey::simulated(5, 0).of_party(1).identity();
    let bytes = Report::declined(&identity, &study, ClientId(1), "no").encode();
    let forged = Report::declined(
        &PartyKey::simulated(5, 0).of_party(2).identity(),
        &study,
        ClientId(1),
        "no",
    );
    let forged = line.coordinator.receive(ClientId(1), &forged.encode());
    assert!(forged.is_err(), "signed by another key");
    assert!(line.coordinator.waits_for().contains(&ClientId(1)));
    assert_eq!(line.coordinator.receive(ClientId(1), &bytes), Ok(()));
    assert!(line.coordinator.receive(ClientId(1), &bytes).is_err());
    assert!(line.coordinator.receive(ClientId(9), &bytes).is_err());
    assert!(!line.coordinator.waits_for().contains(&ClientId(1)));
    assert_eq!(line.coordinator.declined().len(), 1);
}

#[test]
fn a_party_that_declined_is_not_asked_again() {
    let study = agreed(small());
    let world = TestWorld::new(200, 30);
    let mut line = Line::new(&study, &world);
    let identity = PartyKey::simulated(5, 0).of_party(1).identity();
    let bytes = Report::declined(&identity, &study, ClientId(1), "no").encode();
    let asked = |line: &Line<'_>| {
        let to_it = line.told.iter().filter(|(to, _)| *to == ClientId(1));
        let orders = to_it.map(|(_, bytes)| Order::decode(bytes));
        orders
            .filter(|order| matches!(order, Ok(Order::Ask { .. })))
            .count()
    };
    let mut before = 0;
    line.run(|line, _| {
        if asked(line) > 0 && line.coordinator.declined().is_empty() {
            assert_eq!(line.coordinator.receive(ClientId(1), &bytes), Ok(()));
            before = asked(line);
        }
        // It returns in every phase, as after a failure.
        line.coordinator.returned(ClientId(1));
        line.drain_coordinator();
    });
    assert!(before > 0);
    assert_eq!(asked(&line), before);
    assert!(line.receipt().receipt.fit.is_some());
}

#[test]
fn rubbish_is_refused_names_its_sender_and_changes_nothing() {
    let study = agreed(small());
    let world = TestWorld::new(200, 30);
    let mut line = Line::new(&study, &world);
    let waits = line.coordinator.waits_for();
    for bytes in [&[][..], &[2], &[9, 1], &[2, 9], &[2, 1, 4], &[2, 3, 0, 0]] {
        let refused = line
            .coordinator
            .receive(ClientId(2), bytes)
            .expect_err("refused");
        assert_eq!(refused.party, ClientId(2));
    }
    assert_eq!(line.coordinator.waits_for(), waits);
    line.run(|_, _| ());
    assert!(line.receipt().receipt.fit.is_some());
}

#[test]
fn another_key_cannot_coordinate() {
    let study = agreed(small());
    let stranger = PartyKey::simulated(7, 0).identity();
    let refused = StudyCoordinator::open(Arc::clone(&study), stranger, SOFTWARE).map(drop);
    assert!(matches!(
        refused,
        Err(CoordinatorError::OtherIdentity { .. })
    ));
}

#[test]
fn no_party_signs_a_receipt_that_keeps_one_of_its_sums_silent() {
    let (study, world) = (agreed(small()), TestWorld::new(200, 30));
    let mut line = Line::new(&study, &world);
    line.run(|_, _| ());
    let sums = line.receipt().receipt.sums.clone();
    let n_stated = sums.len() - 1;
    let hidden = sums[n_stated].sum;
    let mut ledger = Ledger::open(
        study.ceiling(),
        study.agreement().plan.relation,
        study.agreement().plan.unit,
    );
    for record in &sums[..n_stated] {
        let planned = study.step(record.step as usize).expect("a step");
        drop(ledger.spend(&planned.purpose, study.purchase(planned)));
    }
    // It says the truth about the sum that the party missed, and nothing about the last one.
    let mut stated = sums[..n_stated].to_vec();
    stated[1].outcome = Outcome::Unmasked {
        survivors: vec![1, 2, 3, 4],
        noise: realised_noise(&study, sums[1].sum, 4).expect("a sum"),
    };
    let released = line.coordinator.transcript().released()[..n_stated].to_vec();
    let mut derivation = Derivation::begin(Arc::clone(&study)).expect("a procedure");
    for sum in &released {
        derivation.take(sum.clone()).expect("the next one");
    }
    let ending = "over".to_owned();
    let receipt = Receipt::new(SOFTWARE, &study, stated, &ledger, &derivation, ending);
    let order = Order::Ended {
        receipt: receipt
            .sign(&PartyKey::simulated(6, 0).identity())
            .to_json(),
    };
    // So its total is not above the one that is stated.
    line.journals[0].retain(|line| match line {
        JournalLine::Charged { sum, .. }
        | JournalLine::Carried { sum, .. }
        | JournalLine::Uploaded { sum, .. }
        | JournalLine::Confirmed { sum, .. } => *sum != sums[1].sum,
        JournalLine::Published { .. } => true,
        JournalLine::Ended { .. } | JournalLine::Left => false,
    });
    line.start(ClientId(0));
    let party = line.parties[0].as_mut().expect("present");
    for sum in released {
        let order = Order::Released(sum).encode();
        party.receive(&order).expect("the next one");
    }
    let charged = party.ledger().spent().map(|spent| spent.epsilon());
    assert!(charged <= ledger.spent().map(|spent| spent.epsilon()));
    let refused = party
        .receive(&order.encode())
        .expect_err("a sum is missing");
    assert!(
        refused
            .to_string()
            .contains(&format!("nothing of sum {hidden}")),
        "{refused}"
    );
    assert!(!party.is_over());
}

#[test]
fn a_message_of_another_party_is_refused_permanently_and_a_repeated_one_is_not() {
    let study = agreed(small());
    let world = TestWorld::new(200, 30);
    let mut line = Line::new(&study, &world);
    let (from, keys) = line.reports[0].clone();
    let other = ClientId(from.0 + 1);
    let refused = line.coordinator.receive(other, &keys);
    assert!(refused.expect_err("not its own").is_final);
    assert_eq!(line.coordinator.receive(from, &keys), Ok(()));
    let refused = line.coordinator.receive(from, &keys);
    assert!(!refused.expect_err("once is enough").is_final);
}

#[test]
fn a_party_has_nothing_to_wait_for_after_a_wrong_receipt_or_a_question_after_the_end() {
    let study = agreed(small());
    let world = TestWorld::new(200, 30);
    let mut line = Line::new(&study, &world);
    line.run(|_, _| ());
    let ended = ended_order(line.receipt());
    let released = line.coordinator.transcript().released().iter();
    let released: Vec<Vec<u8>> = released
        .map(|sum| Order::Released(sum.clone()).encode())
        .collect();
    let question = Order::Ask {
        sum: 0,
        transcript: line.coordinator.transcript().head(),
        question: crate::Digest([0; 32]),
    }
    .encode();
    let whole = line.journals[0].clone();
    let mut receive = |journal: Vec<JournalLine>, order: &[u8]| {
        if journal.is_empty() {
            // With what is left of its key it would not join at all.
            line.keys[0] = PartyKey::simulated(5, 0).of_party(0);
        }
        line.journals[0] = journal;
        line.start(ClientId(0));
        let party = line.parties[0].as_mut().expect("present");
        for sum in &released {
            party.receive(sum).expect("the next one");
        }
        party.receive(order)
    };
    assert_eq!(receive(whole.clone(), &ended), Ok(()));
    let refused = receive(whole.clone(), &question).expect_err("over");
    assert!(matches!(refused, OrderRefused::AskedAfterEnd { sum: 0 }) && refused.is_final());
    let refused = receive(Vec::new(), &ended).expect_err("a journal that was lost");
    assert!(matches!(refused, OrderRefused::OtherReceipt { .. }) && refused.is_final());
    // A party that returns first gets what it needs for the sums, then the receipt, and ends well.
    assert!(!OrderRefused::Over.is_final());
}

/// A receipt of a finished study, for tests of receipts.
pub(crate) fn finished() -> (SignedReceipt, PartyReceipt) {
    let study = agreed(small());
    let world = TestWorld::new(200, 30);
    let mut line = Line::new(&study, &world);
    line.run(|_, _| ());
    (line.receipt().clone(), line.receipts[&0].clone())
}
