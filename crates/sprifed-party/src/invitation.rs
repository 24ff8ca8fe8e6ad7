//! What a coordinator gives to each party: the agreement and how to reach the coordinator, all of it signed.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sprifed_secure_sum::{IdentityKey, is_signed_statement};
use sprifed_study::{Agreed, Agreement, Digest, Signature};

use crate::error::PartyError;
use crate::private_files::read_file;

/// What the coordinator's signature for an invitation is about.
const INVITATION: &str = "invitation";

/// The file `invitation.json` of a study.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invitation {
    /// What all parties agree on, with the roster of all parties' keys.
    pub agreement: Agreement,
    /// Where the coordinator is.
    pub reach: Reach,
    /// The coordinator's signature for all of it.
    pub signature: Signature,
}

/// How parties reach a coordinator; all empty where an engine carries the messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reach {
    /// `host:port`.
    pub address: String,
    /// The certificate of the authority of the coordinator's TLS certificate, in PEM.
    pub authority: String,
}

impl Reach {
    /// What is signed together with the digest of an agreement.
    fn digest_with(&self, agreement: &Digest) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(agreement.0);
        for text in [&self.address, &self.authority] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
        hash.finalize().into()
    }
}

impl Invitation {
    /// Signs what was agreed on, and where the coordinator is.
    #[must_use]
    pub fn sign(agreed: &Agreed, identity: &IdentityKey, reach: Reach) -> Self {
        let signature = identity.sign_statement(INVITATION, &reach.digest_with(agreed.digest()));
        Self {
            agreement: agreed.agreement().clone(),
            reach,
            signature: Signature(signature),
        }
    }

    /// Reads the invitation in the file `path`.
    ///
    /// # Errors
    /// When it cannot be read, or as [`open`](Self::open).
    pub fn read(path: &Path) -> Result<(Self, Agreed), PartyError> {
        Self::open(&read_file(path)?, &path.display().to_string())
    }

    /// Reads an invitation and checks that the coordinator it names has signed all of it; `name` is what the
    /// bytes are called in messages.
    ///
    /// # Errors
    /// When it is damaged, signed by another key, or not to be agreed to.
    pub fn open(bytes: &[u8], name: &str) -> Result<(Self, Agreed), PartyError> {
        let invitation: Self = serde_json::from_slice(bytes)
            .map_err(|error| PartyError::unusable(name, error, "an invitation of `study init`"))?;
        let agreed = Agreed::new(invitation.agreement.clone())?;
        let coordinator = &invitation.agreement.coordinator;
        let digest = invitation.reach.digest_with(agreed.digest());
        if !is_signed_statement(&coordinator.0, INVITATION, &digest, &invitation.signature.0) {
            let found =
                "its signature is not the coordinator's for this agreement, address and authority";
            let required = "the file as the coordinator sent it";
            return Err(PartyError::unusable(name, found, required));
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
