//! What a record contributes, against hand computation and the bounds of `algorithms.md` 3.

use proptest::prelude::*;

use super::*;

fn contribution(question: &Question, features: &[f32], response: f32) -> Vec<f64> {
    let mut out = vec![0.0; question.coordinates()];
    question.add_contribution(
        Record {
            features,
            response,
            is_present: true,
        },
        &mut out,
    );
    out.into_iter().map(f64::from).collect()
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
    }
}

fn model() -> ReleasedModel {
    LinearModel {
        intercept: 0.5,
        terms: vec![(0, 1.0)],
    }
    .into()
}

const ROW: [f32; 4] = [0.5, -1.0, 4.0, 0.25];

#[test]
fn correlations_clip_each_factor_on_its_own() {
    let features = FeatureSet::except(4, &[1]);
    let question = Question::ResponseCorrelation {
        features: features.clone(),
        feature_limit: Limit::nearest(2.0),
        response_limit: Limit::nearest(4.0),
    };
    assert_close(&contribution(&question, &ROW, 8.0), &[0.25, 1.0, 0.125]);
    let question = Question::FeatureCorrelation {
        feature: 1,
        features,
        feature_limit: Limit::nearest(2.0),
    };
    assert_close(
        &contribution(&question, &ROW, 8.0),
        &[-0.125, -0.5, -0.0625],
    );
    let question = Question::SupportResponse {
        feature: 2,
        feature_limit: Limit::nearest(2.0),
        response_limit: Limit::nearest(4.0),
    };
    assert_close(&contribution(&question, &ROW, -1.0), &[-0.25]);
    let question = Question::SupportRow {
        support: FeatureList::of(&[2, 0, 1]),
        feature_limit: Limit::nearest(2.0),
    };
    assert_close(&contribution(&question, &ROW, 0.0), &[-0.5, -0.125, 0.25]);
}

#[test]
fn gradients_measure_the_residual_against_the_model() {
    // The residual is 3 − 0.5 − 0.5 = 2.
    let question = Question::BoxedGradient {
        model: model(),
        features: FeatureSet::all(4),
        feature_limit: Limit::nearest(1.0),
        residual_limit: Limit::nearest(4.0),
    };
    assert_close(
        &contribution(&question, &ROW, 3.0),
        &[0.25, -0.5, 0.5, 0.125],
    );
    let question = Question::RowClippedGradient {
        model: model(),
        features: FeatureSet::only(&[0, 1]),
        row_norm: Limit::nearest(10.0),
        residual_limit: Limit::nearest(1.0),
    };
    assert_close(&contribution(&question, &ROW, 3.0), &[0.05, -0.1]);
}

#[test]
fn a_residual_falls_into_the_bucket_of_its_power_of_two() {
    let question = Question::ResidualScale {
        model: ReleasedModel::default(),
        largest: Limit::nearest(8.0),
    };
    for (response, bucket) in [
        (100.0, 0),
        (-5.0, 0),
        (3.0, 1),
        (0.75, 3),
        (1e-20, 13),
        (0.0, 13),
        (f32::NAN, 13),
    ] {
        let found = contribution(&question, &ROW, response);
        let mut expected = vec![0.0; SCALE_BUCKETS];
        expected[bucket] = 1.0;
        assert_close(&found, &expected);
    }
}

#[test]
fn a_row_falls_into_the_bucket_of_its_root_mean_square() {
    let question = Question::RowScale {
        features: 3,
        largest: Limit::nearest(8.0),
    };
    for (size, bucket) in [
        (100.0, 0),
        (7.0, 0),
        (5.0, 1),
        (1.0, 6),
        (0.0, 23),
        (f32::MAX, 0),
    ] {
        let found = contribution(&question, &[size, -size, size], 0.0);
        assert!((found[bucket] - 1.0).abs() < 1e-9, "{size}: {found:?}");
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        // What comes after the features, such as sites, is not looked at.
        assert_eq!(
            found,
            contribution(&question, &[size, -size, size, 1e9], 0.0)
        );
    }
}

#[test]
fn a_second_moment_lists_the_upper_triangle_with_its_weights() {
    let question = Question::SecondMoment {
        support: FeatureList::of(&[1, 0]),
        constant: Constant::One,
        model: ReleasedModel::default(),
        scales: Scales {
            feature: Limit::nearest(0.5),
            residual: Limit::nearest(2.0),
        },
        norm: Limit::nearest(10.0),
    };
    // z = (1, −2, 1, 3).
    let root = core::f64::consts::SQRT_2;
    let expected = [
        1.0,
        -2.0 * root,
        root,
        3.0 * root,
        4.0,
        -2.0 * root,
        -6.0 * root,
        1.0,
        3.0 * root,
        9.0,
    ];
    let expected: Vec<f64> = expected.iter().map(|value| value / 100.0).collect();
    assert_close(&contribution(&question, &ROW, 6.0), &expected);
}

#[test]
fn a_residual_moment_lists_squared_residuals_times_products_of_the_other_variables() {
    let question = |norm: f64| Question::ResidualMoment {
        support: FeatureList::of(&[1, 0]),
        constant: Constant::One,
        model: ReleasedModel::default(),
        scales: Scales {
            feature: Limit::nearest(0.5),
            residual: Limit::nearest(2.0),
        },
        norm: Limit::nearest(norm),
    };
    // x = (1, −2, 1), the residual 3, so u = (6, −12, 6)/100.
    let root = core::f64::consts::SQRT_2;
    let expected = [36.0, -72.0 * root, 36.0 * root, 144.0, -72.0 * root, 36.0];
    let expected: Vec<f64> = expected.iter().map(|value| value / 10_000.0).collect();
    assert_close(&contribution(&question(10.0), &ROW, 6.0), &expected);
    // |z|² = 15: clipped to a smaller norm, u is divided by that.
    let expected: Vec<f64> = expected.iter().map(|value| value * 1e4 / 225.0).collect();
    assert_close(&contribution(&question(1.0), &ROW, 6.0), &expected);
    assert_eq!(question(1.0).coordinates(), 6);
    assert!(question(1.0).fits(2) && !question(1.0).fits(1));
}

#[test]
fn the_largest_residual_moment_is_one_and_is_reached() {
    let question = Question::ResidualMoment {
        support: FeatureList::of(&[0]),
        constant: Constant::Absent,
        model: ReleasedModel::default(),
        scales: Scales {
            feature: Limit::ONE,
            residual: Limit::ONE,
        },
        norm: Limit::ONE,
    };
    // |x| = |r|, at or beyond the norm: the bound is tight.
    for size in [0.75f32, 2.0, 1e10] {
        assert_close(&contribution(&question, &[size], size), &[1.0]);
    }
    assert_close(&contribution(&question, &[1.0], 3.0), &[0.36]);
}

#[test]
fn a_support_update_lists_the_new_row_and_then_the_residual_products() {
    let question = |constant: Constant| Question::SupportUpdate {
        support: FeatureList::of(&[0, 1]),
        newest: Newest::One,
        constant,
        model: ReleasedModel::default(),
        scales: Scales {
            feature: Limit::nearest(0.5),
            residual: Limit::nearest(2.0),
        },
        residual_limit: Limit::nearest(3.0),
        norm: Limit::nearest(100.0),
    };
    // Scaled: x = (1, −2), residual 5 clipped to 3.
    assert_close(
        &contribution(&question(Constant::Absent), &ROW, 10.0),
        &[-0.02, 0.04, 0.03, -0.06],
    );
    let expected = [-0.02, -0.02, 0.04, 0.03, 0.03, -0.06];
    assert_close(
        &contribution(&question(Constant::One), &ROW, 10.0),
        &expected,
    );
}

#[test]
fn a_support_update_has_a_row_for_each_new_feature() {
    let question = |newest: u32| Question::SupportUpdate {
        support: FeatureList::of(&[0, 1]),
        newest: Newest::of(newest),
        constant: Constant::One,
        model: ReleasedModel::default(),
        scales: Scales {
            feature: Limit::nearest(0.5),
            residual: Limit::nearest(2.0),
        },
        residual_limit: Limit::nearest(3.0),
        norm: Limit::nearest(100.0),
    };
    // Scaled: z = (1, 1, −2), residual 5 clipped to 3.
    let rows = [
        vec![0.03, 0.03, -0.06],
        vec![-0.02, -0.02, 0.04, 0.03, 0.03, -0.06],
        vec![0.01, 0.01, -0.02, -0.02, -0.02, 0.04, 0.03, 0.03, -0.06],
    ];
    for (newest, expected) in (0..).zip(&rows) {
        assert_eq!(question(newest).coordinates(), expected.len());
        assert_close(&contribution(&question(newest), &ROW, 10.0), expected);
    }
    // More than there are.
    assert_close(&contribution(&question(7), &ROW, 10.0), &rows[2]);
}

#[test]
fn sites_are_in_the_unit_one_and_stand_in_place_of_the_constant() {
    let sites = Constant::Sites { first: 2, count: 2 };
    let scales = Scales {
        feature: Limit::nearest(0.5),
        residual: Limit::nearest(2.0),
    };
    let row = [0.5, -1.0, 0.0, 1.0];
    let update = Question::SupportUpdate {
        support: FeatureList::of(&[0, 1]),
        newest: Newest::One,
        constant: sites,
        model: ReleasedModel::default(),
        scales,
        residual_limit: Limit::nearest(3.0),
        norm: Limit::nearest(100.0),
    };
    // z = (0, 1, 1, −2), the newest −2, the residual 5 clipped to 3.
    let expected = [0.0, -0.02, -0.02, 0.04, 0.0, 0.03, 0.03, -0.06];
    assert_close(&contribution(&update, &row, 10.0), &expected);
    let moments = Question::SecondMoment {
        support: FeatureList::of(&[0]),
        constant: sites,
        model: ReleasedModel::default(),
        scales,
        norm: Limit::nearest(10.0),
    };
    // z = (0, 1, 1, 3).
    let root = core::f64::consts::SQRT_2;
    let expected = [
        0.0,
        0.0,
        0.0,
        0.0,
        1.0,
        root,
        3.0 * root,
        1.0,
        3.0 * root,
        9.0,
    ];
    let expected: Vec<f64> = expected.iter().map(|value| value / 100.0).collect();
    assert_close(&contribution(&moments, &row, 6.0), &expected);
    assert!(moments.fits(4) && !moments.fits(3));
}

#[test]
fn a_huge_row_is_clipped_to_the_norm_and_keeps_its_direction() {
    let question = Question::RowClippedGradient {
        model: ReleasedModel::default(),
        features: FeatureSet::all(2),
        row_norm: Limit::nearest(1.0),
        residual_limit: Limit::nearest(1.0),
    };
    let half = core::f64::consts::FRAC_1_SQRT_2;
    for size in [1e3f32, 1e20, f32::MAX] {
        assert_close(
            &contribution(&question, &[size, -size], 5.0),
            &[half, -half],
        );
    }
}

#[test]
fn a_question_that_is_not_legal_is_not_decoded() {
    let asked = |text: &str| serde_json::from_str::<Question>(text);
    let gradient = |model: &str, limit: &str| {
        format!(
            "{{\"boxed-gradient\":{{\"model\":{model},\"features\":[{{\"start\":0,\"end\":4}}],\
             \"feature_limit\":1.0,\"residual_limit\":{limit}}}}}"
        )
    };
    let legal = "{\"intercept\":0.5,\"terms\":[[1,2.0],[0,1.0]]}";
    let question = asked(&gradient(legal, "2.5")).unwrap();
    let stored = serde_json::to_string(&question).unwrap();
    assert_eq!(asked(&stored).unwrap(), question);
    for limit in ["0.0", "-1.0", "1e-300", "1e300", "null"] {
        assert!(asked(&gradient(legal, limit)).is_err(), "{limit}");
    }
    for model in [
        "{\"intercept\":0.5,\"terms\":[[1,2.0],[1,1.0]]}",
        "{\"intercept\":null,\"terms\":[]}",
    ] {
        assert!(asked(&gradient(model, "1.0")).is_err(), "{model}");
    }
    let row = |support: &str| {
        format!("{{\"support-row\":{{\"support\":{support},\"feature_limit\":1.0}}}}")
    };
    assert!(asked(&row("[2,0]")).is_ok());
    assert!(asked(&row("[2,0,2]")).is_err());
    let scales = |residual: &str| {
        format!(
            "{{\"second-moment\":{{\"support\":[2],\"constant\":\"one\",\"model\":{legal},\
             \"scales\":{{\"feature\":1.0,\"residual\":{residual}}},\"norm\":1.0}}}}"
        )
    };
    assert!(asked(&scales("0.5")).is_ok());
    assert!(asked(&scales("0")).is_err());
}

#[test]
fn a_missing_feature_counts_as_zero() {
    let question = Question::SupportRow {
        support: FeatureList::of(&[9, 1]),
        feature_limit: Limit::nearest(1.0),
    };
    assert_close(&contribution(&question, &ROW, 0.0), &[0.0, 1.0]);
}

fn number() -> impl Strategy<Value = f32> {
    prop_oneof![3 => -5.0f32..5.0, 1 => any::<f32>()]
}

proptest! {
    #[test]
    fn what_is_clipped_to_a_norm_has_norm_at_most_one(
        row in prop::collection::vec(number(), 5),
        response in number(),
        limit in 0.01f64..10.0,
    ) {
        let scales = Scales { feature: Limit::nearest(limit), residual: Limit::nearest(limit) };
        let model = ReleasedModel::from(LinearModel { intercept: 0.0, terms: vec![(3, 2.0)] });
        let questions = [
            Question::RowClippedGradient {
                model: model.clone(),
                features: FeatureSet::all(5),
                row_norm: Limit::nearest(limit),
                residual_limit: Limit::nearest(limit),
            },
            Question::ResidualScale { model: model.clone(), largest: Limit::nearest(limit) },
            Question::RowScale { features: 5, largest: Limit::nearest(limit) },
            Question::SupportUpdate {
                support: FeatureList::of(&[4, 0, 2]),
                newest: Newest::Group(2),
                constant: Constant::one_if(limit > 2.0),
                model: model.clone(),
                scales,
                residual_limit: Limit::nearest(3.0),
                norm: Limit::nearest(limit),
            },
            Question::SecondMoment {
                support: FeatureList::of(&[1, 2]),
                constant: Constant::one_if(limit > 1.0),
                model: model.clone(),
                scales,
                norm: Limit::nearest(limit),
            },
            // What is said to be a site may hold any numbers.
            Question::SupportUpdate {
                support: FeatureList::of(&[0, 2]),
                newest: Newest::One,
                constant: Constant::Sites { first: 3, count: 3 },
                model: model.clone(),
                scales,
                residual_limit: Limit::nearest(3.0),
                norm: Limit::nearest(limit),
            },
            Question::SecondMoment {
                support: FeatureList::of(&[1, 2]),
                constant: Constant::Sites { first: 3, count: 3 },
                model: model.clone(),
                scales,
                norm: Limit::nearest(limit),
            },
            Question::ResidualMoment {
                support: FeatureList::of(&[1, 2]),
                constant: Constant::one_if(limit > 1.0),
                model: model.clone(),
                scales,
                norm: Limit::nearest(limit),
            },
            Question::ResidualMoment {
                support: FeatureList::of(&[1, 2]),
                constant: Constant::Sites { first: 3, count: 3 },
                model,
                scales,
                norm: Limit::nearest(limit),
            },
        ];
        for question in questions {
            let length = length(&contribution(&question, &row, response));
            prop_assert!(length <= 1.0 + 1e-5, "{} for {:?}", length, question);
        }
    }

    #[test]
    fn what_is_limited_by_coordinate_stays_within_one(
        row in prop::collection::vec(number(), 5),
        response in number(),
        limit in 0.01f64..10.0,
    ) {
        let features = FeatureSet::except(5, &[2]);
        let model = ReleasedModel::from(LinearModel { intercept: 0.0, terms: vec![(3, 2.0)] });
        let questions = [
            Question::ResponseCorrelation {
                features: features.clone(),
                feature_limit: Limit::nearest(limit),
                response_limit: Limit::nearest(limit),
            },
            Question::FeatureCorrelation {
                feature: 4,
                features: features.clone(),
                feature_limit: Limit::nearest(limit),
            },
            Question::BoxedGradient {
                model,
                features,
                feature_limit: Limit::nearest(limit),
                residual_limit: Limit::nearest(limit),
            },
            Question::ResponseMean { response_limit: Limit::nearest(limit) },
            Question::SupportRow { support: FeatureList::of(&[3, 0]), feature_limit: Limit::nearest(limit) },
        ];
        for question in questions {
            let found = contribution(&question, &row, response);
            prop_assert!(found.iter().all(|value| value.abs() <= 1.0 + 1e-5), "{found:?}");
        }
    }

    #[test]
    fn a_feature_set_lists_what_its_runs_cover(excluded in prop::collection::vec(0u32..30, 0..12)) {
        let set = FeatureSet::except(24, &excluded);
        let expected: Vec<u32> = (0..24).filter(|feature| !excluded.contains(feature)).collect();
        prop_assert_eq!(set.iter().collect::<Vec<_>>(), expected.clone());
        prop_assert_eq!(set.len(), expected.len());
        prop_assert_eq!(FeatureSet::only(&expected), set.clone());
        let row: Vec<f32> = (0..24u16).map(f32::from).collect();
        let found: Vec<f32> = set.runs_of(&row).flatten().copied().collect();
        let expected: Vec<f32> = expected.iter().map(|feature| row[*feature as usize]).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn columns_give_values_and_squares_with_rows_clipped_to_a_norm() {
    let means = |norm: f64| Question::ColumnMeans {
        features: FeatureSet::except(4, &[2]),
        row_norm: Limit::nearest(norm),
    };
    assert_close(&contribution(&means(2.0), &ROW, 9.0), &[0.25, -0.5, 0.125]);
    let length = (0.25f64 + 1.0 + 0.0625).sqrt();
    let clipped = [0.5, -1.0, 0.25].map(|value: f64| value / length);
    assert_close(&contribution(&means(1.0), &ROW, 9.0), &clipped);
    let squares = |norm: f64| Question::ColumnSquares {
        features: FeatureSet::only(&[0, 1]),
        row_norm: Limit::nearest(norm),
    };
    assert_close(&contribution(&squares(2.0), &ROW, 9.0), &[0.125, 0.5]);
    let length = (0.0625f64 + 1.0).sqrt();
    let clipped = [0.25 / length, 1.0 / length];
    assert_close(&contribution(&squares(0.5), &ROW, 9.0), &clipped);
}

#[test]
fn a_question_about_standardised_columns_is_the_question_about_their_values() {
    let columns = ReleasedColumns::new(FeatureSet::only(&[0, 2]), |place| crate::ColumnUnit {
        centre: [0.25, 2.0][place],
        scale: Limit::nearest([0.5, 4.0][place]),
    });
    let question = Question::RowClippedGradient {
        model: model(),
        features: FeatureSet::all(4),
        row_norm: Limit::nearest(1.0),
        residual_limit: Limit::nearest(4.0),
    };
    let standardised = Question::Standardised {
        columns,
        question: Box::new(question.clone()),
    };
    let found = contribution(&standardised, &ROW, 3.0);
    assert_eq!(found, contribution(&question, &[0.5, -1.0, 0.5, 0.25], 3.0));
    assert!(standardised.fits(4) && !standardised.fits(2));
}
