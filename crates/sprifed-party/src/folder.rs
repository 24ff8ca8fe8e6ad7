//! Where a party keeps its things: its own folder, and one folder for each study.
//!
//! ```text
//! north/                 PartyFolder
//!   identity.key  tls.key  party.json  policy.toml  officer.pub  ledger.sqlite
//!   study-0123…/         StudyFolder of the network: state.sqlite, party.key
//!   flower/study-0123…/  StudyFolder of Flower: party.sealed, begun, lock
//!                        both: invitation.json, and afterwards receipt.json, model.json, transcript.json
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use sprifed_study::{Agreed, Digest, JournalLine, Policy};
use zeroize::Zeroizing;

use crate::database::StoreError;
use crate::error::PartyError;
use crate::identity::PublicParty;
use crate::invitation::Invitation;
use crate::ledger::LedgerPlace;
use crate::policy::read_policy;
use crate::private_files::{
    create_private, create_private_folder, is_there, read_file, read_if_there,
};
use crate::store::SqliteStore;

/// What the names of folders of studies begin with.
const STUDY: &str = "study-";

/// The file with the receipt of a study that is over.
pub const RECEIPT: &str = "receipt.json";

/// The file with the released sums of a study that is over.
pub const TRANSCRIPT: &str = "transcript.json";

/// The file with the model of a study that is over.
pub const MODEL: &str = "model.json";

/// Gives a type around the path of a folder its constructor and that path.
#[doc(hidden)]
#[macro_export]
macro_rules! folder_at_path {
    ($folder:ident) => {
        impl $folder {
            /// The folder at `path`.
            #[must_use]
            pub fn new(path: impl Into<std::path::PathBuf>) -> Self {
                Self(path.into())
            }

            /// Where it is.
            #[must_use]
            pub fn path(&self) -> &std::path::Path {
                &self.0
            }
        }
    };
}

/// Gives a type around the path of a folder the files that parties and trustees have alike.
macro_rules! files_of_an_identity {
    ($folder:ident) => {
        impl $folder {
            /// Its signing key.
            #[must_use]
            pub fn identity_key(&self) -> std::path::PathBuf {
                self.0.join("identity.key")
            }

            /// Its TLS key.
            #[must_use]
            pub fn tls_key(&self) -> std::path::PathBuf {
                self.0.join("tls.key")
            }

            /// What it agrees to.
            #[must_use]
            pub fn policy(&self) -> std::path::PathBuf {
                self.0.join("policy.toml")
            }

            /// Its signing key.
            ///
            /// # Errors
            /// If there is none.
            pub fn identity(
                &self,
            ) -> Result<sprifed_secure_sum::IdentityKey, $crate::error::PartyError> {
                let secret = $crate::folder::read_key(&self.identity_key())?;
                Ok(sprifed_secure_sum::IdentityKey::from_stored(&*secret))
            }
        }
    };
}

pub(crate) use files_of_an_identity;

/// The folder of a party: `sprifed study identity` makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartyFolder(PathBuf);

crate::folder_at_path!(PartyFolder);
files_of_an_identity!(PartyFolder);

impl PartyFolder {
    /// What the party tells the coordinator.
    #[must_use]
    pub fn public_party(&self) -> PathBuf {
        self.0.join("party.json")
    }

    /// The public key of the party's data-protection officer, if it has one.
    #[must_use]
    pub fn officer(&self) -> PathBuf {
        self.0.join("officer.pub")
    }

    /// Where Flower keeps the party's studies, unless it is told another folder.
    #[must_use]
    pub fn flower(&self) -> PathBuf {
        self.0.join("flower")
    }

    /// The folders in which this party's studies may be, whichever runtime takes part for it.
    #[must_use]
    pub fn homes(&self) -> Vec<PathBuf> {
        vec![self.0.clone(), self.flower()]
    }

    /// Whether a party is there.
    #[must_use]
    pub fn is_party(&self) -> bool {
        is_there(&self.identity_key())
    }

    /// The secret half of the party's signing key.
    ///
    /// # Errors
    /// If there is none.
    pub fn secret(&self) -> Result<Zeroizing<[u8; 32]>, PartyError> {
        read_key(&self.identity_key())
    }

    /// What the party tells the coordinator.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn public(&self) -> Result<PublicParty, PartyError> {
        PublicParty::read(&self.public_party())
    }

    /// What the party with the key `party` agrees to: its own policy, or the one in the file `other`.
    ///
    /// # Errors
    /// If it cannot be read, lacks something, or is not signed by the party's officer.
    pub fn read_policy(&self, other: Option<&Path>, party: &Digest) -> Result<Policy, PartyError> {
        read_policy(self, other, party)
    }

    /// The ledger that accounts for the party's table: the one in the folder `chosen`, or its own.
    ///
    /// # Errors
    /// If the party's key, which signs entries, cannot be read.
    pub fn ledger(&self, chosen: Option<&Path>) -> Result<LedgerPlace, PartyError> {
        Ok(LedgerPlace::new(
            chosen.unwrap_or(&self.0),
            self.identity()?,
        ))
    }
}

/// The folder in which a party keeps its part of one study.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StudyFolder(PathBuf);

crate::folder_at_path!(StudyFolder);

impl StudyFolder {
    /// The folder of `study` in `home`.
    #[must_use]
    pub fn in_home(home: &Path, study: &Digest) -> Self {
        Self(home.join(Self::name(&study.to_string())))
    }

    /// The name of the folder of `study`.
    pub(crate) fn name(study: &str) -> String {
        let short: String = study.chars().take(16).collect();
        format!("{STUDY}{short}")
    }

    /// All folders of studies in `home`, by name.
    ///
    /// # Errors
    /// If `home` cannot be read.
    pub fn all_in(home: &Path) -> Result<Vec<Self>, StoreError> {
        let unreadable = |error: std::io::Error| StoreError::Unusable {
            path: home.to_owned(),
            reason: error.to_string(),
        };
        let entries = match fs::read_dir(home) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(unreadable)?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(unreadable)?;
            let is_study = entry.file_name().to_string_lossy().starts_with(STUDY);
            if is_study && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                found.push(Self(entry.path()));
            }
        }
        found.sort();
        Ok(found)
    }

    /// What was agreed on.
    #[must_use]
    pub fn invitation(&self) -> PathBuf {
        self.0.join("invitation.json")
    }

    /// The secret of this party in this study, beside [`database`](Self::database).
    #[must_use]
    pub fn key(&self) -> PathBuf {
        self.0.join("party.key")
    }

    /// The secret of a trustee in this study, beside [`database`](Self::database).
    #[must_use]
    pub fn trustee_key(&self) -> PathBuf {
        self.0.join("trustee.key")
    }

    /// The state of a party or trustee that takes part over the network.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.0.join("state.sqlite")
    }

    /// The state of a party that an engine such as Flower wakes for each request.
    #[must_use]
    pub fn sealed(&self) -> PathBuf {
        self.0.join("party.sealed")
    }

    /// Says of a state that cannot be read without a key, or of a trustee's, that something may have been sent.
    #[must_use]
    pub fn begun(&self) -> PathBuf {
        self.0.join("begun")
    }

    /// Is locked by the process that has the sealed state.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.0.join("lock")
    }

    /// The party's receipt, once the study is over.
    #[must_use]
    pub fn receipt(&self) -> PathBuf {
        self.0.join(RECEIPT)
    }

    /// The folder of the party around it.
    #[must_use]
    pub fn party(&self) -> Option<PartyFolder> {
        let around = self.0.ancestors().skip(1).take(2);
        around
            .map(PartyFolder::new)
            .find(|party| party.public_party().exists() || party.is_party())
    }

    /// Whether this is the folder of `study`.
    #[must_use]
    pub fn is_of(&self, study: &str) -> bool {
        let name = self.0.file_name().and_then(|name| name.to_str());
        name == Some(Self::name(study).as_str())
    }

    /// The study, as its coordinator signed it.
    ///
    /// # Errors
    /// If the invitation cannot be read, or is not to be believed.
    pub fn read_invitation(&self) -> Result<(Invitation, Agreed), PartyError> {
        Invitation::read(&self.invitation())
    }

    /// Makes the folder, unless it is there, and keeps the invitation in it.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn begin(&self, invitation: &[u8]) -> Result<(), PartyError> {
        create_private_folder(&self.0)?;
        let kept = self.invitation();
        if is_there(&kept) {
            return Ok(());
        }
        create_private(&kept, invitation)
    }

    /// Notes that something may have been sent from now on; to be called when the state is there.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn mark_begun(&self) -> Result<(), PartyError> {
        let begun = self.begun();
        if is_there(&begun) {
            return Ok(());
        }
        create_private(&begun, b"this study was begun; its state lies beside\n")
    }

    /// What the state of the network's runtime says, without taking it from the process that has it; nothing if there
    /// is none, or it was emptied.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn look_into(&self) -> Result<Option<StoredPart>, StoreError> {
        let path = self.database();
        if !is_there(&path) {
            return Ok(None);
        }
        SqliteStore::look_into(&path)
    }

    /// Whether something was sent in this study: its state, a result or a mark says so.
    pub(crate) fn has_begun(&self) -> Result<bool, StoreError> {
        let has = |path: PathBuf| matches!(fs::exists(path), Ok(true));
        let results = [RECEIPT, MODEL, TRANSCRIPT];
        if has(self.begun()) || results.into_iter().any(|name| has(self.0.join(name))) {
            return Ok(true);
        }
        let stored = match self.look_into() {
            // What cannot be read may have been sent.
            Err(StoreError::Damaged(_)) => return Ok(true),
            stored => stored?,
        };
        // A key is made after the state: without a state it was lost.
        Ok(stored.map_or_else(|| has(self.key()), |stored| !stored.is_unused()))
    }
}

/// What a party has stored of one study.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredPart {
    /// Its journal, in order.
    pub lines: Vec<JournalLine>,
    /// How its part ended, if it did.
    pub end: Option<crate::store::PartyEnd>,
}

impl StoredPart {
    /// Whether nothing was ever sent that depends on it.
    #[must_use]
    pub const fn is_unused(&self) -> bool {
        self.lines.is_empty() && self.end.is_none()
    }

    /// Whether the party has left the study.
    #[must_use]
    pub fn has_left(&self) -> bool {
        self.lines.contains(&JournalLine::Left)
    }
}

/// The key of 64 hexadecimal digits in the file `path`.
///
/// # Errors
/// If there is none.
pub fn read_key(path: &Path) -> Result<Zeroizing<[u8; 32]>, PartyError> {
    let text = Zeroizing::new(read_file(path)?);
    parse_key(&path.display().to_string(), &String::from_utf8_lossy(&text))
}

/// The key that `text` spells; messages call it `name`.
///
/// # Errors
/// If it is none.
pub fn parse_key(name: &str, text: &str) -> Result<Zeroizing<[u8; 32]>, PartyError> {
    // The text is not repeated in the message: it may be most of a key.
    let key = Digest::try_from(text.trim().to_owned())
        .map_err(|_| PartyError::unusable(name, "no key", "a key of 64 hexadecimal digits"))?;
    Ok(Zeroizing::new(key.0))
}

/// The same, if there is such a file.
pub(crate) fn read_key_if_there(path: &Path) -> Result<Option<Zeroizing<[u8; 32]>>, PartyError> {
    let Some(text) = read_if_there(path)? else {
        return Ok(None);
    };
    let text = Zeroizing::new(text);
    parse_key(&path.display().to_string(), &String::from_utf8_lossy(&text)).map(Some)
}
