//! `predict`: predictions and scores in original units.

use serde_json::json;

use crate::command::{assert_near, file, number, run};
use crate::fit::table::Folder;
use crate::transcript::Transcript;

/// y = 1 + 2a − b on bounds a in [0, 10], b in [−1, 1], y in [−20, 30]; a model by hand.
fn model(name: &str, change: impl FnOnce(&mut serde_json::Value)) -> String {
    let folder = Folder::new(&format!("predict_{name}"));
    let ended = folder.fit("--sparsity 3 --epsilon 5");
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let mut model = folder.json("model.json");
    model["intercept"] = json!(1.0);
    model["response"] =
        json!({ "name": "y", "transform": "identity", "lower": -20.0, "upper": 30.0 });
    model["features"] = json!([
        { "name": "a", "coefficient": 2.0, "lower": 0.0, "upper": 10.0 },
        { "name": "b", "coefficient": -1.0, "lower": -1.0, "upper": 1.0 },
    ]);
    change(&mut model);
    file(&format!("{name}.model.json"), &model.to_string())
        .to_str()
        .unwrap()
        .to_owned()
}

fn data(name: &str, contents: &str) -> String {
    file(&format!("{name}.csv"), contents)
        .to_str()
        .unwrap()
        .to_owned()
}

#[test]
fn predictions_are_in_original_units_and_columns_may_come_in_any_order() {
    let (model, data) = (
        model("units", |_| ()),
        data("units", "b,z,a\n0.5,9,3\n-1,9,0\n"),
    );
    let ended = run(["predict", &model, &data]);
    assert_eq!((ended.exit_code, ended.stderr.as_str()), (0, ""));
    assert_eq!(ended.stdout, "prediction\n6.5\n2\n");
    let answer = run(["predict", &model, &data, "--json"]).json();
    assert_eq!(answer["predictions"], json!([6.5, 2.0]));
}

#[test]
fn values_are_clipped_to_the_bounds_the_model_was_fitted_under() {
    let (model, data) = (model("clip", |_| ()), data("clip", "a,b\n1000,-5\n"));
    assert_eq!(run(["predict", &model, &data]).stdout, "prediction\n22\n");
}

#[test]
fn a_transformed_response_is_predicted_in_the_units_of_its_column() {
    let transform = |model: &mut serde_json::Value| {
        model["response"] =
            json!({ "name": "y", "transform": "log1p", "lower": 0.0, "upper": 5.0 });
    };
    let (model, data) = (
        model("log", transform),
        data("log", "a,b,y\n0.5,0,6\n0,1,0.5\n"),
    );
    let answer = run(["predict", &model, &data, "--score", "y", "--json"]).json();
    assert_near(
        answer["predictions"][0].as_f64().unwrap(),
        2f64.exp_m1(),
        1e-12,
    );
    assert_near(answer["predictions"][1].as_f64().unwrap(), 0.0, 1e-12);
    let fitted = (2.0 - 6f64.ln_1p()).powi(2) / 2.0 + 0.5f64.ln_1p().powi(2) / 2.0;
    assert_near(number(&answer, "/score/on_fitted_scale/mse"), fitted, 1e-12);
}

#[test]
fn a_score_stands_beside_the_null_models() {
    let (model, data) = (
        model("score", |_| ()),
        data("score", "a,b,truth\n1,0,3\n2,0,6\n3,1,\n"),
    );
    let answer = run(["predict", &model, &data, "--score", "truth", "--json"]).json();
    let score = &answer["score"];
    assert_eq!(
        (&score["records"], &score["left_out"]),
        (&json!(2), &json!(1))
    );
    assert_near(number(score, "/mse"), 0.5, 1e-12);
    assert_near(number(score, "/null_mse"), 2.25, 1e-12);
    assert_near(number(score, "/r2"), 1.0 - 0.5 / 2.25, 1e-12);
    insta::assert_snapshot!(run(["predict", &model, &data, "--score", "truth"]).stdout);
}

#[test]
fn a_score_says_first_that_it_is_not_private() {
    let (model, data) = (
        model("labelled", |_| ()),
        data("labelled", "a,b,truth\n1,0,3\n2,0,6\n"),
    );
    let text = run(["predict", &model, &data, "--score", "truth"]).stdout;
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("NOT PRIVATE: "), "{text}");
    insta::assert_snapshot!(first);
    let answer = run(["predict", &model, &data, "--score", "truth", "--json"]).json();
    assert_eq!(answer["score"]["private"], json!(false));
    let label = answer["score"]["label"].as_str().unwrap();
    assert!(first.contains(label), "{label}");
}

#[test]
fn a_table_with_a_ledger_is_scored_only_if_the_user_says_that_it_is_not_private() {
    let folder = Folder::new("predict_ledger");
    let ledger = folder.path("ledger");
    let ended = folder.fit(&format!("--sparsity 3 --epsilon 5 --ledger {ledger}"));
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let (model, table) = (folder.path("model.json"), folder.path("data.csv"));
    folder.write("copy.csv", &folder.read("data.csv"));
    let (copy, out) = (folder.path("copy.csv"), folder.path("out.csv"));
    let mut seen = Transcript::new();
    for table in [&table, &copy] {
        let ended = run(["predict", &model, table, "--score", "y", "--out", &out]);
        ended.assert_refused(2, "sprifed::score::accounted");
        seen.add("score", &ended.stderr);
        assert!(!folder.files().contains(&"out.csv".to_owned()));
        let ended = run(["predict", &model, table, "--score", "y", "--not-private"]);
        assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
        assert!(
            ended.stdout.starts_with("NOT PRIVATE: "),
            "{}",
            ended.stdout
        );
        // Predictions are for the holder of the table, record by record.
        let ended = run(["predict", &model, table]);
        assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn missing_values_follow_the_policy_of_the_schema() {
    let data = data("missing", "a,b\n,0\n1,0\n");
    let rejecting = run(["predict", &model("reject", |_| ()), &data]);
    assert_eq!(rejecting.stdout, "prediction\n\"\"\n3\n");
    insta::assert_snapshot!(rejecting.stderr);
    let midpoint = model("midpoint", |model| model["missing"] = json!("midpoint"));
    assert_eq!(
        run(["predict", &midpoint, &data]).stdout,
        "prediction\n11\n3\n"
    );
}

#[test]
fn predictions_go_to_a_file_that_is_not_overwritten_without_force() {
    let (model, data) = (model("out", |_| ()), data("out", "a,b\n1,0\n"));
    let out = file("predictions.csv", "").to_str().unwrap().to_owned();
    assert_eq!(run(["predict", &model, &data, "--out", &out]).exit_code, 2);
    let forced = run(["predict", &model, &data, "--out", &out, "--force"]);
    assert_eq!(forced.exit_code, 0, "{}", forced.stderr);
    assert_eq!(std::fs::read_to_string(out).unwrap(), "prediction\n3\n");
}

#[test]
fn absent_features_are_all_named() {
    let (model, data) = (model("absent", |_| ()), data("absent", "c\n1\n"));
    let ended = run(["predict", &model, &data]);
    ended.assert_refused(2, "sprifed::predict::absent-columns");
    let mut seen = Transcript::new();
    seen.add("predict", &ended.stderr);
    insta::assert_snapshot!(seen);
}

#[test]
fn files_that_are_no_models_are_refused() {
    let data = data("no_model", "a,b\n1,0\n");
    assert_eq!(
        run(["predict", "/nonexistent/model.json", &data]).exit_code,
        3
    );
    let newer = model("newer", |model| model["version"] = json!(3));
    let infinite = model("infinite", |model| model["intercept"] = json!(null));
    let text = file("text.json", "hello").to_str().unwrap().to_owned();
    let mut seen = Transcript::new();
    for path in [newer, infinite, text, data.clone()] {
        let ended = run(["predict", &path, &data]);
        assert_eq!(ended.exit_code, 2, "{path}: {}", ended.stderr);
        // Where a file is damaged depends on the digits of fresh noise.
        let said = match ended.stderr.split_once("line 1 column 3") {
            Some((before, after)) => {
                let after = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
                format!("{before}line 1 column [n]{after}")
            }
            None => ended.stderr.clone(),
        };
        seen.add(&path, &said);
    }
    insta::assert_snapshot!(seen);
}
