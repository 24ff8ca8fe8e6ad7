//! What was found out about the receipt of a study, in words.

use sprifed_privacy::{Epsilon, counted};
use sprifed_study::Verified;

/// The guarantee, who signed the receipt, and whose records its sums hold; `charged` is the party whose receipt it is, and
/// what that party signs to have been charged.
#[must_use]
pub fn study_words(verified: &Verified, charged: Option<&(String, Option<Epsilon>)>) -> String {
    signature_words(verified, charged) + &contents_words(verified)
}

/// Whose records the released sums hold.
fn contents_words(verified: &Verified) -> String {
    let contents = verified.records_in_sums.iter().map(ToString::to_string);
    let contents: Vec<String> = contents.collect();
    let mut words = match contents.join("; ") {
        none if none.is_empty() => "\nrecords in the sums: none, no sum was opened".to_owned(),
        contents => format!("\nrecords in the sums: {contents}"),
    };
    if verified.abandoned_sums > 0 {
        let sums = counted(verified.abandoned_sums, "sum was", "sums were");
        words += &format!("; {sums} abandoned unopened");
    }
    words
}

fn signature_words(verified: &Verified, charged: Option<&(String, Option<Epsilon>)>) -> String {
    let statement = &verified.guarantee.statement;
    let mut signers = match verified.signed_by.join(", ") {
        none if none.is_empty() => String::new(),
        names => format!(" and by {names}"),
    };
    if !verified.trustees_signed.is_empty() {
        let names = verified.trustees_signed.join(", ");
        signers += &format!(" and by the trustees {names}");
    }
    let computed =
        format!("computed again from the receipt alone; signed by the coordinator{signers}");
    if let Some((name, epsilon)) = charged {
        let epsilon = epsilon.map_or("0".to_owned(), Epsilon::shown);
        return format!(
            "{statement}\n\nVERIFIED: {computed}; {name} signs that it was charged epsilon = {epsilon}. This receipt \
             speaks for {name}, not for the other parties"
        );
    }
    let mut missing = match verified.not_signed_by.join(", ") {
        none if none.is_empty() => String::new(),
        names => format!("; NOT signed by {names}"),
    };
    if !verified.trustees_not_signed.is_empty() {
        let names = verified.trustees_not_signed.join(", ");
        missing += &format!("; NOT signed by the trustees {names}");
    }
    if verified.is_confirmed() {
        return format!("{statement}\n\nVERIFIED: {computed}{missing}");
    }
    let few = if verified.trustees_signed.is_empty() && verified.trustees_not_signed.is_empty() {
        format!("parties than the quorum of {}", verified.quorum)
    } else {
        format!("than {} of the three trustees", verified.quorum)
    };
    format!(
        "{statement}\n\nUNCONFIRMED: the arithmetic is right, but fewer {few} have signed, so \
         that the receipt may omit released sums: {computed}{missing}"
    )
}
