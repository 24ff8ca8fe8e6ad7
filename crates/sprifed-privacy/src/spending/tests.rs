use proptest::prelude::*;

use super::*;
use crate::neighbours::Relation;
use crate::purchase::{Purchase, SelectionPurchase};
use crate::quantity::Epsilon;
use crate::test_support::{choice_of_a_curator, small_sum};

fn delta(value: f64) -> Delta {
    Delta::try_from(value).unwrap()
}

fn sum_cost() -> SumCost {
    let small = small_sum();
    small.plan.cost(small.origin, Relation::ZeroOut).unwrap()
}

fn range(value: f64) -> Expense {
    let range = RangeBound::try_from(value).unwrap();
    Expense::Selection(SelectionCost::of(range, SelectionLaw::Curator, 1))
}

fn spend(expenses: &[Expense]) -> Spending {
    expenses.iter().fold(Spending::default(), |total, expense| {
        total.and(*expense).unwrap()
    })
}

fn epsilon_of(spending: &Spending, at: f64) -> f64 {
    spending.to_approx_dp(delta(at)).unwrap().epsilon().get()
}

fn any_expense() -> impl Strategy<Value = Expense> {
    prop_oneof![
        Just(Expense::Sum(sum_cost())),
        (1u32..=4).prop_map(|tenths| range(f64::from(tenths) / 10.0))
    ]
}

#[test]
fn nothing_spent_is_nothing_rather_than_zero() {
    assert_eq!(Spending::default().to_approx_dp(delta(1e-6)), None);
    assert_eq!(Spending::default().sums(), None);
    assert!(Spending::default().selections().is_empty());
}

#[test]
fn sums_alone_cost_what_the_sum_costs() {
    let spending = spend(&[Expense::Sum(sum_cost()), Expense::Sum(sum_cost())]);
    let twice = sum_cost().compose(sum_cost()).unwrap();
    assert_eq!(spending.sums(), Some(twice));
    assert_eq!(
        spending.to_approx_dp(delta(1e-6)),
        Some(twice.to_approx_dp(delta(1e-6)))
    );
}

#[test]
fn equal_selections_are_counted_and_unequal_ones_kept_apart() {
    let spending = spend(&[range(0.5), range(0.25), range(0.5)]);
    let bound = |value: f64| RangeBound::try_from(value).unwrap();
    assert_eq!(spending.selections(), [(bound(0.5), 2), (bound(0.25), 1)]);
}

#[test]
fn one_selection_costs_at_most_its_range() {
    let epsilon = epsilon_of(&spend(&[range(0.5)]), 1e-9);
    assert!(epsilon <= 0.5 + 1e-6 && epsilon > 0.49, "{epsilon}");
}

#[test]
fn a_selection_pays_for_its_rounded_noise() {
    // λ = 1/20, Δ = 4: 2λΔ + 4λ = 0.6; under replace-one Δ doubles.
    let selection = choice_of_a_curator(9, 4, (1, 20));
    let cost = |relation| match selection.expense(relation).unwrap() {
        Expense::Selection(cost) => cost.range().get(),
        Expense::Sum(_) => unreachable!("a selection"),
    };
    assert!((cost(Relation::ZeroOut) - 0.6).abs() < 1e-15);
    assert!((cost(Relation::ReplaceOne) - 1.0).abs() < 1e-15);
    for noise_rate in [(0, 1), (1, 0), (0, 0)] {
        let broken = SelectionPurchase {
            noise_rate,
            ..selection
        };
        assert!(broken.expense(Relation::ZeroOut).is_err(), "{noise_rate:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn another_release_never_makes_the_total_cheaper(
        expenses in prop::collection::vec(any_expense(), 1..5),
        one_more in any_expense(),
    ) {
        let before = spend(&expenses);
        let after = before.and(one_more).unwrap();
        // Two routes, each rounded up on its own, may differ in the last digits.
        prop_assert!(epsilon_of(&after, 1e-6) >= epsilon_of(&before, 1e-6) - 1e-9);
    }

    #[test]
    fn the_order_of_releases_does_not_matter(
        expenses in prop::collection::vec(any_expense(), 2..6),
    ) {
        let forward = epsilon_of(&spend(&expenses), 1e-6);
        let reversed: Vec<Expense> = expenses.iter().rev().copied().collect();
        let backward = epsilon_of(&spend(&reversed), 1e-6);
        prop_assert!((forward / backward - 1.0).abs() < 1e-6, "{forward} against {backward}");
    }

    #[test]
    fn the_total_is_never_above_concentrated_accounting(
        expenses in prop::collection::vec(any_expense(), 1..6),
    ) {
        let rho = expenses.iter().map(|expense| match expense {
            Expense::Sum(cost) => cost.squared_mu() / 2.0,
            Expense::Selection(cost) => cost.range().get().powi(2) / 8.0,
        });
        let rho = crate::quantity::Rho::try_from(rho.sum::<f64>()).unwrap();
        let concentrated = rho.to_approx_dp(delta(1e-6)).epsilon().get();
        prop_assert!(epsilon_of(&spend(&expenses), 1e-6) <= concentrated + 1e-9);
    }
}

fn any_part() -> impl Strategy<Value = RecordPart> {
    prop_oneof![
        Just(RecordPart::All),
        Just(RecordPart::Selection),
        Just(RecordPart::Estimation)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The cost is that of the dearer part, where a part is in the releases about it and about all records, in any order.
    #[test]
    fn a_study_of_two_parts_costs_what_its_dearer_part_costs(
        releases in prop::collection::vec((any_part(), any_expense()), 1..8),
    ) {
        let total = releases.iter().fold(Spending::default(), |total, (part, expense)| {
            total.and_about(*part, *expense).unwrap()
        });
        let of = |part: RecordPart| {
            let own = releases.iter().filter(|(about, _)| about.is_all() || *about == part);
            let own: Vec<Expense> = own.map(|(_, expense)| *expense).collect();
            spend(&own).to_approx_dp(delta(1e-6)).map(|cost| cost.epsilon().get())
        };
        let parts = [RecordPart::Selection, RecordPart::Estimation].map(of);
        let dearer = parts.into_iter().flatten().fold(0.0, f64::max);
        prop_assert!((epsilon_of(&total, 1e-6) - dearer).abs() <= 0.0);
        let all: Vec<Expense> = releases.iter().map(|(_, expense)| *expense).collect();
        prop_assert!(dearer <= epsilon_of(&spend(&all), 1e-6) * (1.0 + 1e-9));
        prop_assert_eq!(total.has_two_parts(), releases.iter().any(|(part, _)| !part.is_all()));
    }
}

#[test]
fn the_sums_of_two_parts_are_stated_by_the_dearer() {
    let one = Expense::Sum(sum_cost());
    let about = |spending: &Spending, part| spending.and_about(part, one).unwrap();
    let twice = about(
        &about(&Spending::default(), RecordPart::Selection),
        RecordPart::Selection,
    );
    let with_estimates = about(&twice, RecordPart::Estimation);
    assert_eq!(with_estimates.sums(), twice.sums());
    assert_eq!(twice.sums(), Some(sum_cost().compose(sum_cost()).unwrap()));
}

#[test]
fn two_studies_of_two_parts_are_not_added_up_as_one_sequence() {
    let once = spend(&[Expense::Sum(sum_cost())]);
    let part = Spending::default().and_about(RecordPart::Selection, Expense::Sum(sum_cost()));
    let part = part.unwrap();
    assert!(once.beside(&once).is_ok());
    assert!(part.beside(&once).is_err() && once.beside(&part).is_err());
}

#[test]
fn a_part_of_the_records_is_certified_for_a_curator_who_protects_records_only() {
    use crate::neighbours::PrivacyUnit;
    use crate::participation::Participation;
    use crate::test_support::small_choice_of_trustees;

    let shares = NoiseOrigin::Shares(Participation::new(20, 18, 2).unwrap());
    for part in [RecordPart::Selection, RecordPart::Estimation] {
        let mut sum = small_sum();
        sum.plan.part = part;
        assert!(sum.expense(Relation::ReplaceOne).is_ok());
        for origin in [shares, NoiseOrigin::Trustees] {
            let mut other = sum.clone();
            other.origin = origin;
            assert!(matches!(
                other.expense(Relation::ZeroOut),
                Err(Uncertifiable::OnePart { .. })
            ));
        }
        sum.unit = PrivacyUnit::Client;
        assert!(sum.expense(Relation::ZeroOut).is_err());
        let choice = SelectionPurchase {
            part,
            ..choice_of_a_curator(3, 4, (1, 20))
        };
        assert!(choice.expense(Relation::ZeroOut).is_ok());
        let of_client = SelectionPurchase {
            unit: PrivacyUnit::Client,
            ..choice
        };
        assert!(of_client.expense(Relation::ZeroOut).is_err());
        let of_trustees = SelectionPurchase {
            part,
            ..small_choice_of_trustees()
        };
        assert!(of_trustees.expense(Relation::ZeroOut).is_err());
    }
}

proptest! {
    #[test]
    fn a_budget_is_enough_exactly_where_the_stated_guarantee_is_within_it(
        expenses in prop::collection::vec(any_expense(), 1..12),
        part in 0.2f64..1.2,
        exponent in 2i32..9,
    ) {
        let spending = spend(&expenses);
        let at = delta(10f64.powi(-exponent));
        let stated = spending.to_approx_dp(at).unwrap();
        let limit = Epsilon::try_from(stated.epsilon().get() * part).unwrap();
        prop_assert_eq!(spending.is_within(ApproxDp::new(limit, at)), stated.epsilon() <= limit);
        prop_assert!(spending.is_within(stated));
        let less = Epsilon::try_from(stated.epsilon().get().next_down()).unwrap();
        prop_assert!(!spending.is_within(ApproxDp::new(less, at)));
    }
}
