use serde_json::Value;

use super::*;
use crate::coordinator::tests::finished;
use crate::party_key::PartyKey;
use crate::test_trustees::{Net, small};
use crate::test_world::TestWorld;

/// Changes one leaf of a document: the `index`th one that is a number, text or truth value.
fn alter(value: &mut Value, index: &mut usize) -> bool {
    match value {
        Value::Object(fields) => fields.values_mut().any(|field| alter(field, index)),
        Value::Array(items) => items.iter_mut().any(|item| alter(item, index)),
        Value::Null => false,
        _ if *index > 0 => {
            *index -= 1;
            false
        }
        Value::Bool(truth) => {
            *truth = !*truth;
            true
        }
        Value::Number(number) => {
            let changed = number.as_f64().unwrap_or(0.0) + 1.0;
            *value = number
                .as_u64()
                .map_or_else(|| Value::from(changed), |whole| Value::from(whole + 1));
            true
        }
        Value::String(text) => {
            let other = if text.ends_with('0') { '1' } else { '0' };
            text.pop();
            text.push(other);
            true
        }
    }
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.values().map(leaves).sum(),
        Value::Array(items) => items.iter().map(leaves).sum(),
        Value::Null => 0,
        _ => 1,
    }
}

#[test]
fn every_edit_of_a_receipt_is_refused() {
    let (receipt, _) = finished();
    receipt.verify().expect("a good receipt");
    let document = serde_json::to_value(&receipt).expect("JSON");
    let n_leaves = leaves(&document);
    assert!(n_leaves > 100);
    for index in 0..n_leaves {
        let mut edited = document.clone();
        let mut place = index;
        assert!(alter(&mut edited, &mut place));
        let read = serde_json::from_value::<SignedReceipt>(edited);
        let accepted = read.is_ok_and(|edited| edited.verify().is_ok());
        assert!(!accepted, "edit {index} of {n_leaves} was accepted");
    }
}

#[test]
fn a_coordinator_that_signs_a_lie_is_found_out() {
    let (good, _) = finished();
    let identity = PartyKey::simulated(6, 0).identity();
    let lies: [fn(&mut Receipt); 6] = [
        |receipt| drop(receipt.ledger.entries.pop()),
        |receipt| drop(receipt.sums.pop()),
        |receipt| receipt.guarantee.epsilon = Epsilon::try_from(0.1).ok(),
        |receipt| receipt.guarantee.noise = Provenance::Cryptographic,
        |receipt| {
            if let Some(Outcome::Unmasked { survivors, .. }) =
                receipt.sums.first_mut().map(|sum| &mut sum.outcome)
            {
                survivors.truncate(2);
            }
        },
        |receipt| receipt.sums.swap(0, 1),
    ];
    for (index, lie) in lies.iter().enumerate() {
        let mut receipt = good.receipt.clone();
        lie(&mut receipt);
        let signed = receipt.sign(&identity);
        assert!(signed.verify().is_err(), "lie {index} was accepted");
    }
    good.receipt.sign(&identity).verify().expect("the truth");
}

#[test]
fn only_a_quorum_of_signatures_confirms_a_receipt() {
    let (mut receipt, _) = finished();
    let verified = receipt.verify().expect("a good receipt");
    assert_eq!((verified.signed_by.len(), verified.quorum), (5, 4));
    assert!(verified.is_confirmed());
    for (n_signers, is_confirmed) in [(4, true), (3, false), (0, false)] {
        receipt.parties.truncate(n_signers);
        let verified = receipt.verify().expect("still what the coordinator says");
        assert_eq!(verified.is_confirmed(), is_confirmed, "{n_signers}");
    }
}

#[test]
fn a_party_receipt_is_bound_to_its_party_and_study() {
    let (_, receipt) = finished();
    receipt.verify().expect("a good receipt");
    let mut other = receipt.clone();
    other.statement.party = 1;
    assert!(other.verify().is_err());
    let mut cheaper = receipt.clone();
    cheaper.statement.ledger.entries.pop();
    assert!(cheaper.verify().is_err());
    // Not even if the party signs for it.
    let identity = PartyKey::simulated(5, 0).of_party(0).identity();
    let agreed = Agreed::new(receipt.study.receipt.agreement.clone()).expect("legal");
    let plan = &receipt.study.receipt.agreement.plan;
    let empty = Ledger::open(agreed.ceiling(), plan.relation, plan.unit);
    let denied = PartyReceipt::new(
        "mine",
        receipt.study.clone(),
        ClientId(0),
        &empty,
        &identity,
    );
    let refused = denied.verify().expect_err("it is in every sum");
    assert_eq!(refused.what, "the party's ledger");
    let mut moved = receipt;
    moved.statement.receipt_digest = Digest([0; 32]);
    assert!(moved.verify().is_err());
}

/// A lie of a coordinator about what trustees opened.
type Change = fn(&mut Outcome);

fn change_transcript(outcome: &mut Outcome) {
    if let Outcome::Opened { transcript, .. } = outcome {
        transcript.0[0] ^= 1;
    }
}

fn swap_signatures(outcome: &mut Outcome) {
    if let Outcome::Opened { signed, .. } = outcome {
        signed.signatures.swap(0, 1);
    }
}

#[test]
fn signatures_for_a_sum_are_compared_with_the_transcript() {
    let (agreed, world) = (small(0), TestWorld::new(100, 20));
    let mut net = Net::new(&agreed, &world);
    net.run(|_, _| ());
    let good = net.receipt().clone();
    let released = net.coordinator.transcript().released();
    good.verify_transcript(released).expect("a good transcript");
    let changes: [Change; 2] = [change_transcript, swap_signatures];
    let is_sum = |sum: &&mut SumRecord| matches!(sum.outcome, Outcome::Opened { index: None, .. });
    for change in changes {
        let mut receipt = good.receipt.clone();
        let sum = receipt.sums.iter_mut().find(is_sum);
        change(&mut sum.expect("a sum").outcome);
        let lie = receipt.sign(&PartyKey::simulated(6, 0).identity());
        let refused = lie.verify_transcript(released);
        let refused = refused.expect_err("not what trustees signed").to_string();
        assert!(refused.starts_with("the signatures for sum"), "{refused}");
    }
}

#[test]
fn a_choice_in_a_receipt_has_the_signatures_of_three_trustees_whatever_its_coordinator_signs() {
    let (agreed, world) = (small(0), TestWorld::new(100, 20));
    let mut net = Net::new(&agreed, &world);
    net.run(|_, _| ());
    let good = net.receipt().clone();
    good.verify().expect("a good receipt");
    let changes: [Change; 5] = [
        |outcome| {
            if let Outcome::Opened { index, .. } = outcome {
                *index = index.map(|index| index ^ 1);
            }
        },
        |outcome| {
            if let Outcome::Opened { index, .. } = outcome {
                *index = None;
            }
        },
        |outcome| {
            if let Outcome::Opened { clients, .. } = outcome {
                clients.pop();
            }
        },
        change_transcript,
        swap_signatures,
    ];
    let is_choice =
        |sum: &&mut SumRecord| matches!(sum.outcome, Outcome::Opened { index: Some(_), .. });
    for change in changes {
        let mut receipt = good.receipt.clone();
        let choice = receipt.sums.iter_mut().find(is_choice);
        change(&mut choice.expect("a choice").outcome);
        let lie = receipt.sign(&PartyKey::simulated(6, 0).identity());
        let refused = lie
            .verify()
            .expect_err("not signed by trustees")
            .to_string();
        assert!(
            refused.contains("signatures of three trustees"),
            "{refused}"
        );
    }
}
