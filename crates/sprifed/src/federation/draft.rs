//! What a coordinator decides about a study, made into an agreement that its plan stands behind.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sprifed_noise::Provenance;
use sprifed_privacy::{
    ApproxDp, Delta, Epsilon, NoiseOrigin, Participation, PrivacyUnit, Relation,
};
use sprifed_recovery::{CertifiedProcedure, Intercept, Setting};
use sprifed_schema::{PrivacyUnit as DataUnit, Schema};
use sprifed_secure_sum::{IdentityKey, is_signed_statement};
use sprifed_study::{Agreement, Digest, FORMAT, Party, Signature};

use super::terms::DataTerms;
use crate::failure::Failure;
use crate::study::{has_public_scale, recommended_delta};

/// The file `party.json`: what a party tells the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicParty {
    /// Letters, digits, `-` and `_`.
    pub name: String,
    /// The public half of its identity key.
    pub identity: Digest,
    /// The most records it will contribute.
    pub records: u32,
    /// Whether the key was made from a seed that anybody can repeat.
    #[serde(default)]
    pub simulated: bool,
    /// Its request for a TLS certificate; none where an engine carries the messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_request: Option<CertificateRequest>,
}

/// A party's request for a TLS certificate, whose key the party made and keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertificateRequest {
    /// The request, in PEM.
    pub pem: String,
    /// The signature of the party's identity key for it.
    pub signature: Signature,
}

/// What a party's signature for a request is about.
const CERTIFICATE_REQUEST: &str = "certificate request";

impl CertificateRequest {
    /// The request of the party with this identity.
    #[must_use]
    pub fn sign(pem: String, identity: &IdentityKey) -> Self {
        let digest = Sha256::digest(&pem).into();
        let signature = Signature(identity.sign_statement(CERTIFICATE_REQUEST, &digest));
        Self { pem, signature }
    }
}

impl PublicParty {
    /// The party's request for a TLS certificate, in PEM.
    ///
    /// # Errors
    /// When there is none, or another key than the party's signed it.
    pub fn certificate_request(&self) -> Result<&str, Failure> {
        let refuse = |found: &str| {
            Failure::usage(
                "sprifed::study::certificate-request",
                format!(
                    "the party.json of {} {found}; a request that the party's identity key signed is required",
                    self.name
                ),
                "ask the party for the party.json that `sprifed study identity` wrote; nothing was made",
            )
        };
        let Some(request) = &self.certificate_request else {
            return Err(refuse("has no certificate request"));
        };
        let digest = Sha256::digest(&request.pem).into();
        let (key, signature) = (&self.identity.0, &request.signature.0);
        if !is_signed_statement(key, CERTIFICATE_REQUEST, &digest, signature) {
            return Err(refuse("has a certificate request of another party"));
        }
        Ok(&request.pem)
    }

    /// Why the seat that a coordinator gave this party is not the one it asked for, if so.
    #[must_use]
    pub fn refuses(&self, seat: &Party, unit: PrivacyUnit) -> Option<String> {
        if seat.name != self.name {
            let (found, required) = (&seat.name, &self.name);
            return Some(format!(
                "the study calls it {found:?}, but its name is {required:?}"
            ));
        }
        let (found, required) = (seat.units, units(self, unit));
        (found != required).then(|| {
            // A smaller number would tell a coordinator by a refusal how many records there are.
            format!(
                "the study has room for {found} of its {unit}s, but it said {required}",
                unit = unit.words()
            )
        })
    }
}

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
    /// Where noise comes from; simulated noise protects nobody.
    pub noise: Provenance,
}

impl Draft {
    /// The agreement that `coordinator` signs; `nonce` is 32 fresh bytes.
    ///
    /// # Errors
    /// When names repeat, a key is one of a rehearsal, or the study has no plan.
    pub fn agreement(self, coordinator: Digest, nonce: Digest) -> Result<Agreement, Failure> {
        let schema = self.data.schema()?;
        self.check_parties()?;
        let unit = match schema.unit() {
            DataUnit::Client => PrivacyUnit::Client,
            _ => PrivacyUnit::Record,
        };
        let setting = self.setting(&schema, unit)?;
        let party = |party: &PublicParty| Party {
            name: party.name.clone(),
            identity: party.identity,
            units: units(party, unit),
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
            data: serde_json::to_value(self.data).unwrap_or_default(),
        })
    }

    fn setting(&self, schema: &Schema, unit: PrivacyUnit) -> Result<Setting, Failure> {
        let n_parties = u32::try_from(self.parties.len()).unwrap_or(u32::MAX);
        let quorum = self.quorum.unwrap_or(n_parties - n_parties / 10);
        let colluders = self.colluders.unwrap_or((n_parties / 20).max(1));
        let participation = Participation::new(n_parties, quorum, colluders)?;
        let n_units = self.parties.iter().map(|party| units(party, unit));
        let n_units = n_units.fold(0, u32::saturating_add);
        let delta = match self.delta {
            Some(delta) => delta,
            None => recommended_delta(f64::from(n_units))?,
        };
        let mapping = self.data.mapping(schema)?;
        let is_scaled = mapping.features().iter().all(has_public_scale);
        Ok(Setting {
            n_records: n_units,
            n_features: u32::try_from(self.data.features.len()).unwrap_or(u32::MAX),
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

    fn check_parties(&self) -> Result<(), Failure> {
        let mut names = BTreeSet::new();
        for party in &self.parties {
            check_party_name(&party.name)?;
            if party.simulated && self.noise != Provenance::Simulated {
                return Err(Failure::usage(
                    "sprifed::study::rehearsal-key",
                    format!(
                        "{} was made from a seed that anybody can repeat",
                        party.name
                    ),
                    "ask for an identity made without --simulate, or add --simulate-noise for a rehearsal",
                ));
            }
            if !names.insert(&party.name) {
                return Err(Failure::usage(
                    "sprifed::study::two-parties",
                    format!(
                        "two parties are called {:?}; each needs its own name",
                        party.name
                    ),
                    "ask one of them to choose another name",
                ));
            }
        }
        Ok(())
    }
}

/// How many units of privacy a party has at most.
const fn units(party: &PublicParty, unit: PrivacyUnit) -> u32 {
    match unit {
        PrivacyUnit::Record => party.records,
        PrivacyUnit::Client => 1,
    }
}

/// Whether `name` can stand in certificates and file names.
///
/// # Errors
/// When it can not.
pub fn check_party_name(name: &str) -> Result<(), Failure> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.len() <= 60 && name.chars().all(plain) {
        return Ok(());
    }
    Err(Failure::usage(
        "sprifed::study::illegal-name",
        format!("{name:?} is no name; up to 60 letters, digits, `-` and `_` are required"),
        "choose another name",
    ))
}
