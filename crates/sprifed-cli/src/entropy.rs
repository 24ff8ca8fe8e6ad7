//! The only place where entropy enters (invariant 3).

use sprifed_noise::NoiseGenerator;

use crate::failure::Failure;

/// A generator of secret noise, keyed with 256 fresh bits of the operating system.
///
/// # Errors
/// When the system has no entropy to give: there is no fallback, because noise that can be guessed
/// protects nobody.
pub(crate) fn secret_noise() -> Result<NoiseGenerator, Failure> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|error| {
        Failure::environment(
            "sprifed::entropy::unavailable",
            format!("the operating system gave no entropy: {error}; 256 bits are required"),
            "repair the system's random number source; nothing was spent",
        )
    })?;
    Ok(NoiseGenerator::assume_fresh_entropy(key))
}
