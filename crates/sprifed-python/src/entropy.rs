//! The only place of this crate where entropy enters (invariant 3).

/// The operating system has no entropy to give.
#[derive(Debug, thiserror::Error)]
#[error("the operating system has no entropy to give: {0}; nothing was drawn")]
pub(crate) struct NoEntropy(getrandom::Error);

/// 256 fresh bits of the operating system.
///
/// # Errors
/// When it has none. There is no fallback, because noise that can be guessed protects no record.
pub(crate) fn fresh_bits() -> Result<[u8; 32], NoEntropy> {
    let mut bits = [0; 32];
    getrandom::fill(&mut bits).map_err(NoEntropy)?;
    Ok(bits)
}
