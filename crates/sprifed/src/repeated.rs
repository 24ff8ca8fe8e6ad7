//! What several fits of the same records cost together.

use std::num::NonZeroU32;

use sprifed_privacy::{
    ApproxDp, Epsilon, IllegalQuantity, LedgerRecord, Mu, PrivacyUnit, Relation, Spending,
    Uncertifiable, shown_cost, shown_delta, shown_to,
};
use sprifed_recovery::{CertifiedProcedure, Needs};

/// Why an estimator is about to be fitted once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// It is a copy, as searches and cross-validation make them.
    Clone,
    /// It was fitted before.
    Again,
}

/// The refusal of another fit of the same records, with what several fits would cost.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{}; every fit of the same records spends the whole budget of epsilon = {} once more: {}",
    repetition.text(), budget.epsilon().get(), text_of_costs(costs)
)]
pub struct RepeatedFit {
    /// Why it would be another fit.
    pub repetition: Repetition,
    /// What one fit spends.
    pub budget: ApproxDp,
    /// What numbers of fits cost together: how many, epsilon and delta.
    pub costs: [(u32, f64, f64); 3],
}

impl RepeatedFit {
    /// What several fits by `procedure` would cost.
    ///
    /// # Why
    /// Fits whose every answer is a sum are μ-GDP, and compose in quadrature [DRS19, Cor. 3.3]. Choices are
    /// not, so for them epsilons and deltas are added up, which holds whatever the mechanism.
    ///
    /// # Errors
    /// When the budget is too small to be a μ.
    pub fn of(
        repetition: Repetition,
        budget: ApproxDp,
        procedure: CertifiedProcedure,
    ) -> Result<Self, IllegalQuantity> {
        let (epsilon, delta) = (budget.epsilon().get(), budget.delta().get());
        let mu = Mu::largest_within(budget)?;
        let cost = |times: u32| {
            let count = f64::from(times);
            if procedure.needs() == Needs::Choices {
                return (times, count * epsilon, count * delta);
            }
            let together = mu.repeated(NonZeroU32::new(times).unwrap_or(NonZeroU32::MIN));
            let epsilon = together.to_approx_dp(budget.delta()).epsilon().get();
            (times, epsilon, delta)
        };
        Ok(Self {
            repetition,
            budget,
            costs: [2, 5, 25].map(cost),
        })
    }
}

impl Repetition {
    const fn text(self) -> &'static str {
        match self {
            Self::Clone => {
                "this estimator is a copy, as searches and cross-validation make many of them"
            }
            Self::Again => "this estimator was fitted before",
        }
    }
}

fn text_of_costs(costs: &[(u32, f64, f64)]) -> String {
    let words = costs.iter().map(|(times, epsilon, delta)| {
        let (epsilon, delta) = (shown_to(*epsilon, 2), shown_delta(*delta));
        format!("{times} fits cost epsilon = {epsilon} at delta = {delta}")
    });
    words.collect::<Vec<_>>().join(", ")
}

/// What all these fits cost together, in words, if they used the same records.
///
/// # Why
/// The lines of several ledgers are a sequence of releases like those of one. Where that sequence has
/// no certified cost, epsilons and deltas are added up, which holds whatever the mechanism. Costs under
/// different relations or for different units add up to nothing, and are said one by one.
#[must_use]
pub fn cost_of_all(ledgers: &[LedgerRecord]) -> String {
    let mut kinds: Vec<(Relation, PrivacyUnit)> = Vec::new();
    for ledger in ledgers {
        let kind = (ledger.relation, ledger.unit);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let cost = |kind: &(Relation, PrivacyUnit)| {
        let of_kind = |ledger: &&LedgerRecord| (ledger.relation, ledger.unit) == *kind;
        let same: Vec<&LedgerRecord> = ledgers.iter().filter(of_kind).collect();
        let (epsilon, delta) = together(&same).unwrap_or_else(|_| added_up(&same));
        format!(
            "epsilon = {} at delta = {} for each {} under {}",
            shown_cost(epsilon),
            shown_delta(delta),
            kind.1.text(),
            kind.0.text()
        )
    };
    let costs: Vec<String> = kinds.iter().map(cost).collect();
    format!(
        "{} fits of this estimator and its copies are known; if they used the same records, they cost together {}: \
         report that, not the epsilon of the last",
        ledgers.len(),
        costs.join(", and ")
    )
}

/// All lines as one sequence, at the largest delta.
fn together(ledgers: &[&LedgerRecord]) -> Result<(f64, f64), Uncertifiable> {
    let mut spending = Spending::default();
    for ledger in ledgers {
        let mut fit = Spending::default();
        for entry in &ledger.entries {
            fit = fit.and_about(entry.line.part(), entry.line.expense(ledger.relation)?)?;
        }
        // Each fit ran a protocol of its own.
        spending = spending.beside(&fit)?;
    }
    let deltas = ledgers.iter().map(|ledger| ledger.budget.delta());
    let largest = deltas.max_by(|one, other| one.get().total_cmp(&other.get()));
    let total = match (largest, spending.sums()) {
        (Some(delta), Some(sums)) => {
            sums.check_delta(delta)?;
            spending.to_approx_dp(delta)
        }
        (largest, _) => largest.and_then(|delta| spending.to_approx_dp(delta)),
    };
    Ok(total.map_or((0.0, 0.0), |total| {
        (total.epsilon().get(), total.delta().get())
    }))
}

fn added_up(ledgers: &[&LedgerRecord]) -> (f64, f64) {
    let epsilon = |ledger: &&LedgerRecord| ledger.spent.map_or(0.0, Epsilon::get);
    let delta = |ledger: &&LedgerRecord| ledger.budget.delta().get();
    (
        ledgers.iter().map(epsilon).sum(),
        ledgers.iter().map(delta).sum(),
    )
}

#[cfg(test)]
mod tests {
    use sprifed_privacy::Delta;

    use super::*;

    #[test]
    fn sums_compose_in_quadrature_and_choices_add() {
        let budget = ApproxDp::new(
            Epsilon::try_from(1.0).unwrap(),
            Delta::try_from(1e-6).unwrap(),
        );
        let said = |procedure| {
            RepeatedFit::of(Repetition::Clone, budget, procedure)
                .unwrap()
                .to_string()
        };
        assert!(
            said(CertifiedProcedure::ARGMAX)
                .contains("25 fits cost epsilon = 25 at delta = 2.5e-5")
        );
        let mu = Mu::largest_within(budget).unwrap();
        let four = Mu::try_from(5.0 * mu.get()).unwrap();
        let expected = four.to_approx_dp(budget.delta()).epsilon().get();
        assert!(expected < 25.0);
        let expected = format!("25 fits cost epsilon = {}", shown_to(expected, 2));
        assert!(said(CertifiedProcedure::GRAD).contains(&expected));
    }
}
