//! What can be done with the folder and the receipt of a study that is over, and what cannot.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::stage::{Kind, Running, Stage, all_succeed, code_of, json_at, sprifed, succeed};

/// So that a coordinator that begins after all ends, too.
const IMPATIENT: [&str; 2] = ["--wait-for-parties", "1"];

fn finished(name: &str) -> Stage {
    let kind = Kind {
        parties: 4,
        records: 60,
        simulated: false,
        ..Kind::default()
    };
    let stage = Stage::new(name, kind);
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let parties = (0..4).map(|party| Running::start(&mut stage.join(party), &log));
    all_succeed(parties.collect(), coordinator, &log);
    stage
}

/// Exit code, standard output and standard error.
fn said(command: &mut Command) -> (Option<i32>, String, String) {
    let output = super::stage::output_of(command);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    (output.status.code(), stdout, stderr)
}

fn verify(path: &Path, options: &[&str]) -> (Option<i32>, String, String) {
    said(sprifed().arg("verify").arg(path).args(options))
}

fn study(task: &str, folder: &Path) -> (Option<i32>, String, String) {
    said(sprifed().args(["study", task]).arg(folder).arg("--json"))
}

fn receipt_of(party: &Path) -> PathBuf {
    let mut inside = fs::read_dir(party)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let folder = inside.find(|path| path.is_dir()).unwrap();
    folder.join("receipt.json")
}

#[test]
fn a_receipt_is_confirmed_by_a_quorum_and_read_to_the_last_field() {
    let stage = finished("confirmed");
    let good = stage.receipt();
    let path = stage.folder.join("shown.json");
    let show = |receipt: &str| fs::write(&path, receipt).unwrap();
    let mut seen = stage.transcript();
    for n_signers in [4, 3, 2, 0] {
        let mut receipt = good.clone();
        receipt["parties"]
            .as_array_mut()
            .unwrap()
            .truncate(n_signers);
        show(&receipt.to_string());
        let is_confirmed = n_signers >= 3;
        let (code, answer, error) = verify(&path, &[]);
        assert_eq!(code, Some(i32::from(!is_confirmed)), "{answer}{error}");
        assert_eq!(answer.contains("VERIFIED"), is_confirmed, "{answer}");
        seen.add(format!("{n_signers} signers"), &(answer + &error));
        let (code, answer, error) = verify(&path, &["--accept-unsigned"]);
        assert_eq!(code, Some(0), "{error}");
        seen.add(format!("{n_signers} signers, accepted"), &(answer + &error));
        let (_, answer, _) = verify(&path, &["--json"]);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["verified"], is_confirmed);
        assert_eq!(answer["confirmed"], is_confirmed);
        assert_eq!(answer["signed_by"].as_array().unwrap().len(), n_signers);
        assert_eq!(answer["guarantee"], good["receipt"]["guarantee"]);
    }
    let (code, answer, error) = verify(&receipt_of(&stage.party(1)), &[]);
    assert_eq!(code, Some(0), "{error}");
    seen.add("the receipt of p1", &answer);
    insta::assert_snapshot!(seen);

    let mut added = good.clone();
    added["receipt"]["fit"]["note"] = json!("approved");
    let text = good.to_string();
    let twice = text.replacen("\"epsilon\":", "\"epsilon\":0.1,\"epsilon\":", 1);
    assert_ne!(twice, text);
    for forged in [added.to_string(), twice] {
        show(&forged);
        let (code, answer, error) = verify(&path, &[]);
        assert_eq!((code, answer.as_str()), (Some(2), ""), "{error}");
    }
}

#[test]
fn only_a_coordinator_cancels_and_only_a_study_that_goes_on() {
    let stage = finished("over");
    let kept = receipt_of(&stage.party(0));
    let cancelled = stage.study().join("cancelled");
    for folder in [kept.parent().unwrap(), &stage.study().join("for-p0")] {
        let (code, _, error) = study("cancel", folder);
        assert_eq!(code, Some(2), "{error}");
        assert_eq!(code_of(&error), "sprifed::study::not-the-coordinator");
        assert!(!folder.join("cancelled").exists());
    }
    let (code, _, error) = study("cancel", &stage.study());
    assert_eq!(code, Some(1), "{error}");
    assert_eq!(code_of(&error), "sprifed::study::over");
    assert!(!cancelled.exists());
    // As it is when the study ends while `cancel` writes its mark.
    fs::write(&cancelled, "").unwrap();
    let (code, answer, error) = study("status", &stage.study());
    assert_eq!(code, Some(0), "{error}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(
        (&answer["phase"], &answer["cancelled"]),
        (&json!("over"), &json!(false))
    );
    let words = succeed(sprifed().args(["study", "status"]).arg(stage.study()));
    let mut seen = stage.transcript();
    seen.add("status", &String::from_utf8_lossy(&words.stdout));
    insta::assert_snapshot!(seen);

    // Without its state the coordinator does not begin again.
    fs::remove_file(&cancelled).unwrap();
    fs::remove_file(stage.study().join("state.sqlite")).unwrap();
    for ended in [
        said(stage.coordinate().args(IMPATIENT)),
        study("status", &stage.study()),
        study("cancel", &stage.study()),
    ] {
        assert_eq!(ended.0, Some(1), "{}", ended.2);
        assert_eq!(code_of(&ended.2), "sprifed::study::state-lost");
    }
    assert!(!stage.study().join("state.sqlite").exists());
}

#[test]
fn what_is_exported_is_what_was_signed() {
    let stage = finished("export");
    let result = stage.study().join("result");
    let export = |name: &str| {
        let out = stage.folder.join(name);
        let mut command = sprifed();
        command
            .args(["study", "export", "--json"])
            .arg(stage.study());
        let ended = said(command.arg("--out").arg(&out));
        (ended, out)
    };
    let model = json_at(&result.join("model.json"));
    let mut edited = model.clone();
    edited["intercept"] = json!(1234.5);
    fs::write(result.join("model.json"), edited.to_string()).unwrap();
    let ((code, _, error), out) = export("first");
    assert_eq!(code, Some(0), "{error}");
    assert_eq!(json_at(&out.join("model.json")), model);
    assert_eq!(json_at(&out.join("receipt.json")), stage.receipt());
    let mut receipt = stage.receipt();
    receipt["receipt"]["fit"]["model"]["intercept"] = json!(0.25);
    fs::write(result.join("receipt.json"), receipt.to_string()).unwrap();
    let ((code, _, error), out) = export("second");
    assert_eq!(code, Some(1), "{error}");
    assert_eq!(code_of(&error), "sprifed::receipt::wrong");
    assert!(!out.exists());
}
