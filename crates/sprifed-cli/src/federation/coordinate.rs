//! `coordinate`: serves a study until it is over.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use sprifed::EndedAnswer;
use sprifed_net::{
    Ended, Identity, Limits, LogLevel, Patience, Refused, Server, ServerConfig, start_logs,
};
use sprifed_party::{Invitation, read_key};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Agreed, StudyCoordinator};

use super::coordinator_machine::StudyMachine;
use super::roster::read_roster;
use super::{read, text_of_features, unusable};
use crate::failure::{Explained as _, Failure};
use crate::files::create_private;
use crate::model::software;
use crate::output::Output;

/// `coordinate`.
#[derive(Args, Debug)]
pub(crate) struct Coordinate {
    /// The folder of the study.
    folder: PathBuf,
    /// Where parties connect.
    #[arg(long, default_value = "0.0.0.0:8443")]
    listen: SocketAddr,
    /// Where the read-only page is, without TLS; keep it on a loopback address.
    #[arg(long, value_name = "ADDRESS")]
    page: Option<SocketAddr>,
    /// The coordinator's own certificate, instead of the one that `study init` made.
    #[arg(long, value_name = "FILE.pem", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// Its key.
    #[arg(long, value_name = "FILE.key", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// Seconds to wait for all parties to enrol.
    #[arg(long, default_value_t = 24 * 3600, value_name = "SECONDS")]
    wait_for_parties: u64,
    /// Seconds to wait in each later phase before a party that has not answered has dropped out of the sum.
    #[arg(long, default_value_t = 600, value_name = "SECONDS")]
    wait_for_answers: u64,
    /// Seconds to wait for a party that dropped out before and was silent since, once all others have answered.
    #[arg(long, default_value_t = 2, value_name = "SECONDS")]
    wait_for_missing: u64,
    /// Seconds to stay after the end, for parties to fetch the receipt: less if all have it, unless there is
    /// a page, where people may be looking at the result.
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    stay: u64,
    /// Log more.
    #[arg(long)]
    verbose: bool,
}

/// Ends a study for good when it is there.
pub(super) const CANCELLED: &str = "cancelled";

/// The coordinator's state.
pub(super) const STATE: &str = "state.sqlite";

/// Is there from the first time on that the study was served.
const BEGUN: &str = "begun";

/// A coordinator without its state would open sums a second time.
///
/// # Errors
/// When the study of `folder` was served before and its state is gone.
pub(super) fn refuse_lost_state(folder: &Path) -> Result<(), Failure> {
    let state = folder.join(STATE);
    if state.exists() || !folder.join(BEGUN).exists() {
        return Ok(());
    }
    Err(Failure::outcome(
        "sprifed::study::state-lost",
        format!(
            "this study was begun before, but its state `{}` is gone",
            state.display()
        ),
        "restore the folder as it was last, or make another study; what parties were charged stays charged",
    ))
}

/// The study of a folder, checked.
pub(super) fn read_study(folder: &Path) -> Result<(Invitation, Arc<Agreed>), Failure> {
    let (invitation, agreed) = Invitation::read(&folder.join("invitation.json"))?;
    Ok((invitation, Arc::new(agreed)))
}

/// The coordinator's machine of a folder.
pub(super) fn open_machine(folder: &Path, agreed: &Arc<Agreed>) -> Result<StudyMachine, Failure> {
    let path = folder.join("coordinator.key");
    let identity = IdentityKey::from_stored(&*read_key(&path)?);
    let study = StudyCoordinator::open(Arc::clone(agreed), identity, &software());
    let study = study.map_err(|error| unusable(&path, &error, "the coordinator's key"))?;
    Ok(StudyMachine::new(study))
}

impl Coordinate {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let (_, agreed) = read_study(&self.folder)?;
        if self.folder.join(CANCELLED).exists() {
            output.note(
                "the study is cancelled: its parties are told, nothing else is asked of them",
            );
        }
        start_logs(if self.verbose {
            LogLevel::Debug
        } else {
            LogLevel::Info
        });
        let machine = open_machine(&self.folder, &agreed)?;
        let config = self.config(&agreed)?;
        refuse_lost_state(&self.folder)?;
        let server = Server::open(config, || Ok::<_, Refused>(machine)).explained()?;
        // The state is there, and no party was asked anything yet.
        let begun = self.folder.join(BEGUN);
        if !begun.exists() {
            create_private(
                &begun,
                "this study was begun; its state is in state.sqlite\n",
            )?;
        }
        output.note(&format!("listening on {}", server.address()));
        if let Some(page) = server.page_address() {
            output.note(&format!("the page is at http://{page}/"));
        }
        match server.run_until_signal().explained()? {
            Ended::Interrupted => {
                output.interrupted();
                Ok(())
            }
            Ended::Finished(files) => finished(&files, output),
        }
    }

    fn config(&self, agreed: &Agreed) -> Result<ServerConfig, Failure> {
        let tls = self.folder.join("tls");
        let identity = match (&self.tls_certificate, &self.tls_key) {
            (Some(certificate), Some(key)) => Identity {
                certificate: certificate.clone(),
                key: key.clone(),
            },
            _ => Identity {
                certificate: tls.join("coordinator.pem"),
                key: tls.join("coordinator.key"),
            },
        };
        Ok(ServerConfig {
            study: agreed.digest().to_string(),
            listen: self.listen,
            page: self.page,
            identity,
            authorities: tls.join("authority.pem"),
            roster: read_roster(
                &self.folder.join("roster.json"),
                &agreed.agreement().parties,
            )?,
            state: self.folder.join(STATE),
            artefacts: self.folder.join("result"),
            cancellation: self.folder.join(CANCELLED),
            patience: Patience {
                setup: Duration::from_secs(self.wait_for_parties),
                per_phase: Duration::from_secs(self.wait_for_answers),
                missing: Duration::from_secs(self.wait_for_missing),
                farewell: Duration::from_secs(self.stay),
            },
            limits: Limits {
                largest_message: agreed.largest_message(),
                ..Limits::default()
            },
        })
    }
}

/// Says how the study ended; without a model the command has failed.
fn finished(files: &[PathBuf], output: &Output) -> Result<(), Failure> {
    let receipt = files.iter().find(|path| path.ends_with("receipt.json"));
    let receipt = receipt
        .map(|path| read(path))
        .transpose()?
        .unwrap_or_default();
    let receipt: sprifed_study::SignedReceipt =
        serde_json::from_slice(&receipt).map_err(|error| {
            Failure::environment(
                "sprifed::study::receipt",
                format!("the receipt cannot be read back: {error}"),
                "look at the result folder",
            )
        })?;
    let document = &receipt.receipt;
    if document.fit.is_none() {
        return Err(Failure::outcome(
            "sprifed::study::no-model",
            format!("the study ended without a model: {}", document.ending),
            "the receipt in the result folder says what was spent",
        ));
    }
    let features = text_of_features(document)?;
    let answer = EndedAnswer::of(&receipt, files.to_vec());
    output.answer(&answer, |answer| {
        let files: Vec<String> = answer
            .files
            .iter()
            .map(|f| f.display().to_string())
            .collect();
        format!(
            "{}\n\n{features}the study is complete; {} of {} parties signed its receipt\n{}",
            document.guarantee.statement,
            receipt.parties.len(),
            document.agreement.parties.len(),
            files.join("\n")
        )
    });
    Ok(())
}
