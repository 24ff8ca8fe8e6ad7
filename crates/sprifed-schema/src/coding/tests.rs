#![expect(
    clippy::float_cmp,
    reason = "numbers of a schema are kept as they are written"
)]

use super::*;

fn levels(levels: &[&str], reference: Option<&str>, other: bool, missing: bool) -> LevelCoding {
    let owned = levels.iter().map(|level| (*level).to_owned()).collect();
    LevelCoding::new(owned, reference.map(str::to_owned), other, missing).expect("levels")
}

fn coded(coding: &LevelCoding, label: &str) -> Result<Vec<f32>, CellDefect> {
    let mut row = vec![7.0; coding.width()];
    coding.encode(label.as_bytes(), &mut row).map(|_| row)
}

#[test]
fn each_level_but_the_reference_has_a_column() {
    let coding = levels(&["a", "b", "c"], None, false, false);
    assert_eq!(coding.names("arm"), ["arm=b", "arm=c"]);
    assert_eq!(coded(&coding, "a"), Ok(vec![0.0, 0.0]));
    assert_eq!(coded(&coding, " b "), Ok(vec![1.0, 0.0]));
    assert_eq!(coded(&coding, "c"), Ok(vec![0.0, 1.0]));
    let other = levels(&["a", "b", "c"], Some("b"), false, false);
    assert_eq!(other.names("arm"), ["arm=a", "arm=c"]);
    assert_eq!(coded(&other, "c"), Ok(vec![0.0, 1.0]));
    assert_eq!(coded(&other, "b"), Ok(vec![0.0, 0.0]));
}

#[test]
fn other_values_and_gaps_have_columns_only_if_the_schema_says_so() {
    let strict = levels(&["a", "b"], None, false, false);
    assert_eq!(coded(&strict, "z"), Err(CellDefect::UnknownLevel));
    assert_eq!(coded(&strict, "NA"), Err(CellDefect::MissingLevel));
    let open = levels(&["a", "b"], None, true, true);
    assert_eq!(open.names("x"), ["x=b", "x=other", "x=missing"]);
    assert_eq!(coded(&open, "z"), Ok(vec![0.0, 1.0, 0.0]));
    assert_eq!(coded(&open, ""), Ok(vec![0.0, 0.0, 1.0]));
    let named = levels(&["a", "NA"], None, false, false);
    assert_eq!(coded(&named, "NA"), Ok(vec![1.0]), "a level by that name");
}

#[test]
fn truth_values_and_numbers_are_compared_by_what_they_mean() {
    let truth = levels(&["False", "True"], None, false, false);
    assert_eq!(coded(&truth, "true"), Ok(vec![1.0]));
    assert_eq!(coded(&truth, "FALSE"), Ok(vec![0.0]));
    let number = levels(&["0", "1"], None, false, false);
    assert_eq!(coded(&number, "1.0"), Ok(vec![1.0]));
    assert_eq!(coded(&number, "2"), Err(CellDefect::UnknownLevel));
}

#[test]
fn levels_that_cannot_be_told_apart_are_refused() {
    let refused = |levels: &[&str], reference: Option<&str>, other| {
        let owned = levels.iter().map(|level| (*level).to_owned()).collect();
        LevelCoding::new(owned, reference.map(str::to_owned), other, true).expect_err("refused")
    };
    assert!(refused(&["a"], None, false).contains("at least two"));
    assert!(refused(&["1", "1.0"], None, false).contains("same value"));
    assert!(refused(&["a", ""], None, false).contains("empty level"));
    assert!(refused(&["a", "b"], Some("c"), false).contains("none of its levels"));
    assert!(refused(&["a", "other"], None, true).contains("`other`"));
    let many: Vec<String> = (0..101).map(|level| format!("l{level}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(refused(&many, None, false).contains("at most 100"));
    assert!(refused(&["a", "missing"], None, true).contains("`missing`"));
}

#[test]
fn a_missing_number_is_refused_filled_or_shown() {
    let units = Units::new("a", 0.0, 4.0, Some(0.0), Some(1.0)).expect("units");
    let number = |gap| NumberCoding {
        transform: Transform::Identity,
        units,
        gap,
    };
    let mut one = [0.0];
    let strict = number(Gap::Reject);
    assert_eq!(strict.encode(f64::NAN, &mut one), Err(CellDefect::Missing));
    assert_eq!(
        strict.encode(f64::INFINITY, &mut one),
        Err(CellDefect::Infinite)
    );
    assert!(strict.encode(9.0, &mut one).expect("clipped").is_clipped);
    assert_eq!(one, [4.0]);
    let filled = number(Gap::Fill(3.0));
    assert!(
        filled
            .encode(f64::NAN, &mut one)
            .expect("filled")
            .is_missing
    );
    assert_eq!(one, [3.0]);
    let shown = Coding::Number(number(Gap::Indicator(2.0)));
    assert_eq!(shown.names("a"), ["a", "a=missing"]);
    let mut two = [0.0; 2];
    let Coding::Number(shown) = shown else {
        unreachable!("a number")
    };
    shown.encode(f64::NAN, &mut two).expect("shown");
    assert_eq!(two, [2.0, 1.0]);
    shown.encode(1.0, &mut two).expect("a number");
    assert_eq!(two, [1.0, 0.0]);
}

#[test]
fn a_logarithm_keeps_the_sign_and_is_bounded_after_it() {
    let units = Units::new("a", -(10f64.ln()), 100f64.ln(), None, None).expect("units");
    let coding = NumberCoding {
        transform: Transform::Log1p,
        units,
        gap: Gap::Reject,
    };
    assert_eq!([coding.to_unit(1e9), coding.to_unit(-1e9)], [1.0, -1.0]);
    let middle = units.to_unit(10f64.ln());
    assert!((coding.to_unit(9.0) - middle).abs() < 1e-6);
    assert!((Transform::Log1p.apply_signed(-9.0) + 10f64.ln()).abs() < 1e-12);
}
