//! The folder that a party gets: the invitation, and what it needs to connect.

use std::path::PathBuf;

use sprifed_party::Invitation;

use super::{read, unusable};
use crate::failure::Failure;

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

    /// The party's certificate; its key stays in the party's own folder.
    pub(super) fn certificate(&self) -> PathBuf {
        self.0.join("tls.pem")
    }
}

/// The coordinator's TLS certificate is believed if it is of the authority that the coordinator has signed.
pub(super) fn refuse_other_authority(
    folder: &InvitationFolder,
    invitation: &Invitation,
) -> Result<(), Failure> {
    let path = folder.authority();
    if read(&path)? == invitation.reach.authority.as_bytes() {
        return Ok(());
    }
    let found = "it is not the authority that the coordinator signed in the invitation";
    Err(unusable(
        &path,
        &found,
        "the file as the coordinator sent it",
    ))
}
