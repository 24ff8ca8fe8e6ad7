//! The three examples of `docs/trustees.md`, as a reader runs them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::stage::{free_port, output_of};
use crate::process::is_slow_run;

/// Runs a script of `examples/trustees` and returns what it printed.
#[expect(clippy::disallowed_methods, reason = "a test of a script")]
fn example(script: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let name = format!("sprifed-{script}-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let _ = fs::remove_dir_all(&folder);
    let mut command = Command::new("sh");
    command.arg(root.join("examples/trustees").join(script));
    command.arg(&folder);
    command.env("SPRIFED", assert_cmd::cargo::cargo_bin!("sprifed"));
    command.env("PORT", free_port().to_string());
    // Fewer clinics, as the guide offers it for a small machine.
    command.env("CLINICS", "8").env("RECORDS", "60");
    let ended = output_of(&mut command);
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{script}\n{said}\n{complaint}");
    fs::remove_dir_all(&folder).unwrap();
    said
}

#[test]
fn each_example_with_trustees_ends_with_verified_receipts_and_the_three_features() {
    if cfg!(windows) || !is_slow_run() {
        return;
    }
    for script in ["three_hospitals.sh", "two_hospitals.sh", "fifty_clinics.sh"] {
        let said = example(script);
        assert_eq!(said.matches("VERIFIED").count(), 2, "{script}\n{said}");
        for part in [
            "Any two of them together see all contributions.",
            "\"name\": \"m7\"",
            "\"name\": \"m23\"",
            "\"name\": \"m51\"",
        ] {
            assert!(said.contains(part), "{script}: no {part:?}\n{said}");
        }
    }
}
