//! A study that is drafted in Python: what `sprifed study init` writes, from the same terms.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;
use sprifed_data::PrivacyUnit as DataUnit;
use sprifed_fit::has_public_scale;
use sprifed_noise::Provenance;
use sprifed_privacy::{
    ApproxDp, Delta, Epsilon, NoiseOrigin, Participation, PrivacyUnit, Relation,
};
use sprifed_recovery::{CertifiedProcedure, Intercept, Setting};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Agreed, Agreement, Digest, FORMAT, Party, PartyKey};

use super::failure::Failure;
use super::files::parse_key;
use super::invitation::Invitation;
use super::records::DataTerms;
use crate::entropy::fresh_bits;

/// What a coordinator decides.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Terms {
    title: String,
    parties: Vec<PublicParty>,
    schema: String,
    features: Vec<String>,
    sparsity: u32,
    epsilon: Epsilon,
    delta: Delta,
    procedure: CertifiedProcedure,
    neighbours: Relation,
    quorum: u32,
    colluders: u32,
    #[serde(default)]
    repeats: u32,
    intercept: Intercept,
    noise: Provenance,
}

/// The file `party.json` of a party.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PublicParty {
    name: String,
    identity: Digest,
    records: u32,
}

/// The content of `invitation.json` for these terms (JSON), signed with the coordinator's key.
#[pyfunction]
pub(super) fn draft_invitation<'py>(
    py: Python<'py>,
    terms: &str,
    key: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let secret = parse_key("the coordinator's key", key)?;
    let invitation = py.detach(|| {
        let terms: Terms = serde_json::from_str(terms)
            .map_err(|error| Failure::unusable("the terms", error, "the terms of a study"))?;
        let identity = IdentityKey::from_stored(&secret);
        let agreed = Agreed::new(terms.agreement(identity.public())?)?;
        Ok::<_, Failure>(Invitation::sign(&agreed, &identity).to_json())
    })?;
    Ok(PyBytes::new(py, &invitation))
}

/// The secret and the public half of the identity key that a party has in a rehearsal. NOT PRIVATE.
#[pyfunction]
#[pyo3(signature = (seed, place=None))]
pub(super) fn simulated_identity(seed: u64, place: Option<u32>) -> (String, String) {
    let key = PartyKey::simulated(seed, 0);
    let key = place.map_or_else(|| key.clone(), |place| key.of_member(place));
    let bits = key.identity_bits();
    let public = IdentityKey::from_stored(&bits).public();
    (Digest(bits).to_string(), Digest(public).to_string())
}

impl Terms {
    fn agreement(self, coordinator: [u8; 32]) -> Result<Agreement, Failure> {
        let data = DataTerms {
            schema: self.schema,
            features: self.features,
        };
        let schema = data.schema()?;
        let unit = match schema.unit() {
            DataUnit::Client => PrivacyUnit::Client,
            _ => PrivacyUnit::Record,
        };
        let party = |party: PublicParty| Party {
            name: party.name,
            identity: party.identity,
            units: match unit {
                PrivacyUnit::Record => party.records,
                PrivacyUnit::Client => 1,
            },
        };
        let parties: Vec<Party> = self.parties.into_iter().map(party).collect();
        let n_parties = u32::try_from(parties.len()).unwrap_or(u32::MAX);
        let participation = Participation::new(n_parties, self.quorum, self.colluders)
            .map_err(|error| Failure::unusable("the quorum", error, "a legal participation"))?;
        let mapping = data.mapping(&schema)?;
        let setting = Setting {
            n_records: parties.iter().map(|party| party.units).sum(),
            n_features: u32::try_from(data.features.len()).unwrap_or(u32::MAX),
            sparsity: self.sparsity,
            budget: ApproxDp::new(self.epsilon, self.delta),
            relation: self.neighbours,
            unit,
            origin: NoiseOrigin::Shares(participation),
            response_bound: mapping.response_bound(),
            feature_bound: mapping.feature_bound(),
            feature_scale: mapping
                .features()
                .iter()
                .all(has_public_scale)
                .then_some(1.0),
            intercept: self.intercept,
        };
        let plan = self
            .procedure
            .plan(&setting)
            .map_err(|error| Failure::unusable("the terms", error, "a study that has a plan"))?;
        Ok(Agreement {
            format: FORMAT,
            title: self.title,
            nonce: Digest(fresh_bits()?),
            coordinator: Digest(coordinator),
            procedure: self.procedure,
            setting,
            plan,
            parties,
            repeats: self.repeats,
            noise: self.noise,
            data: serde_json::to_value(data).unwrap_or_default(),
        })
    }
}
