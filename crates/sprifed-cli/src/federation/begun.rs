//! What a study that a party has begun has cost, from its folder alone.

use sprifed::Document;
use sprifed_party::{Cost, LifetimeLine, StudyFolder};
use sprifed_study::Agreed;

use super::read;
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
    let cost = charged(folder, &agreed).unwrap_or(most.cost);
    Ok(LifetimeLine { cost, ..most })
}

/// What a receipt in `folder` says, if it is to be believed and of this party in this study.
fn charged(folder: &StudyFolder, agreed: &Agreed) -> Option<Cost> {
    let path = folder.receipt();
    let name = path.display().to_string();
    let text = String::from_utf8(read(&path).ok()?).ok()?;
    let document = Document::parse(&text, &name).ok()?;
    document.verify(&name).ok()?;
    let Document::Party(receipt) = document else {
        return None;
    };
    let public = folder.party()?.public().ok()?;
    let parties = &agreed.agreement().parties;
    let signer = parties.get(receipt.statement.party as usize)?;
    let is_own = receipt.study.receipt.agreement_digest == *agreed.digest()
        && signer.identity == public.identity;
    let delta = receipt.study.receipt.guarantee.delta;
    is_own.then(|| Cost::charged(receipt.statement.ledger.spent, delta))
}
