use super::*;
use crate::neighbours::{PrivacyUnit, Relation};
use crate::purchase::{Purchase, SelectionPurchase};
use crate::quantity::{ApproxDp, Delta, Epsilon};
use crate::record_part::RecordPart;
use crate::record_spending::RecordSpending;
use crate::spending::Expense;
use crate::{Ledger, LedgerError, NoiseOrigin};

const LAWS: [SelectionLaw; 3] = [
    SelectionLaw::Curator,
    SelectionLaw::FloorGumbel,
    SelectionLaw::Euler,
];

fn purchase(law: SelectionLaw, rate: (u32, u32)) -> SelectionPurchase {
    SelectionPurchase {
        candidates: 100_000,
        score_bound: law.score_steps(),
        noise_rate: rate,
        law,
        unit: PrivacyUnit::Record,
        part: RecordPart::All,
    }
}

fn spending(law: SelectionLaw, rate: (u32, u32), times: u32) -> RecordSpending {
    (0..times).fold(RecordSpending::default(), |total, _| {
        let expense = purchase(law, rate).expense(Relation::ZeroOut).unwrap();
        total.and(expense).unwrap()
    })
}

fn epsilon_at(spending: &RecordSpending, delta: f64) -> f64 {
    let delta = Delta::try_from(delta).unwrap();
    spending.to_approx_dp(delta).unwrap().epsilon().get()
}

#[test]
fn ranges_are_those_of_the_theorems() {
    // λ = 1/128: 2λ·63 + 2λ = 1 for Euler, 2λ·127 + 4λ for floor-Gumbel; under replace-one Δ doubles.
    let range = |law, relation| match purchase(law, (1, 128)).expense(relation).unwrap() {
        Expense::Selection(cost) => cost.range().get(),
        Expense::Sum(_) => unreachable!("a selection"),
    };
    for (law, relation, expected) in [
        (SelectionLaw::Euler, Relation::ZeroOut, 128.0 / 128.0),
        (SelectionLaw::Euler, Relation::ReplaceOne, 254.0 / 128.0),
        (SelectionLaw::FloorGumbel, Relation::ZeroOut, 258.0 / 128.0),
        (
            SelectionLaw::FloorGumbel,
            Relation::ReplaceOne,
            512.0 / 128.0,
        ),
        (SelectionLaw::Curator, Relation::ZeroOut, 1028.0 / 128.0),
    ] {
        let found = range(law, relation);
        assert!(
            (found - expected).abs() < 1e-12,
            "{found} {law:?} {relation:?}"
        );
    }
}

#[test]
fn a_share_has_the_width_of_its_bound() {
    let bits = |law: SelectionLaw, rate| law.share_bits(Ratio::new_raw(rate, 1_280)).unwrap();
    // (75 + ln 128)·128 = 10221 and 79.4·128 + 2 = 10165: both 14 bits.
    assert_eq!(bits(SelectionLaw::Euler, 10), 14);
    assert_eq!(bits(SelectionLaw::FloorGumbel, 10), 14);
    assert_eq!(SelectionLaw::FloorGumbel.offset(Ratio::new(1, 128)), 564);
    assert_eq!(SelectionLaw::Euler.offset(Ratio::new(1, 128)), 0);
    assert_eq!(SelectionLaw::Curator.share_bits(Ratio::new(1, 128)), None);
}

#[test]
fn the_width_of_a_share_keeps_what_is_clamped_below_e_to_the_minus_74() {
    for denominator in (1..=16_384u32).step_by(7) {
        let rate = Ratio::new(1, denominator);
        let real = 1.0 / f64::from(denominator);
        let clamp = |law: SelectionLaw| 2f64.powi(law.share_bits(rate).unwrap().cast_signed());
        // P(Z ≥ c) ≤ q^c / (1 − q).
        let euler = -real * clamp(SelectionLaw::Euler) - (-(-real).exp_m1()).ln();
        assert!(euler < -74.5, "{euler} at 1/{denominator}");
        let offset = SelectionLaw::FloorGumbel.offset(rate) as f64;
        let above = -real * (clamp(SelectionLaw::FloorGumbel) - offset);
        let below = -(real * offset).exp();
        assert!(
            above <= -75.0 && below < -81.0,
            "{above} {below} at 1/{denominator}"
        );
    }
}

#[test]
fn rates_beyond_the_proof_are_refused_for_trustees_only() {
    for (rate, is_served) in [
        ((1, 1), true),
        ((2, 1), false),
        ((1, 16_384), true),
        ((1, 16_385), false),
    ] {
        for law in LAWS {
            let found = purchase(law, rate).expense(Relation::ZeroOut).is_ok();
            assert_eq!(
                found,
                is_served || law == SelectionLaw::Curator,
                "{law:?} {rate:?}"
            );
        }
    }
}

#[test]
fn clamps_are_paid_for_out_of_delta_by_every_route() {
    let (one, many) = (
        spending(SelectionLaw::Euler, (1, 128), 1),
        spending(SelectionLaw::Euler, (1, 128), 30),
    );
    assert!(spending(SelectionLaw::Curator, (1, 128), 30).cut_off() <= 0.0);
    let eta = 4.0 * 1e5 * (-75f64).exp();
    assert!((one.cut_off() / eta - 1.0).abs() < 1e-9 && one.cut_off() >= eta);
    assert!((many.cut_off() / (30.0 * eta) - 1.0).abs() < 1e-9);
    for spending in [&one, &many] {
        // The range alone bounds one choice whatever δ is; here δ is what the proofs of gates leave of it.
        let left = NoiseOrigin::Trustees.noise_delta(Delta::try_from(1e-4).unwrap());
        let plain = crate::compose_selections(spending.selections(), None, left.unwrap());
        let plain = plain.epsilon().get();
        let claimed = epsilon_at(spending, 1e-4);
        assert!(
            claimed >= plain && claimed < plain + 1e-9,
            "{claimed} {plain}"
        );
        // A δ that the clamps, the proofs of gates and the cryptography use up buys nothing.
        assert!(epsilon_at(spending, 4.547e-13) >= f64::MAX);
    }
    // Among 2^32 candidates the clamps show in ε.
    let wide = SelectionPurchase {
        candidates: u32::MAX,
        ..purchase(SelectionLaw::Euler, (1, 128))
    };
    let expense = wide.expense(Relation::ZeroOut).unwrap();
    let ten = (0..10).fold(RecordSpending::default(), |total, _| {
        total.and(expense).unwrap()
    });
    let delta = 5e-13;
    let left = delta - NoiseOrigin::Trustees.protocol_failure();
    let claimed = epsilon_at(&ten, delta);
    let at = |delta: f64| {
        let delta = Delta::try_from(delta).unwrap();
        let pair = crate::compose_selections(ten.selections(), None, delta);
        pair.epsilon().get()
    };
    let added = (1.0 + claimed.exp()) * ten.cut_off();
    assert!(claimed > at(left) + 1e-6, "{claimed} {}", at(left));
    assert!(claimed >= at(left - added), "{claimed} at {added:e}");
    assert!(claimed < at(left / 2.0));
}

#[test]
fn the_ledger_charges_trustees_what_their_law_costs_and_reads_it_back() {
    let budget = ApproxDp::new(
        Epsilon::try_from(3.0).unwrap(),
        Delta::try_from(1e-6).unwrap(),
    );
    let mut ledger = Ledger::open(budget, Relation::ZeroOut, PrivacyUnit::Record);
    let _permit = ledger
        .spend("a choice", purchase(SelectionLaw::Euler, (1, 128)))
        .unwrap();
    let stored = serde_json::to_string(&ledger.record()).unwrap();
    assert!(stored.contains("\"law\":\"euler\""), "{stored}");
    let record = serde_json::from_str(&stored).unwrap();
    assert_eq!(Ledger::replay(&record).unwrap(), ledger);
    // The same line under another law costs another ε, so an altered law is found.
    let altered = stored.replace("\"law\":\"euler\"", "\"law\":\"floor-gumbel\"");
    let altered = serde_json::from_str(&altered).unwrap();
    assert!(matches!(
        Ledger::replay(&altered),
        Err(LedgerError::Altered { .. })
    ));
}

#[test]
fn a_curators_line_is_written_as_it_was_before_there_was_a_choice_of_law() {
    let line = serde_json::to_string(&purchase(SelectionLaw::Curator, (1, 20))).unwrap();
    assert!(!line.contains("law"), "{line}");
    let read: SelectionPurchase = serde_json::from_str(&line).unwrap();
    assert_eq!(read.law, SelectionLaw::Curator);
}

#[test]
fn two_of_three_trustees_are_enough_under_every_law() {
    for law in LAWS {
        let dealers = Trustee::ALL
            .iter()
            .filter(|trustee| law.is_dealt_by(**trustee));
        let expected = match law {
            SelectionLaw::Curator => 0,
            SelectionLaw::FloorGumbel => 2,
            SelectionLaw::Euler => 3,
        };
        assert_eq!(dealers.count(), expected);
    }
}
