//! What all parties agree on before a record is touched, and what follows from it.

use std::sync::Arc;

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sprifed_noise::Provenance;
use sprifed_privacy::{
    ApproxDp, CostKind, Epsilon, IllegalQuantity, LOG_WRAP_PROBABILITY, LedgerLine, NoiseOrigin,
    Participation, PrivacyUnit, SumPurchase, Uncertifiable,
};
use sprifed_query::{Plan, PlannedStep, PlannedSum};
use sprifed_recovery::{CertifiedProcedure, Setting};
use sprifed_schema::DataTerms;
use sprifed_secure_sum::{ClientId, IllegalStudy, Roster, RosterError, Study, SumShape};

use crate::hexadecimal::Digest;
use crate::party_key::PartyKey;
use crate::plain_text::check_texts;

mod notice_size;
#[cfg(test)]
pub(crate) mod tests;

/// The format of the document; another one is refused.
pub const FORMAT: u32 = 2;

/// The most sums that a study can set up.
const MOST_SUMS: u64 = 4096;

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
    /// How many sums may be repeated after they failed; each repetition is charged.
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
    /// The noise is not the parties' own.
    #[error("the plan's noise comes from {found}, but shares of the parties are required")]
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
    /// The plan has a step that only a trusted curator can answer.
    #[error(
        "step {step} of the plan is a choice, which secure sums cannot make; use {}",
        CertifiedProcedure::names(CertifiedProcedure::on_sums(), " or ")
    )]
    Choice {
        /// Which step.
        step: usize,
    },
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
    sums: Vec<PlannedSum>,
    participation: Participation,
    ceiling: ApproxDp,
    study: Arc<Study>,
    first_units: Vec<u64>,
}

impl Agreed {
    /// Where the party with this identity is in the roster.
    #[must_use]
    pub fn place_of(&self, identity: &Digest) -> Option<ClientId> {
        let mut parties = (0..).zip(&self.agreement.parties);
        let found = parties.find(|(_, party)| party.identity == *identity);
        found.map(|(place, _)| ClientId(place))
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
        let participation = participation_of(&agreement)?;
        let sums = sums_of(&agreement.plan)?;
        // Before anything is computed for each of them.
        let attempts = u64::from(agreement.repeats) + 1;
        let wanted = attempts.saturating_mul(sums.len() as u64);
        if wanted > MOST_SUMS {
            return Err(IllegalAgreement::Contradiction {
                what: "the number of sums with all repetitions",
                found: wanted.to_string(),
                required: format!("at most {MOST_SUMS}"),
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
        let attempts = agreement.repeats.saturating_add(1);
        let coordinates = agreement.plan.coordinates() * u64::from(attempts);
        let shapes = sums
            .iter()
            .map(|sum| {
                SumShape::plan(
                    &sum.to_sum_plan(),
                    agreement.plan.origin,
                    units,
                    coordinates,
                    LOG_WRAP_PROBABILITY,
                )
            })
            .collect::<Result<Vec<SumShape>, IllegalStudy>>()?;
        let keys: Vec<[u8; 32]> = agreement.parties.iter().map(|p| p.identity.0).collect();
        let shapes = shapes.repeat(attempts as usize);
        let graph_seed = Sha256::new_with_prefix(b"sprifed: masking graph")
            .chain_update(digest.0)
            .finalize()
            .into();
        let roster = Roster::new(&keys)?;
        let study = Study::new(digest.0, roster, participation, graph_seed, shapes)?;
        Ok(Self {
            agreement,
            digest,
            sums,
            participation,
            ceiling,
            study: Arc::new(study),
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

    /// How many must stay and may collude.
    #[must_use]
    pub const fn participation(&self) -> Participation {
        self.participation
    }

    /// The most that all sums can cost together: the larger of the budget and the plan with its
    /// repetitions.
    #[must_use]
    pub const fn ceiling(&self) -> ApproxDp {
        self.ceiling
    }

    /// What its costs are about.
    #[must_use]
    pub const fn cost_kind(&self) -> CostKind {
        CostKind {
            unit: self.agreement.plan.unit,
            neighbours: self.agreement.plan.relation,
        }
    }

    /// The secure sums of the study.
    #[must_use]
    pub const fn study(&self) -> &Arc<Study> {
        &self.study
    }

    /// The most bytes that an honest party sends in one message.
    #[must_use]
    pub fn largest_message(&self) -> usize {
        let sums = 0..self.study.n_sums();
        let upload = sums
            .filter_map(|sum| self.study.sum(sum))
            .map(SumShape::packed_len);
        let neighbours = self.study.parameters().neighbours() as usize;
        let sums = self.study.n_sums() as usize;
        // Of shares, for each neighbour: two secrets and a wrap of each sum. Of keys: two of each
        // sum, and one of ML-KEM. For each neighbour a ciphertext, or a tag. An envelope around all.
        let (bundle, keys, ciphertext) = (104 * sums + 64, 64 * sums + 1280, 1184);
        upload.max().unwrap_or(0) + neighbours * (bundle + ciphertext) + keys + 1024
    }

    /// How many steps the plan has.
    #[must_use]
    pub fn n_steps(&self) -> usize {
        self.sums.len()
    }

    /// The planned sum of a step.
    #[must_use]
    pub fn step(&self, step: usize) -> Option<&PlannedSum> {
        self.sums.get(step)
    }

    /// The number of the secure sum for a step: all first attempts, then all second ones.
    ///
    /// `None` if no such attempt was agreed on.
    #[must_use]
    pub fn sum_number(&self, step: usize, attempt: u32) -> Option<u32> {
        let fits = step < self.sums.len() && attempt <= self.agreement.repeats;
        let steps = u32::try_from(self.sums.len()).ok()?;
        let number = attempt
            .checked_mul(steps)?
            .checked_add(u32::try_from(step).ok()?);
        number.filter(|_| fits)
    }

    /// Which step and attempt a secure sum is for.
    #[must_use]
    pub fn step_of(&self, sum: u32) -> Option<(usize, u32)> {
        let steps = u32::try_from(self.sums.len()).ok()?;
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

fn participation_of(agreement: &Agreement) -> Result<Participation, IllegalAgreement> {
    let Agreement {
        plan,
        setting,
        parties,
        ..
    } = agreement;
    let contradiction = |what, found: String, required: String| {
        Err(IllegalAgreement::Contradiction {
            what,
            found,
            required,
        })
    };
    let NoiseOrigin::Shares(participation) = plan.origin else {
        return Err(IllegalAgreement::Origin {
            found: "a trusted curator".to_owned(),
        });
    };
    if participation.clients() as usize != parties.len() {
        return contradiction(
            "the number of parties",
            parties.len().to_string(),
            participation.clients().to_string(),
        );
    }
    if participation.colluders() == 0 {
        return contradiction(
            "the number of colluders",
            "0".to_owned(),
            "at least 1, as every party knows its own share of the noise,".to_owned(),
        );
    }
    let terms = (
        setting.origin,
        setting.relation,
        setting.unit,
        setting.budget,
    );
    if terms != (plan.origin, plan.relation, plan.unit, plan.budget) {
        return contradiction(
            "what the procedure is planned for",
            format!("{terms:?}"),
            "what the plan says".to_owned(),
        );
    }
    if plan.unit == PrivacyUnit::Client && parties.iter().any(|party| party.units != 1) {
        return contradiction(
            "the number of privacy units of a party",
            "more or less than one".to_owned(),
            "one, as each client is protected as a whole,".to_owned(),
        );
    }
    if let Some(empty) = parties.iter().find(|party| party.units == 0) {
        return contradiction(
            "the number of privacy units of a party",
            format!("zero for {:?}", empty.name),
            "at least one".to_owned(),
        );
    }
    Ok(participation)
}

fn sums_of(plan: &Plan) -> Result<Vec<PlannedSum>, IllegalAgreement> {
    let sum_of = |(step, planned): (usize, &PlannedStep)| match planned {
        PlannedStep::Sum(sum) => {
            let wrong = sum.blocks.iter().find(|block| !block.has_legal_grid());
            wrong.map_or_else(
                || Ok(sum.clone()),
                |block| {
                    Err(IllegalAgreement::Contradiction {
                        what: "the number of integers for one unit of a block",
                        found: block.steps.to_string(),
                        required: "a number from 1 to 4194304".to_owned(),
                    })
                },
            )
        }
        PlannedStep::Choice(_) => Err(IllegalAgreement::Choice { step }),
    };
    plan.steps.iter().enumerate().map(sum_of).collect()
}

/// The cost of the plan, plus its most expensive step once for each allowed repetition.
fn ceiling_of(agreement: &Agreement) -> Result<ApproxDp, IllegalAgreement> {
    let (plan, delta) = (&agreement.plan, agreement.plan.budget.delta());
    // The protocol's own failure is part of δ: what is left must pay for the noise.
    plan.origin.noise_delta(delta)?;
    let mut spending = plan.spending()?;
    let mut dearest = None;
    for sum in sums_of(plan)? {
        let (plan_of_sum, origin, unit) = (sum.to_sum_plan(), plan.origin, plan.unit);
        let line = LedgerLine::Sum(SumPurchase {
            plan: plan_of_sum,
            origin,
            unit,
        });
        let expense = line.expense(plan.relation)?;
        let alone = sprifed_privacy::Spending::default().and(expense)?;
        let epsilon = alone.to_approx_dp(delta).map(ApproxDp::epsilon);
        if dearest
            .as_ref()
            .is_none_or(|(largest, _)| epsilon > *largest)
        {
            dearest = Some((epsilon, expense));
        }
    }
    if let Some((_, expense)) = dearest {
        for _ in 0..agreement.repeats {
            spending = spending.and(expense)?;
        }
    }
    let total = spending
        .to_approx_dp(delta)
        .map_or(0.0, |total| total.epsilon().get());
    let planned = plan
        .spending()?
        .to_approx_dp(delta)
        .map_or(0.0, |total| total.epsilon().get());
    let budget = plan.budget.epsilon().get();
    if planned > budget {
        return Err(IllegalAgreement::Contradiction {
            what: "epsilon of the plan",
            found: planned.to_string(),
            required: format!("at most the budget of {budget}"),
        });
    }
    if agreement.repeats == 0 {
        return Ok(plan.budget);
    }
    // The order of additions must not decide whether the last charge fits.
    let ceiling = Epsilon::try_from((total * (1.0 + 1e-9)).max(budget))?;
    Ok(ApproxDp::new(ceiling, delta))
}
