//! A fit of standardised columns, written in bounded units.
//!
//! # Why
//! With x' = (x - m)/sd, the model a + Σ b·x' is a - Σ b·m/sd + Σ (b/sd)·x. The units m and sd are released numbers,
//! so this is a linear map that is known: estimates, intervals and the covariance follow it exactly. Beyond the cut the
//! two models differ, so the fit says where the cut is.

use sprifed_query::{COLUMN_CUT, ColumnUnit, LinearModel, ReleasedColumns};

use crate::fit::{Cut, Fit};
use crate::inference::{Inference, Inferred, Interval, ReportedIntercept};
use crate::selection::{Estimate, wald};

impl Fit {
    /// The same fit in bounded units, where `columns` were standardised.
    pub(crate) fn in_bounded_units(self, columns: &ReleasedColumns) -> Self {
        let reported = self.inference.available();
        let reported = reported.into_iter().flat_map(|report| &report.terms);
        let mut features = self.model.support();
        features.extend(reported.map(|term| term.feature));
        features.sort_unstable();
        features.dedup();
        let cut = |feature: u32| {
            let ColumnUnit { centre, scale } = columns.unit_of(feature)?;
            let reach = COLUMN_CUT * scale.get();
            Some(Cut {
                feature,
                low: centre - reach,
                high: centre + reach,
            })
        };
        Self {
            model: model_of(&self.model, columns),
            inference: match self.inference {
                Inferred::Available(inference) => {
                    Inferred::Available(inference_of(inference, columns))
                }
                nothing @ Inferred::NotAvailable { .. } => nothing,
            },
            cuts: features.into_iter().filter_map(cut).collect(),
            ..self
        }
    }
}

/// 1/sd and -m/sd of a feature; one and zero where it was not standardised.
fn weights(columns: &ReleasedColumns, feature: u32) -> (f64, f64) {
    columns.unit_of(feature).map_or((1.0, 0.0), |unit| {
        (1.0 / unit.scale.get(), -unit.centre / unit.scale.get())
    })
}

fn model_of(model: &LinearModel, columns: &ReleasedColumns) -> LinearModel {
    let mut bounded = LinearModel {
        intercept: model.intercept,
        terms: Vec::with_capacity(model.terms.len()),
    };
    for (feature, coefficient) in &model.terms {
        let (slope, moved) = weights(columns, *feature);
        bounded.intercept += coefficient * moved;
        bounded.terms.push((*feature, coefficient * slope));
    }
    bounded
}

fn inference_of(inference: Inference, columns: &ReleasedColumns) -> Inference {
    let weights: Vec<(f64, f64)> = inference
        .terms
        .iter()
        .map(|term| weights(columns, term.feature))
        .collect();
    let covariance = covariance_of(&inference, &weights);
    let intercept = inference.intercept.as_ref().map(|reported| {
        let moved = inference.terms.iter().zip(&weights);
        let moved: f64 = moved.map(|(term, (_, moved))| term.estimate * moved).sum();
        let variance = covariance.first().copied().unwrap_or(f64::NAN);
        let estimate = Estimate {
            value: reported.estimate + moved,
            sampling_variance: variance,
            variance,
        };
        let interval = wald(&estimate, 1.0 - reported.level);
        let is_known = reported.interval.is_some() && interval.low.is_finite();
        ReportedIntercept {
            estimate: estimate.value,
            interval: is_known.then_some(Interval {
                low: interval.low,
                high: interval.high,
            }),
            level: reported.level,
            // The covariance does not say which part of it the noise causes.
            privacy_share: None,
        }
    });
    let mut terms = inference.terms;
    for (term, (slope, _)) in terms.iter_mut().zip(&weights) {
        term.estimate *= slope;
        term.interval = term.interval.map(|interval| Interval {
            low: slope * interval.low,
            high: slope * interval.high,
        });
    }
    Inference {
        intercept,
        terms,
        covariance,
        ..inference
    }
}

/// T·C·Tᵀ for the covariance C: the intercept is the old one plus Σ moved·b, a term is slope·b.
fn covariance_of(inference: &Inference, weights: &[(f64, f64)]) -> Vec<f64> {
    if inference.covariance.is_empty() {
        return Vec::new();
    }
    let first = usize::from(inference.intercept.is_some());
    let size = first + weights.len();
    let row = |place: usize| -> Vec<f64> {
        if place < first {
            let moved = weights.iter().map(|(_, moved)| *moved);
            return core::iter::once(1.0).chain(moved).collect();
        }
        let mut row = vec![0.0; size];
        row[place] = weights[place - first].0;
        row
    };
    let rows: Vec<Vec<f64>> = (0..size).map(row).collect();
    let mut entries = Vec::with_capacity(inference.covariance.len());
    for (place, left) in rows.iter().enumerate() {
        for right in &rows[place..] {
            let mut total = 0.0;
            for (one, weight) in left.iter().enumerate() {
                for (other, second) in right.iter().enumerate() {
                    let known = inference.covariance_of(one, other).unwrap_or(f64::NAN);
                    total += weight * second * known;
                }
            }
            entries.push(total);
        }
    }
    if entries.iter().all(|entry| entry.is_finite()) {
        entries
    } else {
        Vec::new()
    }
}
