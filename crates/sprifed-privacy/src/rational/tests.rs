use proptest::prelude::*;

use super::*;

fn exact(text: &str) -> BigRational {
    parse_exact(text).unwrap()
}

fn whole(number: i64) -> BigRational {
    BigRational::from(BigInt::from(number))
}

fn variance(text: &str) -> Result<NoiseVariance, IllegalFraction> {
    NoiseVariance::try_from(text.to_owned())
}

#[test]
fn decimals_exponents_and_fractions_are_read_without_rounding() {
    assert_eq!(exact("0.1"), exact("1/10"));
    assert_eq!(exact("-12.50"), exact("-25/2"));
    assert_eq!(exact("1e-6"), exact("1/1000000"));
    assert_eq!(exact("+.5E+1"), whole(5));
    assert_eq!(exact("7."), whole(7));
    assert_eq!(exact("1.5e1/3e-1"), whole(50));
    assert_eq!(exact("-0"), whole(0));
}

#[test]
fn what_is_not_a_number_is_refused_with_the_text_and_the_form_required() {
    let texts = [
        "",
        " ",
        ".",
        "-",
        "+",
        "e5",
        "1e",
        "1e1.5",
        "--1",
        "+-1",
        "1-",
        "0x10",
        "1_000",
        "1,5",
        " 1",
        "1 ",
        "nan",
        "NaN",
        "inf",
        "-infinity",
        "1/0",
        "1/0.000",
        "0/0",
        "1/",
        "/2",
        "1/2/3",
        "١",
    ];
    for text in texts {
        let error = parse_exact(text).unwrap_err();
        assert_eq!(error.found, text);
        assert!(
            error
                .to_string()
                .ends_with("is not a decimal number or a fraction such as 3/4")
        );
    }
}

#[test]
fn an_exponent_that_would_fill_the_memory_is_refused() {
    for exponent in [
        "401",
        "-401",
        "2147483647",
        "-2147483647",
        "-2147483648",
        "-2147483649",
    ] {
        assert!(parse_exact(&format!("1e{exponent}")).is_err(), "{exponent}");
    }
    assert!(parse_exact(&"9".repeat(1001)).is_err());
    let error = parse_exact(&"x".repeat(5000)).unwrap_err();
    assert_eq!(error.found.len(), 60);
}

#[test]
fn a_noise_variance_is_positive_and_fits() {
    for text in ["0", "-1", "0/5", "-3/4", "1e39", "1e-39", "nan", "inf"] {
        assert!(variance(text).is_err(), "{text}");
    }
    assert_eq!(variance("2.50").unwrap(), variance("5/2").unwrap());
    assert!(variance("31.25").unwrap() > variance("31").unwrap());
    assert_eq!(variance("5/2").unwrap().times(4), variance("10"));
    assert!(variance("1e38").unwrap().times(u32::MAX).is_err());
    assert!(variance("5").unwrap().times(0).is_err());
}

#[test]
fn a_stored_variance_is_checked_when_it_is_read() {
    let read = |text: &str| serde_json::from_str::<NoiseVariance>(text);
    assert_eq!(read("\"125/4\"").unwrap(), variance("31.25").unwrap());
    for text in ["\"0\"", "\"-4\"", "\"nan\"", "4", "null"] {
        assert!(read(text).is_err(), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,40}") {
        let _ = parse_exact(&text);
    }

    #[test]
    fn no_text_made_of_number_parts_makes_the_parser_panic(
        text in "[-+]?[0-9]{0,5}[./eE]?[-+]?[0-9]{0,12}[/eE.]?[-+]?[0-9]{0,5}",
    ) {
        let _ = parse_exact(&text);
    }

    #[test]
    fn a_decimal_text_agrees_with_the_parser_of_doubles(
        text in "[-+]?[0-9]{1,20}(\\.[0-9]{0,20})?([eE][-+]?[0-9]{1,2})?",
    ) {
        let double: f64 = text.parse().unwrap();
        let parsed = parse_exact(&text).unwrap();
        // The nearest double, up to the last bit of the division.
        let difference = (nearest_double(&parsed) - double).abs();
        prop_assert!(difference <= f64::EPSILON * double.abs(), "{text}");
    }

    #[test]
    fn every_double_survives_being_written_and_read(double in prop::num::f64::NORMAL) {
        prop_assume!((1e-300..1e300).contains(&double.abs()));
        let parsed = parse_exact(&format!("{double:e}")).unwrap();
        prop_assert!((nearest_double(&parsed) - double).abs() <= 0.0);
    }

    #[test]
    fn the_ceiling_of_a_root_is_the_least_whole_number_whose_square_suffices(
        numerator in 0u64..u64::MAX,
        denominator in 1u64..1_000_000,
    ) {
        let square = BigRational::new(BigInt::from(numerator), BigInt::from(denominator));
        let root = ceil_sqrt(&square);
        prop_assert!(BigRational::from(&root * &root) >= square);
        let less = root - BigInt::one();
        prop_assert!(less.is_negative() || BigRational::from(&less * &less) < square);
    }

    #[test]
    fn a_variance_survives_being_stored(
        numerator in 1u128..u128::MAX,
        denominator in 1u128..u128::MAX,
    ) {
        let value = variance(&format!("{numerator}/{denominator}")).unwrap();
        let text = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(serde_json::from_str::<NoiseVariance>(&text).unwrap(), value);
        prop_assert_eq!(variance(&value.to_string()).unwrap(), value);
    }
}
