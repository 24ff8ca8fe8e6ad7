//! How numbers are written on pages: as many digits as a reader can use.

use sprifed_privacy::shown_to;

/// `value` as the page shows numbers of this metric.
pub(crate) fn shown(value: f64, metric: &str) -> String {
    let text = match metric {
        "epsilon" => shown_to(value, 2),
        "recovered" => format!("{value:.2}"),
        "test R2" | "share" => format!("{value:.3}"),
        "n90" => format!("{value:.0}"),
        _ => significant(value),
    };
    without_sign_of_zero(text)
}

/// Zero has no sign, also where it was rounded from below.
fn without_sign_of_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if !rest.contains(|digit: char| matches!(digit, '1'..='9')) => rest.to_owned(),
        _ => text,
    }
}

/// Three significant digits, without an exponent.
pub(crate) fn significant(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if size >= 100.0 => 0,
        _ if size >= 10.0 => 1,
        _ if size >= 1.0 => 2,
        _ if size >= 0.001 || size == 0.0 => 3,
        _ => 5,
    };
    format!("{value:.decimals$}")
}

/// A number of an axis: whole numbers without a point.
pub(crate) fn plain(value: f64) -> String {
    format!("{value}")
}

#[cfg(test)]
mod tests {
    use super::{shown, significant};

    #[test]
    fn digits_follow_the_size() {
        let written: Vec<String> = [335.84, 18.194, 1.267, 0.3412].map(significant).into();
        assert_eq!(written, ["336", "18.2", "1.27", "0.341"]);
        assert_eq!(shown(7.123, "recovered"), "7.12");
        assert_eq!(shown(-0.0004, "test R2"), "0.000");
        assert_eq!(shown(-0.0006, "test R2"), "-0.001");
    }
}
