//! The only place where entropy enters (invariant 3).

use sprifed_party::PartyError;

use crate::failure::Failure;

/// 256 fresh bits for a key.
///
/// # Errors
/// When the system has no entropy to give. There is no fallback, because noise that can be guessed protects no record.
pub(crate) fn fresh_bits() -> Result<[u8; 32], Failure> {
    let mut bits = [0; 32];
    getrandom::fill(&mut bits).map_err(|error| {
        Failure::environment(
            "sprifed::entropy::unavailable",
            format!("the operating system gave no entropy: {error}; 256 bits are required"),
            "repair the system's random number source; nothing was spent",
        )
    })?;
    Ok(bits)
}

/// The same, as a party or a trustee takes it.
///
/// # Errors
/// As [`fresh_bits`].
pub(crate) fn entropy() -> Result<[u8; 32], PartyError> {
    fresh_bits().map_err(|failure| PartyError::NoEntropy {
        reason: failure.message,
    })
}
