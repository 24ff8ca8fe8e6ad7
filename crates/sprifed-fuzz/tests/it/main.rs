//! Every target on its seeds, on what was found before, and on some changes that are the same every time.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use sprifed_fuzz::{TARGETS, Target, hunt};

fn corpus(name: &str) -> BTreeMap<String, Vec<u8>> {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(name);
    let files = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let named = files.map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read(path).unwrap())
    });
    named.collect()
}

#[test]
fn the_seeds_are_read_by_this_version() {
    for target in &TARGETS {
        let kept = corpus(target.name);
        for (name, seed) in (target.seeds)() {
            let (way, run) = ((target.run)(&seed), target.run);
            let is_kept = kept.get(name).is_some_and(|kept| run(kept) == way);
            assert!(
                is_kept,
                "the seed {name} of {} is of another version; run `cargo run -p sprifed-fuzz -- --write-seeds`",
                target.name
            );
        }
    }
}

/// Targets whose input is a whole sum between several clients, so that one takes much longer.
const STATE_MACHINES: [&str; 3] = ["client", "coordinator", "party"];

#[test]
fn no_target_finds_anything() {
    let is_slow = std::env::var_os("SPRIFED_SLOW").is_some();
    let hunted = |target: &Target| {
        let seeds: Vec<Vec<u8>> = corpus(target.name).into_values().collect();
        let n_seeds = seeds.len() as u64;
        let n_changes = match (is_slow, STATE_MACHINES.contains(&target.name)) {
            (false, _) => 100,
            (true, false) => 20_000,
            (true, true) => 2_000,
        };
        let ended = hunt(target, seeds, 1, |n_runs| n_runs < n_seeds + n_changes);
        if let Err(finding) = ended {
            let input = String::from_utf8_lossy(&finding.input);
            panic!(
                "{}: {}\n{:?}\n{input}",
                target.name, finding.message, finding.input
            );
        }
    };
    let next = AtomicUsize::new(0);
    let worker = || {
        let taken = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        for target in taken.map_while(|place| TARGETS.get(place)) {
            hunted(target);
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        for worker in workers {
            if let Err(finding) = worker.join() {
                resume_unwind(finding);
            }
        }
    });
}

/// Targets of the masking protocol, which do not report the path of an input.
const SILENT: [&str; 6] = [
    "client",
    "coordinator",
    "journal",
    "message",
    "notice",
    "packing",
];

#[test]
fn every_target_distinguishes_inputs() {
    // Otherwise a seed is refused at once, and what is behind that is never reached.
    for target in &TARGETS {
        let accepted = corpus(target.name).into_values().next().unwrap();
        if SILENT.contains(&target.name) {
            continue;
        }
        assert_ne!(
            (target.run)(&accepted),
            (target.run)(b"x"),
            "{}",
            target.name
        );
    }
}
