//! Where a trustee keeps its things.

use std::path::PathBuf;

use sha2::{Digest as _, Sha256};
use sprifed_study::{Digest, TrusteeEntry, TrusteePolicy};

use super::public::PublicTrustee;
use crate::error::PartyError;
use crate::folder::{StudyFolder, files_of_an_identity};
use crate::policy_text::parse_trustee_policy;
use crate::private_files::{
    create_private, create_private_folder, is_there, read_file, rename_durably,
};

/// The folder of a trustee: `sprifed study trustee` makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrusteeFolder(PathBuf);

crate::folder_at_path!(TrusteeFolder);
files_of_an_identity!(TrusteeFolder);

impl TrusteeFolder {
    /// What the trustee tells the coordinator.
    #[must_use]
    pub fn public_trustee(&self) -> PathBuf {
        self.0.join("trustee.json")
    }

    /// The secrets of study keys that were published and not used yet.
    #[must_use]
    pub fn offers(&self) -> PathBuf {
        self.0.join("offers")
    }

    /// Whether a trustee is there.
    #[must_use]
    pub fn is_trustee(&self) -> bool {
        is_there(&self.public_trustee())
    }

    /// What the trustee tells the coordinator.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn public(&self) -> Result<PublicTrustee, PartyError> {
        PublicTrustee::read(&self.public_trustee())
    }

    /// What the trustee agrees to.
    ///
    /// # Errors
    /// If it cannot be read, or lacks something.
    pub fn read_policy(&self) -> Result<TrusteePolicy, PartyError> {
        let path = self.policy();
        let name = path.display().to_string();
        let text = String::from_utf8(read_file(&path)?)
            .map_err(|error| PartyError::unusable(&name, error, "a text in UTF-8"))?;
        parse_trustee_policy(&text, &name)
    }

    /// Keeps the secret, as a trustee's key is stored, of the study key that `entry` publishes, until a study begins with
    /// it.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn keep_offer(&self, entry: &TrusteeEntry, secret: &str) -> Result<(), PartyError> {
        create_private_folder(&self.offers())?;
        create_private(&self.offer_of(entry), secret.as_bytes())
    }

    /// Whether the secret of the study key that `entry` publishes is here, for the study in `study` or for none yet.
    #[must_use]
    pub fn has_study_key(&self, study: &StudyFolder, entry: &TrusteeEntry) -> bool {
        is_there(&study.trustee_key()) || is_there(&self.offer_of(entry))
    }

    /// Takes the secret of the study key that `entry` publishes for the study in `study`: no other study can have it then.
    ///
    /// # Errors
    /// If it was used for another study or never made here, or the disk refuses.
    pub fn take_study_key(
        &self,
        study: &StudyFolder,
        entry: &TrusteeEntry,
    ) -> Result<(), PartyError> {
        let (offer, kept) = (self.offer_of(entry), study.trustee_key());
        if is_there(&kept) {
            return Ok(());
        }
        if !is_there(&offer) {
            let folder = self.offers();
            return Err(PartyError::OtherStudyKey { folder });
        }
        // Moved, not copied: there is never a moment at which two studies could have it.
        rename_durably(&offer, &kept).map_err(PartyError::file("move", &offer))
    }

    /// The file of the secret of the study key that `entry` publishes.
    fn offer_of(&self, entry: &TrusteeEntry) -> PathBuf {
        let digest = Digest(Sha256::digest(entry.key.0.to_bytes()).into()).to_string();
        let short = digest.get(..16).unwrap_or(&digest);
        self.offers().join(format!("{short}.key"))
    }
}
