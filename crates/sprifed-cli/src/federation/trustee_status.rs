//! `study status` of a trustee's folder: which studies it serves, and how far they are.

use std::path::Path;

use sprifed::{TrusteePartAnswer, TrusteeStatusAnswer};
use sprifed_party::{StudyFolder, TrusteeFolder, is_there};

use crate::failure::{Explained as _, Failure};
use crate::output::Output;

/// The trustee whose folder `folder` is, or in one of whose studies it is.
pub(super) fn trustee_of(folder: &Path) -> Option<TrusteeFolder> {
    let around = folder.ancestors().take(2).map(TrusteeFolder::new);
    around.into_iter().find(TrusteeFolder::is_trustee)
}

/// Says where a trustee stands: in the study of `folder`, or in all its studies.
pub(super) fn say(trustee: &TrusteeFolder, folder: &Path, output: &Output) -> Result<(), Failure> {
    let public = trustee.public()?.trustee;
    let mut studies = Vec::new();
    for study in StudyFolder::all_in(trustee.path()).explained()? {
        // Without an invitation nothing was sent: it is being made, or a kill came first.
        let is_made = is_there(&study.invitation());
        if is_made && (folder == trustee.path() || folder == study.path()) {
            studies.push(TrusteePartAnswer::read(&study)?);
        }
    }
    let answer = TrusteeStatusAnswer {
        trustee: public.name,
        identity: public.identity,
        studies,
    };
    output.answer(&answer, TrusteeStatusAnswer::text);
    Ok(())
}
