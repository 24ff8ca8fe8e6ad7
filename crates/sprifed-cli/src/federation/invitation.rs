//! What a coordinator gives to a party: the agreement, signed, and how to connect.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sprifed_net::Identity;
use sprifed_secure_sum::{IdentityKey, is_signed_statement};
use sprifed_study::{Agreed, Agreement, Signature};

use super::{read, unusable};
use crate::failure::Failure;

/// What the coordinator's signature for an agreement is about.
const AGREEMENT: &str = "agreement";

/// The file of a study that everybody has.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Invitation {
    pub(super) agreement: Agreement,
    /// The coordinator's signature for it.
    pub(super) signature: Signature,
    /// Where the coordinator is: `host:port`.
    pub(super) address: String,
}

/// The folder of an invitation.
#[derive(Clone, Debug)]
pub(super) struct InvitationFolder(pub(super) PathBuf);

impl InvitationFolder {
    pub(super) fn document(&self) -> PathBuf {
        self.0.join("invitation.json")
    }

    pub(super) fn authority(&self) -> PathBuf {
        self.0.join("authority.pem")
    }

    pub(super) fn identity(&self) -> Identity {
        Identity {
            certificate: self.0.join("tls.pem"),
            key: self.0.join("tls.key"),
        }
    }
}

impl Invitation {
    /// Signs what was agreed on.
    pub(super) fn sign(agreed: &Agreed, identity: &IdentityKey, address: &str) -> Self {
        let signature = identity.sign_statement(AGREEMENT, &agreed.digest().0);
        Self {
            agreement: agreed.agreement().clone(),
            signature: Signature(signature),
            address: address.to_owned(),
        }
    }

    /// Reads an invitation and checks that the coordinator it names has signed it.
    pub(super) fn read(path: &Path) -> Result<(Self, Agreed), Failure> {
        let invitation: Self = serde_json::from_slice(&read(path)?)
            .map_err(|error| unusable(path, &error, "an invitation of `study init`"))?;
        let agreed = Agreed::new(invitation.agreement.clone())?;
        let coordinator = &invitation.agreement.coordinator;
        let (digest, signature) = (agreed.digest(), &invitation.signature);
        if !is_signed_statement(&coordinator.0, AGREEMENT, &digest.0, &signature.0) {
            let found = "its signature is not the coordinator's for this agreement";
            return Err(unusable(
                path,
                &found,
                "the file as the coordinator sent it",
            ));
        }
        Ok((invitation, agreed))
    }
}
