//! What a study has cost a party, by the receipt in its folder.

use sprifed_party::{Cost, StudyFolder, read_file};
use sprifed_study::Agreed;

use crate::document::Document;

/// What a receipt in `folder` says, if it is to be believed and of this party in this study.
#[must_use]
pub fn charged_by_receipt(folder: &StudyFolder, agreed: &Agreed) -> Option<Cost> {
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
