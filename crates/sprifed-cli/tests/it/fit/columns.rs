//! `--column-scales`: private means and scales of columns, from the option to the prediction.

use serde_json::Value;

use super::table::Folder;
use super::{assert_true_model, succeeded};
use crate::command::{answer, number, run};

/// The names of the blocks of the first sum of a model.
fn first_blocks(model: &Value) -> Vec<String> {
    let blocks = model["plan"]["steps"][0]["sum"]["blocks"].as_array();
    let names = blocks.unwrap().iter();
    names
        .map(|planned| planned["block"]["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_fit_with_private_scales_is_in_original_units_and_is_verified() {
    for backend in [
        "--procedure argmax",
        "--procedure grad --neighbours replace-one",
        "--procedure sieve --backend secure-sum --clients 20",
        "--procedure argmax --backend trustees --clients 20",
    ] {
        let folder = Folder::new(&format!("columns_{}", backend.replace([' ', '-'], "_")));
        let options = format!("{backend} --sparsity 3 --epsilon 50 --column-scales auto --json");
        let answer = succeeded(&folder.fit(&options));
        assert_true_model(&answer);
        let epsilon = number(&answer, "/guarantee/epsilon");
        assert!(epsilon <= 50.0, "{epsilon}");
        let model = folder.json("model.json");
        let expected = ["mean response", "column means", "column squares"];
        assert_eq!(first_blocks(&model), expected, "{backend}");
        let line = &model["receipts"][0]["ledger"]["entries"][0]["statement"];
        assert_eq!(line, "mean of the response, means and scales of columns");
        run(["verify", &folder.path("model.json"), "--json"]);
        run([
            "predict",
            &folder.path("model.json"),
            &folder.path("data.csv"),
            "--score",
            "y",
            "--json",
        ]);
    }
}

#[test]
fn a_column_that_is_cut_says_where_and_predictions_keep_to_it() {
    let folder = Folder::new("columns_cut");
    // Bounds a hundred times as wide as the values: five scales are far within them.
    folder.write(
        "schema.toml",
        "[response]\nname = \"y\"\nlower = -100\nupper = 100\n\n[features]\nlower = -200\nupper = 200\ncenter = 0\n",
    );
    let options = "--procedure argmax --sparsity 3 --epsilon 50 --column-scales always";
    let ended = folder.fit(options);
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    assert!(
        ended.stdout.contains("Columns: 20 columns standardised"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains("cut at five of these scales"),
        "{}",
        ended.stdout
    );
    let model = folder.json("model.json");
    let features = model["features"].as_array().unwrap();
    let inner = |term: &&Value| term["is_cut"] == true;
    let cut: Vec<&Value> = features.iter().filter(inner).collect();
    assert_eq!(cut.len(), 3, "{features:?}");
    for term in cut {
        let (lower, upper) = (number(term, "/lower"), number(term, "/upper"));
        assert!(
            -200.0 < lower && lower < 1.0 && 9.0 < upper && upper < 40.0,
            "{term}"
        );
    }
    // Beyond the cut a prediction does not change.
    let header: Vec<String> = (0..20).map(|column| format!("x_{column}")).collect();
    let row = |value: u32| {
        let values = (0..20).map(|column| if column == 11 { value } else { 0 });
        let values: Vec<String> = values.map(|value| value.to_string()).collect();
        values.join(",")
    };
    let table = [header.join(","), row(5), row(40), row(45)].join("\n");
    folder.write("far.csv", &table);
    let (out, far) = (folder.path("out.csv"), folder.path("far.csv"));
    run(["predict", &folder.path("model.json"), &far, "--out", &out]);
    let predictions = folder.read("out.csv");
    let rows: Vec<&str> = predictions.lines().skip(1).collect();
    assert_eq!(rows.len(), 3, "{predictions}");
    let last = |row: &str| row.rsplit(',').next().unwrap().to_owned();
    assert_ne!(last(rows[0]), last(rows[1]), "{predictions}");
    assert_eq!(last(rows[1]), last(rows[2]), "{predictions}");
}

#[test]
fn a_plan_says_whether_columns_are_standardised_and_why() {
    let folder = Folder::new("columns_plan");
    let schema = folder.path("schema.toml");
    let plan = |records: u32, request: &str| {
        answer(&format!(
            "plan --records {records} --features 20 --sparsity 3 --epsilon 1 --delta 1e-6 --schema {schema} \
             --procedure sieve --forecast-trials 0 --column-scales {request}"
        ))
    };
    let blocks = |plan: &Value| plan["steps"][0]["relative_noise"].as_array().unwrap().len();
    for (records, request, is_asked) in [
        (50_000, "never", false),
        (50_000, "auto", true),
        (1_500, "auto", false),
        (50_000, "always", true),
    ] {
        let plan = plan(records, request);
        let columns = &plan["column_scales"];
        assert_eq!(columns["is_asked"], is_asked, "{columns}");
        assert_eq!(columns["columns"], 20);
        // The mean, and both questions about columns or the scale of a row.
        assert_eq!(
            blocks(&plan),
            if is_asked { 3 } else { 2 },
            "{records} {request}"
        );
        let noise = columns["noise"].as_f64();
        assert_eq!(noise.is_none(), request == "never");
        let is_small = noise.is_none_or(|noise| noise <= 0.02);
        assert_eq!(is_small, records == 50_000, "{columns}");
    }
}

#[test]
fn a_table_with_public_scales_is_asked_nothing_about_columns() {
    let folder = Folder::new("columns_public");
    let schema = folder.read("schema.toml");
    folder.write("schema.toml", &format!("{schema}scale = 2.9\ncenter = 5\n"));
    for request in ["auto", "always"] {
        let options = format!(
            "--sparsity 3 --epsilon 50 --procedure sieve --column-scales {request} --force"
        );
        let ended = folder.fit(&options);
        assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
        assert!(
            ended.stdout.contains("as all have public scales"),
            "{}",
            ended.stdout
        );
        assert_eq!(first_blocks(&folder.json("model.json")), ["mean response"]);
    }
}
