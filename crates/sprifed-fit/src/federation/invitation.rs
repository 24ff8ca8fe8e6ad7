//! What a coordinator gives to everybody: the agreement, signed, and where the coordinator is.

use serde::{Deserialize, Serialize};
use sprifed_secure_sum::{IdentityKey, is_signed_statement};
use sprifed_study::{Agreed, Agreement, Signature};

use crate::failure::Failure;

/// What the coordinator's signature for an agreement is about.
const AGREEMENT: &str = "agreement";

/// The file `invitation.json` of a study.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invitation {
    /// What everybody agrees on.
    pub agreement: Agreement,
    /// The coordinator's signature for it.
    pub signature: Signature,
    /// Where the coordinator is: `host:port`; empty where an engine carries the messages.
    pub address: String,
}

impl Invitation {
    /// Signs what was agreed on.
    #[must_use]
    pub fn sign(agreed: &Agreed, identity: &IdentityKey, address: &str) -> Self {
        let signature = identity.sign_statement(AGREEMENT, &agreed.digest().0);
        Self {
            agreement: agreed.agreement().clone(),
            signature: Signature(signature),
            address: address.to_owned(),
        }
    }

    /// Reads an invitation and checks that the coordinator it names has signed it; `name` is what the
    /// bytes are called in messages.
    ///
    /// # Errors
    /// When it is damaged, signed by somebody else, or not to be agreed to.
    pub fn open(bytes: &[u8], name: &str) -> Result<(Self, Agreed), Failure> {
        let unusable = |found: &dyn core::fmt::Display, required: &str| {
            Failure::unusable(name, found, required)
        };
        let invitation: Self = serde_json::from_slice(bytes)
            .map_err(|error| unusable(&error, "an invitation of `study init`"))?;
        let agreed = Agreed::new(invitation.agreement.clone())?;
        let coordinator = &invitation.agreement.coordinator;
        let (digest, signature) = (agreed.digest(), &invitation.signature);
        if !is_signed_statement(&coordinator.0, AGREEMENT, &digest.0, &signature.0) {
            let found = "its signature is not the coordinator's for this agreement";
            return Err(unusable(&found, "the file as the coordinator sent it"));
        }
        Ok((invitation, agreed))
    }

    /// The content of the file.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Numbers, text and lists: there is nothing that JSON could not hold.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}
