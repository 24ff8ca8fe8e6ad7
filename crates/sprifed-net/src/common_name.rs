//! The name in a certificate, read for a comparison and never trusted: the roster knows certificates by
//! their fingerprints.

#[cfg(test)]
mod tests;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT_IDENTIFIER: u8 = 0x06;
/// The optional version at the head of a certificate.
const VERSION: u8 = 0xA0;
/// 2.5.4.3 in DER.
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];
/// UTF-8, printable and ASCII text.
const TEXTS: [u8; 3] = [0x0C, 0x13, 0x16];

/// The common name of the subject of a certificate in DER; none if there is none in plain text.
pub(crate) fn common_name(certificate: &[u8]) -> Option<String> {
    let (certificate, _) = take(certificate, SEQUENCE)?;
    let (mut body, _) = take(certificate, SEQUENCE)?;
    if let Some((_, rest)) = take(body, VERSION) {
        body = rest;
    }
    // Serial number, algorithm, issuer, validity: the subject follows.
    for _ in 0..4 {
        (_, _, body) = element(body)?;
    }
    let (mut subject, _) = take(body, SEQUENCE)?;
    while let Some((mut set, rest)) = take(subject, SET) {
        subject = rest;
        while let Some((attribute, others)) = take(set, SEQUENCE) {
            set = others;
            let (kind, value) = take(attribute, OBJECT_IDENTIFIER)?;
            let (tag, text, _) = element(value)?;
            if kind == COMMON_NAME && TEXTS.contains(&tag) {
                return String::from_utf8(text.to_vec()).ok();
            }
        }
    }
    None
}

/// The content of the first element, if it has this tag, and what follows it.
fn take(bytes: &[u8], required: u8) -> Option<(&[u8], &[u8])> {
    let (tag, content, rest) = element(bytes)?;
    (tag == required).then_some((content, rest))
}

/// Tag and content of the first element, and what follows it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, bytes) = bytes.split_first()?;
    let (first, bytes) = bytes.split_first()?;
    let (length, bytes) = match first {
        0..=0x7F => (usize::from(*first), bytes),
        // The length of the length; certificates have no more than three bytes of it.
        0x81..=0x83 => {
            let (digits, bytes) = bytes.split_at_checked(usize::from(first & 0x7F))?;
            let fold = |length: usize, digit: &u8| length << 8 | usize::from(*digit);
            (digits.iter().fold(0, fold), bytes)
        }
        _ => return None,
    };
    let (content, rest) = bytes.split_at_checked(length)?;
    Some((*tag, content, rest))
}
