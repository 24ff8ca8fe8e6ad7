//! What a fit says of itself, in text.

use std::fmt::Write as _;

use sprifed::{FitReport, NO_SCORE};
use sprifed_privacy::counted;
use sprifed_schema::Transform;

/// What makes the model useless, if anything does; then the guarantee, then how the fit ended, then the model.
pub(super) fn to_text(report: &FitReport) -> String {
    let model = &report.model;
    let alarm = model.alarm();
    let mut text = String::new();
    if let Some(alarm) = &alarm {
        let _ = writeln!(text, "{alarm}\n");
    }
    let _ = writeln!(text, "{}\n", model.guarantee.statement);
    if let Some(note) = &report.delta_note {
        let _ = writeln!(text, "Note: {note}.");
    }
    if !model.earlier_receipts.is_empty() {
        let _ = writeln!(
            text,
            "Note: {} wrote to this file; if the records are the same, that cost adds to this one.",
            counted(model.earlier_receipts.len(), "earlier fit", "earlier fits")
        );
    }
    let _ = writeln!(
        text,
        "\n`{}` by {}, from {}; {}.",
        model.response.name,
        model.plan.procedure,
        model.size_words(),
        counted(
            model.n_candidates,
            "feature was a candidate",
            "features were candidates"
        ),
    );
    if alarm.is_none() {
        let _ = writeln!(text, "{}", model.status_words());
    }
    text.push('\n');
    text += &model.coefficients_text();
    if model.response.transform != Transform::Identity {
        let _ = writeln!(
            text,
            "The model is linear for ln(1 + {}).",
            model.response.name
        );
    }
    text.push('\n');
    let _ = match &report.evaluation {
        Some(evaluation) => writeln!(
            text,
            "{}:\n{}.",
            evaluation.label(),
            evaluation.scored.score.text()
        ),
        None => writeln!(
            text,
            "No score: {NO_SCORE}; pass --evaluate FILE with other records."
        ),
    };
    let _ = writeln!(text, "Model and receipt: {}", report.path.display());
    if let Some(page) = &report.page {
        let _ = writeln!(text, "Page: {}", page.display());
    }
    if let Some(effects) = &report.effects {
        let _ = writeln!(text, "Effects: {}", effects.display());
    }
    text
}
