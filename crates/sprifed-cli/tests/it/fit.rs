//! `fit`: from a table and a schema to a model in original units.

mod bad_input;
mod binary;
mod clients;
mod columns;
mod ledger;
mod places;
mod spent;
mod split;
mod survival;
pub(crate) mod table;

use serde_json::Value;

use self::table::{Folder, TRUTH};
use crate::command::{Ended, assert_near, number};
use crate::transcript::Transcript;

fn succeeded(ended: &Ended) -> Value {
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    ended.json()
}

fn names(answer: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = answer["support"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    names.sort_unstable();
    names
}

fn assert_true_support(answer: &Value) {
    assert_eq!(names(answer), ["x_11", "x_3", "x_7"]);
}

fn assert_true_model(answer: &Value) {
    assert_true_support(answer);
    let pairs = answer["support"]
        .as_array()
        .unwrap()
        .iter()
        .zip(answer["coefficients"].as_array().unwrap());
    for (name, coefficient) in pairs {
        let (_, truth) = TRUTH
            .iter()
            .find(|(known, _)| *known == name.as_str().unwrap())
            .unwrap();
        assert_near(coefficient.as_f64().unwrap(), *truth, 0.1);
    }
    assert_near(number(answer, "/intercept"), 5.0, 0.5);
}

#[test]
fn every_procedure_finds_the_true_model_in_original_units() {
    for procedure in ["grad", "sieve", "argmax"] {
        let folder = Folder::new(&format!("truth_{procedure}"));
        let ended = folder.fit(&format!(
            "--sparsity 3 --epsilon 50 --procedure {procedure} --json"
        ));
        let answer = succeeded(&ended);
        assert_true_model(&answer);
        assert_eq!(answer["status"], "complete");
    }
}

#[test]
fn the_answer_keeps_the_contract() {
    let folder = Folder::new("contract");
    let answer = succeeded(
        &folder.fit("--procedure grad --sparsity 3 --epsilon 20 --delta 1e-7 --target y --json"),
    );
    assert_eq!(answer["train_size"], 3000);
    assert!(answer["null_mse"].is_null() && answer["mse"].is_null());
    assert!(
        answer["evaluation"]["why_absent"]
            .as_str()
            .unwrap()
            .contains("one more release")
    );
    assert!(answer["label"].is_null());
    let guarantee = &answer["guarantee"];
    for (key, value) in [
        ("mode", "certified"),
        ("unit", "record"),
        ("neighbours", "zero-out"),
        ("backend", "curator"),
        ("provenance", "cryptographic"),
        (
            "trust",
            "added by a trusted curator who holds all records; holds against every reader of the result; the curator sees all records",
        ),
    ] {
        assert_eq!(guarantee[key], value);
    }
    let epsilon = number(guarantee, "/epsilon");
    assert!(epsilon <= 20.0 && epsilon > 19.9, "{epsilon}");
    assert_near(number(guarantee, "/delta"), 1e-7, 0.0);
    let statement = guarantee["statement"].as_str().unwrap();
    for part in [
        "epsilon = 20, delta = 1e-7 for each record (zero-out)",
        "Blanking one record changes the probability of any result by at most a factor e^20",
        "Gaussian DP, mu = ",
        "trusted curator",
    ] {
        assert!(statement.contains(part), "{statement}");
    }
}

#[test]
fn the_text_leads_with_the_guarantee_and_shows_intervals_beside_estimates() {
    let folder = Folder::new("text");
    let ended = folder.fit("--sparsity 3 --epsilon 20 --procedure argmax --neighbours replace-one");
    assert_eq!((ended.exit_code, ended.stderr.as_str()), (0, ""));
    let text = &ended.stdout;
    assert!(text.starts_with("Privacy   epsilon = "), "{text}");
    assert!(!text.contains("MSE"), "{text}");
    let mut seen = Transcript::new();
    seen.add("fit", &without_estimates(text));
    insta::assert_snapshot!(seen);
}

/// `text` without what the secret noise decides: the features of the model and their numbers.
fn without_estimates(text: &str) -> String {
    fn hidden(word: &str) -> &str {
        if word.starts_with("x_") {
            "[feature]"
        } else if word.parse::<f64>().is_ok() || word == "<" {
            "[number]"
        } else {
            word
        }
    }
    let lines = text.lines().map(|line| {
        let first = line.split_whitespace().next().unwrap_or_default();
        // Columns are as wide as the numbers in them.
        if first.starts_with("---") {
            return "[line]".to_owned();
        }
        if !["(intercept)", "feature"].contains(&first) && !first.starts_with("x_") {
            return line.to_owned();
        }
        let words: Vec<&str> = line.split_whitespace().map(hidden).collect();
        words.join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_model_file_holds_plan_receipt_and_no_score() {
    let folder = Folder::new("model_file");
    succeeded(&folder.fit("--sparsity 3 --epsilon 20 --score-not-private --json"));
    let model = folder.json("model.json");
    assert_eq!(
        (&model["format"], &model["version"]),
        (&"sprifed-model".into(), &2.into())
    );
    assert_eq!(model["features"].as_array().unwrap().len(), 3);
    let term = &model["features"][0];
    assert!(term["name"].is_string() && term["coefficient"].is_f64());
    let inference = &model["inference"];
    assert_eq!(inference["kind"], "available");
    assert_eq!(
        (&inference["sought"], &inference["records"]),
        (&3.into(), &3000.into())
    );
    let term = &inference["terms"][0];
    for key in ["estimate", "std_error", "level", "p_value", "privacy_share"] {
        assert!(term[key].is_f64(), "{key} of {term}");
    }
    assert!(number(term, "/interval/low") < number(term, "/estimate"));
    assert!(number(term, "/estimate") < number(term, "/interval/high"));
    // Of the intercept and three features.
    assert_eq!(inference["covariance"].as_array().unwrap().len(), 4);
    let steps = model["plan"]["steps"].as_array().unwrap().len();
    assert_eq!(
        model["receipts"][0]["ledger"]["entries"]
            .as_array()
            .unwrap()
            .len(),
        steps
    );
    let spent = number(&model, "/receipts/0/ledger/spent");
    assert_near(spent, number(&model, "/guarantee/epsilon"), 1e-12);
    assert!(
        !model.to_string().contains("mse"),
        "an un-noised score in a file that may be shared"
    );
}

#[test]
fn a_score_on_the_fitted_records_is_labelled_and_one_on_others_too() {
    let folder = Folder::new("scores");
    let own = succeeded(&folder.fit("--sparsity 3 --epsilon 50 --score-not-private --json"));
    assert!(
        own["evaluation"]["label"]
            .as_str()
            .unwrap()
            .contains("NOT PRIVATE")
    );
    assert!(number(&own, "/mse") < 0.2 * number(&own, "/null_mse"));
    folder.write("test.csv", &table::csv(200, 9));
    let test = folder.path("test.csv");
    let other = succeeded(&folder.fit(&format!(
        "--sparsity 3 --epsilon 50 --force --evaluate {test} --json"
    )));
    assert!(
        other["evaluation"]["label"]
            .as_str()
            .unwrap()
            .contains("not covered by the guarantee")
    );
    assert_near(
        number(&other, "/r2"),
        1.0 - number(&other, "/mse") / number(&other, "/null_mse"),
        1e-12,
    );
    assert!(number(&other, "/r2") > 0.9);
}

#[test]
fn noise_from_a_seed_is_repeatable_and_stamped_everywhere() {
    let folder = Folder::new("seeded");
    let first = succeeded(&folder.fit("--sparsity 3 --epsilon 5 --simulate-noise 7 --json"));
    let second =
        succeeded(&folder.fit("--sparsity 3 --epsilon 5 --simulate-noise 7 --force --json"));
    assert_eq!(first["coefficients"], second["coefficients"]);
    assert_eq!(first["label"], "NOT PRIVATE");
    assert_eq!(first["guarantee"]["mode"], "not-private");
    assert!(first["guarantee"]["epsilon"].is_null());
    assert!(
        first["guarantee"]["statement"]
            .as_str()
            .unwrap()
            .starts_with("Privacy   NOT PRIVATE")
    );
    let model = folder.json("model.json");
    assert_eq!(
        (&model["label"], &model["receipts"][0]["provenance"]),
        (&"NOT PRIVATE".into(), &"simulated".into())
    );
    let text = folder.fit("--sparsity 3 --epsilon 5 --simulate-noise 7 --force");
    assert!(
        text.stdout.starts_with("Privacy   NOT PRIVATE"),
        "{}",
        text.stdout
    );
    let data = folder.path("data.csv");
    let predicted =
        crate::command::run(["predict", &folder.path("model.json"), &data, "--score", "y"]);
    assert!(
        predicted.stdout.starts_with("NOT PRIVATE"),
        "{}",
        predicted.stdout
    );
}

#[test]
fn secret_noise_differs_from_run_to_run() {
    let folder = Folder::new("secret");
    let first = succeeded(&folder.fit("--sparsity 3 --epsilon 20 --json"));
    let second = succeeded(&folder.fit("--sparsity 3 --epsilon 20 --force --json"));
    assert_ne!(first["intercept"], second["intercept"]);
}

#[test]
fn receipts_survive_a_forced_overwrite() {
    let folder = Folder::new("receipts");
    for _ in 0..3 {
        let ended = folder.fit("--sparsity 2 --epsilon 1 --force");
        assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    }
    assert_eq!(
        folder.json("model.json")["earlier_receipts"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let ended = folder.fit("--sparsity 2 --epsilon 1 --force");
    let said = ended.stdout.lines().rfind(|line| line.contains("earlier"));
    let mut seen = Transcript::new();
    seen.add("the fourth fit", said.unwrap());
    insta::assert_snapshot!(seen);
}

#[test]
fn a_gzipped_table_gives_the_same_model() {
    let folder = Folder::new("gzip");
    let plain = succeeded(&folder.fit("--sparsity 3 --epsilon 5 --simulate-noise 3 --json"));
    folder.compress("data.csv");
    let packed = succeeded(&folder.fit_file(
        "data.csv.gz",
        "--sparsity 3 --epsilon 5 --simulate-noise 3 --force --json",
    ));
    assert_eq!(plain["coefficients"], packed["coefficients"]);
}

#[test]
fn values_outside_their_bounds_are_clipped_counted_and_not_named() {
    let folder = Folder::new("outside");
    let narrow = folder
        .read("schema.toml")
        .replace("upper = 10", "upper = 9.9");
    folder.write("schema.toml", &narrow);
    let ended = folder.fit("--sparsity 3 --epsilon 20 --json");
    let answer = succeeded(&ended);
    let mut seen = Transcript::new();
    seen.add("fit", &ended.stderr);
    insta::assert_snapshot!(seen);
    assert!(!ended.stderr.contains("x_"), "{}", ended.stderr);
    assert!(
        !answer.to_string().contains("moved to the nearest bound"),
        "a count of records in what may be shared"
    );
}

#[test]
fn too_little_budget_ends_with_a_status_that_says_so() {
    let folder = Folder::new("hopeless");
    let rows: Vec<String> = folder
        .read("data.csv")
        .lines()
        .take(61)
        .map(str::to_owned)
        .collect();
    folder.write("data.csv", &rows.join("\n"));
    let page = folder.path("page.html");
    let options = format!("--sparsity 3 --epsilon 0.01 --simulate-noise 5 --report {page}");
    let ended = folder.fit(&format!("{options} --json"));
    assert_eq!(ended.exit_code, 5, "{}", ended.stderr);
    let answer = ended.json();
    assert_ne!(answer["status"], "complete");
    assert_eq!(answer["reliable"], false);
    // The status is the first that a program reads, after the version of the schema.
    let (status, guarantee) = (
        ended.stdout.find("\"status\""),
        ended.stdout.find("\"guarantee\""),
    );
    assert!(status.unwrap() < guarantee.unwrap());
    let words = answer["status_words"].as_str().unwrap();
    let is_alarm = |words: &str| words.starts_with("NOTHING SOUGHT: 60 records are too few");
    assert!(is_alarm(words), "{words}");
    // On the page it stands above the guarantee, and there is no chart.
    let html = folder.read("page.html");
    let (alarm, privacy) = (
        html.find("<p class=\"warning\">"),
        html.find("<h2>Guarantee</h2>"),
    );
    assert!(alarm.unwrap() < privacy.unwrap());
    assert!(!html.contains("<td class=\"chart\">"), "{html}");
    let text = folder.fit(&format!("{options} --force"));
    assert_eq!(text.exit_code, 5);
    assert!(is_alarm(&text.stdout), "{}", text.stdout);
    // The model is there nevertheless, and what was spent with it.
    assert!(folder.json("model.json")["receipts"].is_array());
}

#[test]
fn a_maximum_keeps_what_is_significant_and_exactly_keeps_all() {
    let folder = Folder::new("maximum");
    let options = "--sparsity 8 --epsilon 20 --procedure argmax --simulate-noise 2 --json";
    let at_most = succeeded(&folder.fit(options));
    assert_true_support(&at_most);
    assert_eq!(
        (&at_most["keep"], &at_most["sparsity"]),
        (&"significant".into(), &8.into())
    );
    assert_eq!(at_most["inference"]["kept"], 3);
    assert_near(number(&at_most, "/inference/false_share"), 0.1, 1e-12);
    assert_eq!(at_most["not_kept"].as_array().unwrap().len(), 5);
    let notes = at_most["notes"].to_string();
    assert!(
        notes.contains("Up to 8 features were sought; 3 were kept."),
        "{notes}"
    );
    let exactly = succeeded(&folder.fit(&format!("{options} --exactly --force")));
    assert_eq!(names(&exactly).len(), 8);
    assert_eq!(exactly["keep"], "exactly");
    assert!(exactly["inference"]["false_share"].is_null());
    assert!(exactly["not_kept"].as_array().unwrap().is_empty());
}

#[test]
fn intervals_contain_the_true_coefficients_in_the_units_of_the_table() {
    let folder = Folder::new("intervals");
    let scaled = folder.read("schema.toml") + "center = 5\nscale = 2.9\n";
    folder.write("schema.toml", &scaled);
    let options = "--sparsity 3 --epsilon 20 --procedure argmax --simulate-noise 4 --json";
    let answer = succeeded(&folder.fit(options));
    for term in answer["inference"]["terms"].as_array().unwrap() {
        let name = term["name"].as_str().unwrap();
        let (_, truth) = TRUTH.iter().find(|(known, _)| *known == name).unwrap();
        let (low, high) = (
            number(term, "/interval/low"),
            number(term, "/interval/high"),
        );
        assert!(
            low < *truth && *truth < high,
            "{name}: {low} to {high} for {truth}"
        );
        assert!(high - low < 0.5, "{name}: {low} to {high}");
    }
    let (low, high) = (
        number(&answer, "/inference/intercept/interval/low"),
        number(&answer, "/inference/intercept/interval/high"),
    );
    assert!(low < 5.0 && 5.0 < high, "{low} to {high}");
}

#[test]
fn robust_intervals_are_a_block_of_the_last_sum_and_are_in_plan_ledger_receipt_and_report() {
    let folder = Folder::new("robust");
    let fit = |options: &str| {
        let common = "--sparsity 3 --epsilon 20 --procedure argmax --force --json";
        succeeded(&folder.fit(&format!("{common} {options}")))
    };
    fit("");
    assert!(!folder.read("model.json").contains("residual_moment"));
    let answer = fit("--robust");
    assert_true_model(&answer);
    let model = folder.json("model.json");
    let steps = model["plan"]["steps"].as_array().unwrap();
    let blocks = steps.last().unwrap()["sum"]["blocks"].as_array().unwrap();
    let names: Vec<&Value> = blocks.iter().map(|one| &one["block"]["name"]).collect();
    assert_eq!(names, ["second moment", "residual moment"]);
    let entries = model["receipts"][0]["ledger"]["entries"]
        .as_array()
        .unwrap();
    assert!(
        entries
            .last()
            .unwrap()
            .to_string()
            .contains("residual moment")
    );
    let epsilon = number(&model, "/guarantee/epsilon");
    assert!(epsilon <= 20.0 && epsilon > 19.0, "{epsilon}");
    let inference = &answer["inference"];
    assert!(number(inference, "/residual_moment_noise") > 0.0);
    let notes = inference["notes"].to_string();
    assert!(
        notes.contains("errors whose variance depends on the features"),
        "{notes}"
    );
    assert!(!notes.contains("about equal variance"), "{notes}");
    // The receipt stands for the block too.
    let verified = crate::command::run(["verify", &folder.path("model.json")]);
    assert_eq!(verified.exit_code, 0, "{}", verified.stderr);
    let mut edited = model.clone();
    let last = steps.len() - 1;
    let blocks = edited.pointer_mut(&format!("/plan/steps/{last}/sum/blocks"));
    blocks.unwrap().as_array_mut().unwrap().pop();
    folder.write("edited.json", &edited.to_string());
    let refused = crate::command::run(["verify", &folder.path("edited.json")]);
    assert_ne!(refused.exit_code, 0, "{}", refused.stdout);
}

#[test]
fn robust_intervals_are_summed_by_every_backend() {
    for backend in ["secure-sum", "trustees"] {
        let folder = Folder::new(&format!("robust_{backend}"));
        let answer = succeeded(&folder.fit(&format!(
            "--sparsity 3 --epsilon 50 --procedure sieve --backend {backend} --clients 5 --robust --json"
        )));
        assert_true_support(&answer);
        assert!(
            number(&answer, "/inference/residual_moment_noise") > 0.0,
            "{backend}"
        );
        let verified = crate::command::run(["verify", &folder.path("model.json")]);
        assert_eq!(verified.exit_code, 0, "{}", verified.stderr);
    }
}

#[test]
fn robust_intervals_are_refused_where_there_are_none() {
    let size = "--records 2000 --features 100 --sparsity 3";
    let plan = crate::command::answer(&format!(
        "plan {size} --epsilon 5 --procedure argmax --robust --forecast-trials 0"
    ));
    let cost = number(&plan, "/robust_mu");
    let last = plan["steps"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["relative_noise"].as_array().unwrap().len(), 2);
    assert!(cost > 0.0 && cost < number(&last, "/cost"), "{cost}");
    let refused = crate::command::run(
        format!("simulate {size} --procedure dp-sgd --robust --trials 1").split_whitespace(),
    );
    assert_eq!(refused.exit_code, 2, "{}", refused.stderr);
    assert!(
        refused
            .stderr
            .contains("robust intervals are asked for, but dp-sgd has no intervals")
    );
    let simulated = crate::command::answer(&format!(
        "simulate {size} --procedure argmax --robust --trials 1 --population-r2 0.8"
    ));
    assert!(number(&simulated, "/recovered_share/mean") > 0.5);
}

#[test]
fn clients_as_the_unit_have_no_intervals_and_the_answer_says_why() {
    let folder = Folder::new("client_unit");
    let schema = folder.read("schema.toml")
        + "[record]\nclient = \"who\"\nmax_per_client = 10\nunit = \"client\"\n";
    folder.write("schema.toml", &schema);
    let rows = folder.read("data.csv");
    let mut rows = rows.lines();
    let heading = format!("{},who\n", rows.next().unwrap());
    let labelled = rows
        .enumerate()
        .map(|(at, row)| format!("{row},c{}\n", at % 500));
    folder.write("data.csv", &(heading + &labelled.collect::<String>()));
    let answer = succeeded(&folder.fit("--sparsity 3 --epsilon 50 --simulate-noise 1 --json"));
    assert_eq!(answer["inference"]["kind"], "not-available");
    assert_eq!(answer["inference"]["reason"], "client-unit");
    let notes = answer["notes"].to_string();
    assert!(
        notes.contains("not available: the unit of privacy is a client"),
        "{notes}"
    );
    assert_eq!(names(&answer).len(), 3);
}

#[test]
fn a_public_scale_in_the_schema_saves_a_question() {
    let folder = Folder::new("public_scale");
    succeeded(&folder.fit("--sparsity 3 --epsilon 20 --json"));
    assert!(folder.read("model.json").contains("row scale"));
    let scaled = folder.read("schema.toml") + "center = 5\nscale = 2.9\n";
    folder.write("schema.toml", &scaled);
    assert_true_model(&succeeded(
        &folder.fit("--sparsity 3 --epsilon 50 --force --json"),
    ));
    assert!(
        !folder.json("model.json")["plan"]
            .to_string()
            .contains("row scale")
    );
}

#[test]
fn a_page_says_what_the_text_says_and_replaces_no_input() {
    let folder = Folder::new("page");
    let page = folder.path("page.html");
    let options = "--sparsity 3 --epsilon 5 --simulate-noise 1 --json --report";
    let answer = succeeded(&folder.fit(&format!("{options} {page}")));
    assert_eq!(answer["report"], page.as_str());
    let html = folder.read("page.html");
    for words in [
        "NOT PRIVATE",
        "Rounds and budget",
        "Diagnostics",
        "<svg",
        "spent, epsilon",
    ] {
        assert!(html.contains(words), "{words}");
    }
    for name in names(&answer) {
        assert!(
            html.contains(&format!("<th scope=\"row\">{name}</th>")),
            "{name}"
        );
    }
    let statement = answer["guarantee"]["statement"].as_str().unwrap();
    for row in statement.lines() {
        let (label, text) = row.split_once(' ').unwrap();
        let row = format!("<th scope=\"row\">{label}</th><td>{}</td>", text.trim());
        assert!(html.contains(&row), "no {row} in {html}");
    }
    let data = folder.path("data.csv");
    let refused = folder.fit(&format!("{options} {data} --force"));
    assert_eq!(refused.exit_code, 2);
    assert_eq!(refused.code(), "sprifed::file::is-input");
}

#[test]
fn an_interval_that_is_missing_has_its_reason() {
    let folder = Folder::new("no_interval");
    let ended = folder.fit("--sparsity 3 --epsilon 1e7 --procedure argmax --simulate-noise 1");
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("not available"), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("its ends could not be computed"),
        "{}",
        ended.stdout
    );
}
