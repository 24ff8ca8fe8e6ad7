//! Why a party does not answer, and what of it the coordinator is told.

use sprifed_noise::{NoiseParameterError, OutOfBounds, Provenance, ReleaseError};
use sprifed_privacy::{LedgerError, counted};
use sprifed_query::RecordSource;
use sprifed_secure_sum::{ClientId, UploadRefused};
use sprifed_trustees::IllegalStep;

use crate::agreement::Agreed;
use crate::hexadecimal::Digest;
use crate::record_store::Unopened;

/// Why a party does not answer. Nothing left it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Declined {
    /// It is not on the roster with this identity.
    #[error("the roster does not have {party} with this identity key")]
    NotInvited {
        /// Which place of the roster.
        party: ClientId,
    },
    /// Its journal contradicts itself, or lacks what was sent although secrets were erased since.
    #[error("the journal of this study was lost, put back or written by two copies of this party")]
    OtherJournal,
    /// It left the study before.
    #[error("this party has left the study and answers nothing more in it")]
    HasLeft,
    /// Its noise is not of the kind that was agreed on.
    #[error("the noise here is {found:?}, but the agreement says {required:?}")]
    OtherNoise {
        /// The noise of this party.
        found: Provenance,
        /// The noise agreed on.
        required: Provenance,
    },
    /// It holds more privacy units than the agreement says.
    #[error("there are {found} privacy units here, but the agreement says at most {required}")]
    TooManyUnits {
        /// Units held.
        found: usize,
        /// Units agreed on.
        required: u32,
    },
    /// It holds records of another width.
    #[error("the records have {}, but the agreement says {required}", counted(*found, "feature", "features"))]
    OtherFeatures {
        /// Features of the records.
        found: usize,
        /// Features agreed on.
        required: u32,
    },
    /// A sum that was not agreed on, or not with this question.
    #[error("sum {sum} was asked with {found}, but the agreement says {required}")]
    NotPlanned {
        /// Which sum.
        sum: u32,
        /// What was asked.
        found: String,
        /// What was agreed on.
        required: String,
    },
    /// The coordinator shows another transcript than the one in which the sum was charged.
    #[error(
        "sum {sum} was charged after the transcript {required}, but the coordinator shows {found}"
    )]
    OtherTranscript {
        /// Which sum.
        sum: u32,
        /// The transcript shown.
        found: Digest,
        /// The transcript of the charge.
        required: Digest,
    },
    /// A sum that comes before one that was answered already.
    #[error("sum {sum} was asked after sum {last}; sums are answered in order, each once")]
    OutOfOrder {
        /// Which sum.
        sum: u32,
        /// The last one answered.
        last: u32,
    },
    /// Its records cannot be opened.
    #[error(transparent)]
    Records(#[from] Unopened),
    /// The ledger refused.
    #[error(transparent)]
    Ledger(#[from] Box<LedgerError>),
    /// The noise cannot be drawn.
    #[error(transparent)]
    Noise(#[from] Box<NoiseParameterError>),
    /// A contribution did not fit.
    #[error(transparent)]
    Bounds(#[from] OutOfBounds),
    /// The integers do not fit what trustees compute.
    #[error(transparent)]
    TrusteeStep(#[from] IllegalStep),
    /// The release was refused.
    #[error(transparent)]
    Release(#[from] Box<ReleaseError>),
    /// The masks refused.
    #[error(transparent)]
    Upload(#[from] UploadRefused),
}

impl Declined {
    /// What the coordinator is told: the same words for everything that depends on the records.
    pub(crate) fn to_coordinator(&self) -> String {
        match self {
            Self::TooManyUnits { .. }
            | Self::OtherFeatures { .. }
            | Self::Bounds(_)
            | Self::TrusteeStep(_) => Unopened.to_string(),
            other => other.to_string(),
        }
    }
}

/// Refuses records that are not what was agreed on with `me`.
pub(super) fn check_records(
    agreed: &Agreed,
    me: ClientId,
    records: &impl RecordSource,
) -> Result<(), Declined> {
    let agreement = agreed.agreement();
    let seat = agreement.parties.get(me.0 as usize);
    let (found, required) = (records.n_units(), seat.map_or(0, |seat| seat.units));
    if found > required as usize {
        return Err(Declined::TooManyUnits { found, required });
    }
    let (found, required) = (records.n_features(), agreement.setting.n_columns());
    if found != required as usize {
        return Err(Declined::OtherFeatures { found, required });
    }
    Ok(())
}
