//! A study that is drafted in Python: what `sprifed study init` writes, from the same terms.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sprifed::Draft;
use sprifed_party::{Invitation, Reach, parse_key};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Agreed, Digest, PartyKey};

use super::failure::Failure;
use crate::entropy::fresh_bits;

/// The content of `invitation.json` for these terms (JSON), signed with the coordinator's key.
#[pyfunction]
pub(super) fn draft_invitation<'py>(
    py: Python<'py>,
    terms: &str,
    key: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let secret = parse_key("the coordinator's key", key).map_err(Failure::from)?;
    let invitation = py.detach(|| {
        let draft: Draft = serde_json::from_str(terms)
            .map_err(|error| Failure::unusable("the terms", error, "the terms of a study"))?;
        let identity = IdentityKey::from_stored(&secret);
        let nonce = Digest(fresh_bits()?);
        let agreement = draft.agreement(Digest(identity.public()), nonce)?;
        let agreed = Agreed::new(agreement).map_err(sprifed::Error::from)?;
        // An engine knows where the parties are.
        Ok::<_, Failure>(Invitation::sign(&agreed, &identity, Reach::default()).to_json())
    })?;
    Ok(PyBytes::new(py, invitation.as_bytes()))
}

/// The secret and the public half of the identity key that a party has in a rehearsal. NOT PRIVATE.
#[pyfunction]
#[pyo3(signature = (seed, place=None))]
pub(super) fn simulated_identity(seed: u64, place: Option<u32>) -> (String, String) {
    let key = PartyKey::simulated(seed, 0);
    let key = place.map_or_else(|| key.clone(), |place| key.of_party(place));
    let bits = key.identity_bits();
    let public = IdentityKey::from_stored(&bits).public();
    (Digest(bits).to_string(), Digest(public).to_string())
}
