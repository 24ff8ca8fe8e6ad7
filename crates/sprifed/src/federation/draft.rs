//! What a coordinator decides about a study, made into an agreement that its plan stands behind.

use std::collections::BTreeSet;

use serde::Deserialize;
use sprifed_noise::Provenance;
use sprifed_party::{PublicParty, check_party_name};
use sprifed_privacy::{
    ApproxDp, Delta, Epsilon, NoiseOrigin, Participation, PrivacyUnit, Relation,
};
use sprifed_recovery::{CertifiedProcedure, Intercept, Setting};
use sprifed_schema::DataTerms;
use sprifed_study::{Agreement, Digest, FORMAT, Party};

use crate::error::Error;
use crate::study::{has_public_scale, recommended_delta};

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
    /// How tables are read.
    pub data: DataTerms,
    /// How many features are chosen.
    pub sparsity: u32,
    /// The budget.
    pub epsilon: Epsilon,
    /// The smaller of 1e-6 and 1/(10 n) without it.
    #[serde(default)]
    pub delta: Option<Delta>,
    /// How features are found.
    pub procedure: CertifiedProcedure,
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

impl Draft {
    /// The agreement that `coordinator` signs; `nonce` is 32 fresh bytes.
    ///
    /// # Errors
    /// When names repeat, a key is one of a rehearsal, or the study has no plan.
    pub fn agreement(self, coordinator: Digest, nonce: Digest) -> Result<Agreement, Error> {
        self.check_parties()?;
        let unit = self.data.schema().unit();
        let setting = self.setting(unit)?;
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
            procedure: self.procedure,
            procedure_version: self.procedure.version(),
            plan: self.procedure.plan(&setting)?,
            setting,
            parties: self.parties.iter().map(party).collect(),
            repeats: self.repeats,
            noise: self.noise,
            data: Some(self.data),
        })
    }

    fn setting(&self, unit: PrivacyUnit) -> Result<Setting, Error> {
        let n_parties = u32::try_from(self.parties.len()).unwrap_or(u32::MAX);
        let quorum = self.quorum.unwrap_or(n_parties - n_parties / 10);
        let colluders = self.colluders.unwrap_or((n_parties / 20).max(1));
        let participation = Participation::new(n_parties, quorum, colluders)?;
        let n_units = self.parties.iter().map(|party| party.units(unit));
        let n_units = n_units.fold(0, u32::saturating_add);
        let delta = match self.delta {
            Some(delta) => delta,
            None => recommended_delta(f64::from(n_units))?,
        };
        let mapping = self.data.mapping();
        let is_scaled = mapping.features().iter().all(has_public_scale);
        Ok(Setting {
            n_records: n_units,
            n_features: u32::try_from(self.data.features().len()).unwrap_or(u32::MAX),
            sparsity: self.sparsity,
            budget: ApproxDp::new(self.epsilon, delta),
            relation: self.neighbours,
            unit,
            origin: NoiseOrigin::Shares(participation),
            response_bound: mapping.response_bound(),
            feature_bound: mapping.feature_bound(),
            feature_scale: is_scaled.then_some(1.0),
            intercept: self.intercept,
        })
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
            if !names.insert(&party.name) {
                return Err(Error::TwoParties {
                    name: party.name.clone(),
                });
            }
        }
        Ok(())
    }
}
