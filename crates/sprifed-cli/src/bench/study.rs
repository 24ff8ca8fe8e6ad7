//! `bench study`: whole studies over mutual TLS, the coordinator in a process of its own, all parties
//! in this one.

mod coordinator;
mod cpu_clock;
mod phases;
mod wire;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sprifed_net::request_certificate;
use sprifed_party::{CertificateRequest, PublicParty};
use sprifed_report::table;
use sprifed_study::{Digest, PartyKey};

use self::coordinator::{Coordinator, ourselves};
use self::phases::{Phases, read_phases};
use crate::failure::{Explained as _, Failure};
use crate::federation::{SEED, run_all_parties, tls_key_of};
use crate::files::create_private;
use crate::output::Output;

/// `bench study`.
#[derive(Args, Debug)]
pub(crate) struct Study {
    /// How many parties, one record each; several numbers, several studies.
    #[arg(long, value_delimiter = ',', default_value = "250")]
    clients: Vec<u32>,
    /// How many features.
    #[arg(long, value_delimiter = ',', default_value = "1000,10000")]
    features: Vec<u32>,
    /// How many features are chosen.
    #[arg(long, default_value_t = 2)]
    sparsity: u32,
    /// A folder for the studies, which must not exist; about 1 MB for each party.
    #[arg(long, default_value = "bench-study")]
    folder: PathBuf,
}

/// What one study took.
#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    clients: u32,
    features: u32,
    sums: usize,
    /// Parties whose part ended with a model.
    finished: usize,
    sums_per_minute: f64,
    /// From the first connection to the end.
    seconds: f64,
    coordinator_peak_mebibytes: f64,
    coordinator_cpu_seconds: f64,
    /// Of this process: all parties.
    parties_cpu_seconds: f64,
    /// On the loopback device, both directions together; not known on every system.
    wire_mebibytes: Option<f64>,
    seconds_by_phase: Phases,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Report {
    is_optimised: bool,
    rows: Vec<Row>,
}

impl Study {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        make(&self.folder)?;
        let mut rows = Vec::new();
        for features in &self.features {
            for clients in &self.clients {
                let row = self.measure(*clients, *features)?;
                output.note(&format!(
                    "{clients} parties, {features} features: {} sums in {:.0} s",
                    row.sums, row.seconds
                ));
                rows.push(row);
            }
        }
        let is_optimised = !cfg!(debug_assertions);
        output.answer(&Report { is_optimised, rows }, to_text);
        Ok(())
    }

    fn measure(&self, clients: u32, features: u32) -> Result<Row, Failure> {
        let folder = self.folder.join(format!("{clients}-{features}"));
        make(&folder)?;
        self.prepare(&folder, clients, features)?;
        let study = folder.join("study");
        let log = folder.join("coordinator.log");
        let coordinator = Coordinator::start(&study, &log)?;
        let (begun, cpu, carried) = (Instant::now(), cpu_clock::now(), wire::carried());
        let finished = run_all_parties(&study)?;
        let parties_cpu_seconds = cpu_clock::now().saturating_sub(cpu).as_secs_f64();
        let used = coordinator.finish()?;
        let seconds = begun.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53 bytes")]
        let wire_mebibytes = wire::carried()
            .zip(carried)
            .map(|(after, before)| after.saturating_sub(before) as f64 / 1_048_576.0);
        let receipt = json_at(&study.join("result/receipt.json"))?;
        let sums = receipt["receipt"]["sums"].as_array().map_or(0, Vec::len);
        let phases = read_phases(&log)?;
        #[expect(clippy::cast_precision_loss, reason = "sums are few")]
        let sums_per_minute = 60.0 * sums as f64 / phases.sums();
        Ok(Row {
            clients,
            features,
            sums,
            finished,
            sums_per_minute,
            seconds,
            coordinator_peak_mebibytes: used.peak_kibibytes / 1024.0,
            coordinator_cpu_seconds: used.cpu_seconds,
            parties_cpu_seconds,
            wire_mebibytes,
            seconds_by_phase: phases,
        })
    }

    /// Writes down a study of made-up parties.
    fn prepare(&self, folder: &Path, clients: u32, features: u32) -> Result<(), Failure> {
        let mut words: Vec<String> = ["study", "init", "study", "--simulate-noise"]
            .map(str::to_owned)
            .to_vec();
        for place in 0..clients {
            let key = PartyKey::simulated(SEED, 0).of_party(place).identity();
            let name = format!("party-{place}");
            let identity = Digest(key.public());
            let (tls_key, request) = request_certificate(&name).explained()?;
            create_private(&folder.join(tls_key_of(&name)), &tls_key)?;
            let request = CertificateRequest::sign(request, &key);
            let file = format!("{name}.json");
            let party = PublicParty {
                name,
                identity,
                records: 1,
                simulated: false,
                certificate_request: Some(request),
            };
            let party = serde_json::to_string(&party).unwrap_or_default();
            create_private(&folder.join(&file), &party)?;
            words.extend(["--party".to_owned(), file]);
        }
        create_private(&folder.join("schema.toml"), SCHEMA)?;
        let names: Vec<String> = (0..features).map(|feature| format!("x{feature}")).collect();
        create_private(
            &folder.join("columns.csv"),
            &format!("y,{}\n", names.join(",")),
        )?;
        let address = format!("localhost:{}", coordinator::free_port()?);
        let settings = [
            ("--schema", "schema.toml".to_owned()),
            ("--columns", "columns.csv".to_owned()),
            ("--sparsity", self.sparsity.to_string()),
            ("--epsilon", "90".to_owned()),
            ("--procedure", "sieve".to_owned()),
            ("--purpose", "measuring".to_owned()),
            ("--address", address),
        ];
        words.extend(
            settings
                .into_iter()
                .flat_map(|(name, value)| [name.to_owned(), value]),
        );
        let ended = ourselves()?.args(words).current_dir(folder).output();
        let ended =
            ended.map_err(|error| refuse(format!("`study init` does not start: {error}")))?;
        if ended.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        Err(refuse(format!("`study init` failed: {said}")))
    }
}

fn make(folder: &Path) -> Result<(), Failure> {
    let made = std::fs::create_dir(folder);
    made.map_err(|error| refuse(format!("`{}` cannot be made: {error}", folder.display())))
}

fn json_at(path: &Path) -> Result<Value, Failure> {
    let read = std::fs::read(path).ok();
    let read = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    read.ok_or_else(|| refuse(format!("`{}` cannot be read", path.display())))
}

fn refuse(message: String) -> Failure {
    let help = "mend this, and name a new --folder";
    Failure::environment("sprifed::bench::study", message, help)
}

fn to_text(report: &Report) -> String {
    let heading = [
        "parties",
        "features",
        "sums",
        "finished",
        "sums/min",
        "seconds",
        "enrol",
        "upload",
        "confirm",
        "unmask",
        "receipt",
        "peak MiB",
        "CPU s",
        "parties' CPU s",
        "wire MiB",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(report.rows.iter().map(|row| {
        let by = &row.seconds_by_phase;
        let mut cells = vec![
            row.clients.to_string(),
            row.features.to_string(),
            row.sums.to_string(),
            row.finished.to_string(),
        ];
        let figures = [
            row.sums_per_minute,
            row.seconds,
            by.enrolment,
            by.uploads,
            by.confirmations,
            by.unmasking,
            by.receipts,
            row.coordinator_peak_mebibytes,
            row.coordinator_cpu_seconds,
            row.parties_cpu_seconds,
        ];
        cells.extend(figures.map(|figure| format!("{figure:.1}")));
        let wire = row.wire_mebibytes;
        cells.push(wire.map_or("unknown".to_owned(), |wire| format!("{wire:.2}")));
        cells
    }));
    let mut text = table(&rows);
    text += "peak and CPU: the coordinator's process. Phases: seconds from the close of the one before. \
             Wire: all bytes of the loopback device\n";
    if !report.is_optimised {
        text += "this build is not optimised, so the figures mean nothing: use --release\n";
    }
    text
}

const SCHEMA: &str = "[response]\nname = \"y\"\nlower = -4.0\nupper = 4.0\n\
                      [features]\nlower = -1.0\nupper = 1.0\ncenter = 0.0\nscale = 1.0\n";
