//! All parties of a study in one process, with noise that protects no record.

use std::path::PathBuf;
use std::sync::Arc;

use sprifed_noise::Provenance;
use sprifed_party::{PartyError, PartyRecords, PartyTable, terms_of};
use sprifed_secure_sum::ClientId;
use sprifed_study::{Agreed, Attendance, Embedded, EmbeddedError, PartyKey};

use super::answer::RehearsalAnswer;
use super::outcome::reported_names;

/// Why a study was not rehearsed to its end.
#[derive(Debug, thiserror::Error)]
pub enum RehearsalError {
    /// Its noise is secret.
    #[error("this study protects its records; required: a study with simulated noise")]
    Protected,
    /// Its choices and sums are made by trustees.
    #[error(
        "a study with trustees cannot be rehearsed in one process; required: a study of secure sums"
    )]
    Trustees,
    /// Not one table for each party.
    #[error("{found} tables are given, but {required} parties take part")]
    Tables {
        /// How many were given.
        found: usize,
        /// How many parties there are.
        required: usize,
    },
    /// A table cannot be used.
    #[error(transparent)]
    Party(#[from] PartyError),
    /// The parties could not begin, as with another seed than that of their identities.
    #[error(transparent)]
    NotBegun(EmbeddedError),
    /// It ended without a model.
    #[error("{0}")]
    Ended(String),
}

impl RehearsalAnswer {
    /// Runs the study `agreed`, whose parties have `tables` and identities of this seed. NOT PRIVATE.
    ///
    /// # Errors
    /// When the study protects its records, a table cannot be used, or the study ends without a model.
    pub fn run(
        agreed: &Arc<Agreed>,
        tables: &[PathBuf],
        seed: u64,
        attendance: Box<Attendance<'_>>,
    ) -> Result<Self, RehearsalError> {
        let agreement = agreed.agreement();
        if agreement.noise != Provenance::Simulated {
            return Err(RehearsalError::Protected);
        }
        if agreement.trustees.is_some() {
            return Err(RehearsalError::Trustees);
        }
        let (found, required) = (tables.len(), agreement.parties.len());
        if found != required {
            return Err(RehearsalError::Tables { found, required });
        }
        let records = (0..).map(ClientId).zip(tables).map(|(party, path)| {
            let table = PartyTable::in_file(path, agreed, party);
            Ok(table.read()?.0.clone())
        });
        let records: Vec<PartyRecords> = records.collect::<Result<_, PartyError>>()?;
        let key = PartyKey::simulated(seed, 0);
        let mut study = Embedded::open(Arc::clone(agreed), &key, records, attendance)
            .map_err(RehearsalError::NotBegun)?;
        let fit = agreement
            .procedure
            .run_on_sums(&agreement.setting, &mut study, |_| ())
            .map_err(|error| RehearsalError::Ended(error.to_string()))?;
        let names = terms_of(agreement)?.features();
        Ok(Self {
            label: "NOT PRIVATE",
            features: reported_names(&fit, names),
            fit,
            ledger: study.ledger().record(),
            survivors: study.survivors(),
        })
    }
}
