//! What a coordinator decides about a study, made into an agreement with its plan.

use std::collections::BTreeSet;

use serde::Deserialize;
use sprifed_noise::Provenance;
use sprifed_party::{PublicParty, PublicTrustee, check_party_name, seat_name};
use sprifed_privacy::{
    ApproxDp, Delta, Epsilon, Gates, NoiseOrigin, Participation, PrivacyUnit, Relation,
};
use sprifed_recovery::{ColumnScales, Groups, InferenceMethod, Intercept, Setting, Sites};
use sprifed_schema::DataTerms;
use sprifed_study::{Agreement, Digest, FORMAT, Party, TrusteeEntry, outcome_of};

use crate::backend::Backend;
use crate::column_choice::{ColumnScalesChoice, ColumnScalesRequest};
use crate::error::Error;
use crate::procedure_choice::{ProcedureChoice, ProcedureRequest, Stated};
use crate::study::{keep, recommended_delta};

/// What a coordinator decides.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Draft {
    /// What the study is about.
    pub title: String,
    /// What its result is for.
    pub purpose: String,
    /// Who takes part, in the order of the roster.
    pub parties: Vec<PublicParty>,
    /// The three trustees that choose and add up, in order; none for secure sums. An engine that carries messages between
    /// parties has no place for trustees, so a study drafted as a document has none.
    #[serde(skip)]
    pub trustees: Vec<PublicTrustee>,
    /// Whether they prove their gates; said of a study with trustees only.
    #[serde(skip, default = "proved")]
    pub gates: Gates,
    /// How tables are read.
    pub data: DataTerms,
    /// How many features are sought at most, those that are always in the model not counted.
    pub sparsity: u32,
    /// Whether exactly so many are kept; by default only those that are significant.
    #[serde(default)]
    pub exactly: bool,
    /// Whether intervals and p-values allow for errors of unequal variance, at a share of the budget.
    #[serde(default)]
    pub robust: bool,
    /// The budget.
    pub epsilon: Epsilon,
    /// The smaller of 1e-6 and 1/(10 n) without it.
    #[serde(default)]
    pub delta: Option<Delta>,
    /// How features are found; `auto` is resolved before the agreement is made.
    #[serde(default)]
    pub procedure: ProcedureRequest,
    /// What is stated about the data, for the choice of a procedure.
    #[serde(skip, default = "nothing_stated")]
    pub stated: Stated,
    /// Whether columns are standardised by private means and scales; resolved before the agreement is made.
    #[serde(default)]
    pub column_scales: ColumnScalesRequest,
    /// Which data sets the guarantee makes indistinguishable.
    pub neighbours: Relation,
    /// A sum of fewer parties is never opened; nine tenths of them without it.
    #[serde(default)]
    pub quorum: Option<u32>,
    /// How many may tell others their shares; a twentieth of them, at least one, without it.
    #[serde(default)]
    pub colluders: Option<u32>,
    /// How many failed sums may be repeated in all.
    #[serde(default)]
    pub repeats: u32,
    /// Whether responses have a mean to be found.
    pub intercept: Intercept,
    /// Where noise comes from; simulated noise protects no record.
    pub noise: Provenance,
}

const fn proved() -> Gates {
    Gates::Proved
}

const fn nothing_stated() -> Stated {
    Stated::NOTHING
}

impl Draft {
    /// The agreement that `coordinator` signs; `nonce` is 32 fresh bytes.
    ///
    /// # Errors
    /// When names repeat, a key is one of a rehearsal, or the study has no plan.
    pub fn agreement(self, coordinator: Digest, nonce: Digest) -> Result<Agreement, Error> {
        self.check_parties()?;
        let trustees = self.check_trustees()?;
        let unit = self.data.schema().unit();
        let procedure = self.choice()?.procedure;
        let setting = Setting {
            column_scales: self.columns()?.scales,
            ..self.setting(unit)?
        };
        let party = |party: &PublicParty| Party {
            name: party.name.clone(),
            identity: party.identity,
            units: party.units(unit),
        };
        Ok(Agreement {
            format: FORMAT,
            title: self.title,
            purpose: self.purpose,
            nonce,
            coordinator,
            procedure,
            procedure_version: procedure.version(),
            plan: procedure.plan(&setting)?,
            setting,
            parties: self.parties.iter().map(party).collect(),
            gates: trustees.as_ref().map(|_| self.gates),
            trustees,
            repeats: self.repeats,
            noise: self.noise,
            data: Some(self.data),
        })
    }

    /// The procedure that the agreement will name, and why it is this one.
    ///
    /// # Errors
    /// When the study has no plan.
    pub fn choice(&self) -> Result<ProcedureChoice, Error> {
        self.check_trustees()?;
        let (setting, _) = self.scaled()?;
        let backend = self.backend();
        let can_run = |needs| backend.answers(needs);
        let choice = self.procedure.choose(&setting, self.stated, can_run)?;
        let procedure = choice.procedure;
        if !can_run(procedure.needs()) {
            return Err(Error::NeedsChoices { procedure, backend });
        }
        Ok(choice)
    }

    /// Whether columns are standardised, and why.
    ///
    /// # Errors
    /// When the study has no plan.
    pub fn columns(&self) -> Result<ColumnScalesChoice, Error> {
        let procedure = self.choice()?.procedure;
        let (setting, columns) = self.scaled()?;
        Ok(columns.unless(procedure.seeks_nothing(&setting)?))
    }

    /// The setting with the columns that would be asked about if features are sought.
    fn scaled(&self) -> Result<(Setting, ColumnScalesChoice), Error> {
        let setting = self.setting(self.data.schema().unit())?;
        let columns = self
            .column_scales
            .choose_for(&setting, self.data.mapping())?;
        let setting = Setting {
            column_scales: columns.scales,
            ..setting
        };
        Ok((setting, columns))
    }

    /// Who adds up.
    const fn backend(&self) -> Backend {
        if self.trustees.is_empty() {
            Backend::SecureSum
        } else {
            Backend::Trustees
        }
    }

    /// Where the noise comes from.
    fn origin(&self) -> Result<NoiseOrigin, Error> {
        let is_given = self.quorum.is_some() || self.colluders.is_some();
        match self.backend() {
            Backend::Trustees if is_given => return Err(Error::ParticipationOfTrustees),
            Backend::Trustees => return Ok(NoiseOrigin::Trustees),
            _ => {}
        }
        let n_parties = u32::try_from(self.parties.len()).unwrap_or(u32::MAX);
        let quorum = self.quorum.unwrap_or(n_parties - n_parties / 10);
        let colluders = self.colluders.unwrap_or((n_parties / 20).max(1));
        let participation = Participation::new(n_parties, quorum, colluders)?;
        Ok(NoiseOrigin::Shares(participation))
    }

    fn setting(&self, unit: PrivacyUnit) -> Result<Setting, Error> {
        let n_units = self.parties.iter().map(|party| party.units(unit));
        let n_units = n_units.fold(0, u32::saturating_add);
        let delta = match self.delta {
            Some(delta) => delta,
            None => recommended_delta(f64::from(n_units))?,
        };
        let mapping = self.data.mapping();
        let is_scaled = mapping.has_public_scales();
        Ok(Setting {
            n_records: n_units,
            n_features: u32::try_from(self.data.features().len()).unwrap_or(u32::MAX),
            sparsity: self.sparsity,
            choice: keep(self.exactly),
            inference: InferenceMethod::Selective,
            always: u32::try_from(mapping.covariates().n_features()).unwrap_or(u32::MAX),
            groups: Groups::of(mapping.categories())?,
            sites: self.sites(unit)?,
            outcome: outcome_of(self.data.schema().response()),
            budget: ApproxDp::new(self.epsilon, delta),
            relation: self.neighbours,
            unit,
            origin: self.origin()?,
            response_bound: mapping.response_bound(),
            feature_bound: mapping.feature_bound(),
            feature_scale: is_scaled.then_some(1.0),
            column_scales: ColumnScales::NONE,
            intercept: self.intercept,
            robust: self.robust,
        })
    }

    /// The parties as sites, where the schema gives each an intercept of its own.
    fn sites(&self, unit: PrivacyUnit) -> Result<Sites, Error> {
        if !self.data.schema().has_site_effects() {
            return Ok(Sites::NONE);
        }
        let records: Vec<u32> = self.parties.iter().map(|party| party.units(unit)).collect();
        Ok(Sites::new(&records)?)
    }

    fn check_parties(&self) -> Result<(), Error> {
        let mut names = BTreeSet::new();
        for party in &self.parties {
            check_party_name(&party.name)?;
            if party.simulated && self.noise != Provenance::Simulated {
                return Err(Error::RehearsalKey {
                    party: party.name.clone(),
                });
            }
            if !names.insert(party.name.clone()) {
                return Err(Error::TwoParties {
                    name: party.name.clone(),
                });
            }
        }
        for trustee in &self.trustees {
            let name = &trustee.trustee.name;
            check_party_name(name)?;
            if trustee.simulated && self.noise != Provenance::Simulated {
                let party = name.clone();
                return Err(Error::RehearsalKey { party });
            }
            // A party may have the same name: it is the same organisation. Their folders must differ.
            if !names.insert(seat_name(name)) {
                let name = name.clone();
                return Err(Error::TwoParties { name });
            }
        }
        Ok(())
    }

    /// The three trustees as the agreement has them; none for secure sums.
    fn check_trustees(&self) -> Result<Option<[TrusteeEntry; 3]>, Error> {
        let entries = self.trustees.iter().map(|public| public.trustee.clone());
        let entries: Vec<TrusteeEntry> = entries.collect();
        match entries.len() {
            0 => Ok(None),
            found => match <[TrusteeEntry; 3]>::try_from(entries) {
                Ok(three) => Ok(Some(three)),
                Err(_) => Err(Error::TrusteeCount { found }),
            },
        }
    }
}
