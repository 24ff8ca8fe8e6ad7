//! How a party reads its records, as the agreement says it.

use sprifed_schema::{DataTerms, TermsError};
use sprifed_study::Agreement;
use sprifed_tables::DataError;

use crate::error::PartyError;

/// The terms on which the parties of `agreement` read their tables.
///
/// # Errors
/// When it has none, as that of a fit in one process.
pub fn terms_of(agreement: &Agreement) -> Result<&DataTerms, PartyError> {
    agreement.data.as_ref().ok_or(PartyError::DataTerms)
}

impl From<TermsError> for PartyError {
    fn from(error: TermsError) -> Self {
        match error {
            TermsError::Schema(error) => DataError::from(error).into(),
            error => Self::Terms(error),
        }
    }
}

#[cfg(test)]
mod tests;
