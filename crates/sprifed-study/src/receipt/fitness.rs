//! Whether a party or a trustee signs a receipt: it must say all that its signer knows.

use sprifed_privacy::{Epsilon, Ledger};

use super::verify::check_released;
use super::{Problem, SignedReceipt, same_fit};
use crate::agreement::Agreed;
use crate::derivation::Derivation;
use crate::hexadecimal::Digest;

/// Why a receipt is not signed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// It is not to be believed.
    #[error("the receipt is wrong: {0}")]
    Wrong(Problem),
    /// It has another model than the released sums give.
    #[error("the receipt has another model than the released sums give; it is not signed here")]
    OtherModel,
    /// It is of another study, or charges less than its signer was charged.
    #[error("the receipt says {found}, but {required} is required")]
    Other {
        /// What it says.
        found: String,
        /// What it should say.
        required: String,
    },
}

/// What a signer knows of its study.
pub(crate) struct Known<'a> {
    pub(crate) who: &'a str,
    pub(crate) derivation: &'a Derivation,
    /// The receipt that it has signed.
    pub(crate) signed: Option<Digest>,
    /// The numbers of the sums that it was charged for.
    pub(crate) charged: &'a [u32],
    pub(crate) ledger: &'a Ledger,
}

impl Known<'_> {
    /// Refuses a receipt that says less or something else.
    pub(crate) fn check(&self, receipt: &SignedReceipt, agreed: &Agreed) -> Result<(), Unfit> {
        drop(receipt.verify().map_err(Unfit::Wrong)?);
        let (who, stated) = (self.who, &receipt.receipt);
        let other = |found: String, required: String| Err(Unfit::Other { found, required });
        let (found, required) = (stated.agreement_digest, *agreed.digest());
        if found != required {
            return other(format!("agreement {found}"), required.to_string());
        }
        let found = stated.digest();
        if let Some(required) = self.signed.filter(|signed| *signed != found) {
            let required = format!("{required}, which {who} has signed,");
            return other(format!("digest {found}"), required);
        }
        let (found, required) = (stated.transcript, self.derivation.transcript().head());
        if found != required {
            let required = format!("{required}, as {who} was shown,");
            return other(format!("transcript {found}"), required);
        }
        if !same_fit(stated.fit.as_ref(), self.derivation.fit()) {
            return Err(Unfit::OtherModel);
        }
        let charged = self.ledger.spent().map(|spent| spent.epsilon());
        if charged > stated.ledger.spent {
            let words = |spent: Option<Epsilon>| {
                spent.map_or_else(
                    || "nothing charged".to_owned(),
                    |epsilon| format!("epsilon = {epsilon}"),
                )
            };
            let required = format!("at least {}, as {who} was charged,", words(charged));
            return other(words(stated.ledger.spent), required);
        }
        // The totals may agree although a sum is omitted: the signer may have missed another one.
        let is_stated = |sum: u32| stated.sums.iter().any(|record| record.sum == sum);
        if let Some(sum) = self.charged.iter().find(|sum| !is_stated(**sum)) {
            return other(
                format!("nothing of sum {sum}"),
                format!("every sum that {who} was charged for"),
            );
        }
        // The digest covers what was released, and not what the receipt says of it.
        let released = self.derivation.transcript().released();
        check_released(stated, released).map_err(Unfit::Wrong)
    }
}
