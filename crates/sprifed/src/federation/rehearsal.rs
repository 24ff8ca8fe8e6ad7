//! All roles of a study in one process, with noise that protects no record.

use std::path::PathBuf;
use std::sync::Arc;

use sprifed_noise::Provenance;
use sprifed_party::{PartyError, PartyRecords, PartyTable, terms_of};
use sprifed_privacy::LedgerRecord;
use sprifed_recovery::Fit;
use sprifed_secure_sum::ClientId;
use sprifed_study::{
    Agreed, Attendance, Embedded, EmbeddedError, EmbeddedTrustees, OpenedStep, PartyKey, Released,
    TrusteeKey, TrusteesError, present_as_in,
};

use super::answer::RehearsalAnswer;
use super::outcome::reported_names;

/// Why a study was not rehearsed to its end.
#[derive(Debug, thiserror::Error)]
pub enum RehearsalError {
    /// Its noise is secret.
    #[error("this study protects its records; required: a study with simulated noise")]
    Protected,
    /// Attempts are repeated only where trustees open the sums.
    #[error("the study has no trustees; required to repeat attempts: a study with trustees")]
    NoTrustees,
    /// The attempts are not those of a whole study.
    #[error("the transcript is not of this study, or the study did not end")]
    OtherTranscript,
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
    /// The trustees could not begin, as with another seed than that of their keys.
    #[error(transparent)]
    NotBegunByTrustees(TrusteesError),
    /// It ended without a model.
    #[error("{0}")]
    Ended(String),
}

/// Who was in each sum, what was spent, and the fit.
type Ended = (Fit, LedgerRecord, Vec<u32>);

impl RehearsalAnswer {
    /// Runs the study `agreed`, whose parties and trustees have `tables` and keys of this seed. Each step is opened in the
    /// first attempt. NOT PRIVATE.
    ///
    /// # Errors
    /// When the study protects its records, a table cannot be used, or the study ends without a model.
    pub fn run(
        agreed: &Arc<Agreed>,
        tables: &[PathBuf],
        seed: u64,
        attendance: Box<Attendance<'_>>,
    ) -> Result<Self, RehearsalError> {
        let records = records_of(agreed, tables)?;
        let ended = if agreed.trustees().is_some() {
            by_trustees(agreed, records, seed, Vec::new(), attendance)
        } else {
            by_parties(agreed, records, seed, attendance)
        };
        Self::of(agreed, ended?)
    }

    /// As [`run`](Self::run), a study with trustees once more: each step is opened in the same attempt and with the same
    /// parties as in what was `released`.
    ///
    /// # Errors
    /// As [`run`](Self::run), and when the study has no trustees or `released` is not of it.
    pub fn again(
        agreed: &Arc<Agreed>,
        tables: &[PathBuf],
        seed: u64,
        released: &[Released],
    ) -> Result<Self, RehearsalError> {
        if agreed.trustees().is_none() {
            return Err(RehearsalError::NoTrustees);
        }
        let steps = released.iter().map(|one| agreed.step_of(one.sum));
        let mut steps = (0..agreed.n_steps()).zip(steps);
        let is_of_study = released.len() == agreed.n_steps()
            && steps.all(|(number, found)| found.is_some_and(|(step, _)| step == number));
        if !is_of_study {
            return Err(RehearsalError::OtherTranscript);
        }
        let records = records_of(agreed, tables)?;
        let steps = agreed.opened_steps(released);
        let ended = by_trustees(agreed, records, seed, steps, present_as_in(released))?;
        Self::of(agreed, ended)
    }

    fn of(agreed: &Agreed, (fit, ledger, survivors): Ended) -> Result<Self, RehearsalError> {
        let names = terms_of(agreed.agreement())?.features();
        Ok(Self {
            label: "NOT PRIVATE",
            features: reported_names(&fit, names),
            fit,
            ledger,
            survivors,
        })
    }
}

fn records_of(
    agreed: &Arc<Agreed>,
    tables: &[PathBuf],
) -> Result<Vec<PartyRecords>, RehearsalError> {
    let agreement = agreed.agreement();
    if agreement.noise != Provenance::Simulated {
        return Err(RehearsalError::Protected);
    }
    let (found, required) = (tables.len(), agreement.parties.len());
    if found != required {
        return Err(RehearsalError::Tables { found, required });
    }
    let records = (0..).map(ClientId).zip(tables).map(|(party, path)| {
        let table = PartyTable::in_file(path, agreed, party);
        Ok(table.read()?.0.clone())
    });
    Ok(records.collect::<Result<_, PartyError>>()?)
}

fn by_parties(
    agreed: &Arc<Agreed>,
    records: Vec<PartyRecords>,
    seed: u64,
    attendance: Box<Attendance<'_>>,
) -> Result<Ended, RehearsalError> {
    let key = PartyKey::simulated(seed, 0);
    let study = Embedded::open(Arc::clone(agreed), &key, records, attendance);
    let mut study = study.map_err(RehearsalError::NotBegun)?;
    let agreement = agreed.agreement();
    let fit = agreement
        .procedure
        .run_on_sums(&agreement.setting, &mut study, |_| ())
        .map_err(|error| RehearsalError::Ended(error.to_string()))?;
    Ok((fit, study.ledger().record(), study.survivors()))
}

fn by_trustees(
    agreed: &Arc<Agreed>,
    records: Vec<PartyRecords>,
    seed: u64,
    steps: Vec<OpenedStep>,
    attendance: Box<Attendance<'_>>,
) -> Result<Ended, RehearsalError> {
    let keys = [0, 1, 2].map(|place| TrusteeKey::simulated(seed, place));
    let study = EmbeddedTrustees::again(records, agreed, keys, steps, attendance);
    let mut study = study.map_err(RehearsalError::NotBegunByTrustees)?;
    let agreement = agreed.agreement();
    let fit = agreement
        .procedure
        .run(&agreement.setting, &mut study, |_| ())
        .map_err(|error| RehearsalError::Ended(error.to_string()))?;
    Ok((fit, study.ledger().record(), study.present().to_vec()))
}
