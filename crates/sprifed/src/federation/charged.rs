//! What a study has cost a party, by its folder alone.

use sprifed_party::{Cost, LifetimeLine, PartyError, StudyFolder, is_there, read_file};
use sprifed_study::Agreed;

use crate::document::Document;

/// What a receipt in `folder` says, if it is to be believed and of this party in this study.
fn charged_by_receipt(folder: &StudyFolder, agreed: &Agreed) -> Option<Cost> {
    let path = folder.receipt();
    let name = path.display().to_string();
    let text = String::from_utf8(read_file(&path).ok()?).ok()?;
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
    is_own.then(|| agreed.cost_of(receipt.statement.ledger.spent))
}

/// The study in `folder`, with what its receipt says that it cost this party, or with the most it can cost.
///
/// # Errors
/// When there is no invitation, which says the most, or it cannot be read.
pub fn begun_study(folder: &StudyFolder) -> Result<LifetimeLine, PartyError> {
    if !is_there(&folder.invitation()) {
        return Err(PartyError::UnknownCost {
            folder: folder.path().to_owned(),
        });
    }
    let (_, agreed) = folder.read_invitation()?;
    let most = LifetimeLine::of(&agreed);
    let cost = charged_by_receipt(folder, &agreed).unwrap_or(most.cost);
    Ok(LifetimeLine { cost, ..most })
}
