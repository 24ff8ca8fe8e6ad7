//! The trustees of a stage: their folders, policies and processes.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::stage::{SEED, Stage, json_at, sprifed, succeed};

impl Stage {
    pub(crate) fn trustee_folder(&self, trustee: u32) -> PathBuf {
        self.folder.join(format!("t{trustee}"))
    }

    /// The identity keys of the trustees, in quotes; none without trustees.
    pub(crate) fn trustee_keys(&self) -> Vec<String> {
        let trustees = if self.kind.trustees { 0..3 } else { 0..0 };
        let key = |trustee| {
            let public = json_at(&self.trustee_folder(trustee).join("trustee.json"));
            public["trustee"]["identity"].to_string()
        };
        trustees.map(key).collect()
    }

    pub(super) fn make_trustees(&self) {
        if !self.kind.trustees {
            return;
        }
        for trustee in 0..3 {
            let mut command = sprifed();
            command.args(["study", "trustee", &format!("t{trustee}"), "--out"]);
            command.arg(self.trustee_folder(trustee)).arg("--json");
            if self.kind.simulated {
                command.args(["--simulate", SEED, "--place", &trustee.to_string()]);
            }
            succeed(&mut command);
        }
    }

    /// Every trustee serves the coordinator of the stage with the two others, and little else.
    pub(super) fn write_trustee_policies(&self) {
        let key = self.invitation()["agreement"]["coordinator"].clone();
        let keys = self.trustee_keys();
        for (trustee, own) in (0..).zip(&keys) {
            let peers = (0..).zip(&keys).filter(|(_, key)| *key != own);
            let peers = peers.map(|(place, key): (u32, _)| format!("t{place} = {key}\n"));
            let policy = format!(
                "coordinators = [{key}]\nexpires = 2999-12-31\nmost-steps = 60\nmost-clients = 10\n\
                 most-candidates = 1000\nallow-simulated-noise = true\n[trustees]\n{}",
                peers.collect::<String>()
            );
            fs::write(self.trustee_folder(trustee).join("policy.toml"), policy).unwrap();
        }
    }

    /// `trustee` for one of the three.
    pub(crate) fn trustee(&self, trustee: u32) -> Command {
        let mut command = sprifed();
        let invitation = self.study().join(format!("for-trustee-t{trustee}"));
        command.arg("trustee").arg(invitation).arg("--identity");
        command.arg(self.trustee_folder(trustee)).arg("--json");
        command.args(["--give-up-after", "90"]);
        if self.kind.simulated {
            command.args(["--simulate-noise", SEED]);
        }
        command
    }

    /// What `study status` says of the only study of a trustee.
    pub(crate) fn trustee_part(&self, trustee: u32) -> Value {
        let mut command = sprifed();
        command.args(["study", "status", "--json"]);
        let said = succeed(command.arg(self.trustee_folder(trustee))).stdout;
        let said: Value = serde_json::from_slice(&said).unwrap();
        said["studies"][0].clone()
    }
}
