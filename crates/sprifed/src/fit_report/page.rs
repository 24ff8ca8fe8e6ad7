//! The page about a fit: what the text says, with a chart, the rounds and the budget.

use sprifed_privacy::{Epsilon, counted, shown_cost};
use sprifed_query::PlannedStep;
use sprifed_recovery::{FitStatus, Keep, Role};
use sprifed_report::chart::{LineChart, Marker, Point, Scale, Series, Shape};
use sprifed_report::{Badge, BadgeKind, Bar, FeatureTable, FitPage, Round, ScoreCurves};

use super::{Evaluation, FitReport};
use crate::inference::TermEstimate;
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
            ("sought", sought_words(model)),
            ("procedure", model.procedure.clone()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        match &self.evaluation {
            Some(evaluation) => facts.push((evaluation.label(), evaluation.scored.score.text())),
            None => facts.push((
                "score".to_owned(),
                "none: it would be a release without noise".to_owned(),
            )),
        }
        facts.extend(inference_facts(model));
        // What makes the model unusable stands above everything else.
        let warnings: Vec<String> = model.alarm().into_iter().collect();
        let mut diagnostics = vec![model.status_words()];
        diagnostics.extend(self.delta_note.clone().map(|note| format!("Note: {note}.")));
        diagnostics.extend(model.residual_scale.map(|scale| {
            format!("Typical residual before the last step, as privately estimated: {scale:.4}.")
        }));
        FitPage {
            title: format!("Sparse model of {}", model.response.name),
            status: status(model),
            guarantee: model.guarantee.statement.clone(),
            warnings,
            features: features(model),
            notes: model.notes(),
            curve: curve(model),
            facts,
            curves: self.evaluation.as_ref().and_then(curves),
            rounds: model.plan.steps.iter().map(round).collect(),
            budget: budget(model),
            diagnostics,
        }
    }
}

/// The survival of a record of average features, with its band; none where the response is no time.
fn curve(model: &Model) -> Option<LineChart> {
    let points: Vec<Point> = model
        .survival_curve()
        .into_iter()
        .map(|point| Point {
            x: point.time,
            y: point.survival,
            low: point.low,
            high: point.high,
        })
        .collect();
    (!points.is_empty()).then(|| LineChart {
        title: "Survival of a record whose features are all at their centres".to_owned(),
        across: (model.response.name.clone(), Scale::Linear),
        up: (
            "share without the event, and its 95 % band".to_owned(),
            Scale::Linear,
        ),
        series: vec![Series {
            marker: Marker {
                shape: Shape::Circle,
                is_filled: true,
                colour: (38, 84, 160),
            },
            points,
        }],
        printed: Vec::new(),
        reference: None,
    })
}

/// What is drawn of a score, under the words that say what no guarantee covers.
fn curves(evaluation: &Evaluation) -> Option<ScoreCurves> {
    let curves = evaluation.scored.curves.as_ref()?;
    Some(ScoreCurves {
        label: evaluation.label(),
        charts: curves.to_charts(),
    })
}

/// How the fit ended, and whether it is private, at first sight.
fn status(model: &Model) -> Vec<Badge> {
    let (kind, words) = match model.status {
        FitStatus::Complete if model.is_reliable() => (BadgeKind::Done, "complete"),
        FitStatus::Complete => (BadgeKind::Failed, "do not use this model"),
        FitStatus::AlmostSeparated { .. } => (BadgeKind::Failed, "almost separated"),
        FitStatus::IllConditioned { .. } if model.has_chosen() => {
            (BadgeKind::Failed, "do not interpret the coefficients")
        }
        FitStatus::NoFeatureAboveNoise { .. } | FitStatus::IllConditioned { .. } => {
            (BadgeKind::Failed, "nothing found")
        }
        FitStatus::TooFewRecords { .. } => (BadgeKind::Failed, "nothing sought"),
    };
    let label = model.label.iter();
    let mut badges = vec![Badge::new(kind, words)];
    badges.extend(label.map(|label| Badge::new(BadgeKind::Failed, label.as_str())));
    badges
}

/// The reported features; without a chart if the coefficients must not be read.
fn features(model: &Model) -> FeatureTable {
    let bars = model.reported().into_iter().map(|term| bar(model, term));
    let (intercept, interval) = model.reported_intercept();
    let table = FeatureTable::over_bounds(&bars.collect::<Vec<_>>(), Some(intercept))
        .with_intercept_interval(interval);
    match model.is_reliable() {
        true => table,
        false => table.without_chart(),
    }
}

/// A feature's bar, and half the width of its public bounds.
fn bar(model: &Model, term: TermEstimate) -> (Bar, f64) {
    let half_range = model.feature(&term.name).map_or(1.0, Term::half_range);
    // A coefficient of a marker means nothing without the allele that was counted.
    let name = match model.marker(&term.name) {
        None => term.name,
        Some(marker) => format!(
            "{} ({}, copies of {}, not {})",
            term.name,
            marker.place(),
            marker.effect_allele,
            marker.other_allele
        ),
    };
    let bar = Bar {
        interval: term.interval.map(|interval| (interval.low, interval.high)),
        p_value: term.p_value,
        privacy_share: term.privacy_share,
        is_always: term.role == Role::Always,
        ..Bar::of_estimate(name, term.estimate)
    };
    (bar, half_range)
}

fn sought_words(model: &Model) -> String {
    match model.keep {
        Keep::Significant => format!("at most {}", counted(model.sparsity, "feature", "features")),
        Keep::Exactly => format!("exactly {}", counted(model.sparsity, "feature", "features")),
    }
}

/// How intervals and p-values were made.
fn inference_facts(model: &Model) -> Vec<(String, String)> {
    let Some(report) = model.inference.available() else {
        return vec![(
            "intervals and p-values".to_owned(),
            "not available".to_owned(),
        )];
    };
    let kept = model.inference.kept_words().unwrap_or_default();
    let (average, records) = match report.estimated_by {
        None => (" over all kept features", String::new()),
        Some(records) => ("", format!(", estimates by {records} of them")),
    };
    let method = format!(
        "{}, method {}: level {:.0} %{average}, n = {}{records}, clip factor {:.2}",
        report.inference.name(),
        report.method,
        100.0 * report.level,
        report.records,
        report.clip_factor
    );
    vec![
        ("kept".to_owned(), kept),
        ("intervals and p-values".to_owned(), method),
    ]
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
