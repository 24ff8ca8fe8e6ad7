//! A study on disk: identities, tables, an invitation for each party, and processes to run.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sprifed_net::{CertificateOrder, fingerprint, issue, request_certificate};

pub(crate) use crate::process::{
    Running, code_of, is_slow, output_of, refusal_in, refused, refused_as, sprifed, succeed,
};
use crate::transcript::Transcript;

/// What kind of study is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) parties: u32,
    pub(crate) records: u32,
    pub(crate) quorum: u32,
    pub(crate) repeats: u32,
    /// Seconds that the coordinator waits in a phase.
    pub(crate) patience: u32,
    /// Seconds that it stays after the end for those who have not left.
    pub(crate) stay: u32,
    pub(crate) simulated: bool,
    /// Whether three trustees choose and add up.
    pub(crate) trustees: bool,
    /// Whether each party has an intercept of its own.
    pub(crate) site_effects: bool,
    /// Whether columns have no public scales, and private ones are asked for.
    pub(crate) column_scales: bool,
    /// Whether tables have a category, `x_arm`, with an effect, whose levels are one candidate.
    pub(crate) category: bool,
    /// Whether the response has two levels.
    pub(crate) binary: bool,
    /// Whether the response is a time to an event.
    pub(crate) survival: bool,
}

impl Default for Kind {
    fn default() -> Self {
        Self {
            parties: 3,
            records: 120,
            quorum: 3,
            repeats: 0,
            patience: 60,
            stay: 20,
            simulated: true,
            trustees: false,
            site_effects: false,
            column_scales: false,
            category: false,
            binary: false,
            survival: false,
        }
    }
}

impl Kind {
    /// The same with noise that no party can repeat.
    pub(crate) const fn secret(self) -> Self {
        Self {
            simulated: false,
            ..self
        }
    }
}

/// A folder with everything that the parties and the coordinator of one study have.
pub(crate) struct Stage {
    pub(crate) folder: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) port: u16,
}

pub(crate) const SEED: &str = "11";

/// What every study of a stage is for.
pub(crate) const PURPOSE: &str = "testing what matters";

const NUMBER: &str = "[response]\nname = \"y\"\nlower = -12.0\nupper = 12.0\n";

const LEVELS: &str = "[response]\nname = \"y\"\noutcome = \"binary\"\nlevels = [\"no\", \"yes\"]\n";

const TIMES: &str =
    "[response]\nname = \"y\"\noutcome = \"survival\"\nevent = \"dead\"\nhorizon = 2\n";

const FEATURES: &str = "[features]\nlower = -2.0\nupper = 2.0\ncenter = 0.0\n";

#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test of processes"
)]
pub(crate) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

impl Stage {
    pub(crate) fn new(name: &str, kind: Kind) -> Self {
        let folder = std::env::temp_dir().join(format!("sprifed-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let stage = Self {
            folder,
            kind,
            port: free_port(),
        };
        for party in 0..kind.parties {
            stage.write_table(party);
            stage.make_identity(party);
        }
        let sites = if kind.site_effects {
            "[record]\nsite_effects = true\n"
        } else {
            ""
        };
        let scales = if kind.column_scales {
            ""
        } else {
            "scale = 1.0\n"
        };
        let category = if kind.category {
            "[feature.x_arm]\nlevels = [\"placebo\", \"low\", \"high\"]\ntogether = true\n"
        } else {
            ""
        };
        let response = match (kind.binary, kind.survival) {
            (true, _) => LEVELS,
            (_, true) => TIMES,
            (false, false) => NUMBER,
        };
        let schema = [response, FEATURES, scales, sites, category].concat();
        fs::write(stage.folder.join("schema.toml"), schema).unwrap();
        stage.make_trustees();
        stage.init("study");
        stage.write_policies();
        stage.write_trustee_policies();
        stage
    }

    /// Every party allows the study among these parties, and little else.
    pub(crate) fn write_policies(&self) {
        let key = self.invitation()["agreement"]["coordinator"].clone();
        for party in 0..self.kind.parties {
            let others = (0..self.kind.parties).filter(|other| *other != party);
            let parties = others.map(|other| format!("p{other} = {}\n", self.key_of(other)));
            let policy = format!(
                "coordinators = [{key}]\npurposes = [\"{PURPOSE}\"]\ncolumns = [\"y\", \"x*\"]\nexpires = \"2999-12-31\"\n\
                 largest-epsilon-per-study = 200.0\nlargest-epsilon-in-total = 200.0\n\
                 largest-delta = 1e-5\nlargest-delta-in-total = 1e-5\nsmallest-quorum = {}\nlargest-colluder-share = 0.0\n\
                 procedures = [\"{}\"]\nunits = [\"record\"]\nneighbours = [\"zero-out\"]\n\
                 trustees = [{}]\nlargest-trustee-coalition = 1\nallow-simulated-noise = true\n\
                 [parties]\n{}",
                self.kind.quorum.min(3),
                if self.kind.trustees {
                    "argmax"
                } else {
                    "sieve"
                },
                self.trustee_keys().join(", "),
                parties.collect::<String>()
            );
            fs::write(self.party(party).join("policy.toml"), policy).unwrap();
        }
    }

    /// The identity key of a party, in quotes.
    pub(crate) fn key_of(&self, party: u32) -> Value {
        json_at(&self.party(party).join("party.json"))["identity"].clone()
    }

    /// A transcript that hides where this stage is and what keys it has.
    pub(crate) fn transcript(&self) -> Transcript {
        let mut seen = Transcript::new();
        seen.hide(self.folder.display().to_string(), "[stage]");
        seen.hide(format!("localhost:{}", self.port), "localhost:[port]");
        let coordinator = self.invitation()["agreement"]["coordinator"].clone();
        seen.hide(coordinator.as_str().unwrap(), "[key of the coordinator]");
        for party in 0..self.kind.parties {
            let key = self.key_of(party);
            seen.hide(key.as_str().unwrap(), &format!("[key of p{party}]"));
        }
        seen
    }

    pub(crate) fn party(&self, party: u32) -> PathBuf {
        self.folder.join(format!("p{party}"))
    }

    pub(crate) fn table(&self, party: u32) -> PathBuf {
        self.folder.join(format!("p{party}.csv"))
    }

    pub(crate) fn study(&self) -> PathBuf {
        self.folder.join("study")
    }

    pub(crate) fn invitation(&self) -> Value {
        json_at(&self.study().join("invitation.json"))
    }

    pub(crate) fn receipt(&self) -> Value {
        json_at(&self.study().join("result/receipt.json"))
    }

    /// Two features of twelve matter; values repeat in a pattern that no other feature follows. Of two levels, their sum
    /// is the logarithm of the odds; of times, a third of it that of the hazard.
    fn write_table(&self, party: u32) {
        let mut text = String::from(if self.kind.survival { "y,dead" } else { "y" });
        for feature in 0..12 {
            text += &format!(",x{feature}");
        }
        if self.kind.category {
            text += ",x_arm";
        }
        text.push('\n');
        let mut state = u64::from(party) * 7919 + 1;
        let mut draw = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99);
            let mixed = (state ^ (state >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
            f64::from(u32::try_from(mixed >> 40).unwrap()) / f64::from(1 << 23) * 1.7 - 1.7
        };
        for record in 0..self.kind.records {
            let row: Vec<f64> = (0..12).map(|_| draw()).collect();
            let arm = record % 3;
            let effect = match self.kind.category {
                true => [0.0, -4.0, 5.0][arm as usize],
                false => 0.0,
            };
            let sum = effect + 2.0 * row[3] - 1.5 * row[8];
            text += &if self.kind.binary {
                let share = (draw() + 1.7) / 3.4;
                let event = share < 1.0 / (1.0 + (-sum).exp());
                if event { "yes" } else { "no" }.to_owned()
            } else if self.kind.survival {
                let share = (draw() + 1.7) / 3.4;
                let time = -(1.0 - share).ln() / (sum / 3.0).exp();
                let censored = 4.0 * (draw() + 1.7) / 3.4;
                let event = u8::from(time <= censored);
                format!("{:.5},{event}", time.min(censored))
            } else {
                format!("{:.5}", sum + 0.05 * draw())
            };
            for value in row {
                text += &format!(",{value:.5}");
            }
            if self.kind.category {
                text += [",placebo", ",low", ",high"][arm as usize];
            }
            text.push('\n');
        }
        fs::write(self.table(party), text).unwrap();
    }

    fn make_identity(&self, party: u32) {
        let mut command = sprifed();
        command.args(["study", "identity", &format!("p{party}")]);
        command.args(["--records", &self.kind.records.to_string(), "--out"]);
        command.arg(self.party(party));
        if self.kind.simulated {
            command.args(["--simulate", SEED, "--place", &party.to_string()]);
        }
        succeed(&mut command);
    }

    pub(crate) fn init(&self, name: &str) {
        succeed(&mut self.init_command(name));
    }

    /// `study init` of all parties of the stage.
    pub(crate) fn init_command(&self, name: &str) -> Command {
        let mut command = sprifed();
        command.args(["study", "init"]).arg(self.folder.join(name));
        for party in 0..self.kind.parties {
            command
                .arg("--party")
                .arg(self.party(party).join("party.json"));
        }
        command.arg("--schema").arg(self.folder.join("schema.toml"));
        command.arg("--columns").arg(self.table(0));
        // Beyond about 70 the clamps of trustees would use up delta.
        let epsilon = if self.kind.trustees { "20" } else { "90" };
        command.args(["--sparsity", "2", "--epsilon", epsilon, "--delta", "1e-6"]);
        if self.kind.trustees {
            for trustee in 0..3 {
                let public = self.trustee_folder(trustee).join("trustee.json");
                command.arg("--trustee").arg(public);
            }
        } else {
            command.args([
                "--procedure",
                "sieve",
                "--quorum",
                &self.kind.quorum.to_string(),
            ]);
        }
        command.args(["--repeats", &self.kind.repeats.to_string()]);
        command.args(["--address", &format!("localhost:{}", self.port)]);
        command.args(["--purpose", PURPOSE]);
        if self.kind.column_scales {
            command.args(["--column-scales", "always"]);
        }
        if self.kind.simulated {
            command.arg("--simulate-noise");
        }
        command
    }

    pub(crate) fn coordinate(&self) -> Command {
        let mut command = sprifed();
        command.arg("coordinate").arg(self.study());
        command.args([
            "--listen",
            &format!("127.0.0.1:{}", self.port),
            "--stay",
            &self.kind.stay.to_string(),
        ]);
        command.args([
            "--wait-for-answers",
            &self.kind.patience.to_string(),
            "--json",
        ]);
        command
    }

    pub(crate) fn join(&self, party: u32) -> Command {
        let mut command = self.join_as(party, party);
        if self.brought(party).0.exists() {
            self.present(&mut command, party);
        }
        command
    }

    /// The party with this identity and table, behind certificate and key of `stolen`.
    pub(crate) fn join_behind(&self, party: u32, stolen: u32) -> Command {
        let mut command = self.join_as(party, party);
        self.present(&mut command, stolen);
        command
    }

    fn present(&self, command: &mut Command, party: u32) {
        let (certificate, key) = self.tls_of(party);
        command.arg("--tls-certificate").arg(certificate);
        command.arg("--tls-key").arg(key);
    }

    /// The certificate and the key with which a party connects.
    pub(crate) fn tls_of(&self, party: u32) -> (PathBuf, PathBuf) {
        let brought = self.brought(party);
        if brought.0.exists() {
            return brought;
        }
        let folder = self.study().join(format!("for-p{party}"));
        (folder.join("tls.pem"), self.party(party).join("tls.key"))
    }

    fn brought(&self, party: u32) -> (PathBuf, PathBuf) {
        let file = |end| self.folder.join(format!("brought-{party}.{end}"));
        (file("pem"), file("key"))
    }

    /// The party with this identity and table, but the invitation's folder of `certificate`.
    pub(crate) fn join_as(&self, party: u32, certificate: u32) -> Command {
        let mut command = sprifed();
        command
            .arg("join")
            .arg(self.study().join(format!("for-p{certificate}")));
        command.arg("--identity").arg(self.party(party));
        command.arg("--data").arg(self.table(party));
        command.args(["--give-up-after", "90", "--json"]);
        if self.kind.simulated {
            command.args(["--simulate-noise", SEED]);
        }
        command
    }

    /// Gives `party` a certificate of its own, of another authority and with another name.
    pub(crate) fn bring_certificate(&self, party: u32, name: &str) {
        let (key, request) = request_certificate(name).unwrap();
        let own = issue(&CertificateOrder {
            folder: self.folder.join(format!("own-{name}")),
            coordinator_hosts: vec!["localhost".to_owned()],
            clients: vec![(name.to_owned(), request)],
            valid_days: 3,
        })
        .unwrap();
        let mine = &own.clients[0].0;
        let brought = self.brought(party);
        fs::copy(mine, brought.0).unwrap();
        fs::write(brought.1, key.as_bytes()).unwrap();
        let path = self.study().join("roster.json");
        let mut roster = json_at(&path);
        let digits = fingerprint(mine).unwrap().to_string();
        roster["certificates"][party as usize] = serde_json::json!(with_colons(&digits));
        fs::write(&path, roster.to_string()).unwrap();
        let trusted = self.study().join("tls/authority.pem");
        let mut trusted = fs::File::options().append(true).open(trusted).unwrap();
        let own = fs::read(&own.authority).unwrap();
        trusted.write_all(&own).unwrap();
    }

    /// The fit of all parties in one process.
    pub(crate) fn rehearse(&self) -> Value {
        let mut command = self.rehearse_command(SEED);
        serde_json::from_slice(&succeed(&mut command).stdout).unwrap()
    }

    /// `study rehearse` with this seed.
    pub(crate) fn rehearse_command(&self, seed: &str) -> Command {
        let mut command = sprifed();
        command.args(["study", "rehearse"]).arg(self.study());
        for party in 0..self.kind.parties {
            command.arg("--data").arg(self.table(party));
        }
        command.args(["--seed", seed, "--json"]);
        command
    }

    /// These parties were charged what the study says it cost, and nothing more.
    pub(crate) fn check_charged_as_stated(&self, parties: std::ops::Range<u32>) {
        let receipt = self.receipt();
        let stated = receipt["receipt"]["ledger"]["spent"].as_f64().unwrap();
        for party in parties {
            assert!((self.charged(party) - stated).abs() < 1e-12, "{stated}");
        }
    }

    /// What a study without repeats costs once anything was charged: its budget.
    pub(crate) const CEILING: f64 = 90.0;

    /// ε that the party's own receipt says it was charged.
    pub(crate) fn charged(&self, party: u32) -> f64 {
        let folder = fs::read_dir(self.party(party)).unwrap();
        let folder = folder
            .map(|entry| entry.unwrap().path())
            .find(|path| path.is_dir())
            .unwrap();
        let receipt = json_at(&folder.join("receipt.json"));
        receipt["statement"]["ledger"]["spent"].as_f64().unwrap()
    }

    /// The fit is that of one process, and no party was charged less than the study says it cost.
    pub(crate) fn check_result(&self) {
        let receipt = self.receipt();
        assert_eq!(receipt["receipt"]["fit"], self.rehearse()["fit"]);
        let stated = receipt["receipt"]["ledger"]["spent"].as_f64().unwrap();
        for party in 0..self.kind.parties {
            assert!(
                self.charged(party) >= stated - 1e-12,
                "party {party} was charged too little"
            );
        }
    }
}

/// As `openssl x509 -fingerprint -sha256` prints it.
fn with_colons(digits: &str) -> String {
    let pairs = digits.as_bytes().chunks(2);
    let pairs = pairs.map(|pair| String::from_utf8_lossy(pair).to_uppercase());
    pairs.collect::<Vec<_>>().join(":")
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

pub(crate) fn json_at(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap()
}

/// Waits until `done`, for at most two minutes.
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..2400 {
        if done() {
            return;
        }
        pause(std::time::Duration::from_millis(50));
    }
    panic!("{what} did not happen");
}

#[expect(clippy::disallowed_methods, reason = "a test of processes")]
pub(crate) fn pause(time: std::time::Duration) {
    std::thread::sleep(time);
}

/// All processes end, and well. The first that fails ends the test: the others may wait for it for days.
pub(crate) fn all_succeed(mut parties: Vec<Running>, mut coordinator: Running, log: &Path) {
    for _ in 0..6000 {
        let all = parties.iter_mut().chain([&mut coordinator]);
        let failed = all.filter_map(Running::ended).any(|ended| !ended.success());
        if failed || parties.iter_mut().all(Running::is_over) && coordinator.is_over() {
            break;
        }
        pause(std::time::Duration::from_millis(50));
    }
    for (party, running) in parties.iter_mut().enumerate() {
        let said = fs::read_to_string(log).unwrap();
        assert!(running.has_succeeded(), "party {party}\n{said}");
    }
    let said = fs::read_to_string(log).unwrap();
    assert!(coordinator.has_succeeded(), "the coordinator\n{said}");
    for running in parties.into_iter().chain([coordinator]) {
        running.finish();
    }
}

/// The messages of the present sum that the coordinator has stored, with their senders.
pub(crate) fn stored(state: &Path) -> Vec<(u32, Vec<u8>)> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let Ok(state) = rusqlite::Connection::open_with_flags(state, flags) else {
        return Vec::new();
    };
    let sql = "SELECT party, bytes FROM events WHERE kind = 'message' ORDER BY number";
    let Ok(mut statement) = state.prepare(sql) else {
        return Vec::new();
    };
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    found.map_or_else(|_| Vec::new(), |rows| rows.filter_map(Result::ok).collect())
}
