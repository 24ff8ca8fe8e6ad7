//! What a study that a party has begun has cost, from its folder alone.

use sprifed::charged_by_receipt;
use sprifed_party::{LifetimeLine, StudyFolder};

use crate::failure::Failure;

/// The study in `folder`, with what its receipt says that it cost this party, or with the most it can cost.
///
/// # Errors
/// When the invitation, which says the most, cannot be read.
pub(crate) fn begun_study(folder: &StudyFolder) -> Result<LifetimeLine, Failure> {
    if !folder.invitation().exists() {
        return Err(Failure::outcome(
            "sprifed::ledger::unknown-cost",
            format!(
                "`{}` is of a study that was begun, but what it can cost is not known: it has no invitation.json",
                folder.path().display()
            ),
            "copy invitation.json into it from the folder for-NAME of that study; nothing was changed",
        ));
    }
    let (_, agreed) = folder.read_invitation()?;
    let most = LifetimeLine::of(&agreed);
    let cost = charged_by_receipt(folder, &agreed).unwrap_or(most.cost);
    Ok(LifetimeLine { cost, ..most })
}
