//! What all parties agree on before a record is touched, and what follows from it.

use std::sync::Arc;

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sprifed_noise::Provenance;
use sprifed_privacy::{
    ApproxDp, Cost, CostKind, Epsilon, Gates, IllegalQuantity, LOG_WRAP_PROBABILITY, Ledger,
    LedgerError, LedgerLine, MOST_ATTEMPTS, NoiseOrigin, Participation, Permit, SelectionPurchase,
    SumPurchase, Uncertifiable,
};
use sprifed_query::{Plan, PlannedStep, PlannedSum};
use sprifed_recovery::{CertifiedProcedure, Setting};
use sprifed_schema::DataTerms;
use sprifed_secure_sum::{ClientId, IllegalStudy, Roster, RosterError, Study, SumShape};

use crate::hexadecimal::Digest;
use crate::party_key::PartyKey;
use crate::plain_text::check_texts;
use crate::trustee_step::IllegalTrusteeStep;

mod checks;
mod notice_size;
#[cfg(test)]
pub(crate) mod tests;
mod trustees;

pub use checks::outcome_of;
use checks::{
    Protection, ceiling_of, check_data, check_sites, check_steps, line_of, protection_of,
};
pub use trustees::{AgreedTrustees, StudyKey, TrusteeEntry};

/// The format of the document; another one is refused.
pub const FORMAT: u32 = 3;

/// One invited party.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Party {
    /// Its name for people.
    pub name: String,
    /// The public half of its identity key.
    pub identity: Digest,
    /// The most privacy units it may contribute, public.
    pub units: u32,
}

/// The public document of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agreement {
    /// [`FORMAT`].
    pub format: u32,
    /// What the study is about.
    pub title: String,
    /// What its result is for; a policy accepts purposes by their exact text.
    pub purpose: String,
    /// Makes the study unlike any other.
    pub nonce: Digest,
    /// The public half of the coordinator's identity key.
    pub coordinator: Digest,
    /// How features are looked for.
    pub procedure: CertifiedProcedure,
    /// Which version of it: every party derives the questions itself, so all must have the same.
    pub procedure_version: u32,
    /// The setting that it is planned for.
    pub setting: Setting,
    /// Every question with its noise.
    pub plan: Plan,
    /// The invited parties, in order.
    pub parties: Vec<Party>,
    /// The three trustees, in order, exactly when the plan's noise comes from trustees.
    pub trustees: Option<[TrusteeEntry; 3]>,
    /// Whether trustees prove their gates; there exactly when there are trustees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gates: Option<Gates>,
    /// How often each sum or choice may be tried again after it failed. Only attempts that trustees signed as unopened are
    /// not charged again.
    pub repeats: u32,
    /// Whether the parties' noise is secret; if it is not, no record is protected.
    pub noise: Provenance,
    /// How parties read their records: names, bounds and units. A fit in one process reads no tables by it.
    pub data: Option<DataTerms>,
}

/// An agreement that no party should accept.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IllegalAgreement {
    /// Not a document of this format.
    #[error("the study document cannot be read: {0}")]
    Unreadable(String),
    /// Not written as this program writes it, so that its digest would differ.
    #[error("the study document was reformatted; use the file as the coordinator wrote it")]
    Reformatted,
    /// Of another version.
    #[error("the study document has format {found}, but {FORMAT} is required")]
    Format {
        /// The format found.
        found: u32,
    },
    /// Another version of the procedure.
    #[error(
        "the study derives its questions by version {found} of {procedure}, but this program has version {required}; \
         all parties must run the same version of the program"
    )]
    ProcedureVersion {
        /// The procedure.
        procedure: CertifiedProcedure,
        /// The version of the study.
        found: u32,
        /// The version of this program.
        required: u32,
    },
    /// The noise comes neither from the parties nor from trustees.
    #[error(
        "the plan's noise comes from {found}, but shares of the parties or of three trustees are required"
    )]
    Origin {
        /// The source of the noise.
        found: String,
    },
    /// Numbers that contradict each other.
    #[error("{what} is {found}, but {required} is required")]
    Contradiction {
        /// What is wrong.
        what: &'static str,
        /// The value found.
        found: String,
        /// The value required.
        required: String,
    },
    /// The plan has a choice, and the study has no trustees.
    #[error(
        "step {step} of the plan is a choice, which secure sums cannot make; name three trustees, or use {}",
        CertifiedProcedure::names(CertifiedProcedure::on_sums(), " or ")
    )]
    Choice {
        /// Which step.
        step: usize,
    },
    /// A trustee's entry is not its own.
    #[error(
        "the study key of trustee {name:?} is not signed with its identity key; ask this trustee for its file again"
    )]
    TrusteeKey {
        /// Its name.
        name: String,
    },
    /// Trustees cannot compute a step.
    #[error(transparent)]
    TrusteeStep(#[from] IllegalTrusteeStep),
    /// The plan has no certified cost.
    #[error(transparent)]
    Uncertifiable(#[from] Uncertifiable),
    /// The plan costs something that is no legal quantity.
    #[error(transparent)]
    Quantity(#[from] IllegalQuantity),
    /// The roster is not usable.
    #[error(transparent)]
    Roster(#[from] RosterError),
    /// The sums cannot be set up.
    #[error(transparent)]
    Study(#[from] IllegalStudy),
}

/// An agreement that was checked, with everything that follows from it.
#[derive(Clone, Debug)]
pub struct Agreed {
    agreement: Agreement,
    digest: Digest,
    ceiling: ApproxDp,
    roster: Arc<Roster>,
    protocol: Protocol,
    first_units: Vec<u64>,
}

/// How steps are answered.
#[derive(Clone, Debug)]
enum Protocol {
    /// By masked sums of the parties.
    Masks {
        participation: Participation,
        study: Arc<Study>,
    },
    /// By three trustees.
    Trustees(AgreedTrustees),
}

/// A charge for one step.
#[must_use = "the ledger has been charged"]
#[derive(Debug)]
pub enum Paid {
    /// For a sum.
    Sum(Permit<SumPurchase>),
    /// For a choice.
    Choice(Permit<SelectionPurchase>),
}

impl Agreed {
    /// Where the party with this identity is in the roster.
    #[must_use]
    pub fn place_of(&self, identity: &Digest) -> Option<ClientId> {
        let mut parties = (0..).zip(&self.agreement.parties);
        let found = parties.find(|(_, party)| party.identity == *identity);
        found.map(|(place, _)| ClientId(place))
    }

    /// The identity at a seat: of a party, or after the last party of a trustee.
    #[must_use]
    pub fn identity_at(&self, seat: ClientId) -> Option<Digest> {
        if let Some(party) = self.agreement.parties.get(seat.0 as usize) {
            return Some(party.identity);
        }
        let trustees = self.trustees()?;
        let place = trustees.at_seat(seat)?.place();
        trustees.entries().get(place).map(|entry| entry.identity)
    }

    /// Reads and checks the document of a study.
    ///
    /// # Errors
    /// When it is unreadable, was reformatted or contradicts itself.
    pub fn read(document: &[u8]) -> Result<Self, IllegalAgreement> {
        let agreement: Agreement = serde_json::from_slice(document)
            .map_err(|error| IllegalAgreement::Unreadable(error.to_string()))?;
        if agreement.to_document() != document {
            return Err(IllegalAgreement::Reformatted);
        }
        Self::new(agreement)
    }

    /// Checks `agreement`.
    ///
    /// # Errors
    /// When it contradicts itself.
    pub fn new(agreement: Agreement) -> Result<Self, IllegalAgreement> {
        if agreement.format != FORMAT {
            return Err(IllegalAgreement::Format {
                found: agreement.format,
            });
        }
        let (procedure, found) = (agreement.procedure, agreement.procedure_version);
        let required = procedure.version();
        if found != required {
            return Err(IllegalAgreement::ProcedureVersion {
                procedure,
                found,
                required,
            });
        }
        check_texts(&agreement)?;
        if let Some(data) = &agreement.data {
            check_data(data, &agreement.setting)?;
        }
        check_sites(&agreement)?;
        let protection = protection_of(&agreement)?;
        check_steps(&agreement.plan)?;
        // Before anything is computed for each of them.
        let attempts = u64::from(agreement.repeats) + 1;
        let wanted = attempts.saturating_mul(agreement.plan.steps.len() as u64);
        if wanted > u64::from(MOST_ATTEMPTS) {
            return Err(IllegalAgreement::Contradiction {
                what: "the number of sums with all repetitions",
                found: wanted.to_string(),
                required: format!("at most {MOST_ATTEMPTS}"),
            });
        }
        let ceiling = ceiling_of(&agreement)?;
        let digest = Digest(Sha256::digest(agreement.to_document()).into());
        let mut first_units = Vec::with_capacity(agreement.parties.len());
        let mut units = 0u64;
        for party in &agreement.parties {
            first_units.push(units);
            units += u64::from(party.units);
        }
        let keys: Vec<[u8; 32]> = agreement.parties.iter().map(|p| p.identity.0).collect();
        let roster = Roster::new(&keys)?;
        let protocol = match protection {
            Protection::Shares(participation) => {
                let study = masked_study(&agreement, &digest, roster.clone(), units)?;
                Protocol::Masks {
                    participation,
                    study: Arc::new(study),
                }
            }
            Protection::Trustees(trustees, gates) => {
                Protocol::Trustees(AgreedTrustees::new(*trustees, gates, &agreement)?)
            }
        };
        Ok(Self {
            agreement,
            digest,
            ceiling,
            roster: Arc::new(roster),
            protocol,
            first_units,
        })
    }

    /// The document.
    #[must_use]
    pub const fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    /// The digest of the document; every signature and every key depends on it.
    #[must_use]
    pub const fn digest(&self) -> &Digest {
        &self.digest
    }

    /// The invited parties.
    #[must_use]
    pub const fn roster(&self) -> &Arc<Roster> {
        &self.roster
    }

    /// How many must stay and may collude; `None` where trustees make the noise.
    #[must_use]
    pub const fn participation(&self) -> Option<Participation> {
        match &self.protocol {
            Protocol::Masks { participation, .. } => Some(*participation),
            Protocol::Trustees(_) => None,
        }
    }

    /// The trustees; `None` where parties make the noise.
    #[must_use]
    pub const fn trustees(&self) -> Option<&AgreedTrustees> {
        match &self.protocol {
            Protocol::Masks { .. } => None,
            Protocol::Trustees(trustees) => Some(trustees),
        }
    }

    /// The most that all sums can cost together: the larger of the budget and the plan with its
    /// repetitions.
    #[must_use]
    pub const fn ceiling(&self) -> ApproxDp {
        self.ceiling
    }

    /// What the study costs once `charged` was charged: nothing, or all that it may cost.
    ///
    /// # Guarantee
    /// It covers every ending: which sum was the last, and which was repeated, may depend on what was released.
    ///
    /// # Why
    /// docs/proofs/composition.md#9-studies-that-end-early.
    #[must_use]
    pub fn cost_of(&self, charged: Option<Epsilon>) -> Cost {
        Cost::charged(
            charged.map(|_| self.ceiling.epsilon()),
            self.ceiling.delta(),
        )
    }

    /// What its costs are about.
    #[must_use]
    pub const fn cost_kind(&self) -> CostKind {
        CostKind {
            unit: self.agreement.plan.unit,
            neighbours: self.agreement.plan.relation,
        }
    }

    /// The secure sums of the study; `None` where trustees compute.
    #[must_use]
    pub const fn study(&self) -> Option<&Arc<Study>> {
        match &self.protocol {
            Protocol::Masks { study, .. } => Some(study),
            Protocol::Trustees(_) => None,
        }
    }

    /// How many attempts at all steps there can be.
    #[must_use]
    pub fn n_sums(&self) -> u32 {
        let attempts = u64::from(self.agreement.repeats) + 1;
        u32::try_from(attempts * self.n_steps() as u64).unwrap_or(u32::MAX)
    }

    /// How many steps the plan has.
    #[must_use]
    pub const fn n_steps(&self) -> usize {
        self.agreement.plan.steps.len()
    }

    /// A step of the plan.
    #[must_use]
    pub fn planned(&self, step: usize) -> Option<&PlannedStep> {
        self.agreement.plan.steps.get(step)
    }

    /// The planned sum of a step; `None` if there is no such step, or it is a choice.
    #[must_use]
    pub fn step(&self, step: usize) -> Option<&PlannedSum> {
        match self.planned(step)? {
            PlannedStep::Sum(sum) => Some(sum),
            PlannedStep::Choice(_) => None,
        }
    }

    /// What a step is for.
    #[must_use]
    pub fn purpose(&self, step: usize) -> Option<&str> {
        Some(match self.planned(step)? {
            PlannedStep::Sum(sum) => &sum.purpose,
            PlannedStep::Choice(choice) => &choice.purpose,
        })
    }

    /// The line that a ledger has for a step.
    #[must_use]
    pub fn line(&self, step: usize) -> Option<LedgerLine> {
        let plan = &self.agreement.plan;
        Some(line_of(plan, self.planned(step)?))
    }

    /// A new ledger of the study.
    #[must_use]
    pub fn new_ledger(&self) -> Ledger {
        let plan = &self.agreement.plan;
        Ledger::open(self.ceiling, plan.relation, plan.unit)
    }

    /// Charges `ledger` for a step; `None` if there is no such step.
    ///
    /// # Errors
    /// When the ledger refuses, or has as many repetitions as were agreed on.
    pub fn charge(&self, ledger: &mut Ledger, step: usize) -> Result<Option<Paid>, LedgerError> {
        let Some(planned) = self.planned(step) else {
            return Ok(None);
        };
        let purpose = match planned {
            PlannedStep::Sum(sum) => &sum.purpose,
            PlannedStep::Choice(choice) => &choice.purpose,
        };
        ledger.check_repeats(purpose, self.agreement.repeats)?;
        Ok(Some(match planned {
            PlannedStep::Sum(sum) => Paid::Sum(ledger.spend(&sum.purpose, self.purchase(sum))?),
            PlannedStep::Choice(choice) => {
                Paid::Choice(ledger.spend(&choice.purpose, choice.purchase)?)
            }
        }))
    }

    /// The number of the secure sum for a step: all first attempts, then all second ones.
    ///
    /// `None` if no such attempt was agreed on.
    #[must_use]
    pub fn sum_number(&self, step: usize, attempt: u32) -> Option<u32> {
        let fits = step < self.n_steps() && attempt <= self.agreement.repeats;
        let steps = u32::try_from(self.n_steps()).ok()?;
        let number = attempt
            .checked_mul(steps)?
            .checked_add(u32::try_from(step).ok()?);
        number.filter(|_| fits)
    }

    /// Which step and attempt a secure sum is for.
    #[must_use]
    pub fn step_of(&self, sum: u32) -> Option<(usize, u32)> {
        let steps = u32::try_from(self.n_steps()).ok()?;
        let (step, attempt) = (sum.checked_rem(steps)?, sum / steps);
        (attempt <= self.agreement.repeats).then_some((step as usize, attempt))
    }

    /// The number that the first privacy unit of `party` has among all.
    pub(crate) fn first_unit(&self, party: ClientId) -> u64 {
        let first = self.first_units.get(party.0 as usize);
        first.copied().unwrap_or(0)
    }

    /// The seed by which values are rounded in a sum. It is public: rounding gives no protection.
    #[must_use]
    pub fn dither_seed(&self, sum: u32) -> u64 {
        let hash: [u8; 32] = Sha256::new_with_prefix(b"sprifed: rounding")
            .chain_update(self.digest.0)
            .chain_update(sum.to_le_bytes())
            .finalize()
            .into();
        hash.first_chunk()
            .map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// What the ledger is charged for a step.
    #[must_use]
    pub fn purchase(&self, planned: &PlannedSum) -> SumPurchase {
        SumPurchase {
            plan: planned.to_sum_plan(),
            origin: self.agreement.plan.origin,
            unit: self.agreement.plan.unit,
        }
    }
}

impl Agreement {
    /// The agreement of the parties derived from `key`, all in one process; `units` is the largest
    /// number of privacy units of each.
    #[must_use]
    pub fn among_parties(
        key: &PartyKey,
        procedure: CertifiedProcedure,
        setting: Setting,
        plan: Plan,
        units: Vec<u32>,
    ) -> Self {
        let party = |(id, units): (usize, u32)| {
            let id = u32::try_from(id).unwrap_or(u32::MAX);
            Party {
                name: format!("client {id}"),
                identity: Digest(key.of_party(id).identity().public()),
                units,
            }
        };
        Self {
            format: FORMAT,
            title: format!("{} in one process", plan.procedure),
            purpose: "a fit in one process".to_owned(),
            nonce: key.nonce(),
            coordinator: Digest(key.identity().public()),
            procedure,
            procedure_version: procedure.version(),
            setting,
            plan,
            parties: units.into_par_iter().enumerate().map(party).collect(),
            trustees: None,
            gates: None,
            repeats: 0,
            noise: key.provenance(),
            data: None,
        }
    }

    /// The document as it is distributed.
    #[must_use]
    pub fn to_document(&self) -> Vec<u8> {
        // Numbers, text and lists, which JSON can always hold.
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }
}

/// How many of `units` each of `parties` gets, as evenly as possible, the first ones more.
#[must_use]
pub fn split_evenly(units: u32, parties: u32) -> Vec<u32> {
    let size = |id| units / parties + u32::from(id < units % parties);
    (0..parties).map(size).collect()
}

/// The secure sums that follow from an agreement.
fn masked_study(
    agreement: &Agreement,
    digest: &Digest,
    roster: Roster,
    units: u64,
) -> Result<Study, IllegalAgreement> {
    let Agreement { plan, repeats, .. } = agreement;
    let NoiseOrigin::Shares(participation) = plan.origin else {
        return Err(IllegalAgreement::Origin {
            found: "trustees".to_owned(),
        });
    };
    let attempts = repeats.saturating_add(1);
    let coordinates = plan.coordinates() * u64::from(attempts);
    let sums = plan.steps.iter().filter_map(|planned| match planned {
        PlannedStep::Sum(sum) => Some(sum.to_sum_plan()),
        PlannedStep::Choice(_) => None,
    });
    let shapes = sums
        .map(|sum| SumShape::plan(&sum, plan.origin, units, coordinates, LOG_WRAP_PROBABILITY))
        .collect::<Result<Vec<SumShape>, IllegalStudy>>()?;
    let graph_seed = Sha256::new_with_prefix(b"sprifed: masking graph")
        .chain_update(digest.0)
        .finalize()
        .into();
    let shapes = shapes.repeat(attempts as usize);
    Ok(Study::new(
        digest.0,
        roster,
        participation,
        graph_seed,
        shapes,
    )?)
}
