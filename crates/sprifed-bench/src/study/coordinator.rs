//! The coordinator of a measurement, in its own process, and what that process used.

use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{json_at, refuse};
use crate::error::Error;

/// What a process used, as the system tells it while it runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    pub(super) peak_kibibytes: f64,
    pub(super) cpu_seconds: f64,
}

/// A coordinator that is watched until it ends.
pub(super) struct Coordinator {
    child: Child,
    watch: JoinHandle<Used>,
    stop: Sender<()>,
}

/// A port on which no process listens now.
pub(super) fn free_port() -> Result<u16, Error> {
    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "a port for the coordinator"
    )]
    let bound = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address = bound.and_then(|listener| listener.local_addr());
    address
        .map(|address| address.port())
        .map_err(|error| refuse(format!("no port is free: {error}")))
}

impl Coordinator {
    pub(super) fn start(mut command: Command, study: &Path, log: &Path) -> Result<Self, Error> {
        let invitation = json_at(&study.join("invitation.json"))?;
        let address = invitation["reach"]["address"].as_str().unwrap_or_default();
        let port = address.rsplit(':').next().unwrap_or_default().to_owned();
        let log = File::create(log).map_err(|error| refuse(format!("no log: {error}")))?;
        command.arg("coordinate").arg(study);
        command.args(["--listen", &format!("127.0.0.1:{port}"), "--stay", "60"]);
        command.args(["--wait-for-answers", "1200"]);
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        let child = child
            .spawn()
            .map_err(|error| refuse(format!("the coordinator does not start: {error}")))?;
        let (stop, stopped) = channel();
        let id = child.id();
        let watch = std::thread::spawn(move || {
            let mut used = Used::default();
            while stopped.recv_timeout(Duration::from_millis(20)) == Err(RecvTimeoutError::Timeout)
            {
                used = now(id).unwrap_or(used);
            }
            used
        });
        Ok(Self { child, watch, stop })
    }

    /// Waits for its end.
    pub(super) fn finish(mut self) -> Result<Used, Error> {
        let ended = self.child.wait();
        let _ = self.stop.send(());
        let used = self.watch.join().unwrap_or_default();
        match ended {
            Ok(status) if status.success() => Ok(used),
            _ => Err(refuse("the coordinator failed; see its log".to_owned())),
        }
    }
}

/// Peak memory and CPU time of a process that runs, where the system has `/proc`.
fn now(id: u32) -> Option<Used> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let peak_kibibytes = peak.split_whitespace().next()?.parse().ok()?;
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // After the name, which may hold anything: state, then ten numbers, then the two that count.
    let numbers: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |place: usize| numbers.get(place)?.parse::<f64>().ok();
    Some(Used {
        peak_kibibytes,
        cpu_seconds: (ticks(11)? + ticks(12)?) / TICKS_PER_SECOND,
    })
}

/// As Linux tells them to programs on every usual machine.
const TICKS_PER_SECOND: f64 = 100.0;
