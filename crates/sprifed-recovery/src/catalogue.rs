//! The registry of certified procedures: one list of entries, by which they are named, planned and run.
//!
//! A new procedure is a file with an [`Entry`] and a line in [`CertifiedProcedure::ALL`]. Names, help texts, parsing and
//! JSON follow from the entry. Another crate may run entries of its own ([`CertifiedProcedure::of`]); only those of the
//! list can be read from a file or a message, so no study runs another.

use core::fmt;
use core::str::FromStr;
use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sprifed_query::{ChoiceBackend, Plan, PlanError, PlannedStep, SumBackend, run, run_choosing};

use crate::argmax;
use crate::fit::Fit;
use crate::groups::Groups;
use crate::joint::ROBUST_BLOCK;
use crate::mean_only::{self, MeanOnly};
use crate::outcome::Outcome;
use crate::outcome::newton::SCORE_BLOCK;
use crate::pooled;
use crate::ready::Ready;
use crate::setting::{Keep, Setting};
use crate::split;

#[cfg(test)]
mod tests;

/// What is known of a procedure before it runs.
#[derive(Debug)]
pub struct Entry {
    /// Its name, in commands, files and messages.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// What it needs of a backend.
    pub needs: Needs,
    /// Which questions follow from which answers: grows with every change of that.
    ///
    /// Parties of a study derive the questions themselves, so all must have the same version.
    pub version: u32,
    /// Makes the public plan, or says why none exists.
    pub plan: fn(&Setting) -> Result<Plan, PlanError>,
    /// Makes the procedure, about to ask its first question.
    pub begin: fn(&Setting) -> Result<Ready, PlanError>,
}

/// What a procedure needs of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Sums only: any backend.
    Sums,
    /// Choices too: a backend that never shows scores.
    Choices,
}

/// A procedure whose noise is calibrated from proved sensitivities.
#[derive(Clone, Copy)]
pub struct CertifiedProcedure(&'static Entry);

/// A name that no procedure has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "procedure is {found:?}; required: one of {}",
    CertifiedProcedure::names(CertifiedProcedure::all(), ", ")
)]
pub struct UnknownProcedure {
    /// What was given.
    pub found: String,
}

/// Why a run has no fit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError<B: core::error::Error + 'static> {
    /// No plan exists.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The procedure asks for choices, and the backend shows every sum it makes.
    #[error(
        "{procedure} needs a backend that never shows scores: a trusted curator or three trustees; \
         on secure sums use {}",
        CertifiedProcedure::names(CertifiedProcedure::on_sums(), " or ")
    )]
    NeedsChoices {
        /// The procedure.
        procedure: CertifiedProcedure,
    },
    /// The backend did not answer.
    #[error("{0}")]
    Backend(#[source] B),
}

impl CertifiedProcedure {
    /// Certified GRAD.
    pub const GRAD: Self = Self(&pooled::GRAD);
    /// The sieve.
    pub const SIEVE: Self = Self(&pooled::SIEVE);
    /// Argmax OMP.
    pub const ARGMAX: Self = Self(&argmax::ENTRY);

    /// The procedures that a study may run.
    const ALL: &'static [Self] = &[Self::GRAD, Self::SIEVE, Self::ARGMAX];

    /// The procedure of an entry, in the list or not.
    #[must_use]
    pub const fn of(entry: &'static Entry) -> Self {
        Self(entry)
    }

    /// The procedures that a study may run.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        Self::ALL.iter().copied()
    }

    /// Those of them that need sums only.
    pub fn on_sums() -> impl Iterator<Item = Self> + Clone {
        Self::all().filter(|procedure| procedure.needs() == Needs::Sums)
    }

    /// The names of `procedures`, with `between` between them.
    #[must_use]
    pub fn names(procedures: impl Iterator<Item = Self>, between: &str) -> String {
        let names: Vec<&str> = procedures.map(Self::name).collect();
        names.join(between)
    }

    /// Its name, in commands, files and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// What it is, in one line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        self.0.about
    }

    /// What it needs of a backend.
    #[must_use]
    pub const fn needs(self) -> Needs {
        self.0.needs
    }

    /// Which questions follow from which answers; see [`Entry::version`].
    #[must_use]
    pub const fn version(self) -> u32 {
        self.0.version
    }

    /// Whether it picks the columns of a category together. Procedures that see sums pick each column on its own: no proof
    /// says what the p-value of a whole category is there.
    #[must_use]
    pub fn picks_groups(self) -> bool {
        self.needs() == Needs::Choices
    }

    /// `setting` with the groups that this procedure picks together.
    fn grouped(self, setting: &Setting) -> Setting {
        Setting {
            groups: match self.picks_groups() {
                true => setting.groups,
                false => Groups::NONE,
            },
            ..*setting
        }
    }

    /// The public plan for `setting`. With too few records no feature is sought ([`Self::seeks_nothing`]), and the plan is
    /// that of the mean.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn plan(self, setting: &Setting) -> Result<Plan, PlanError> {
        let setting = &self.grouped(setting);
        let plan = self.seeking_plan(setting)?;
        if setting.robust && !has_block(&plan, ROBUST_BLOCK) {
            return Err(PlanError::Request {
                found: format!("robust intervals are asked of {self}"),
                required: "it gives none; use grad, sieve or argmax".to_owned(),
            });
        }
        if !setting.outcome.is_linear() && !has_block(&plan, SCORE_BLOCK) {
            return Err(PlanError::Request {
                found: format!(
                    "the outcome \"{}\" is asked of {self}",
                    setting.outcome.name()
                ),
                required: "it explains linear ones only; use grad, sieve or argmax".to_owned(),
            });
        }
        let is_sought = setting.choice == Keep::Exactly
            || setting.too_few_records(self.needs(), &plan)?.is_none();
        if is_sought {
            return Ok(plan);
        }
        mean_only::plan(setting)
    }

    /// The procedure, about to ask its first question.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn begin(self, setting: &Setting) -> Result<Ready, PlanError> {
        let setting = &self.grouped(setting);
        let needed = self.needed(setting)?;
        let setting = &match needed {
            Some(_) => mean_only::of_the_mean(setting),
            None => *setting,
        };
        let ready = match needed {
            Some(needed) => Ready::sums(MeanOnly::new(setting, needed)?),
            None if !setting.inference.is_selective() => return split::begin(self.0, setting),
            None => (self.0.begin)(setting)?,
        };
        let ready = match setting.outcome {
            Outcome::Linear | Outcome::Binary => ready,
            Outcome::Survival => ready.following(setting),
        };
        Ok(match setting.column_scales.is_empty() {
            true => ready,
            false => ready.standardising(setting),
        })
    }

    /// The fewest records with which features are sought, a public number.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn fewest_records(self, setting: &Setting) -> Result<u64, PlanError> {
        let setting = &self.grouped(setting);
        setting.fewest_records(self.needs(), &self.seeking_plan(setting)?)
    }

    /// The plan that seeks features, however few the records.
    fn seeking_plan(self, setting: &Setting) -> Result<Plan, PlanError> {
        if setting.inference.is_selective() {
            return (self.0.plan)(setting);
        }
        split::plan(self.0, setting)
    }

    /// Whether a study has so few records that no feature is sought and the model is the mean. With [`Keep::Exactly`]
    /// features are sought all the same.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn seeks_nothing(self, setting: &Setting) -> Result<bool, PlanError> {
        Ok(self.needed(&self.grouped(setting))?.is_some())
    }

    /// The records that would do, where no feature is sought.
    fn needed(self, setting: &Setting) -> Result<Option<u64>, PlanError> {
        match setting.choice {
            Keep::Exactly => Ok(None),
            Keep::Significant => {
                setting.too_few_records(self.needs(), &self.seeking_plan(setting)?)
            }
        }
    }

    /// Runs the procedure against a backend that follows [`Self::plan`] and can make choices;
    /// `watch` is called after every step.
    ///
    /// # Errors
    /// When the backend does not answer.
    pub fn run<B: ChoiceBackend<Error: 'static>>(
        self,
        setting: &Setting,
        backend: &mut B,
        watch: impl FnMut(usize),
    ) -> Result<Fit, RunError<B::Error>> {
        match self.begin(setting)? {
            Ready::Sums(procedure) => run(procedure, backend, watch),
            Ready::Choices(procedure) => run_choosing(procedure, backend, watch),
        }
        .map_err(RunError::Backend)
    }

    /// Runs the procedure against a backend that answers sums only.
    ///
    /// # Errors
    /// When the procedure needs choices, or the backend does not answer.
    pub fn run_on_sums<B: SumBackend<Error: 'static>>(
        self,
        setting: &Setting,
        backend: &mut B,
        watch: impl FnMut(usize),
    ) -> Result<Fit, RunError<B::Error>> {
        match self.begin(setting)? {
            Ready::Sums(procedure) => run(procedure, backend, watch).map_err(RunError::Backend),
            Ready::Choices(_) => Err(RunError::NeedsChoices { procedure: self }),
        }
    }
}

/// Whether `plan` has a block of this name.
fn has_block(plan: &Plan, name: &str) -> bool {
    plan.steps.iter().any(|step| match step {
        PlannedStep::Sum(sum) => sum.blocks.iter().any(|one| one.block.name == name),
        PlannedStep::Choice(_) => false,
    })
}

impl PartialEq for CertifiedProcedure {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for CertifiedProcedure {}

impl fmt::Debug for CertifiedProcedure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl fmt::Display for CertifiedProcedure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for CertifiedProcedure {
    type Err = UnknownProcedure;

    fn from_str(name: &str) -> Result<Self, UnknownProcedure> {
        let mut all = Self::all();
        all.find(|procedure| procedure.name() == name)
            .ok_or_else(|| UnknownProcedure {
                found: name.to_owned(),
            })
    }
}

impl Serialize for CertifiedProcedure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl JsonSchema for CertifiedProcedure {
    fn schema_name() -> Cow<'static, str> {
        "CertifiedProcedure".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Self::all().map(Self::name).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

impl<'de> Deserialize<'de> for CertifiedProcedure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}
