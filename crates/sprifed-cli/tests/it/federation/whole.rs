use super::stage::{Kind, Running, Stage, output_of, sprifed, succeed};
use serde_json::Value;

fn run_whole(stage: &Stage) {
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let parties: Vec<Running> = (0..stage.kind.parties)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    for (party, running) in parties.into_iter().enumerate() {
        let ended = running.finish();
        assert!(
            ended.status.success(),
            "party {party}: {}",
            std::fs::read_to_string(&log).unwrap()
        );
    }
    let ended = coordinator.finish();
    assert!(
        ended.status.success(),
        "{}",
        std::fs::read_to_string(&log).unwrap()
    );
}

pub(super) fn support(fit: &Value) -> Vec<u64> {
    let terms = fit["model"]["terms"].as_array().unwrap();
    let mut support: Vec<u64> = terms.iter().map(|term| term[0].as_u64().unwrap()).collect();
    support.sort_unstable();
    support
}

/// Runs the study; its receipt, whose fit is that of one process and has the two features that matter.
fn run_to_the_fit_of_one_process(stage: &Stage) -> Value {
    run_whole(stage);
    let receipt = stage.receipt();
    let fit = &receipt["receipt"]["fit"];
    assert_eq!(
        *fit,
        stage.rehearse()["fit"],
        "the same seeds, the same fit"
    );
    assert_eq!(support(fit), [3, 8]);
    receipt
}

#[test]
fn three_parties_with_many_records_get_what_one_process_gets() {
    let stage = Stage::new("three", Kind::default());
    let receipt = run_to_the_fit_of_one_process(&stage);
    let names = &stage.rehearse()["features"];
    assert_eq!(
        *names,
        serde_json::json!(["x3", "x8"]),
        "names, not numbers"
    );
    let path = stage.study().join("result/receipt.json");
    let verified = succeed(sprifed().arg("verify").arg(&path).arg("--json"));
    let verified: Value = serde_json::from_slice(&verified.stdout).unwrap();
    assert_eq!(verified["signed_by"].as_array().unwrap().len(), 3);
    assert_eq!(verified["guarantee"]["noise"], "simulated");
    for party in 0..3 {
        let stated = receipt["receipt"]["ledger"]["spent"].as_f64().unwrap();
        assert!((stage.charged(party) - stated).abs() < 1e-12);
    }
    let model = stage.study().join("result/model.json");
    succeed(
        sprifed()
            .arg("predict")
            .arg(&model)
            .arg(stage.table(0))
            .arg("--json")
            .args(["--score", "y", "--not-private"]),
    );
    let checked = |options: &[&std::ffi::OsStr]| {
        let mut command = sprifed();
        command.arg("verify").arg(&path).args(options);
        let words = String::from_utf8(succeed(&mut command).stdout).unwrap();
        let answer = succeed(command.arg("--json")).stdout;
        (words, serde_json::from_slice::<Value>(&answer).unwrap())
    };
    let (words, answer) = checked(&[]);
    let mut seen = stage.transcript();
    seen.add("verify without a model", &words);
    assert_eq!(answer["model_checked"], false);
    let (words, answer) = checked(&["--model".as_ref(), model.as_ref()]);
    seen.add("verify with its model", &words);
    assert_eq!(answer["model_checked"], true);
    let n_sums = receipt["receipt"]["sums"].as_array().unwrap().len();
    let contained = serde_json::json!([{
        "first_sum": 1, "last_sum": n_sums, "parties": ["p0", "p1", "p2"], "without": [], "outside": [],
    }]);
    assert_eq!(answer["records_in_sums"], contained);
    let mut edited: Value = serde_json::from_slice(&std::fs::read(&model).unwrap()).unwrap();
    edited["intercept"] = (edited["intercept"].as_f64().unwrap() + 1.0).into();
    let other = stage.folder.join("edited-model.json");
    std::fs::write(&other, edited.to_string()).unwrap();
    let mut verify = sprifed();
    verify.arg("verify").arg(&path);
    let refused = output_of(verify.arg("--model").arg(&other));
    assert_eq!(refused.status.code(), Some(1));
    seen.add(
        "verify with another model",
        &String::from_utf8_lossy(&refused.stderr),
    );
    insta::assert_snapshot!(seen);
    let out = stage.folder.join("published");
    succeed(
        sprifed()
            .args(["study", "export"])
            .arg(stage.study())
            .arg("--out")
            .arg(&out),
    );
    assert!(out.join("agreement.json").exists() && out.join("receipt.json").exists());
    let status = succeed(
        sprifed()
            .args(["study", "status"])
            .arg(stage.study())
            .arg("--json"),
    );
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["phase"], "over");
}

#[test]
fn three_parties_with_intercepts_of_their_own_get_what_one_process_gets() {
    let kind = Kind {
        site_effects: true,
        ..Kind::default()
    };
    let stage = Stage::new("sites", kind);
    let signed = run_to_the_fit_of_one_process(&stage);
    let receipt = &signed["receipt"];
    let fit = &receipt["fit"];
    assert_eq!(fit["sites"].as_array().unwrap().len(), 3);
    assert_eq!(
        receipt["agreement"]["setting"]["sites"],
        serde_json::json!([120, 120, 120])
    );
    let promised = receipt["guarantee"]["statement"].as_str().unwrap();
    let said = "Sites     a noisy mean of each of the 3 sites is released";
    assert!(promised.contains(said), "{promised}");
    let text = std::fs::read_to_string(stage.study().join("result/model.json")).unwrap();
    let model: Value = serde_json::from_str(&text).unwrap();
    let sites = model["sites"].as_array().unwrap();
    let names: Vec<&str> = sites
        .iter()
        .map(|site| site["site"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["p0", "p1", "p2"]);
    let path = stage.study().join("result/receipt.json");
    succeed(
        sprifed()
            .arg("verify")
            .arg(&path)
            .arg("--model")
            .arg(stage.study().join("result/model.json")),
    );
}

#[test]
fn parties_that_standardise_columns_privately_get_what_one_process_gets() {
    let kind = Kind {
        records: 300,
        column_scales: true,
        ..Kind::default()
    };
    let stage = Stage::new("columns", kind);
    let receipt = run_to_the_fit_of_one_process(&stage);
    let setting = &receipt["receipt"]["agreement"]["setting"];
    let columns = serde_json::json!([{ "start": 0, "end": 12 }]);
    assert_eq!(setting["column_scales"]["columns"], columns);
    let path = stage.study().join("result/receipt.json");
    let model = stage.study().join("result/model.json");
    let mut verify = sprifed();
    verify.arg("verify").arg(&path).arg("--model").arg(&model);
    succeed(verify.arg("--json"));
    let model: Value = serde_json::from_slice(&std::fs::read(&model).unwrap()).unwrap();
    for term in model["features"].as_array().unwrap() {
        let truth = match term["name"].as_str().unwrap() {
            "x3" => 2.0,
            _ => -1.5,
        };
        let error = term["coefficient"].as_f64().unwrap() - truth;
        assert!(error.abs() < 0.3, "{term}");
    }
}

#[test]
fn parties_with_a_response_of_two_levels_get_what_one_process_gets() {
    let kind = Kind {
        records: 1200,
        binary: true,
        ..Kind::default()
    };
    let stage = Stage::new("binary", kind);
    run_whole(&stage);
    let receipt = &stage.receipt()["receipt"];
    let fit = &receipt["fit"];
    assert_eq!(
        *fit,
        stage.rehearse()["fit"],
        "the same seeds, the same fit"
    );
    assert_eq!(support(fit), [3, 8]);
    assert_eq!(receipt["agreement"]["setting"]["outcome"], "binary");
    let path = stage.study().join("result/receipt.json");
    let model = stage.study().join("result/model.json");
    let mut verify = sprifed();
    verify.arg("verify").arg(&path).arg("--model").arg(&model);
    succeed(verify.arg("--json"));
    let written: Value = serde_json::from_slice(&std::fs::read(&model).unwrap()).unwrap();
    assert_eq!(written["response"]["outcome"], "binary");
    for term in written["features"].as_array().unwrap() {
        let truth = match term["name"].as_str().unwrap() {
            "x3" => 2.0,
            _ => -1.5,
        };
        let error = term["coefficient"].as_f64().unwrap() - truth;
        assert!(error.abs() < 0.4, "{term}");
    }
    let mut predict = sprifed();
    predict.arg("predict").arg(&model).arg(stage.table(0));
    let answer = succeed(predict.args(["--json", "--score", "y", "--not-private"])).stdout;
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let score = &answer["score"]["binary"];
    let of = |name: &str| score[name].as_f64().unwrap();
    assert!(of("log_loss") < 0.8 * of("null_log_loss"), "{score}");
    assert!(of("auc") > 0.8, "{score}");
}

#[test]
fn parties_with_times_to_an_event_get_what_one_process_gets() {
    let kind = Kind {
        records: 1500,
        survival: true,
        ..Kind::default()
    };
    let stage = Stage::new("survival", kind);
    run_whole(&stage);
    let receipt = &stage.receipt()["receipt"];
    let fit = &receipt["fit"];
    assert_eq!(
        *fit,
        stage.rehearse()["fit"],
        "the same seeds, the same fit"
    );
    assert_eq!(support(fit), [3, 8]);
    assert_eq!(receipt["agreement"]["setting"]["outcome"], "survival");
    assert_eq!(fit["baseline"]["hazard"].as_array().unwrap().len(), 20);
    let path = stage.study().join("result/receipt.json");
    let model = stage.study().join("result/model.json");
    let mut verify = sprifed();
    verify.arg("verify").arg(&path).arg("--model").arg(&model);
    succeed(verify.arg("--json"));
    let written: Value = serde_json::from_slice(&std::fs::read(&model).unwrap()).unwrap();
    assert_eq!(written["response"]["horizon"], 2.0);
    for term in written["features"].as_array().unwrap() {
        let truth = match term["name"].as_str().unwrap() {
            "x3" => 2.0 / 3.0,
            _ => -0.5,
        };
        let error = term["coefficient"].as_f64().unwrap() - truth;
        assert!(error.abs() < 0.25, "{term}");
    }
    let mut predict = sprifed();
    predict.arg("predict").arg(&model).arg(stage.table(0));
    let answer = succeed(predict.args(["--json", "--score", "y", "--not-private"])).stdout;
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let concordance = &answer["score"]["survival"]["concordance"];
    assert!(concordance.as_f64().unwrap() > 0.65, "{answer}");
}

#[test]
fn fifty_parties_with_one_record_each_find_the_features() {
    let kind = Kind {
        parties: 50,
        records: 1,
        quorum: 45,
        ..Kind::default()
    };
    let stage = Stage::new("fifty", kind);
    run_whole(&stage);
    let fit = &stage.receipt()["receipt"]["fit"];
    assert_eq!(
        *fit,
        stage.rehearse()["fit"],
        "the same seeds, the same fit"
    );
}

#[test]
fn secret_noise_finds_the_features_at_a_generous_budget() {
    let stage = Stage::new("secret", Kind::default().secret());
    run_whole(&stage);
    let receipt = stage.receipt();
    assert_eq!(support(&receipt["receipt"]["fit"]), [3, 8]);
    assert_eq!(receipt["receipt"]["guarantee"]["noise"], "cryptographic");
    let again = output_of(&mut stage.coordinate());
    assert!(again.status.success(), "a finished study says so again");
}

#[test]
fn two_parties_study_with_a_whole_share_of_noise_each() {
    let kind = Kind {
        parties: 2,
        quorum: 2,
        ..Kind::default()
    };
    let stage = Stage::new("two", kind);
    run_whole(&stage);
    stage.check_result();
    let receipt = stage.receipt();
    let participation = &receipt["receipt"]["agreement"]["plan"]["origin"]["shares"];
    let two = serde_json::json!({ "clients": 2, "quorum": 2, "colluders": 1 });
    assert_eq!(*participation, two);
    assert_eq!(support(&receipt["receipt"]["fit"]), [3, 8]);
    for sum in receipt["receipt"]["sums"].as_array().unwrap() {
        let survivors = &sum["outcome"]["unmasked"]["survivors"];
        assert_eq!(*survivors, serde_json::json!([0, 1]));
    }
    let path = stage.study().join("result/receipt.json");
    let verified = succeed(sprifed().arg("verify").arg(&path).arg("--json"));
    let verified: Value = serde_json::from_slice(&verified.stdout).unwrap();
    assert_eq!(verified["signed_by"].as_array().unwrap().len(), 2);
}
