//! What to do about an error, as far as it is the same for every program; edges add what names their options.

use std::borrow::Cow;

use sprifed_recovery::{CertifiedProcedure, Needs};
use sprifed_schema::{PLACEHOLDER, SchemaError};
use sprifed_tables::DataError;

use super::Error;
use crate::backend::Backend;

impl Error {
    /// What to do about it.
    #[must_use]
    pub fn advice(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Party(error) => return error.help().into(),
            Self::Destination(error) => error.help(),
            Self::Quantity(_) | Self::Fraction(_) => "correct the value; nothing was spent",
            Self::Participation(_) | Self::Backend(_) | Self::NoAgreement(_) | Self::NoSetup(_) => {
                "correct the numbers of clients, of the quorum or of colluders; nothing was spent"
            }
            Self::Unplannable(_) | Self::Uncertifiable(_) => {
                "change the numbers of the plan; nothing was spent"
            }
            Self::Plan(_) => "change the budget, the sparsity or the size; nothing was spent",
            Self::Agreement(_) => "correct the numbers of the study; nothing was spent",
            Self::Trial(_) => "simulated trials spend nothing; try another seed or size",
            Self::Method(_) => "simulated trials spend nothing; try another procedure",
            Self::Data(error) => advice_on_data(error),
            Self::NoSchema => {
                "give public bounds, numbers known without looking at the records; nothing was spent"
            }
            Self::SitesNotNamed => {
                "give [sites] with `column` and the public number of `records` of each site, and remove `site_effects`; \
                 nothing was spent"
            }
            Self::UnknownSite { .. } => {
                "name one of the sites of the model, or none: the mean of their intercepts is used then"
            }
            Self::ParticipationOfCurator | Self::ParticipationOfTrustees => {
                "use secure sums, or give neither a quorum nor colluders; nothing was spent"
            }
            Self::TwoSplits { .. } => {
                "give the number of clients or a column of the schema, not both; nothing was spent"
            }
            Self::NeedsChoices { .. } => {
                let procedures =
                    listed(CertifiedProcedure::on_sums().map(CertifiedProcedure::name));
                let backends = listed(Backend::answering(Needs::Choices).map(Backend::text));
                return format!(
                    "use the procedure {procedures}, or the backend {backends}; nothing was spent"
                )
                .into();
            }
            Self::SplitBackend { .. } => {
                "use the inference \"selective\", or a curator; nothing was spent"
            }
            Self::Overdrawn { .. } => {
                "raise epsilon or delta, or lower the sparsity; nothing was spent"
            }
            Self::OverBudget { .. } => "ask for a larger epsilon; nothing was spent",
            Self::TooLarge { .. } => "use a smaller table; nothing was spent",
            Self::Modulus(_) | Self::TrusteeStep(_) | Self::NoTrustees(_) => {
                "use a smaller study; nothing was spent"
            }
            Self::Records(_) | Self::Curator(_) => "report this; nothing was spent",
            Self::Unwritable(_) | Self::StudyLedger(_) => "report this",
            Self::Ended { .. } => "the run ended without a model",
            Self::MalformedModel { .. } => "give a model that a fit wrote",
            Self::UnreadableReceipt { .. } => "name the file that a fit or a study wrote",
            Self::WrongReceipt { .. } => "ask the person who gave it to you for the original",
            Self::Contradiction { .. } => {
                "do not believe this receipt; ask for the file that the fit wrote"
            }
            Self::WrongTranscript { .. } => {
                "use the transcript.json that a party of the study has beside its receipt"
            }
            Self::ExactSparsity { .. } => "correct the sparsity",
            Self::SinglePrecision => "divide the column, or the response, by a constant",
            Self::NoRecords(_) => "give at least one record and one feature",
            Self::Repeated(_) => "fit once with values chosen before; nothing was spent",
            Self::DropoutsOfCurator => "use secure sums, or give no dropouts",
            Self::Dropouts(_) => "correct the share of dropouts",
            Self::World(_) => "correct this number",
            Self::NothingToScore => "give records with responses",
            Self::AbsentColumns { .. } => "give a table with columns of exactly these names",
            Self::RehearsalKey { .. } => {
                "ask for an identity that was not simulated, or make the study a rehearsal"
            }
            Self::TwoParties { .. } => "ask one of them to choose another name",
            Self::TrusteeCount { .. } => {
                "give the trustee.json of three trustees that do not collude; nothing was made"
            }
        })
    }
}

/// `names` as a sentence has them: `a or b`.
fn listed(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(" or ")
}

fn advice_on_data(error: &DataError) -> &'static str {
    match error {
        DataError::File(_) => "check the path, its permissions and the machine; nothing was spent",
        DataError::Schema(SchemaError::OtherTarget { .. }) => {
            "change the target, or `response.name` in the schema; nothing was spent"
        }
        DataError::Schema(error) if error.to_string().contains(PLACEHOLDER) => {
            "a physical limit, the range of an instrument or the literature will do; nothing was spent"
        }
        DataError::Schema(_) => "correct the schema as said above; nothing was spent",
        _ => "correct the table or the schema as said above; nothing was spent",
    }
}
