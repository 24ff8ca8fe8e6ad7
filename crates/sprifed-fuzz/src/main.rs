//! Hunts for defects for some seconds with each target, on stable.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use sprifed_fuzz::{Hunted, TARGETS, Target, hunt, target};

const USAGE: &str =
    "usage: sprifed-fuzz [--seconds N] [--number N] [TARGET | FILE]…   with all targets by default
       sprifed-fuzz --write-seeds
";

fn main() -> ExitCode {
    let (mut seconds, mut number) = (5, 1);
    let mut targets: Vec<&Target> = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut numeric = || words.next().and_then(|word| word.parse::<u64>().ok());
        match (word.as_str(), target(&word)) {
            ("--write-seeds", _) => return write_seeds(),
            ("--seconds", _) => match numeric() {
                Some(value) => seconds = value,
                None => return say(USAGE, ExitCode::from(2)),
            },
            ("--number", _) => match numeric() {
                Some(value) => number = value,
                None => return say(USAGE, ExitCode::from(2)),
            },
            (_, Some(target)) => targets.push(target),
            (path, None) => return again(Path::new(path)),
        }
    }
    if targets.is_empty() {
        targets.extend(&TARGETS);
    }
    for target in targets {
        let start = Instant::now();
        let time = Duration::from_secs(seconds);
        match hunt(target, corpus(target), number, |_| start.elapsed() < time) {
            Ok(Hunted { n_runs, n_ways }) => {
                let text = format!(
                    "{}: {n_runs} inputs, {n_ways} ways, no finding\n",
                    target.name
                );
                say(&text, ExitCode::SUCCESS);
            }
            Err(finding) => {
                let folder = Path::new("target/findings");
                let path = folder.join(format!("{}-{}", target.name, digest(&finding.input)));
                let kept =
                    fs::create_dir_all(folder).and_then(|()| fs::write(&path, &finding.input));
                let text = format!(
                    "{}: FOUND after {:.1} s: {}\nthe input is in {} ({kept:?}); run it again with: sprifed-fuzz {0}\n",
                    target.name,
                    start.elapsed().as_secs_f64(),
                    finding.message,
                    path.display(),
                );
                return say(&text, ExitCode::FAILURE);
            }
        }
    }
    ExitCode::SUCCESS
}

/// The folder of the seeds, in the checkout from which this is run.
fn folder() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR");
    let manifest = manifest.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&manifest).join("corpus")
}

fn corpus(target: &Target) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = (target.seeds)().into_iter().map(|(_, seed)| seed).collect();
    let files = fs::read_dir(folder().join(target.name));
    let files = files.into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.path()).collect();
    files.sort();
    all.extend(files.into_iter().filter_map(|path| fs::read(path).ok()));
    all
}

/// Runs a finding of before: its file name begins with its target.
fn again(path: &Path) -> ExitCode {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let known = TARGETS.iter().find(|target| name.starts_with(target.name));
    match (known, fs::read(path)) {
        (Some(target), Ok(input)) => {
            (target.run)(&input);
            say("no finding\n", ExitCode::SUCCESS)
        }
        _ => say(USAGE, ExitCode::from(2)),
    }
}

fn write_seeds() -> ExitCode {
    for target in &TARGETS {
        let folder = folder().join(target.name);
        for (name, seed) in (target.seeds)() {
            let path = folder.join(name);
            let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, seed));
            if let Err(error) = written {
                return say(&format!("{}: {error}\n", path.display()), ExitCode::from(3));
            }
        }
    }
    ExitCode::SUCCESS
}

fn digest(input: &[u8]) -> String {
    let number = input
        .iter()
        .fold(0xCBF2_9CE4_8422_2325_u64, |digest, byte| {
            (digest ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3)
        });
    format!("{number:016x}")
}

fn say(text: &str, code: ExitCode) -> ExitCode {
    let _ = std::io::stdout().write_all(text.as_bytes());
    code
}
