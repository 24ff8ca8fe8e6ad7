use proptest::prelude::*;

use super::*;
use crate::block::{Block, IntegerBounds};
use crate::participation::Participation;
use crate::purchase::{SelectionPurchase, SumPurchase};
use crate::quantity::Delta;
use crate::rational::{NoiseVariance, parse_exact};
use crate::run_plan::RunRequest;
use crate::selection_law::SelectionLaw;
use crate::sum_plan::{NoiseOrigin, SumPlan};
use crate::test_support::{generous_ledger, small_sum};
use crate::totals::Algorithm;

fn budget(epsilon: f64) -> ApproxDp {
    ApproxDp::new(
        Epsilon::try_from(epsilon).unwrap(),
        Delta::try_from(1e-6).unwrap(),
    )
}

fn ledger(epsilon: f64) -> Ledger {
    Ledger::open(budget(epsilon), Relation::ZeroOut, PrivacyUnit::Record)
}

fn copy_of(ledger: &Ledger) -> Ledger {
    Ledger::replay(&ledger.record()).expect("a ledger replays")
}

fn sum(variance: &str) -> SumPurchase {
    let block = Block {
        name: "tested".to_owned(),
        coordinates: 3,
        bounds: IntegerBounds::Box {
            bound: 4,
            squares: 1,
        },
        share_variance: NoiseVariance::try_from(variance.to_owned()).unwrap(),
    };
    let origin = NoiseOrigin::Shares(Participation::new(20, 18, 2).unwrap());
    SumPurchase {
        plan: SumPlan {
            blocks: vec![block],
            part: RecordPart::All,
        },
        origin,
        unit: PrivacyUnit::Record,
    }
}

fn selection() -> SelectionPurchase {
    SelectionPurchase {
        candidates: 9,
        score_bound: 4,
        noise_rate: (1, 20),
        law: SelectionLaw::Curator,
        unit: PrivacyUnit::Record,
        part: RecordPart::All,
    }
}

/// A ledger of two sums, of different noise, and the record of it.
fn two_sums() -> (Ledger, LedgerRecord) {
    let mut ledger = generous_ledger();
    let _permits = (
        ledger.spend("first", sum("50")),
        ledger.spend("second", sum("100")),
    );
    let record = ledger.record();
    (ledger, record)
}

fn line(purchase: SumPurchase) -> LedgerLine {
    LedgerLine::Sum(purchase)
}

#[test]
fn a_fresh_ledger_has_spent_nothing() {
    let ledger = ledger(1.0);
    assert_eq!((ledger.spent(), ledger.record().spent), (None, None));
    assert_eq!(Ledger::replay(&ledger.record()), Ok(ledger));
}

#[test]
fn a_charge_is_noted_with_its_statement_and_its_line() {
    let mut ledger = generous_ledger();
    let permit = ledger.spend("a first sum", small_sum()).unwrap();
    let chosen = ledger.spend("a first feature", selection()).unwrap();
    let record = ledger.record();
    let noted: Vec<_> = record
        .entries
        .iter()
        .map(|e| (e.statement.as_str(), &e.line))
        .collect();
    let lines = [line(small_sum()), LedgerLine::Selection(selection())];
    assert_eq!(
        noted,
        [("a first sum", &lines[0]), ("a first feature", &lines[1])]
    );
    assert_eq!(
        (permit.purchase(), chosen.purchase()),
        (&small_sum(), &selection())
    );
    assert_eq!(permit.into_purchase(), small_sum());
}

#[test]
fn a_charge_beyond_the_budget_is_refused_with_all_the_numbers() {
    let mut ledger = ledger(0.5);
    let before = copy_of(&ledger);
    let error = ledger.spend("too much", sum("25")).unwrap_err();
    assert_eq!(ledger, before);
    let LedgerError::Overdrawn { needed, spent, .. } = error.clone() else {
        panic!("{error}");
    };
    assert!(needed > ledger.budget().epsilon() && spent.is_none());
    let text = error.to_string();
    let wanted =
        format!("\"too much\" would bring the total to epsilon = {needed}, but the budget is 0.5");
    assert!(text.starts_with(&wanted), "{text}");
    assert!(
        text.contains("at delta = 1e-6; 0 is already spent"),
        "{text}"
    );
}

#[test]
fn a_charge_without_a_certified_cost_is_refused_and_leaves_the_ledger_equal() {
    let mut ledger = generous_ledger();
    let before = copy_of(&ledger);
    let broken = SelectionPurchase {
        noise_rate: (1, 0),
        ..selection()
    };
    assert!(matches!(
        ledger.spend("too fine", sum("3")).unwrap_err(),
        LedgerError::Uncertifiable { .. }
    ));
    assert!(ledger.spend("no noise", broken).is_err());
    let empty = SumPurchase {
        plan: SumPlan {
            blocks: Vec::new(),
            part: RecordPart::All,
        },
        origin: NoiseOrigin::Curator,
        unit: PrivacyUnit::Record,
    };
    assert!(ledger.spend("nothing", empty).is_err());
    assert_eq!(ledger, before);
}

#[test]
fn a_budget_of_exactly_the_plan_pays_for_the_plan_and_not_for_one_sum_more() {
    let request = RunRequest {
        algorithm: Algorithm::Omp,
        features: 50,
        sparsity: 5,
        per_vector: parse_exact("0.4").unwrap(),
        per_support: parse_exact("0.1").unwrap(),
        participation: Participation::new(100, 90, 5).unwrap(),
        relation: Relation::ReplaceOne,
        records_per_client: 1,
    };
    let plan = request.plan().unwrap();
    let origin = NoiseOrigin::Shares(request.participation);
    let total = plan.total.with_protocol_of(origin);
    let budget = total.to_approx_dp(Delta::try_from(1e-6).unwrap());
    let mut ledger = Ledger::open(budget, request.relation, PrivacyUnit::Record);
    for sum in &plan.sums {
        let _permit = ledger
            .spend(
                "planned",
                SumPurchase {
                    plan: sum.clone(),
                    origin,
                    unit: PrivacyUnit::Record,
                },
            )
            .unwrap();
    }
    assert_eq!(ledger.spent(), Some(budget));
    let again = SumPurchase {
        plan: plan.sums[0].clone(),
        origin,
        unit: PrivacyUnit::Record,
    };
    assert!(ledger.spend("one more", again).is_err());
    assert_eq!(ledger.spent(), Some(budget));
}

#[test]
fn replacing_is_charged_more_than_zeroing() {
    let mut zero_out = generous_ledger();
    let mut replace_one =
        Ledger::open(zero_out.budget(), Relation::ReplaceOne, PrivacyUnit::Record);
    let _permits = (
        zero_out.spend("sum", sum("50")),
        replace_one.spend("sum", sum("50")),
    );
    assert!(replace_one.record().spent > zero_out.record().spent);
}

#[test]
fn a_record_whose_total_was_changed_is_refused() {
    let (_, mut record) = two_sums();
    let honest = record.spent.unwrap();
    record.spent = Some(Epsilon::try_from(honest.get() * (1.0 - 1e-15)).unwrap());
    let error = Ledger::replay(&record).unwrap_err();
    assert!(
        error.to_string().contains(&format!("add up to {honest}")),
        "{error}"
    );
    record.spent = None;
    assert!(matches!(
        Ledger::replay(&record),
        Err(LedgerError::Altered { .. })
    ));
}

#[test]
fn a_record_whose_noise_bound_or_relation_was_changed_is_refused() {
    let (_, honest) = two_sums();
    let mut louder = honest.clone();
    louder.entries[0].line = line(sum("51"));
    assert!(matches!(
        Ledger::replay(&louder),
        Err(LedgerError::Altered { .. })
    ));
    let mut narrower = sum("50");
    narrower.plan.blocks[0].bounds = IntegerBounds::Box {
        bound: 3,
        squares: 1,
    };
    let mut narrowed = honest.clone();
    narrowed.entries[0].line = line(narrower);
    assert!(matches!(
        Ledger::replay(&narrowed),
        Err(LedgerError::Altered { .. })
    ));
    let mut renamed = honest;
    renamed.relation = Relation::ReplaceOne;
    assert!(matches!(
        Ledger::replay(&renamed),
        Err(LedgerError::Altered { .. })
    ));
}

#[test]
fn a_record_with_an_entry_removed_or_repeated_is_refused() {
    let (_, honest) = two_sums();
    for index in 0..2 {
        let mut shorter = honest.clone();
        shorter.entries.remove(index);
        assert!(matches!(
            Ledger::replay(&shorter),
            Err(LedgerError::Altered { .. })
        ));
        let mut longer = honest.clone();
        longer.entries.push(honest.entries[index].clone());
        assert!(matches!(
            Ledger::replay(&longer),
            Err(LedgerError::Altered { .. })
        ));
    }
}

#[test]
fn a_record_that_spends_more_than_its_budget_is_refused() {
    let (_, mut record) = two_sums();
    record.budget = budget(0.1);
    assert!(matches!(
        Ledger::replay(&record),
        Err(LedgerError::Overdrawn { .. })
    ));
}

#[test]
fn a_stored_record_with_an_illegal_or_unknown_part_is_not_read() {
    let (_, record) = two_sums();
    let stored = serde_json::to_value(&record).unwrap();
    assert!(serde_json::from_value::<LedgerRecord>(stored.clone()).is_ok());
    let alterations: [fn(&mut serde_json::Value); 5] = [
        |v| v["budget"]["epsilon"] = (-1.0).into(),
        |v| v["budget"]["delta"] = 1.0.into(),
        |v| v["entries"][0]["line"]["sum"]["plan"]["blocks"][0]["share_variance"] = "0".into(),
        |v| v["entries"][0]["line"]["sum"]["origin"]["shares"]["quorum"] = 1.into(),
        |v| v["discount"] = 0.5.into(),
    ];
    for alter in alterations {
        let mut altered = stored.clone();
        alter(&mut altered);
        assert!(
            serde_json::from_value::<LedgerRecord>(altered.clone()).is_err(),
            "{altered}"
        );
    }
}

fn any_sum() -> impl Strategy<Value = SumPurchase> {
    (17u32..100_000).prop_map(|quarters| sum(&format!("{quarters}/4")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_sequence_of_charges_exceeds_the_budget_and_a_refused_one_changes_nothing(
        purchases in prop::collection::vec(any_sum(), 1..30),
        epsilon in 0.05f64..5.0,
    ) {
        let mut ledger = ledger(epsilon);
        for purchase in purchases {
            let before = copy_of(&ledger);
            match ledger.spend("a sum", purchase) {
                Ok(_permit) => prop_assert_eq!(ledger.record().entries.len(), before.record().entries.len() + 1),
                Err(_) => prop_assert_eq!(&ledger, &before),
            }
            let spent = ledger.record().spent;
            prop_assert!(spent <= Some(ledger.budget().epsilon()));
            prop_assert!(spent >= before.record().spent);
        }
    }

    #[test]
    fn a_ledger_survives_being_stored_as_text_and_replayed(
        purchases in prop::collection::vec(any_sum(), 0..6),
        epsilon in 0.5f64..50.0,
    ) {
        let mut ledger = ledger(epsilon);
        for (index, purchase) in purchases.into_iter().enumerate() {
            let _permit = ledger.spend(&format!("sum \"{index}\" — é\n"), purchase);
        }
        let record = ledger.record();
        for text in [serde_json::to_string(&record), serde_json::to_string_pretty(&record)] {
            let read: LedgerRecord = serde_json::from_str(&text.unwrap()).unwrap();
            prop_assert_eq!(&read, &record);
            prop_assert_eq!(Ledger::replay(&read), Ok(copy_of(&ledger)));
        }
        let value = serde_json::to_value(&record).unwrap();
        prop_assert_eq!(serde_json::from_value::<LedgerRecord>(value).unwrap(), record);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn a_ledger_with_selections_keeps_its_budget_and_replays(
        steps in prop::collection::vec(any::<bool>(), 1..8),
        epsilon in 0.5f64..4.0,
    ) {
        let mut ledger = ledger(epsilon);
        for is_selection in steps {
            let before = copy_of(&ledger);
            let refused = if is_selection {
                ledger.spend("a selection", selection()).is_err()
            } else {
                ledger.spend("a sum", sum("400")).is_err()
            };
            prop_assert_eq!(refused, ledger == before);
            prop_assert!(ledger.record().spent <= Some(ledger.budget().epsilon()));
        }
        prop_assert_eq!(Ledger::replay(&ledger.record()), Ok(ledger));
    }
}

#[test]
fn a_sum_bounded_per_record_does_not_pay_for_a_promise_to_clients() {
    let mut promise = generous_ledger().record();
    promise.unit = PrivacyUnit::Client;
    let mut ledger = Ledger::replay(&promise).expect("an empty ledger");
    let before = copy_of(&ledger);
    let refused = ledger.spend("a sum", small_sum());
    assert!(
        matches!(refused, Err(LedgerError::OtherUnit { .. })),
        "{refused:?}"
    );
    assert_eq!(ledger, before);
}

#[test]
fn each_part_of_the_records_has_the_whole_budget_and_none_has_more() {
    let about = |part: RecordPart| {
        let mut purchase = small_sum();
        purchase.plan.part = part;
        purchase
    };
    let alone = |times: u32| {
        let mut ledger = generous_ledger();
        for _ in 0..times {
            let _permit = ledger.spend("a sum", small_sum()).unwrap();
        }
        ledger.spent().unwrap()
    };
    let mut ledger = Ledger::open(alone(3), Relation::ZeroOut, PrivacyUnit::Record);
    let _all = ledger.spend("all", small_sum()).unwrap();
    for part in [RecordPart::Selection, RecordPart::Estimation] {
        for _ in 0..2 {
            let _permit = ledger.spend("a part", about(part)).unwrap();
        }
        assert!(matches!(
            ledger.spend("too much", about(part)),
            Err(LedgerError::Overdrawn { .. })
        ));
    }
    assert_eq!(ledger.spent(), Some(alone(3)));
    assert!(ledger.spend("too much", small_sum()).is_err());
    // A receipt says which part each line is about, and another part makes it another cost.
    let mut record = ledger.record();
    assert_eq!(copy_of(&ledger), ledger);
    record.entries[1].line = line(about(RecordPart::Estimation));
    assert!(Ledger::replay(&record).is_err());
}
