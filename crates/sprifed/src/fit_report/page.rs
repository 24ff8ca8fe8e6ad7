//! The page about a fit: what the text says, with a chart, the rounds and the budget.

use sprifed_privacy::{Epsilon, shown_cost};
use sprifed_query::PlannedStep;
use sprifed_recovery::FitStatus;
use sprifed_report::{Badge, BadgeKind, Bar, FeatureTable, FitPage, Round};

use super::FitReport;
use crate::model::{Model, Term};

impl FitReport {
    /// The page of this fit.
    #[must_use]
    pub fn to_page(&self) -> FitPage {
        let model = &self.model;
        let mut facts: Vec<(String, String)> = [
            ("response", model.response.name.clone()),
            ("fitted to", model.size_words()),
            ("candidate features", model.n_candidates.to_string()),
            ("procedure", model.procedure.clone()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        match &self.evaluation {
            Some(evaluation) => facts.push((evaluation.label(), evaluation.score.text())),
            None => facts.push((
                "score".to_owned(),
                "none: it would be a release without noise".to_owned(),
            )),
        }
        // What makes the coefficients unusable stands above them.
        let (mut warnings, mut diagnostics) = match model.status {
            FitStatus::Complete => (Vec::new(), vec![model.status_words()]),
            _ => (vec![model.status_words()], Vec::new()),
        };
        warnings.extend(model.warning());
        diagnostics.extend(self.delta_note.clone().map(|note| format!("Note: {note}.")));
        diagnostics.extend(model.residual_scale.map(|scale| {
            format!("Typical residual before the last step, as privately estimated: {scale:.4}.")
        }));
        FitPage {
            title: format!("Sparse model of {}", model.response.name),
            status: status(model, !warnings.is_empty()),
            guarantee: model.guarantee.statement.clone(),
            warnings,
            features: FeatureTable::over_bounds(
                &model.features.iter().map(bar).collect::<Vec<_>>(),
                Some(model.intercept),
            ),
            facts,
            rounds: model.plan.steps.iter().map(round).collect(),
            budget: budget(model),
            diagnostics,
        }
    }
}

/// How the fit ended, and whether it is private, at first sight.
fn status(model: &Model, has_warnings: bool) -> Vec<Badge> {
    let (kind, words) = match model.status {
        FitStatus::Complete if has_warnings => (BadgeKind::Attention, "complete, with a warning"),
        FitStatus::Complete => (BadgeKind::Done, "complete"),
        FitStatus::NoFeatureAboveNoise { .. } => {
            (BadgeKind::Failed, "no feature stands out of the noise")
        }
        FitStatus::IllConditioned { .. } => (BadgeKind::Attention, "unreliable coefficients"),
    };
    let label = model.label.iter();
    let mut badges = vec![Badge::new(kind, words)];
    badges.extend(label.map(|label| Badge::new(BadgeKind::Failed, label.as_str())));
    badges
}

/// A feature's bar, and half the width of its public bounds.
fn bar(term: &Term) -> (Bar, f64) {
    let bar = Bar {
        name: term.name.clone(),
        truth: None,
        found: Some(term.coefficient),
        noise_std_dev: term.noise_std_dev,
    };
    (bar, term.half_range())
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
