//! A panic of the real binary, wherever it happens: its own exit code, a message, and no restart.
//!
//! There is no switch that makes the program panic. What is used here is that threads cannot be started whose
//! stacks are larger than any address space, and that the runtimes below the program panic then.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::stage::{Kind, Stage, code_of, output_of, sprifed};

/// Exit code, standard output and standard error of a process that can start no thread.
fn without_threads(command: &mut Command) -> (Option<i32>, String, String) {
    command.env("RUST_MIN_STACK", (1_u64 << 62).to_string());
    let output = output_of(command);
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (output.status.code(), stdout, stderr)
}

#[test]
fn a_panic_of_a_party_or_a_coordinator_has_its_own_exit_code() {
    let stage = Stage::new("defect", Kind::default());
    let mut seen = stage.transcript();
    for (name, mut command) in [("join", stage.join(0)), ("coordinate", stage.coordinate())] {
        let (code, stdout, stderr) = without_threads(&mut command);
        assert_eq!(code, Some(4), "{command:?}: {stderr}");
        let answer: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(answer["error"]["code"], "sprifed::defect", "{stdout}");
        assert_eq!(code_of(&stderr), "sprifed::defect");
        // Where the panic was and why is the runtime's to say.
        let (_, said) = stderr.split_once("error: ").unwrap();
        let (message, _) = said.split_once(": ").unwrap();
        let (_, help) = said.rsplit_once(" help: ").unwrap();
        seen.add(name, &format!("{message}\n help: {help}"));
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn a_panic_of_any_command_has_its_own_exit_code() {
    let mut command = sprifed();
    command.args([
        "simulate",
        "--procedure",
        "grad",
        "--records",
        "300",
        "--features",
        "50",
    ]);
    let (code, stdout, stderr) = without_threads(command.args(["--sparsity", "2"]));
    assert_eq!((code, stdout.as_str()), (Some(4), ""), "{stderr}");
    assert_eq!(code_of(&stderr), "sprifed::defect", "{stderr}");
}

#[test]
fn a_service_manager_does_not_start_again_what_panicked() {
    let units = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/systemd");
    for name in ["sprifed-join@.service", "sprifed-coordinate@.service"] {
        let unit = fs::read_to_string(units.join(name)).unwrap();
        let stays = unit
            .lines()
            .find_map(|line| line.strip_prefix("RestartPreventExitStatus="));
        let stays: Vec<&str> = stays.unwrap().split(' ').collect();
        for code in ["1", "2", "4", "SIGABRT", "SIGSEGV"] {
            assert!(stays.contains(&code), "{name}: {code}");
        }
        assert!(!stays.contains(&"3"), "{name}: a full disk may be emptied");
    }
}
