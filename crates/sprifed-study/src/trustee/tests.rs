use std::collections::BTreeSet;

use sprifed_query::Part;
use sprifed_recovery::Fit;
use sprifed_secure_sum::ClientId;
use sprifed_trustees::Upload;

use super::*;
use crate::answering_party::JournalLine;
use crate::coordinator::{StudyPhase, TrusteePhase};
use crate::embedded::present_as_in;
use crate::embedded_trustees::EmbeddedTrustees;
use crate::receipt::Outcome;
use crate::test_trustees::{Kill, Net, small, small_proved};
use crate::test_world::TestWorld;
use crate::wire::{Order, Report, TrusteesOrder, TrusteesReport};

mod deviations;
mod erasure;
mod hostile;
mod orders;
mod outcomes;
mod signers;

fn world() -> TestWorld {
    TestWorld::new(100, 20)
}

/// The model of the same study in one process: the same attempts, seeds and clients in each step.
fn embedded(net: &Net<'_>, world: &TestWorld) -> Fit {
    let released = net.coordinator.transcript().released();
    let attendance = present_as_in(released);
    let keys = [0, 1, 2].map(crate::agreement::tests::trustee_key);
    let parties = net
        .agreed
        .roster()
        .clients()
        .zip(&net.agreed.agreement().parties);
    let records = parties.map(|(client, party)| {
        let first = usize::try_from(net.agreed.first_unit(client)).expect("small");
        Part::of(world, first..first + party.units as usize)
    });
    let records = records.collect();
    let steps = net.agreed.opened_steps(released);
    let study = EmbeddedTrustees::again(records, &net.agreed, keys, steps, attendance);
    let mut study = study.expect("a study");
    let agreement = net.agreed.agreement();
    let fit = agreement.procedure;
    fit.run(&agreement.setting, &mut study, |_| ())
        .expect("a fit")
}

/// What must hold however a study went.
fn check(net: &Net<'_>) {
    let receipt = net.receipt();
    let verified = receipt.verify().expect("a good receipt");
    assert!(verified.is_confirmed(), "{:?}", receipt.receipt.ending);
    let released = net.coordinator.transcript().released();
    receipt.verify_transcript(released).expect("signed");
    check_openings(net);
}

/// No charge pays for two openings: for each trustee and each party, of all attempts on one charge at most one was opened.
fn check_openings(net: &Net<'_>) {
    let opened = net.opened();
    for lines in &net.lines {
        let book: Vec<AttemptLine> = lines.iter().filter_map(book_line).collect();
        assert!(Book::from_stored(&book).is_ok());
        let attempts = book.iter().filter_map(|line| match line {
            AttemptLine::Charged {
                step,
                attempt,
                charge,
            } => {
                let sum = net.agreed.sum_number(*step as usize, *attempt);
                let is_new = *charge == sprifed_trustees::Charge::New;
                Some((is_new, sum.expect("agreed")))
            }
            _ => None,
        });
        assert!(most_openings(attempts, &opened) <= 1, "{book:?}");
    }
    for journal in &net.journals {
        let is_uploaded = |sum: u32| {
            let uploaded = |line: &JournalLine| matches!(line, JournalLine::Uploaded { sum: of, .. } if *of == sum);
            journal.iter().any(uploaded)
        };
        let used = opened.iter().copied().filter(|sum| is_uploaded(*sum));
        let attempts = journal.iter().filter_map(|line| match line {
            JournalLine::Charged { sum, .. } => Some((true, *sum)),
            JournalLine::Carried { sum, .. } => Some((false, *sum)),
            _ => None,
        });
        assert!(most_openings(attempts, &used.collect()) <= 1, "{journal:?}");
    }
}

/// The most openings on one charge, of attempts in order that are charged anew or carried.
fn most_openings(attempts: impl Iterator<Item = (bool, u32)>, opened: &BTreeSet<u32>) -> usize {
    let mut charges: Vec<usize> = Vec::new();
    for (is_new, sum) in attempts {
        if is_new {
            charges.push(0);
        }
        let last = charges.last_mut().expect("the first is charged");
        *last += usize::from(opened.contains(&sum));
    }
    charges.into_iter().max().unwrap_or(0)
}

#[test]
fn two_openings_on_one_charge_are_found() {
    let opened = BTreeSet::from([0, 2]);
    let count = |attempts: [(bool, u32); 3]| most_openings(attempts.into_iter(), &opened);
    assert_eq!(count([(true, 0), (true, 1), (false, 2)]), 1);
    assert_eq!(count([(true, 0), (false, 1), (true, 2)]), 1);
    assert_eq!(count([(true, 0), (false, 1), (false, 2)]), 2);
}

fn book_line(line: &TrusteeLine) -> Option<AttemptLine> {
    match line {
        TrusteeLine::Begun { line, .. } | TrusteeLine::Attempt(line) => Some(line.clone()),
        TrusteeLine::Ended { .. } => None,
    }
}

#[test]
fn a_study_with_trustees_equals_the_one_in_one_process() {
    let (agreed, world) = (small_proved(0), world());
    let mut net = Net::new(&agreed, &world);
    net.run(|_, _| ());
    assert!(net.refused.is_empty(), "{:?}", net.refused);
    assert!(net.refused_by_parties.is_empty());
    assert!(net.refused_by_trustees.is_empty());
    let receipt = net.receipt();
    assert_eq!(receipt.receipt.ending, "complete");
    assert_eq!(receipt.receipt.fit, Some(embedded(&net, &world)));
    assert_eq!((receipt.parties.len(), receipt.trustees.len()), (4, 3));
    check(&net);
    for receipt in net.receipts.values() {
        receipt.verify().expect("a good receipt");
        assert_eq!(receipt.statement.ledger, net.receipt().receipt.ledger);
    }
    // What is left of the keys opens no step.
    let steps = u32::try_from(agreed.n_steps()).expect("few");
    assert!(net.trustee_keys.iter().all(|key| key.step() == steps));
}

/// The effects of each trustee up to the end of each phase.
fn effects_by_phase(agreed: &Arc<Agreed>, world: &TestWorld) -> Vec<[u64; 3]> {
    let mut net = Net::new(agreed, world);
    let mut effects = Vec::new();
    net.run(|net, _| effects.push(net.effects));
    effects
}

#[test]
fn a_party_is_lost_and_a_trustee_is_killed_in_the_middle_of_a_choice() {
    let (agreed, world) = (small_proved(1), world());
    // Before the enrolment is closed, then Noise, Uploads and Running of each step.
    let phases = effects_by_phase(&agreed, &world);
    let choice = (0..agreed.n_steps())
        .find(|step| agreed.step(*step).is_none())
        .expect("a choice");
    let (before, after) = (phases[3 * choice + 2], phases[3 * choice + 3]);
    let mut net = Net::new(&agreed, &world);
    let trustee = 1;
    let middle = (before[trustee] + after[trustee]) / 2;
    net.kills.push(Kill {
        trustee,
        after: middle,
    });
    net.run(|net, phase| {
        if phase == 3 {
            net.parties[2] = None;
        }
    });
    assert!(net.kills.is_empty(), "the trustee was killed");
    let receipt = &net.receipt().receipt;
    assert_eq!(receipt.ending, "complete");
    let unopened = receipt.sums.iter();
    let unopened = unopened.filter(|sum| matches!(sum.outcome, Outcome::Unopened { .. }));
    assert_eq!(
        unopened.map(|sum| sum.step as usize).collect::<Vec<_>>(),
        [choice]
    );
    // Nothing was opened of the attempt, so it was not charged twice.
    assert_eq!(receipt.ledger.entries.len(), agreed.n_steps());
    assert_eq!(receipt.fit, Some(embedded(&net, &world)));
    let last = net.coordinator.transcript().released().last().expect("one");
    assert_eq!(last.survivors, [0, 1, 3]);
    check(&net);
}

#[test]
fn a_trustee_killed_in_two_steps_ends_nothing_and_opens_nothing_twice() {
    let (agreed, world) = (small(1), world());
    let phases = effects_by_phase(&agreed, &world);
    // To the end of a sum and of a choice.
    let (first, last) = (phases[0], phases[6]);
    for trustee in 0..3 {
        let from = first[trustee] + u64::try_from(trustee).expect("small");
        for after in (from..=last[trustee]).step_by(3) {
            let mut net = Net::new(&agreed, &world);
            net.kills.push(Kill { trustee, after });
            net.run_steps(3, |_, _| ());
            assert!(net.kills.is_empty());
            assert!(net.ended.is_none(), "{trustee} {after}");
            check_openings(&net);
        }
    }
}

#[test]
fn kills_of_several_trustees_open_nothing_twice() {
    let (agreed, world) = (small(4), world());
    let mut state = 7u64;
    let mut below = |most: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % most
    };
    let phases = effects_by_phase(&agreed, &world);
    let total = phases.last().expect("phases")[0];
    for _ in 0..5 {
        let mut net = Net::new(&agreed, &world);
        for _ in 0..4 {
            net.kills.push(Kill {
                trustee: usize::try_from(below(3)).expect("small"),
                after: below(total),
            });
        }
        let killed_coordinator = below(40);
        net.run(|net, phase| {
            if phase == killed_coordinator {
                net.restart_coordinator();
            }
        });
        check(&net);
        if let Some(fit) = &net.receipt().receipt.fit {
            assert_eq!(*fit, embedded(&net, &world));
        }
    }
}

#[test]
fn a_trustee_that_is_gone_ends_the_study_with_a_receipt() {
    let (agreed, world) = (small(1), world());
    let mut net = Net::new(&agreed, &world);
    for phase in 0..40 {
        net.deliver();
        if net.ended.is_some() {
            break;
        }
        if phase >= 5 {
            net.trustees[2] = None;
        }
        net.close();
    }
    let receipt = net.receipt();
    assert!(
        receipt
            .receipt
            .ending
            .contains("trustee \"trustee 2\" did not answer"),
        "{}",
        receipt.receipt.ending
    );
    assert!(receipt.receipt.fit.is_none());
    assert!(receipt.verify().expect("good").is_confirmed());
}

#[test]
fn a_coordinator_that_is_killed_in_any_phase_goes_on() {
    let (agreed, world) = (small(2), world());
    for killed in 0..10 {
        let mut net = Net::new(&agreed, &world);
        let steps = if killed == 5 { usize::MAX } else { 4 };
        net.run_steps(steps, |net, phase| {
            if phase == killed {
                net.restart_coordinator();
            }
        });
        check_openings(&net);
        if killed == 5 {
            assert_eq!(net.receipt().receipt.fit, Some(embedded(&net, &world)));
            check(&net);
        } else {
            assert!(net.ended.is_none(), "phase {killed}");
        }
    }
}

#[test]
fn an_upload_that_is_late_for_an_attempt_takes_no_place_in_the_next() {
    let (agreed, world) = (small(1), world());
    let mut net = Net::new(&agreed, &world);
    let mut late = None;
    while net.coordinator.transcript().released().is_empty() {
        net.deliver();
        net.restart_killed();
        net.deliver();
        if late.is_none() && is_uploading(&net) {
            late = net
                .told
                .iter()
                .find_map(|(_, order)| upload_of(order, ClientId(0)));
            net.trustees[0] = None;
            net.restart_killed();
            net.deliver();
        }
        net.close();
        if let (Some(late), true) = (&late, is_uploading(&net)) {
            // The parties were not told of the second attempt yet.
            let report = Report::Trustees(TrusteesReport::Upload(late.clone())).encode();
            let refused = net.coordinator.receive(ClientId(0), &report).unwrap_err();
            assert_eq!(refused.reason, "an upload for another attempt");
        }
    }
    let history = net.coordinator.history();
    assert!(matches!(history[0].outcome, Outcome::Unopened { .. }));
    assert_eq!(history[1].outcome.survivors(), Some(&[0, 1, 2, 3][..]));
}

#[test]
fn an_outcome_that_is_known_is_not_refused_when_the_study_is_over() {
    let (agreed, world) = (small(0), world());
    let mut net = Net::new(&agreed, &world);
    net.run(|_, _| ());
    let last = net.coordinator.transcript().released().last();
    let mut settled = last.expect("one").clone();
    let mut say = |settled: &Released| {
        let report = TrusteesReport::Settled(Box::new(settled.clone()));
        let report = Report::Trustees(report).encode();
        let said = net.coordinator.receive(net.seat(1), &report);
        let is_kept = net.coordinator.keeps(&report);
        said.map(|()| is_kept).map_err(|refused| refused.reason)
    };
    assert_eq!(say(&settled), Ok(false), "accepted, and not stored");
    settled.survivors.pop();
    assert_eq!(say(&settled), Err("the study is over".into()));
}

fn is_uploading(net: &Net<'_>) -> bool {
    let phase = net.coordinator.phase();
    matches!(phase, StudyPhase::Attempt { phase, .. } if phase == TrusteePhase::Uploads)
}

/// The upload of `client` that this order passes on to a trustee, if it does.
fn upload_of(order: &[u8], client: ClientId) -> Option<Vec<u8>> {
    let Ok(Order::Trustees(TrusteesOrder::Upload(bytes))) = Order::decode(order) else {
        return None;
    };
    let upload = Upload::decode(&bytes).expect("accepted");
    (upload.client() == client).then_some(bytes)
}
