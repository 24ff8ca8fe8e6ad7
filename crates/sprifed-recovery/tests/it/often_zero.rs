//! A response that is one value for most records, as counts are zero, is fitted all the same.

use rand_core::Rng;
use sprifed_noise::NoiseGenerator;
use sprifed_query::{Curator, Records};
use sprifed_recovery::test_support::{budget, legal_setting};
use sprifed_recovery::{CertifiedProcedure, FitStatus, Intercept, Keep, Setting};

const RECORDS: usize = 4000;
const FEATURES: usize = 40;

/// Features uniform on [−1, 1]; a response that is zero in 64 of 100 records and grows with two
/// features in the others.
fn world(seed: u64) -> (Vec<f32>, Vec<f32>) {
    let mut generator = NoiseGenerator::simulated(seed);
    let mut uniform = || (generator.next_u32() >> 8) as f32 / (1u32 << 23) as f32 - 1.0;
    let features: Vec<f32> = (0..RECORDS * FEATURES).map(|_| uniform()).collect();
    let rows = features.chunks_exact(FEATURES);
    let latent: Vec<f32> = rows.map(|row| 2.0 * row[3] + 1.5 * row[17]).collect();
    let mut sorted = latent.clone();
    sorted.sort_by(f32::total_cmp);
    let least = sorted[RECORDS * 64 / 100];
    let responses = latent.iter().map(|value| (value - least).max(0.0));
    (features.clone(), responses.collect())
}

fn explained(fit: &sprifed_recovery::Fit, features: &[f32], responses: &[f32]) -> f64 {
    let mean = responses.iter().map(|y| f64::from(*y)).sum::<f64>() / responses.len() as f64;
    let (mut left, mut total) = (0.0, 0.0);
    for (row, y) in features.chunks_exact(FEATURES).zip(responses) {
        left += (f64::from(*y) - fit.model.predict(row)).powi(2);
        total += (f64::from(*y) - mean).powi(2);
    }
    1.0 - left / total
}

#[test]
fn a_response_that_is_mostly_zero_is_fitted() {
    let (features, responses) = world(11);
    let zeros = responses.iter().filter(|y| **y == 0.0).count();
    assert!(zeros * 100 >= 64 * RECORDS, "{zeros}");
    let setting = Setting {
        n_records: u32::try_from(RECORDS).unwrap(),
        n_features: u32::try_from(FEATURES).unwrap(),
        sparsity: 2,
        budget: budget(3.0, 1e-6),
        feature_scale: Some(1.0 / 3f64.sqrt()),
        intercept: Intercept::Estimated,
        ..legal_setting()
    };
    let choices = [Keep::Exactly, Keep::Significant];
    for (procedure, choice) in
        CertifiedProcedure::all().flat_map(|procedure| choices.map(|choice| (procedure, choice)))
    {
        let setting = Setting { choice, ..setting };
        let records = Records::each_a_unit(&features, &responses, FEATURES).unwrap();
        let plan = procedure.plan(&setting).unwrap();
        let mut curator = Curator::open(records, plan, NoiseGenerator::simulated(5)).unwrap();
        let fit = procedure.run(&setting, &mut curator, |_| ()).unwrap();
        let found = explained(&fit, &features, &responses);
        // Least squares on the two features explains 0.63 of the variance.
        assert!(found > 0.58, "{procedure}: {found}, {fit:?}");
        assert_eq!(fit.status, FitStatus::Complete, "{procedure}");
        let terms = &fit.inference.available().unwrap().terms;
        let mut kept: Vec<u32> = terms.iter().map(|term| term.feature).collect();
        kept.sort_unstable();
        assert_eq!(kept, [3, 17], "{procedure}, {choice:?}");
    }
}
