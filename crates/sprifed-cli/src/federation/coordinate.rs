//! `coordinate`: serves a study until it is over.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use sprifed::EndedAnswer;
use sprifed_coordinator::CoordinatorFolder;
use sprifed_net::{
    Ended, Identity, Limits, LogLevel, Patience, Refused, Server, ServerConfig, start_logs,
};
use sprifed_study::Agreed;

use super::{listed, model_and_text, read};
use crate::failure::{Explained as _, Failure};
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
    /// Seconds to wait in each later phase; a party that has not answered by then has dropped out of the sum.
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

impl Coordinate {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let folder = CoordinatorFolder::new(&self.folder);
        let (_, agreed) = folder.study()?;
        if folder.cancellation().exists() {
            output.note(
                "the study is cancelled: its parties are told, nothing else is asked of them",
            );
        }
        start_logs(if self.verbose {
            LogLevel::Debug
        } else {
            LogLevel::Info
        });
        let machine = folder.machine(&agreed).explained()?;
        let config = self.config(&folder, &agreed)?;
        let server = Server::open(config, || Ok::<_, Refused>(machine)).explained()?;
        // The state is there, and no party was asked anything yet.
        folder.begin()?;
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

    fn config(&self, folder: &CoordinatorFolder, agreed: &Agreed) -> Result<ServerConfig, Failure> {
        let tls = folder.tls();
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
            roster: folder.roster(agreed).explained()?,
            state: folder.state(),
            artefacts: folder.result(),
            cancellation: folder.cancellation(),
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
    let Some((model, found)) = model_and_text(document)? else {
        return Err(Failure::outcome(
            "sprifed::study::no-model",
            format!("the study ended without a model: {}", document.ending),
            "the receipt in the result folder says what was spent",
        ));
    };
    let answer = EndedAnswer::of(&receipt, &model, files.to_vec());
    output.answer(&answer, |answer| {
        let trustees = match &document.agreement.trustees {
            Some(all) => format!(" and {} of {} trustees", receipt.trustees.len(), all.len()),
            None => String::new(),
        };
        format!(
            "{found}the study is complete; {} of {} parties{trustees} signed its receipt\n{}",
            receipt.parties.len(),
            document.agreement.parties.len(),
            listed(&answer.files)
        )
    });
    Ok(())
}
