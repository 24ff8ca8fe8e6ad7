//! Integrals against what is known, and against drawn records.

use super::*;
use crate::world::{Correlation, Rows, WorldOutcome, WorldRequest};
use sprifed_query::RecordSource;

fn request(spread: f64, prevalence: f64) -> WorldRequest {
    WorldRequest {
        correlation: Correlation::Autoregressive(0.5),
        outcome: WorldOutcome::Binary { spread, prevalence },
        ..WorldRequest::clean(20_000, 12, 4)
    }
}

fn predictors(model_variance: f64, covariance: f64) -> Predictors {
    Predictors {
        true_mean: -1.0,
        true_variance: 4.0,
        model_mean: -1.0,
        model_variance,
        covariance,
    }
}

#[test]
fn the_true_model_explains_all_and_none_explains_nothing() {
    let truth = OddsScores::of(&predictors(4.0, 4.0));
    assert!(
        (truth.deviance_share.unwrap() - 1.0).abs() < 1e-9,
        "{truth:?}"
    );
    let share = mean_share(-1.0, 4.0);
    let null = OddsScores::of(&Predictors {
        model_mean: (share / (1.0 - share)).ln(),
        ..predictors(0.0, 0.0)
    });
    assert!(null.deviance_share.unwrap().abs() < 1e-9 && (null.auc - 0.5).abs() < 1e-12);
    assert!((null.brier - null.null_brier).abs() < 1e-9);
    // Halving all coefficients changes no order.
    let half = OddsScores::of(&predictors(1.0, 2.0));
    assert!((half.auc - truth.auc).abs() < 1e-9 && half.deviance_share.unwrap() < 0.95);
    // The moderate cell of the measurements: two million drawn pairs gave an AUC of 0.8616, standard error 0.0002.
    let moderate = OddsScores::of(&Predictors {
        true_mean: 0.0,
        model_mean: 0.0,
        ..predictors(4.0, 4.0)
    });
    assert!((moderate.auc - 0.8616).abs() < 0.001, "{moderate:?}");
}

#[test]
fn drawn_records_have_the_share_of_ones_and_the_scores_that_were_computed() {
    for (spread, prevalence) in [(2.0, 0.5), (1.5, 0.1)] {
        let rows = Rows::generate(request(spread, prevalence), 17);
        let mut model = rows.truth().clone();
        model.terms.truncate(2);
        let scores = rows.odds_scores(&model).unwrap();
        let (mut ones, mut brier, mut squares) = (0.0, 0.0, 0.0);
        let records = f64::from(u32::try_from(rows.n_units()).unwrap());
        for unit in 0..rows.n_units() {
            rows.visit_unit(unit, &mut |record| {
                let response = f64::from(record.response);
                ones += response;
                brier += (response - logistic(model.predict(record.features))).powi(2);
                squares += (rows.truth().predict(record.features) - rows.truth().intercept).powi(2);
            });
        }
        assert!(
            (ones / records - prevalence).abs() < 0.01,
            "{}",
            ones / records
        );
        assert!((brier / records - scores.brier).abs() < 0.005, "{scores:?}");
        assert!((squares / records - spread * spread).abs() < 0.15);
    }
}

#[test]
fn without_a_true_feature_all_odds_are_those_of_the_share() {
    let world = WorldRequest {
        support: 0,
        ..request(2.0, 0.2)
    };
    let rows = Rows::generate(world, 3);
    assert!(rows.truth().terms.is_empty());
    assert!((rows.truth().intercept - 0.25f64.ln()).abs() < 1e-6);
    // There is no deviance to explain a share of.
    let scores = rows.odds_scores(rows.truth()).unwrap();
    assert_eq!((scores.deviance_share, scores.auc), (None, 0.5));
}

#[test]
fn a_model_of_some_features_is_flatter_than_the_truth() {
    assert!((projected_factor(0.3, 2.0, 0.0) - 1.0).abs() < 1e-12);
    // The probit's rule, 1 / √(1 + rest / 1.7²), is close.
    for (intercept, rest) in [(0.0, 1.0), (-2.0, 1.0), (0.0, 3.0)] {
        let factor = projected_factor(intercept, 1.0, rest);
        let expected = 1.0 / (1.0 + rest / 2.89f64).sqrt();
        assert!((factor - expected).abs() < 0.06, "{factor} {expected}");
    }
}

#[test]
fn a_share_of_explained_variance_says_how_far_odds_vary() {
    for (explained, prevalence) in [(0.1, 0.5), (0.5, 0.5), (0.25, 0.1)] {
        let spread = spread_for(explained, prevalence).unwrap();
        assert!((explained_share(spread, prevalence) - explained).abs() < 1e-9);
    }
    // At an even share no linear prediction explains more than 2/π. Of a predictor that varies much it is this less a part,
    // where the next part is less than a thousandth; 20 is as much as a predictor may vary.
    assert_eq!(spread_for(0.8, 0.5), None);
    for spread in [10.0, 20.0f64] {
        let expected = 2.0 / PI * (1.0 - PI.powi(2) / (6.0 * spread.powi(2))).powi(2);
        assert!((explained_share(spread, 0.5) - expected).abs() < 0.001);
    }
}
