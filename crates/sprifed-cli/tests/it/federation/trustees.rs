//! Studies with three trustees: all roles as processes over TLS.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use sprifed_party::{StoredTrustee, StudyFolder};
use sprifed_study::TrusteeLine;
use sprifed_trustees::JournalLine;

use super::stage::{
    Kind, Running, SEED, Stage, output_of, pause, refused, refused_as, sprifed, succeed, wait_until,
};
use super::trustees_again::{fit_again, fit_of, keys_of_trustees};
use super::whole::support;

fn by_trustees() -> Kind {
    Kind {
        parties: 4,
        records: 60,
        quorum: 1,
        repeats: 2,
        patience: 12,
        trustees: true,
        ..Kind::default()
    }
    .secret()
}

/// A number of what `study status` says of a trustee.
fn number(stage: &Stage, trustee: u32, key: &str) -> u64 {
    stage.trustee_part(trustee)[key].as_u64().unwrap_or(0)
}

fn said_by(log: &Path) -> String {
    std::fs::read_to_string(log).unwrap_or_default()
}

/// The number of the choice that the first trustee computes, if it computes one: it signed the set, and has neither
/// opened nor given up.
fn computed_choice(stage: &Stage) -> Option<u32> {
    let folder = StudyFolder::all_in(&stage.trustee_folder(0)).ok()?.pop()?;
    let (_, agreed) = folder.read_invitation().ok()?;
    let lines = StoredTrustee::look_into(&folder).ok()??.lines;
    let begun = lines.iter().rev().find_map(|line| match line {
        TrusteeLine::Begun { line, .. } => Some(line),
        _ => None,
    });
    let (Some(JournalLine::Charged { step, attempt, .. }), Some(TrusteeLine::Attempt(last))) =
        (begun, lines.last())
    else {
        return None;
    };
    let step = usize::try_from(*step).ok()?;
    let computes = matches!(last, JournalLine::SetSigned { .. });
    let is_choice = agreed.step(step).is_none();
    (is_choice && computes).then(|| agreed.sum_number(step, *attempt))?
}

/// Halts `other` while trustees compute a choice, and returns its number.
fn halt_in_a_choice(stage: &Stage, other: &Running) -> u32 {
    let mut halted = None;
    wait_until("a choice under way", || {
        other.stop();
        if computed_choice(stage).is_some() {
            // What was on its way may still have ended it.
            pause(Duration::from_millis(100));
            halted = computed_choice(stage);
        }
        if halted.is_none() {
            other.let_run();
        }
        halted.is_some()
    });
    halted.expect("waited for")
}

#[test]
fn a_party_is_lost_and_a_trustee_is_killed_in_the_middle_of_a_choice() {
    let stage = Stage::new("trustees", by_trustees());
    let keys = keys_of_trustees(&stage);
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let mut trustees: Vec<Running> = (0..3)
        .map(|trustee| Running::start(&mut stage.trustee(trustee), &log))
        .collect();
    let mut parties: Vec<Running> = (0..4)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    wait_until("the first step", || number(&stage, 0, "opened") > 0);
    let halted = halt_in_a_choice(&stage, &trustees[2]);
    std::mem::replace(&mut trustees[0], Running::none()).kill();
    parties.remove(3).kill();
    trustees[0] = Running::start(&mut stage.trustee(0), &log);
    trustees[2].let_run();
    for running in parties.into_iter().chain(trustees) {
        let ended = running.finish();
        assert!(ended.status.success(), "{}", said_by(&log));
    }
    let ended = coordinator.finish();
    assert!(ended.status.success(), "{}", said_by(&log));

    let receipt = stage.receipt();
    assert_eq!(support(&receipt["receipt"]["fit"]), [3, 8]);
    assert_eq!(fit_of(&stage), fit_again(&stage, keys));
    let result = stage.study().join("result");
    let mut verify = sprifed();
    verify.arg("verify").arg(result.join("receipt.json"));
    verify
        .arg("--transcript")
        .arg(result.join("transcript.json"));
    verify.arg("--model").arg(result.join("model.json"));
    let words = String::from_utf8(succeed(&mut verify).stdout).unwrap();
    for part in [
        "VERIFIED",
        "together with one of the trustees t0, t1, t2, whatever it sends; any two of them together see all contributions",
        "each only after all three trustees checked how it was computed",
        "and by the trustees t0, t1, t2",
        "all three trustees signed each index and each sum that was opened",
        "3 of 4 parties (without p3)",
    ] {
        assert!(words.contains(part), "no {part:?} in\n{words}");
    }
    // The model alone is compared with its own ledger, in which each attempt that opened something is charged.
    let mut alone = sprifed();
    alone.arg("verify").arg(result.join("model.json"));
    let words = String::from_utf8(succeed(&mut alone).stdout).unwrap();
    assert!(words.contains("CONSISTENT"), "{words}");
    // Every attempt is in the receipt. Of the choice that trustees were computing nothing was opened.
    let sums = receipt["receipt"]["sums"].as_array().unwrap();
    let mut sums = sums.iter().filter(|sum| sum["sum"] == halted);
    let halted = sums.next().expect("in the receipt");
    assert!(halted["outcome"].get("unopened").is_some(), "{halted}");
    for trustee in 0..3 {
        let part = stage.trustee_part(trustee);
        assert_eq!(part["erased"], true, "{part}");
        assert!(
            part["state"].as_str().unwrap().starts_with("over"),
            "{part}"
        );
    }
    // Started again, a trustee needs no coordinator to say how it ended.
    succeed(&mut stage.trustee(1));
}

#[test]
fn a_rehearsal_in_one_process_has_the_model_of_the_processes_with_the_same_seed() {
    let kind = Kind {
        simulated: true,
        patience: 6,
        ..by_trustees()
    };
    let stage = Stage::new("trustee-rehearsal", kind);
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let trustees = (0..3).map(|trustee| Running::start(&mut stage.trustee(trustee), &log));
    let mut running: Vec<Running> = trustees.collect();
    running.extend((0..3).map(|party| Running::start(&mut stage.join(party), &log)));
    let leaving = Running::start(&mut stage.join(3), &log);
    wait_until("the first step", || number(&stage, 0, "opened") > 0);
    halt_in_a_choice(&stage, &running[2]);
    leaving.kill();
    running[2].let_run();
    for running in running {
        let ended = running.finish();
        assert!(ended.status.success(), "{}", said_by(&log));
    }
    let ended = coordinator.finish();
    assert!(ended.status.success(), "{}", said_by(&log));

    let transcript = stage.study().join("result/transcript.json");
    let again = |options: &[&str]| {
        let mut command = stage.rehearse_command(SEED);
        command.arg("--transcript").arg(&transcript).args(options);
        command
    };
    let said = succeed(&mut again(&[])).stdout;
    let repeated: Value = serde_json::from_slice(&said).unwrap();
    assert_eq!(repeated["fit"], fit_of(&stage));
    let survivors = repeated["survivors"].as_array().unwrap();
    assert_eq!([&survivors[0], survivors.last().unwrap()], [4, 3]);
    // With all parties in each step it is another study, which finds the same features.
    let whole = stage.rehearse();
    assert_ne!(whole["fit"], repeated["fit"]);
    assert_eq!(whole["survivors"].as_array().unwrap().last().unwrap(), 4);
    assert_eq!(support(&whole["fit"]), [3, 8]);

    // What is not of this study is refused.
    std::fs::write(&transcript, "[]").unwrap();
    let said = refused_as(&mut again(&[]), 2, "sprifed::study::rehearsal");
    assert!(said.contains("not of this study"), "{said}");
    std::fs::write(&transcript, "{}").unwrap();
    let said = refused_as(&mut again(&[]), 2, "sprifed::study::rehearsal");
    assert!(said.contains("is no transcript"), "{said}");
    let mut other_seed = stage.rehearse_command("12");
    let said = refused_as(&mut other_seed, 2, "sprifed::study::rehearsal");
    assert!(said.contains("has another key"), "{said}");
}

#[test]
fn a_category_is_picked_as_one_by_trustees_and_its_levels_alone_by_secure_sums() {
    let kind = Kind {
        simulated: true,
        category: true,
        ..by_trustees()
    };
    let stage = Stage::new("trustee-category", kind);
    let setting = &stage.invitation()["agreement"]["setting"];
    assert_eq!(
        setting["groups"],
        serde_json::json!([[12, 2, 1]]),
        "{setting}"
    );
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let trustees = (0..3).map(|trustee| Running::start(&mut stage.trustee(trustee), &log));
    let mut running: Vec<Running> = trustees.collect();
    running.extend((0..4).map(|party| Running::start(&mut stage.join(party), &log)));
    for running in running.into_iter().chain([coordinator]) {
        let ended = running.finish();
        assert!(ended.status.success(), "{}", said_by(&log));
    }
    let fit = fit_of(&stage);
    assert_eq!(fit, stage.rehearse()["fit"]);
    let in_model = support(&fit);
    for level in [12, 13] {
        assert!(in_model.contains(&level), "{in_model:?}");
    }
    assert_eq!(in_model.len(), 3, "two were sought: {in_model:?}");

    let sums = Kind {
        records: 300,
        category: true,
        ..Kind::default()
    };
    let stage = Stage::new("sums-category", sums);
    let in_model = support(&stage.rehearse()["fit"]);
    assert_eq!(in_model.len(), 2, "two columns were sought: {in_model:?}");
}

#[test]
fn attempts_are_repeated_only_in_studies_with_trustees() {
    let stage = Stage::new("no-trustee-rehearsal", Kind::default());
    let transcript = stage.folder.join("transcript.json");
    std::fs::write(&transcript, "[]").unwrap();
    let mut command = stage.rehearse_command(SEED);
    command.arg("--transcript").arg(&transcript);
    let said = refused_as(&mut command, 2, "sprifed::study::rehearsal");
    assert!(said.contains("no trustees"), "{said}");
}

#[test]
fn a_study_needs_three_different_trustees_and_no_quorum() {
    let stage = Stage::new("trustee-init", by_trustees());
    let public = |trustee| stage.trustee_folder(trustee).join("trustee.json");
    let masked = Stage::new("masked-init", Kind::default());
    let mut two = masked.init_command("two");
    two.arg("--trustee").arg(public(0));
    two.arg("--trustee").arg(public(1));
    refused_as(&mut two, 2, "sprifed::study::three-trustees");
    let mut quorum = stage.init_command("quorum");
    let said = refused(quorum.args(["--quorum", "3"]), 2);
    assert!(said.contains("neither --quorum nor --colluders"), "{said}");
    let mut choices = sprifed();
    for word in masked.init_command("choices").get_args() {
        choices.arg(if word == "sieve" {
            "argmax".as_ref()
        } else {
            word
        });
    }
    let said = refused(&mut choices, 2);
    assert!(said.contains("--trustee"), "{said}");
    // One identity cannot be two trustees, with two study keys either.
    let mut again = sprifed();
    again.args(["study", "trustee", "t0", "--again", "--out"]);
    let kept = std::fs::read(public(0)).unwrap();
    succeed(again.arg(stage.trustee_folder(0)));
    std::fs::copy(public(0), public(1)).unwrap();
    std::fs::write(public(0), kept).unwrap();
    let mut twice = stage.init_command("twice");
    refused_as(&mut twice, 2, "sprifed::study::two-parties");
    // A trustee has no records, so it cannot leave as a party does.
    let mut leave = sprifed();
    leave.args(["study", "leave"]).arg(stage.trustee_folder(0));
    refused_as(&mut leave, 2, "sprifed::study::is-a-trustee");
    // What is there is not overwritten.
    let mut exists = sprifed();
    exists.args(["study", "trustee", "t0", "--out"]);
    exists.arg(stage.trustee_folder(0));
    refused_as(&mut exists, 2, "sprifed::study::identity-exists");
}

#[test]
fn policies_name_the_trustees_and_the_check_says_what_two_of_them_see() {
    let stage = Stage::new("trustee-policies", by_trustees());
    let check = |command: &mut std::process::Command| {
        let ended = output_of(command.arg("--check"));
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        (ended.status.code(), said)
    };
    let mut join = stage.join(0);
    let (code, said) = check(&mut join);
    assert_eq!(code, Some(0), "{said}");
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(answer["trustees"].as_array().unwrap().len(), 3);
    assert_eq!(answer["gates"], "proved");
    assert_eq!(answer["procedure"], "argmax");
    assert_eq!(answer["quorum"], Value::Null);
    let (code, said) = check(&mut stage.trustee(0));
    assert_eq!(code, Some(0), "{said}");
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(answer["gates"], "proved");
    assert!(answer["proof"]["gates"].as_u64() > Some(0), "{answer}");

    // As text, with the sentence that matters.
    let mut words = sprifed();
    words.arg("join").arg(stage.study().join("for-p0"));
    words.arg("--identity").arg(stage.party(0));
    words.arg("--data").arg(stage.table(0)).arg("--check");
    let words = String::from_utf8(succeed(&mut words).stdout).unwrap();
    assert!(
        words.contains("Any two of them together see all contributions."),
        "{words}"
    );
    assert!(words.contains("Gates        proved:"), "{words}");

    // A coordinator that invents trustees is refused by parties and by the trustee that it left in.
    let forget = |path: &Path, key: &str| {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(key), "{text}");
        let other = format!("\"{}\"", "0".repeat(64));
        std::fs::write(path, text.replace(key, &other)).unwrap();
    };
    let keys = stage.trustee_keys();
    forget(&stage.party(0).join("policy.toml"), &keys[2]);
    let (code, said) = check(&mut stage.join(0));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("a key among its `trustees`"), "{said}");
    refused_as(&mut stage.join(0), 1, "sprifed::policy::refused");
    forget(&stage.trustee_folder(0).join("policy.toml"), &keys[1]);
    let (code, said) = check(&mut stage.trustee(0));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("this trustee's policy requires"), "{said}");
    let said = refused_as(&mut stage.trustee(0), 1, "sprifed::policy::refused");
    assert!(said.contains("this trustee does not take part"), "{said}");
    // A party's folder is no trustee's, and a trustee's certificate is not another one's.
    let mut mixed = stage.trustee(0);
    mixed.args(["--tls-certificate"]);
    mixed.arg(stage.study().join("for-trustee-t1/tls.pem"));
    mixed
        .arg("--tls-key")
        .arg(stage.trustee_folder(1).join("tls.key"));
    refused_as(&mut mixed, 2, "sprifed::study::other-seat");
}

#[test]
fn a_study_without_proofs_of_gates_is_refused_unless_policies_allow_it() {
    let stage = Stage::new("trustee-unproved", by_trustees());
    succeed(stage.init_command("unproved").arg("--unproved-gates"));
    let invitation = |seat: &str| stage.folder.join("unproved").join(format!("for-{seat}"));
    let check = |policy: &Path, command: &mut dyn FnMut() -> std::process::Command| {
        let refusal = "the trustees' proof of their gates is missing";
        let said = |command: &mut std::process::Command| {
            String::from_utf8_lossy(&output_of(command.arg("--check")).stdout).into_owned()
        };
        let before = said(&mut command());
        assert!(before.contains(refusal), "{before}");
        assert!(before.contains("NOT PROVED"), "{before}");
        let text = std::fs::read_to_string(policy).unwrap();
        std::fs::write(policy, format!("allow-unproved-gates = true\n{text}")).unwrap();
        let after = said(&mut command());
        assert!(!after.contains(refusal), "{after}");
    };
    check(&stage.party(0).join("policy.toml"), &mut || {
        let mut join = sprifed();
        join.arg("join").arg(invitation("p0"));
        join.arg("--identity").arg(stage.party(0));
        join.arg("--data").arg(stage.table(0));
        join
    });
    check(&stage.trustee_folder(0).join("policy.toml"), &mut || {
        let mut trustee = sprifed();
        trustee.arg("trustee").arg(invitation("trustee-t0"));
        trustee.arg("--identity").arg(stage.trustee_folder(0));
        trustee
    });
    // Secure sums have no gates.
    let masked = Stage::new("masked-unproved", Kind::default());
    let said = refused(masked.init_command("unproved").arg("--unproved-gates"), 2);
    assert!(said.contains("--trustee"), "{said}");
}
