//! Where a coordinator keeps a study, and how far it is.

use std::path::PathBuf;
use std::sync::Arc;

use sprifed::software;
use sprifed_net::{CoordinatorMachine as _, RosterEntry, StatusView, has_state, stored_status};
use sprifed_party::{Invitation, InvitationFolder, PartyError, create_private, read_key};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Agreed, StudyCoordinator};

use crate::error::CoordinatorError;
use crate::machine::{OVER, StudyMachine};
use crate::roster::RosterFile;

/// The folder of a coordinator: `sprifed study init` makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoordinatorFolder(PathBuf);

sprifed_party::folder_at_path!(CoordinatorFolder);

impl CoordinatorFolder {
    /// What the folder of the party or trustee in the seat `name` is called until its owner has it.
    #[must_use]
    pub fn invitation_of(&self, name: &str) -> InvitationFolder {
        InvitationFolder::new(self.0.join(format!("for-{name}")))
    }

    /// The invitation, the same for all.
    #[must_use]
    pub fn invitation(&self) -> PathBuf {
        self.0.join("invitation.json")
    }

    /// The coordinator's signing key.
    #[must_use]
    pub fn identity_key(&self) -> PathBuf {
        self.0.join("coordinator.key")
    }

    /// The certificates of the study.
    #[must_use]
    pub fn tls(&self) -> PathBuf {
        self.0.join("tls")
    }

    /// The study's state while it runs.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.0.join("state.sqlite")
    }

    /// Ends a study permanently when it is there.
    #[must_use]
    pub fn cancellation(&self) -> PathBuf {
        self.0.join("cancelled")
    }

    /// What a study that is over leaves.
    #[must_use]
    pub fn result(&self) -> PathBuf {
        self.0.join("result")
    }

    /// The file `roster.json`.
    pub(crate) fn roster_file(&self) -> PathBuf {
        self.0.join("roster.json")
    }

    /// Is there from the first time on that the study was served.
    fn begun(&self) -> PathBuf {
        self.0.join("begun")
    }

    /// The study, checked.
    ///
    /// # Errors
    /// As [`Invitation::read`].
    pub fn study(&self) -> Result<(Invitation, Arc<Agreed>), PartyError> {
        let (invitation, agreed) = Invitation::read(&self.invitation())?;
        Ok((invitation, Arc::new(agreed)))
    }

    /// The certificates of the study's parties and trustees.
    ///
    /// # Errors
    /// When the roster cannot be read, or does not have one certificate of its own for each.
    pub fn roster(&self, agreed: &Agreed) -> Result<Vec<RosterEntry>, CoordinatorError> {
        RosterFile::entries(&self.roster_file(), agreed.agreement())
    }

    /// The study's machine, as it was before its first message.
    ///
    /// # Errors
    /// When the state of a study that was begun is gone, or the key is not the one of the agreement.
    pub fn machine(&self, agreed: &Arc<Agreed>) -> Result<StudyMachine, CoordinatorError> {
        let state = self.state();
        if self.begun().exists() && !has_state(&state)? {
            return Err(CoordinatorError::StateLost { state });
        }
        let path = self.identity_key();
        let identity = IdentityKey::from_stored(&*read_key(&path)?);
        let study = StudyCoordinator::open(Arc::clone(agreed), identity, &software());
        let study = study.map_err(|error| PartyError::Unusable {
            name: path.display().to_string(),
            found: error.to_string(),
            required: "the coordinator's key",
        })?;
        Ok(StudyMachine::new(study))
    }

    /// Notes that the study is served from now on; to be called when its state is there and no party was asked.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub fn begin(&self) -> Result<(), PartyError> {
        let begun = self.begun();
        if begun.exists() {
            return Ok(());
        }
        create_private(
            &begun,
            b"this study was begun; its state is in state.sqlite\n",
        )
    }

    /// Whether the study was ever served.
    #[must_use]
    pub fn is_begun(&self) -> bool {
        self.state().exists()
    }

    /// How far the study is.
    ///
    /// # Errors
    /// As [`machine`](Self::machine), or when its state cannot be read.
    pub fn status(&self, agreed: &Arc<Agreed>) -> Result<StatusView, CoordinatorError> {
        let machine = self.machine(agreed)?;
        if self.is_begun() {
            Ok(stored_status(&self.state(), machine)?)
        } else {
            Ok(machine.status())
        }
    }

    /// Ends the study permanently; a coordinator that runs, or runs once more, tells the parties.
    ///
    /// # Errors
    /// When this is not the coordinator's folder, or the study is over.
    pub fn cancel(&self) -> Result<Arc<Agreed>, CoordinatorError> {
        let folder = || self.0.clone();
        if !self.identity_key().exists() {
            return Err(CoordinatorError::NotTheCoordinator { folder: folder() });
        }
        let (_, agreed) = self.study()?;
        if self.status(&agreed)?.phase == OVER {
            return Err(CoordinatorError::Over { folder: folder() });
        }
        let path = self.cancellation();
        if !path.exists() {
            create_private(&path, b"cancelled by the coordinator\n")?;
        }
        Ok(agreed)
    }
}
