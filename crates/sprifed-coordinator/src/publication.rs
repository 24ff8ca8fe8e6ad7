//! What may be published of a study that is over.

use std::path::Path;

use sprifed::{Document, study_files};
use sprifed_party::{PartyError, RECEIPT, TRANSCRIPT, create_private, read_file};
use sprifed_study::Digest;

use crate::error::CoordinatorError;
use crate::folder::CoordinatorFolder;
use crate::whole_folder::create_whole;

/// The file with what all parties agreed on.
const AGREEMENT: &str = "agreement.json";

impl CoordinatorFolder {
    /// Checks the receipt and writes everything that may be published into the new folder `out`; returns the names of the
    /// files beside `agreement.json`.
    ///
    /// # Errors
    /// When there is no result yet, the receipt is not to be believed or of another study, or `out` is there already.
    pub fn publish(&self, out: &Path) -> Result<Vec<String>, CoordinatorError> {
        let (invitation, agreed) = self.study()?;
        if !self.result().join(RECEIPT).exists() {
            let folder = self.path().to_owned();
            return Err(CoordinatorError::NotOver { folder });
        }
        let files = self.published(*agreed.digest())?;
        create_whole(out, |folder| {
            let agreement = invitation.agreement.to_document();
            create_private(&folder.join(AGREEMENT), &agreement)?;
            for (name, bytes) in &files {
                create_private(&folder.join(name), bytes)?;
            }
            Ok(())
        })?;
        Ok(files.into_iter().map(|(name, _)| name).collect())
    }

    /// What the receipt stands for: the files beside it are not signed, so they are made again.
    fn published(&self, study: Digest) -> Result<Vec<(String, Vec<u8>)>, CoordinatorError> {
        let path = self.result().join(RECEIPT);
        let name = path.display().to_string();
        let document = Document::parse(&String::from_utf8_lossy(&read_file(&path)?), &name)?;
        document.verify(&name)?;
        let receipt = match &document {
            Document::Study(receipt) if receipt.receipt.agreement_digest == study => receipt,
            _ => {
                return Err(PartyError::Unusable {
                    name,
                    found: "it is of something else".to_owned(),
                    required: "the receipt of the study of this folder",
                }
                .into());
            }
        };
        let mut files = study_files(receipt);
        let transcript = self.result().join(TRANSCRIPT);
        if transcript.exists() {
            let bytes = read_file(&transcript)?;
            let text = String::from_utf8_lossy(&bytes);
            document.verify_transcript(&text, &transcript.display().to_string())?;
            files.push((TRANSCRIPT.to_owned(), bytes));
        }
        Ok(files)
    }
}
