//! What a fit says of itself, in text.

use std::fmt::Write as _;

use sprifed::{FitReport, Model, NO_SCORE};
use sprifed_report::table;
use sprifed_schema::Transform;

/// The guarantee first, then how the fit ended, then the model.
pub(super) fn to_text(report: &FitReport) -> String {
    let model = &report.model;
    let mut text = format!("{}\n\n", model.guarantee.statement);
    if let Some(note) = &report.delta_note {
        let _ = writeln!(text, "Note: {note}.");
    }
    if !model.earlier_receipts.is_empty() {
        let _ = writeln!(
            text,
            "Note: {} earlier fits wrote to this file; if they used the same records, their cost adds to this one.",
            model.earlier_receipts.len()
        );
    }
    let _ = writeln!(
        text,
        "\n{} features out of {} for `{}`, from {}, by {}.\n{}\n",
        model.features.len(),
        model.n_candidates,
        model.response.name,
        model.size_words(),
        model.plan.procedure,
        model.status_words()
    );
    if let Some(warning) = model.warning() {
        let _ = writeln!(text, "WARNING: {warning}.\n");
    }
    text += &coefficients(model);
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
            evaluation.score.text()
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
    text
}

fn coefficients(model: &Model) -> String {
    let mut rows = vec![
        [
            "feature",
            "coefficient",
            "noise alone (2 std devs, about 95 %)",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for term in &model.features {
        let noise = term.noise_std_dev.map_or("unknown".to_owned(), |noise| {
            format!("\u{b1} {:.3e}", 2.0 * noise)
        });
        rows.push(vec![
            term.name.clone(),
            format!("{:.6}", term.coefficient),
            noise,
        ]);
    }
    rows.push(vec![
        "(intercept)".to_owned(),
        format!("{:.6}", model.intercept),
        String::new(),
    ]);
    table(&rows)
}
