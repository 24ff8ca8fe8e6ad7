//! With too few records the model is a mean whose noise is small against the spread of the response.

use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{NoiseOrigin, Participation, Relation};
use sprifed_query::{Curator, Records};

use super::*;
use crate::catalogue::CertifiedProcedure;
use crate::setting::Keep;
use crate::test_support::{budget, legal_setting};

const N_FEATURES: u32 = 4000;

/// As the riboflavin data: 57 records, bounds of four around a public centre.
fn setting(epsilon: f64) -> Setting {
    Setting {
        n_records: 57,
        n_features: N_FEATURES,
        sparsity: 3,
        choice: Keep::Significant,
        budget: budget(epsilon, 1e-6),
        response_bound: 4.0,
        feature_bound: 8.0,
        feature_scale: None,
        intercept: Intercept::Estimated,
        ..legal_setting()
    }
}

/// Responses with the mean `mean` and the standard deviation `spread`, evenly between their quantiles.
fn responses(mean: f64, spread: f64) -> Vec<f32> {
    let quantile = |place: u32| crate::selection::normal::quantile((f64::from(place) + 0.5) / 57.0);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "records are of single precision"
    )]
    let responses = (0..57).map(|place| (mean + spread * quantile(place)) as f32);
    responses.collect()
}

fn fit(setting: &Setting, responses: &[f32], seed: u64) -> Fit {
    let features = vec![0.5; responses.len() * setting.n_features as usize];
    let width = setting.n_features as usize;
    let records = Records::each_a_unit(&features, responses, width).unwrap();
    let procedure = CertifiedProcedure::SIEVE;
    let plan = procedure.plan(setting).unwrap();
    let mut curator = Curator::open(records, plan, NoiseGenerator::simulated(seed)).unwrap();
    procedure.run(setting, &mut curator, |_| ()).unwrap()
}

/// The median over runs of what the noise adds to the squared error, in variances of the response.
fn median_loss(epsilon: f64, mean: f64, spread: f64) -> f64 {
    let (setting, responses) = (setting(epsilon), responses(mean, spread));
    let mut losses: Vec<f64> = (0..51)
        .map(|seed| {
            let fit = fit(&setting, &responses, seed);
            assert!(fit.model.terms.is_empty());
            assert!(matches!(fit.status, FitStatus::TooFewRecords { needed } if needed > 57));
            ((fit.model.intercept - mean) / spread).powi(2)
        })
        .collect();
    losses.sort_by(f64::total_cmp);
    losses[25]
}

#[test]
fn the_mean_is_well_funded() {
    for (mean, spread) in [(0.8, 0.95), (0.0, 1.5)] {
        let loss = median_loss(1.0, mean, spread);
        assert!(loss <= 0.05, "mean {mean}, spread {spread}: {loss}");
    }
}

#[test]
fn wide_bounds_cost_less_than_one_answer_within_them() {
    let (bound, spread) = (4.0, 0.5);
    let mu = setting(1.0).total_mu().unwrap().get();
    // The median of the square of a standard normal number.
    let of_one_answer = 0.455 * (bound / (57.0 * mu) / spread).powi(2);
    let loss = median_loss(1.0, -2.0, spread);
    assert!(loss <= of_one_answer / 2.0, "{loss} of {of_one_answer}");
}

#[test]
fn a_plan_of_the_mean_uses_its_budget() {
    let shares = NoiseOrigin::Shares(Participation::new(57, 50, 5).unwrap());
    for (epsilon, always, intercept, origin) in [
        (1.0, 0, Intercept::Estimated, NoiseOrigin::Curator),
        (0.05, 0, Intercept::Estimated, NoiseOrigin::Curator),
        (1.0, 0, Intercept::Absent, NoiseOrigin::Curator),
        (3.0, 1, Intercept::Estimated, NoiseOrigin::Curator),
        (3.0, 1, Intercept::Absent, NoiseOrigin::Trustees),
        (1.0, 0, Intercept::Estimated, shares),
    ] {
        for (relation, robust) in [
            (Relation::ZeroOut, false),
            (Relation::ReplaceOne, false),
            (Relation::ZeroOut, true),
        ] {
            let setting = Setting {
                always,
                intercept,
                origin,
                relation,
                robust,
                n_records: 157,
                ..setting(epsilon)
            };
            let planned = plan(&setting).unwrap();
            let spent = planned.spending().unwrap();
            let spent = spent.to_approx_dp(setting.budget.delta()).unwrap();
            let spent = spent.epsilon().get();
            assert!(
                spent <= epsilon && spent > 0.9 * epsilon,
                "{spent} of {epsilon}"
            );
        }
    }
}

#[test]
fn features_of_every_model_are_estimated() {
    for robust in [false, true] {
        are_estimated(robust);
    }
}

fn are_estimated(robust: bool) {
    let setting = Setting {
        always: 1,
        robust,
        n_records: 400,
        n_features: 20_000,
        sparsity: 1,
        feature_scale: Some(1.0),
        ..setting(3.0)
    };
    let procedure = CertifiedProcedure::SIEVE;
    assert!(procedure.seeks_nothing(&setting).unwrap());
    let width = setting.n_features as usize;
    let mut features = vec![0.0; 400 * width];
    let mut responses = Vec::new();
    for (place, row) in features.chunks_exact_mut(width).enumerate() {
        row[0] = if place % 2 == 0 { 1.0 } else { -1.0 };
        let error = if place % 4 < 2 { 0.3 } else { -0.3 };
        responses.push(1.5 + 0.8 * row[0] + error);
    }
    let records = Records::each_a_unit(&features, &responses, width).unwrap();
    let plan = procedure.plan(&setting).unwrap();
    let mut intercepts = Vec::new();
    let mut covered = 0;
    for seed in 0..40 {
        let noise = NoiseGenerator::simulated(seed);
        let mut curator = Curator::open(records.clone(), plan.clone(), noise).unwrap();
        let fit = procedure.run(&setting, &mut curator, |_| ()).unwrap();
        assert!(matches!(fit.status, FitStatus::TooFewRecords { .. }));
        assert_eq!(fit.model.terms.len(), 1);
        let report = fit.inference.available().unwrap();
        assert!(report.kept == 0 && report.terms[0].p_value.is_some());
        assert_eq!(report.residual_moment_noise.is_some(), robust);
        let interval = report.terms[0].interval.unwrap();
        covered += usize::from(interval.low <= 0.8 && 0.8 <= interval.high);
        intercepts.push(fit.model.intercept);
    }
    let mean = intercepts.iter().sum::<f64>() / 40.0;
    let squares = intercepts.iter().map(|one| (one - mean).powi(2));
    let std_error = (squares.sum::<f64>() / 39.0 / 40.0).sqrt();
    assert!(
        (mean - 1.5).abs() < 4.0 * std_error && std_error < 0.02,
        "{mean} {std_error}"
    );
    // At 95 %, 33 or fewer of 40 have a probability of 0.3 %.
    assert!(covered >= 34, "{covered}");
}
