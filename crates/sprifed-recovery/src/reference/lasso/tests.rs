//! The Lasso meets its optimality conditions.

use sprifed_query::Records;

use super::{non_private_lasso, non_private_lasso_at};
use crate::correlate::correlate;
use crate::test_support::small_world;

#[test]
fn the_minimum_meets_the_optimality_conditions() {
    let world = small_world(80, 200, &[3, 17, 40], 6);
    let records = Records::each_a_unit(&world.features, &world.responses, 200).unwrap();
    for penalty in [1.0, 0.1, 0.01] {
        let fit = non_private_lasso_at(&records, penalty);
        let residuals: Vec<f64> = records
            .iter()
            .map(|record| fit.model.residual(record))
            .collect();
        let gradient = correlate(&world.features, &residuals, 200);
        for (feature, value) in (0..).zip(gradient) {
            let slope = value / 80.0;
            let term = fit.model.terms.iter().find(|(known, _)| *known == feature);
            match term {
                Some((_, coefficient)) => {
                    let expected = penalty * coefficient.signum();
                    assert!(
                        (slope - expected).abs() < 1e-3 * penalty,
                        "{penalty}: {slope}"
                    );
                }
                None => assert!(slope.abs() < penalty * 1.001, "{penalty}: {slope}"),
            }
        }
    }
}

#[test]
fn everything_is_zero_above_the_largest_penalty() {
    let world = small_world(50, 20, &[1], 7);
    let records = Records::each_a_unit(&world.features, &world.responses, 20).unwrap();
    assert!(non_private_lasso_at(&records, 1e3).model.terms.is_empty());
}

#[test]
fn an_orthonormal_design_is_soft_thresholded() {
    let features = [1.0, 0.0, 0.0, 1.0];
    let records = Records::each_a_unit(&features, &[3.0, -0.5], 2).unwrap();
    // ‖y − w‖²/4 + 0.4·‖w‖₁ moves each response by 0.8 towards zero.
    let fit = non_private_lasso_at(&records, 0.4);
    assert_eq!(fit.model.support(), [0]);
    assert!((fit.model.terms[0].1 - 2.2).abs() < 1e-6);
}

#[test]
fn the_refitted_features_are_the_true_ones() {
    let world = small_world(150, 100, &[3, 17, 40, 77], 8);
    let records = Records::each_a_unit(&world.features, &world.responses, 100).unwrap();
    let fit = non_private_lasso(&records, 4);
    let mut support = fit.model.support();
    support.sort_unstable();
    assert_eq!(support, [3, 17, 40, 77]);
    for (feature, coefficient) in &fit.model.terms {
        assert!((coefficient - world.coefficient(*feature)).abs() < 1e-4);
    }
}
