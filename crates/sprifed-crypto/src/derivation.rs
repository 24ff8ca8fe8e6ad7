//! HKDF-SHA-256: how every key of a protocol is made from a secret, under a label.

use hkdf::Hkdf;
use sha2::Sha256;

/// Writes bytes of HKDF-SHA-256, at most 8,160 of them, where they stay; the state of the hash is
/// zeroed on drop.
///
/// # Caller must
/// Give every purpose an `info` of its own. Its parts are joined without lengths, so all but one
/// have a fixed length.
pub fn derive(secret: &[u8], salt: &[u8; 32], info: &[&[u8]], output: &mut [u8]) {
    let expanded = Hkdf::<Sha256>::new(Some(salt), secret).expand_multi_info(info, output);
    debug_assert!(expanded.is_ok(), "so few bytes are not too many for HKDF");
}
