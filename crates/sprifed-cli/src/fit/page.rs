//! The page about a fit: what the text says, with a chart, the rounds and the budget.

use sprifed_privacy::{Epsilon, shown_cost};
use sprifed_query::PlannedStep;
use sprifed_report::{Bar, FitPage, Round};

use super::report::Report;
use crate::model::{Model, Term};

impl Report<'_> {
    /// The page of this fit.
    pub(super) fn page(&self) -> FitPage {
        let model = &self.model;
        let mut facts: Vec<(String, String)> = [
            ("response", model.response.name.clone()),
            ("fitted to", model.size_words()),
            ("candidate features", model.n_candidates.to_string()),
            ("procedure", model.procedure.clone()),
            ("intercept", format!("{:.6}", model.intercept)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        match &self.evaluation {
            Some(evaluation) => facts.push((evaluation.label(), evaluation.score.words())),
            None => facts.push((
                "score".to_owned(),
                "none: it would be a release without noise".to_owned(),
            )),
        }
        let mut diagnostics = vec![model.status_words()];
        diagnostics.extend(self.delta_note.clone().map(|note| format!("Note: {note}.")));
        diagnostics.extend(model.residual_scale.map(|scale| {
            format!("Typical residual before the last step, as privately estimated: {scale:.4}.")
        }));
        FitPage {
            title: format!("A private sparse model of {}", model.response.name),
            label: model.label.clone(),
            guarantee: model.guarantee.statement.clone(),
            warnings: model.warning().into_iter().collect(),
            facts,
            bars: model.features.iter().map(|term| bar(term, 1.0)).collect(),
            drawn: Some(model.features.iter().map(|term| bar(term, half_range(term))).collect()),
            chart_note: Some(
                "Drawn: how far the response moves when a feature goes from the middle of its public bounds to \
                 their end. The table has coefficients in the units of the columns."
                    .to_owned(),
            ),
            rounds: model.plan.steps.iter().map(round).collect(),
            budget: budget(model),
            diagnostics,
        }
    }
}

fn half_range(term: &Term) -> f64 {
    (term.upper - term.lower) / 2.0
}

fn bar(term: &Term, unit: f64) -> Bar {
    Bar {
        name: term.name.clone(),
        truth: None,
        found: Some(term.coefficient * unit),
        noise_std_dev: term.noise_std_dev.map(|noise| noise * unit),
    }
}

fn round(step: &PlannedStep) -> Round {
    match step {
        PlannedStep::Sum(sum) => Round {
            purpose: format!("sum: {}", sum.purpose),
            coordinates: sum
                .blocks
                .iter()
                .map(|planned| u64::from(planned.block.coordinates))
                .sum(),
        },
        PlannedStep::Choice(choice) => Round {
            purpose: format!("choice: {}", choice.purpose),
            coordinates: 1,
        },
    }
}

fn budget(model: &Model) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for receipt in &model.receipts {
        let ledger = &receipt.ledger;
        lines.push((
            "budget, epsilon".to_owned(),
            ledger.budget.epsilon().shown(),
        ));
        lines.push(("delta".to_owned(), ledger.budget.delta().shown()));
        let spent = ledger.spent.map_or(0.0, Epsilon::get);
        lines.push(("spent, epsilon".to_owned(), shown_cost(spent)));
        lines.push((
            "charges in the ledger".to_owned(),
            ledger.entries.len().to_string(),
        ));
    }
    lines.push((
        "earlier fits that wrote to this model".to_owned(),
        model.earlier_receipts.len().to_string(),
    ));
    lines
}
