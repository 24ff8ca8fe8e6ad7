//! Bytes, seconds and shares as people read them.

/// Bytes, in kilobytes or megabytes.
#[must_use]
pub(crate) fn shown_bytes(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
    let bytes = bytes as f64;
    if bytes < 1e6 {
        format!("{:.0} kB", (bytes / 1e3).ceil())
    } else {
        format!("{:.1} MB", bytes / 1e6)
    }
}

/// Seconds of computation, about.
#[must_use]
pub(crate) fn shown_seconds(seconds: f64) -> String {
    if seconds < 0.1 {
        "less than 0.1 s".to_owned()
    } else {
        format!("about {seconds:.1} s")
    }
}

/// A number with two digits; one that rounds to zero has no sign.
#[must_use]
pub(crate) fn two_digits(number: f64) -> String {
    let rounded = (100.0 * number).round() / 100.0;
    format!("{:.2}", rounded + 0.0)
}

#[cfg(test)]
mod tests {
    use super::{shown_bytes, shown_seconds, two_digits};

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(two_digits(-0.001), "0.00");
        assert_eq!(two_digits(-0.016), "-0.02");
        assert_eq!(two_digits(0.296), "0.30");
    }

    #[test]
    fn little_is_not_shown_as_nothing() {
        assert_eq!(shown_bytes(0), "0 kB");
        assert_eq!(shown_bytes(1), "1 kB");
        assert_eq!(shown_bytes(999_000), "999 kB");
        assert_eq!(shown_bytes(1_250_000), "1.2 MB");
        assert_eq!(shown_seconds(0.02), "less than 0.1 s");
        assert_eq!(shown_seconds(12.34), "about 12.3 s");
    }
}
