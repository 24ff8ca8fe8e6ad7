//! What a coordinator gives to everybody: the agreement and its signature, as the command line writes it.

use serde::{Deserialize, Serialize};
use sprifed_secure_sum::{ClientId, IdentityKey, is_signed_statement};
use sprifed_study::{Agreed, Agreement, Digest, Signature};

use super::failure::Failure;

/// What the coordinator's signature for an agreement is about.
const AGREEMENT: &str = "agreement";

/// The file `invitation.json` of a study.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Invitation {
    agreement: Agreement,
    signature: Signature,
    /// Where the coordinator is, for parties that connect without an engine.
    address: String,
}

impl Invitation {
    /// Reads an invitation and checks that the coordinator it names has signed it.
    pub(super) fn read(bytes: &[u8]) -> Result<Agreed, Failure> {
        let what = "the invitation";
        let invitation: Self = serde_json::from_slice(bytes)
            .map_err(|error| Failure::unusable(what, error, "an invitation of `study init`"))?;
        let coordinator = invitation.agreement.coordinator;
        let agreed = Agreed::new(invitation.agreement)?;
        let (digest, signature) = (agreed.digest(), &invitation.signature);
        if !is_signed_statement(&coordinator.0, AGREEMENT, &digest.0, &signature.0) {
            let found = "its signature is not the coordinator's for this agreement";
            let required = "the file as the coordinator wrote it";
            return Err(Failure::unusable(what, found, required));
        }
        Ok(agreed)
    }

    /// Signs `agreed`.
    pub(super) fn sign(agreed: &Agreed, identity: &IdentityKey) -> Self {
        let signature = identity.sign_statement(AGREEMENT, &agreed.digest().0);
        Self {
            agreement: agreed.agreement().clone(),
            signature: Signature(signature),
            address: String::new(),
        }
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        // Numbers, text and lists: there is nothing that JSON could not hold.
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }
}

/// Where this identity is in the roster.
pub(super) fn place_of(agreed: &Agreed, identity: &Digest) -> Option<ClientId> {
    let parties = (0..).zip(&agreed.agreement().parties);
    let mut places = parties.filter(|(_, party)| party.identity == *identity);
    places.next().map(|(id, _)| ClientId(id))
}
