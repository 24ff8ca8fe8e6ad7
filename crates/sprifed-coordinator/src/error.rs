//! Why a coordinator cannot do what it was asked.

use std::path::PathBuf;

use sprifed_net::NetError;
use sprifed_party::{PartyError, StoreError};

/// See the module. The texts name no option of a command: the edge adds those.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoordinatorError {
    /// A file of the study that parties and coordinators share.
    #[error(transparent)]
    Party(#[from] PartyError),
    /// The network or its state.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A receipt that is not to be believed.
    #[error(transparent)]
    Receipt(#[from] sprifed::Error),
    /// A coordinator without its state would open sums a second time.
    #[error("this study was begun before, but its state `{state}` is gone or was emptied")]
    StateLost {
        /// Which file.
        state: PathBuf,
    },
    /// Something has the name that a new folder should have.
    #[error("`{path}` is there already")]
    Exists {
        /// Which name.
        path: PathBuf,
    },
    /// The folder of another role.
    #[error("`{folder}` has no coordinator.key, and only the coordinator can cancel a study")]
    NotTheCoordinator {
        /// Which folder.
        folder: PathBuf,
    },
    /// A study that is over stays as it ended.
    #[error("the study of `{folder}` is over, and so cannot be cancelled")]
    Over {
        /// Which folder.
        folder: PathBuf,
    },
    /// There is nothing to publish.
    #[error("`{folder}` has no result with a receipt")]
    NotOver {
        /// Which folder.
        folder: PathBuf,
    },
}

impl From<StoreError> for CoordinatorError {
    fn from(error: StoreError) -> Self {
        Self::Net(error.into())
    }
}
