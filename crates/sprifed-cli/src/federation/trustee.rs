//! `trustee`: one of the three trustees of a study serves it, by its own policy.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use sprifed::{TrusteeAnswer, TrusteeCheckAnswer, trustee_files};
use sprifed_net::{ClientEnded, ClientLoop};
use sprifed_noise::Provenance;
use sprifed_party::{
    Finished, InvitationFolder, StudyFolder, TrusteeApplication, TrusteeFolder, TrusteeRuntime,
    TrusteeSeat, seat_name, seat_names,
};
use sprifed_privacy::counted;
use sprifed_study::{Agreed, SignedReceipt};

use super::check::takes_part;
use super::connection::ConnectionArguments;
use super::{listed, read, unusable};
use crate::entropy::entropy;
use crate::failure::{Explained as _, Failure};
use crate::output::Output;

/// `trustee`.
#[derive(Args, Debug)]
pub(crate) struct Trustee {
    /// The folder `for-trustee-NAME` that the coordinator gave this trustee.
    invitation: PathBuf,
    /// The folder that `study trustee` made.
    #[arg(long, value_name = "FOLDER")]
    identity: PathBuf,
    #[command(flatten)]
    connection: ConnectionArguments,
    /// Say what the study is, who the other trustees are, how much work it is, and everything that is not allowed; and
    /// stop. Nothing is sent; exit code 1 if something is not allowed.
    #[arg(long)]
    check: bool,
    /// NOT PRIVATE: take all secrets and noise from this seed; only for studies that say so.
    #[arg(long, value_name = "SEED")]
    simulate_noise: Option<u64>,
}

impl Trustee {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let invited = InvitationFolder::new(&self.invitation);
        let (invitation, agreed) = invited.invitation()?;
        let agreed = Arc::new(agreed);
        let trustee = TrusteeFolder::new(&self.identity);
        let identity = trustee.identity()?;
        let folder = StudyFolder::in_home(trustee.path(), agreed.digest());
        let application = TrusteeApplication {
            trustee: &trustee,
            agreed: &agreed,
            identity: &identity,
            folder: &folder,
        };
        let (_, entry) = application.seat().explained()?;
        let mine = seat_name(&entry.name);
        let names = seat_names(agreed.agreement());
        let connection = self.connection.connection(
            &invited,
            (&invitation, &agreed),
            trustee.tls_key(),
            (&mine, &names),
        )?;
        if self.check {
            return say_check(&application, &connection.address, output);
        }
        let admission = application.apply().explained()?;
        Self::say_terms(&agreed, output);
        folder.begin(&read(&invited.document())?)?;
        if agreed.agreement().noise == Provenance::Cryptographic && !admission.is_known {
            trustee.take_study_key(&folder, entry)?;
        }
        let seat = TrusteeSeat {
            agreed: Arc::clone(&agreed),
            identity: identity.clone(),
            seed: self.simulate_noise,
            key: folder.trustee_key(),
            folder: folder.clone(),
            files: trustee_files,
            entropy,
        };
        let runtime = TrusteeRuntime::new(seat).explained()?;
        folder.mark_begun()?;
        let serving = ClientLoop::open(connection.begin(), runtime).explained()?;
        match serving.run_until_signal().explained()? {
            ClientEnded::Interrupted => {
                output.interrupted();
                Ok(())
            }
            ClientEnded::Finished(ended) => finish(&agreed, &folder, &ended, output),
        }
    }

    fn say_terms(agreed: &Agreed, output: &Output) {
        let agreement = agreed.agreement();
        let is_protected = agreement.noise == Provenance::Cryptographic;
        output.note(&format!(
            "{}{}: {} over {}, {}, {}",
            if is_protected {
                ""
            } else {
                "NOT PROTECTED, the noise is simulated: "
            },
            agreement.title,
            agreement.procedure,
            counted(agreement.setting.n_features, "feature", "features"),
            counted(agreement.parties.len(), "party", "parties"),
            counted(agreed.n_steps(), "choice or sum", "choices and sums"),
        ));
    }
}

/// Says how the study ended; without a model the command has failed.
fn finish(
    agreed: &Agreed,
    folder: &StudyFolder,
    ended: &Finished,
    output: &Output,
) -> Result<(), Failure> {
    let path = folder.receipt();
    let receipt: SignedReceipt = serde_json::from_slice(&read(&path)?)
        .map_err(|error| unusable(&path, &error, "a receipt"))?;
    let document = &receipt.receipt;
    if !ended.success {
        return Err(Failure::outcome(
            "sprifed::study::no-model",
            format!("the study ended without a model: {}", document.ending),
            "the receipt says what was opened; the keys of this study are erased",
        ));
    }
    let released = document.sums.iter();
    let released = released.filter(|sum| sum.outcome.survivors().is_some());
    let answer = TrusteeAnswer {
        study: *agreed.digest(),
        title: document.agreement.title.clone(),
        ending: document.ending.clone(),
        opened: released.count(),
        files: ended.files.clone(),
    };
    output.answer(&answer, |answer| {
        format!(
            "{}\n\nthe study is complete: this trustee opened {} with the two others; its keys of this study are \
             erased\n{}",
            document.guarantee.statement,
            counted(answer.opened, "choice or sum", "choices and sums"),
            listed(&answer.files)
        )
    });
    Ok(())
}

/// Says everything that a trustee should know before it serves.
///
/// # Errors
/// When something is not allowed, after all of it was said, or a file cannot be read.
fn say_check(
    application: &TrusteeApplication<'_>,
    address: &str,
    output: &Output,
) -> Result<(), Failure> {
    let admission = application.look().explained()?;
    let answer = TrusteeCheckAnswer::of(application.agreed, &admission, address)?;
    output.answer(&answer, TrusteeCheckAnswer::text);
    takes_part(
        "trustee",
        &answer.problems,
        "talk to the coordinator, or change the policy; nothing was sent",
    )
}
