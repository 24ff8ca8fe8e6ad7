//! A field of text as a number.

use sprifed_schema::is_missing_text;

use crate::cell::Defect;
use crate::text_format::Decimal;

/// The number in a field, NaN if it is missing.
///
/// # Errors
/// If the field is no number; what it seems to be instead is for the message alone.
pub(crate) fn parse(bytes: &[u8], decimal: Decimal) -> Result<f64, Defect> {
    let Ok(text) = std::str::from_utf8(bytes.trim_ascii()) else {
        return Err(Defect::Text);
    };
    let number = match decimal {
        Decimal::Point => text.parse::<f64>(),
        // It may part thousands: `1.500` must not be read as one and a half.
        Decimal::Comma if text.contains('.') => {
            return Err(match guess(text) {
                Defect::Date => Defect::Date,
                _ if text.bytes().all(is_of_number) => Defect::Point,
                other => other,
            });
        }
        Decimal::Comma => text.replace(',', ".").parse::<f64>(),
    };
    match number {
        Ok(number) => Ok(number),
        Err(_) if is_missing_text(text) => Ok(f64::NAN),
        Err(_) => Err(guess(text)),
    }
}

const fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'-' | b'+' | b'e' | b'E')
}

/// What a field that is no number seems to be.
fn guess(text: &str) -> Defect {
    let parts = |mark: char| text.split(mark).collect::<Vec<_>>();
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if let [whole, decimals] = parts(',')[..]
        && is_digits(whole.trim_start_matches(['-', '+']))
        && is_digits(decimals.trim_end_matches(|mark: char| !mark.is_ascii_digit()))
    {
        return Defect::DecimalComma;
    }
    if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
        return Defect::Truth;
    }
    let day = text.split(['T', ' ']).next().unwrap_or_default();
    let is_date = ['-', '/', '.'].into_iter().any(|mark| {
        let parts: Vec<&str> = day.split(mark).collect();
        parts.len() == 3 && parts.into_iter().all(is_digits)
    });
    if is_date { Defect::Date } else { Defect::Text }
}
