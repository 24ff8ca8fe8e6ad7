//! The folder that a party gets from the coordinator: the invitation, and what it needs to connect.

use std::path::PathBuf;

use sprifed_study::Agreed;

use crate::error::PartyError;
use crate::invitation::Invitation;
use crate::private_files::read_file;

/// The folder of an invitation. It holds no secret.
#[derive(Clone, Debug)]
pub struct InvitationFolder(PathBuf);

crate::folder_at_path!(InvitationFolder);

impl InvitationFolder {
    /// The invitation.
    #[must_use]
    pub fn document(&self) -> PathBuf {
        self.0.join("invitation.json")
    }

    /// The authority of the coordinator's TLS certificate.
    #[must_use]
    pub fn authority(&self) -> PathBuf {
        self.0.join("authority.pem")
    }

    /// The party's certificate; its key stays in the party's own folder.
    #[must_use]
    pub fn certificate(&self) -> PathBuf {
        self.0.join("tls.pem")
    }

    /// The invitation, checked.
    ///
    /// # Errors
    /// As [`Invitation::read`].
    pub fn invitation(&self) -> Result<(Invitation, Agreed), PartyError> {
        Invitation::read(&self.document())
    }

    /// The coordinator's TLS certificate is believed if it is of the authority that the coordinator has signed.
    ///
    /// # Errors
    /// When the file of the authority is another than the one in `invitation`, or cannot be read.
    pub fn refuse_other_authority(&self, invitation: &Invitation) -> Result<(), PartyError> {
        let path = self.authority();
        if read_file(&path)? == invitation.reach.authority.as_bytes() {
            return Ok(());
        }
        let found = "it is not the authority that the coordinator signed in the invitation";
        let required = "the file as the coordinator sent it";
        Err(PartyError::unusable(
            path.display().to_string(),
            found,
            required,
        ))
    }
}
