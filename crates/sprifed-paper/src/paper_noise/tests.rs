//! The simulated backend gives the paper's noise, and says that it is simulated.

use sprifed_noise::Provenance;
use sprifed_privacy::Mu;
use sprifed_query::{
    FeatureList, FeatureSet, Limit, LinearModel, Question, Records, SumBackend, SumQuery, run,
};

use super::{NormalNoise, PaperBackend, PaperBackendError, PaperNoise};
use crate::algorithm::{PaperGradient, PaperOmp, SupportNoise};
use sprifed_recovery::test_support::small_world;

fn ask(backend: &mut PaperBackend<'_>, question: Question) -> (Vec<f64>, f64) {
    let query = SumQuery {
        step: 0,
        questions: vec![question],
    };
    let answer = backend.answer(&query).unwrap();
    assert_eq!(answer.provenance, Provenance::Simulated);
    (
        answer.blocks[0].values.clone(),
        answer.blocks[0].noise_std_dev,
    )
}

#[test]
fn the_noise_is_what_the_pseudocode_says() {
    let (per_vector, per_support) = (Mu::try_from(0.4).unwrap(), Mu::try_from(0.02).unwrap());
    let noise = PaperNoise::of(10_000, 10, per_vector, per_support);
    assert!((noise.vector_std - 250.0).abs() < 1e-9);
    assert!((noise.support_std - 10f64.sqrt() / 0.02).abs() < 1e-9);
}

#[test]
fn normal_numbers_have_the_moments_of_normal_numbers() {
    let mut normal = NormalNoise::seeded(3);
    let draws: Vec<f64> = (0..200_000).map(|_| normal.draw()).collect();
    let moment = |power: i32| draws.iter().map(|draw| draw.powi(power)).sum::<f64>() / 200_000.0;
    // Six standard errors: √(1/n), √(2/n), √(96/n).
    assert!(moment(1).abs() < 0.0135);
    assert!((moment(2) - 1.0).abs() < 0.019);
    assert!((moment(4) - 3.0).abs() < 0.14);
}

#[test]
fn sums_are_exact_and_no_record_is_clipped() {
    let features = [3.0, -2.0, 1.0, 4.0];
    let records = Records::each_a_unit(&features, &[5.0, -1.0], 2).unwrap();
    let mut backend = PaperBackend::open(&records, PaperNoise::none(), 1);
    let all = FeatureSet::all(2);
    let question = Question::ResponseCorrelation {
        features: all.clone(),
        feature_limit: Limit::nearest(1.0),
        response_limit: Limit::nearest(1.0),
    };
    assert_eq!(ask(&mut backend, question), (vec![14.0, -14.0], 0.0));
    let question = Question::FeatureCorrelation {
        feature: 1,
        features: all.clone(),
        feature_limit: Limit::nearest(1.0),
    };
    assert_eq!(ask(&mut backend, question).0, [-2.0, 20.0]);
    let question = Question::SupportRow {
        support: FeatureList::of(&[0, 1]),
        feature_limit: Limit::nearest(2.0),
    };
    assert_eq!(ask(&mut backend, question).0, [-0.5, 5.0]);
    let model = LinearModel {
        intercept: 0.0,
        terms: vec![(0, 1.0)],
    };
    let gradient = |limit| Question::BoxedGradient {
        model: model.clone().into(),
        features: all.clone(),
        feature_limit: Limit::nearest(1.0),
        residual_limit: Limit::nearest(limit),
    };
    assert_eq!(ask(&mut backend, gradient(1.0)).0, [4.0, -12.0]);
    let clipped = PaperNoise {
        gradient_clip: Some(3.0),
        ..PaperNoise::none()
    };
    let mut backend = PaperBackend::open(&records, clipped, 1);
    assert_eq!(ask(&mut backend, gradient(1.0)).0, [1.0, -6.0]);
}

#[test]
fn other_questions_are_refused() {
    let records = Records::each_a_unit(&[1.0], &[1.0], 1).unwrap();
    let mut backend = PaperBackend::open(&records, PaperNoise::none(), 1);
    let query = SumQuery {
        step: 0,
        questions: vec![Question::RowScale {
            features: 1,
            largest: Limit::nearest(1.0),
        }],
    };
    let refused = PaperBackendError::NotInPaper {
        found: "RowScale".to_owned(),
    };
    assert_eq!(backend.answer(&query), Err(refused));
}

#[test]
fn without_noise_the_published_algorithms_find_the_support() {
    let world = small_world(300, 80, &[3, 17, 40], 9);
    let records = Records::each_a_unit(&world.features, &world.responses, 80).unwrap();
    for support_noise in [SupportNoise::Fresh, SupportNoise::Reused] {
        let mut backend = PaperBackend::open(&records, PaperNoise::none(), 1);
        let procedure = PaperOmp::as_published(80, 3, support_noise);
        let fit = run(procedure, &mut backend, |_| ()).unwrap();
        world.assert_found(&fit, 1e-3);
    }
    let mut backend = PaperBackend::open(&records, PaperNoise::none(), 1);
    let fit = run(PaperGradient::as_published(80, 3), &mut backend, |_| ()).unwrap();
    world.assert_found(&fit, 1e-3);
}

#[test]
fn reused_correlations_fit_worse_under_the_papers_noise() {
    // A small relative of the paper's first table: the same noise, with and without Enhancement 1.
    let (mut fresh, mut reused) = (0.0, 0.0);
    for seed in 0..10 {
        let world = small_world(400, 200, &[3, 17, 40], seed);
        let records = Records::each_a_unit(&world.features, &world.responses, 200).unwrap();
        let noise = PaperNoise {
            vector_std: 60.0,
            support_std: 10.0,
            ..PaperNoise::none()
        };
        for (support_noise, total) in [
            (SupportNoise::Fresh, &mut fresh),
            (SupportNoise::Reused, &mut reused),
        ] {
            let mut backend = PaperBackend::open(&records, noise, seed);
            let procedure = PaperOmp::as_published(200, 3, support_noise);
            let fit = run(procedure, &mut backend, |_| ()).unwrap();
            assert_eq!(fit.provenance, Some(Provenance::Simulated));
            *total += world.error(&fit);
        }
    }
    assert!(fresh < reused, "{fresh} against {reused}");
}
