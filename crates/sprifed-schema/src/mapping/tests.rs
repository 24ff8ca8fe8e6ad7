use proptest::prelude::*;

use super::*;

fn units(lower: f64, width: f64, center_share: Option<f64>, scale: Option<f64>) -> Units {
    let center = center_share.map(|share| lower + share * width);
    Units::new("features", lower, lower + width, center, scale).expect("an interval")
}

fn of_units(features: Vec<Units>, response: Units) -> Mapping {
    Mapping {
        columns: Vec::new(),
        names: Vec::new(),
        features,
        response,
        transform: Transform::Identity,
        missing: MissingPolicy::Reject,
        n_sites: 0,
    }
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
        let mapping = of_units(features.iter().map(|(units, _, _)| *units).collect(), response);
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
    let features = vec![
        units(0.0, 1.0, None, None),
        units(0.0, 10.0, Some(0.0), Some(4.0)),
    ];
    let mapping = of_units(features, units(0.0, 1.0, None, None));
    assert!((mapping.feature_bound() - 2.5).abs() < 1e-12);
    assert!((mapping.response_bound() - 1.0).abs() < 1e-12);
}

const CODED: &str = r#"
[response]
name = "y"
lower = 0
upper = 1
[features]
lower = 0
upper = 2
always = ["age", "arm"]
[feature.age]
lower = 0
upper = 120
missing = "indicator"
[feature.arm]
levels = ["a", "b", "c"]
reference = "b"
other = true
missing = "indicator"
[feature."count_*"]
lower = -9
upper = 99
transform = "log1p"
missing_value = 9
"#;

#[test]
fn columns_become_features_with_names_units_and_readings() {
    let schema = Schema::parse(CODED).expect("a schema");
    let mapping = Mapping::for_features(&schema, ["age", "z", "arm", "count_1"]).expect("bounded");
    let names = [
        "age",
        "age=missing",
        "z",
        "arm=a",
        "arm=c",
        "arm=other",
        "arm=missing",
        "count_1",
    ];
    assert_eq!(mapping.names(), names);
    assert_eq!(mapping.features().len(), names.len());
    let covariates = mapping.covariates();
    let groups: Vec<_> = covariates
        .groups()
        .iter()
        .map(|group| (group.column.as_str(), group.features.clone()))
        .collect();
    assert_eq!(groups, [("age", 0..2), ("arm", 3..7)]);
    assert_eq!(
        covariates.features().collect::<Vec<_>>(),
        [0, 1, 3, 4, 5, 6]
    );
    assert_eq!(covariates.n_features(), 6);
    let text = |place: usize, cell: &str| mapping.reading(place).of_text(cell.as_bytes());
    assert_eq!(
        [text(3, "a"), text(3, "b"), text(3, "zz"), text(3, "")],
        [Some(1.0), Some(0.0), Some(0.0), Some(0.0)]
    );
    assert_eq!([text(4, "c"), text(5, "zz"), text(6, "NA")], [Some(1.0); 3]);
    let number = |place: usize, value| mapping.reading(place).of_number(value);
    assert_eq!(number(0, f64::NAN), Some(60.0));
    assert_eq!(
        [number(1, f64::NAN), number(1, 40.0)],
        [Some(1.0), Some(0.0)]
    );
    assert_eq!(number(2, f64::NAN), None, "refused by default");
    assert!((number(7, f64::NAN).expect("filled") - 10f64.ln()).abs() < 1e-12);
    assert!((number(7, -9.0).expect("a number") + 10f64.ln()).abs() < 1e-12);
    assert!((0..names.len()).all(|place| mapping.reading(place).is_usable()));
}

/// What a prediction reads from a table is what the fit saw, whatever the kind of the column.
#[test]
fn a_reading_gives_what_the_matrix_holds() {
    let schema = Schema::parse(CODED).expect("a schema");
    let mapping = Mapping::for_features(&schema, ["age", "arm", "count_1"]).expect("bounded");
    for (age, arm, count) in [
        (30.0, "a", 5.0),
        (f64::NAN, "zz", -4.0),
        (119.0, "", f64::NAN),
        (f64::INFINITY, "NA", f64::NEG_INFINITY),
        (0.0, "b", 98.0),
    ] {
        let mut row = vec![0.0; mapping.names().len()];
        for column in mapping.columns() {
            let places = &mut row[column.features.clone()];
            match &column.coding {
                Coding::Number(number) => {
                    number.encode(if column.name == "age" { age } else { count }, places)
                }
                Coding::Levels(levels) => levels.encode(arm.as_bytes(), places),
            }
            .expect("usable");
        }
        for (place, unit) in row.iter().enumerate() {
            let reading = mapping.reading(place);
            let number = if reading.column() == "age" {
                age
            } else {
                count
            };
            let age_text = if age.is_nan() {
                "NA".to_owned()
            } else {
                age.to_string()
            };
            let text = if reading.column() == "arm" {
                arm
            } else {
                &age_text
            };
            let coded = if reading.is_number() {
                number
            } else {
                reading.of_text(text.as_bytes()).expect("usable")
            };
            let value = reading.of_number(coded).expect("a value");
            let back = mapping.features()[place].from_unit(f64::from(*unit));
            assert!(
                (value - back).abs() < 1e-4,
                "{place}: {value} beside {back}"
            );
        }
    }
}

/// `none` is a level here, and only elsewhere a spelling of a missing value.
#[test]
fn a_level_that_is_spelled_like_a_gap_is_no_gap_for_a_prediction() {
    let smoking = "[feature.smoking]\nlevels = [\"none\", \"some\"]\nmissing = \"indicator\"\n";
    let response = "[response]\nname = \"y\"\nlower = 0\nupper = 1\n";
    let schema = Schema::parse(&format!("{response}{smoking}")).expect("a schema");
    let mapping = Mapping::for_features(&schema, ["smoking"]).expect("levels");
    assert_eq!(mapping.names(), ["smoking=some", "smoking=missing"]);
    let missing = mapping.reading(1);
    assert!(missing.is_usable() && !missing.is_number());
    let says = ["none", "some", "", "NA"].map(|cell| missing.of_text(cell.as_bytes()));
    assert_eq!(says, [Some(0.0), Some(0.0), Some(1.0), Some(1.0)]);
    assert_eq!(missing.of_text(b"lots"), None, "the fit refuses it too");
}

#[test]
fn public_scales_are_asked_of_numbers_only() {
    let schema = |scale: &str| {
        Schema::parse(&format!("[response]\nname = \"y\"\nlower = 0\nupper = 1\n[features]\nlower = 0\nupper = 9\n{scale}\n[feature.arm]\nlevels = [\"a\", \"b\"]"))
            .expect("a schema")
    };
    let has = |scale, names: &[&str]| {
        Mapping::for_features(&schema(scale), names.iter().copied())
            .expect("bounded")
            .has_public_scales()
    };
    assert!(has("center = 1\nscale = 1", &["x", "arm"]));
    assert!(!has("", &["x", "arm"]));
    assert!(
        !has("", &["arm"]),
        "zeros and ones are not in standard units"
    );
}

#[test]
fn only_numbers_without_a_public_scale_need_a_private_one() {
    let schema = Schema::parse(
        "[response]\nname = \"y\"\nlower = 0\nupper = 1\n[features]\nlower = 0\nupper = 9\n\
         [feature.age]\nlower = 18\nupper = 100\ncenter = 18\nmissing = \"indicator\"\n\
         [feature.dose]\nlower = 0\nupper = 9\ncenter = 1\nscale = 0.5\n\
         [feature.arm]\nlevels = [\"a\", \"b\", \"c\"]\n[record]\nmissing = \"reject\"\n",
    )
    .expect("a schema");
    let of = |names: &[&str]| {
        let mapping = Mapping::for_features(&schema, names.iter().copied()).expect("bounded");
        mapping.columns_without_scales()
    };
    // Age and its indicator, two levels, a dose with a public scale, and a count.
    assert_eq!(of(&["age", "arm", "dose", "x"]), (vec![0, 5], 2.0));
    assert_eq!(of(&["x", "dose"]), (vec![0], 1.0));
    assert_eq!(of(&["arm", "dose"]), (Vec::new(), 0.0));
}

#[test]
fn only_categories_that_are_to_be_picked_together_are_one_candidate() {
    let text = |together: &str| {
        format!(
            "[response]\nname = \"y\"\nlower = 0\nupper = 1\n[features]\nlower = 0\nupper = 1\nalways = [\"site\"]\n\
             [feature.arm]\nlevels = [\"a\", \"b\", \"c\"]\n{together}\
             [feature.sex]\nlevels = [\"f\", \"m\"]\n{together}\
             [feature.site]\nlevels = [1, 2, 3]\n{together}\
             [feature.dose]\nlevels = [1, 2, 3]\nmissing = \"indicator\"\nother = true\n{together}"
        )
    };
    let categories = |together: &str| -> Vec<_> {
        let schema = Schema::parse(&text(together)).unwrap();
        let names = ["site", "x", "arm", "sex", "dose"];
        let mapping = Mapping::for_features(&schema, names).unwrap();
        assert_eq!(mapping.column_of(4), "arm");
        mapping.categories().collect()
    };
    // Two columns of site, which is no candidate; one of x; and one of sex, which is a candidate of its own.
    assert_eq!(categories("together = true\n"), [3..5, 6..10]);
    assert!(categories("together = false\n").is_empty() && categories("").is_empty());
    let number = "[response]\nname = \"y\"\nlower = 0\nupper = 1\n[feature.x]\nlower = 0\nupper = 1\ntogether = true\n";
    let refused = Schema::parse(number).unwrap_err().to_string();
    assert!(refused.contains("`together` without `levels`"), "{refused}");
}
