use proptest::prelude::*;

use super::*;

fn units(lower: f64, width: f64, center_share: Option<f64>, scale: Option<f64>) -> Units {
    let center = center_share.map(|share| lower + share * width);
    Units::new("features", lower, lower + width, center, scale).expect("an interval")
}

fn any_units() -> impl Strategy<Value = Units> {
    (
        -100.0f64..100.0,
        0.1f64..100.0,
        prop::option::of(0.0f64..1.0),
        prop::option::of(0.1f64..10.0),
    )
        .prop_map(|(lower, width, center, scale)| units(lower, width, center, scale))
}

proptest! {
    #[test]
    fn predictions_agree_in_bounded_and_in_original_units(
        response in any_units(),
        features in prop::collection::vec((any_units(), -3.0f64..3.0, 0.0f64..1.0), 1..8),
        intercept in -1.0f64..1.0,
    ) {
        let mapping = Mapping {
            features: features.iter().map(|(units, _, _)| *units).collect(),
            response,
            transform: Transform::Identity,
        };
        let model = UnitModel {
            support: (0..features.len()).rev().collect(),
            coefficients: features.iter().rev().map(|&(_, slope, _)| slope).collect(),
            intercept,
        };
        // A table in its own units, and the same record as the matrix stores it.
        let raw: Vec<f64> = features
            .iter()
            .map(|(units, _, share)| units.lower() + share * (units.upper() - units.lower()))
            .collect();
        let row: Vec<f32> =
            raw.iter().zip(&features).map(|(&v, (units, _, _))| units.to_unit(v)).collect();
        let chosen: Vec<f64> = raw.iter().rev().copied().collect();

        let there = mapping.response().from_unit(model.predict(&row));
        let back = mapping.to_original(&model).predict(&chosen);
        let size: f64 = features
            .iter()
            .map(|(units, slope, _)| (slope * units.bound()).abs())
            .sum::<f64>()
            * response.scale()
            + 100.0;
        prop_assert!((there - back).abs() <= 1e-5 * size, "{} beside {}", there, back);
    }
}

#[test]
fn a_log_response_is_predicted_in_the_units_of_its_column() {
    let schema = Schema::parse(
        "[response]\nname = \"y\"\nlower = 0\nupper = 99\ntransform = \"log1p\"\n\
         [features]\nlower = 0\nupper = 2",
    )
    .expect("a schema");
    let mapping = Mapping::for_features(&schema, ["x"]).expect("bounded");
    let flat = UnitModel {
        support: vec![0],
        coefficients: vec![0.0],
        intercept: 1.0,
    };
    assert!((mapping.to_original(&flat).predict(&[1.0]) - 99.0).abs() < 1e-9);
    assert!(
        (mapping.response_to_unit(9.0)).abs() < 1e-6,
        "ten is the square root of a hundred"
    );
}

#[test]
fn bounds_of_the_mapping_are_those_of_its_widest_units() {
    let mapping = Mapping {
        features: vec![
            units(0.0, 1.0, None, None),
            units(0.0, 10.0, Some(0.0), Some(4.0)),
        ],
        response: units(0.0, 1.0, None, None),
        transform: Transform::Identity,
    };
    assert!((mapping.feature_bound() - 2.5).abs() < 1e-12);
    assert!((mapping.response_bound() - 1.0).abs() < 1e-12);
}
