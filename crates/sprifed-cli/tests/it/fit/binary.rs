//! A response of two levels: from text in a table to probabilities, odds ratios and a receipt.

use std::fmt::Write as _;

use serde_json::Value;

use super::succeeded;
use super::table::Folder;
use crate::command::{answer, assert_near, number, sprifed, text};

const SCHEMA: &str = "[response]\nname = \"y\"\noutcome = \"binary\"\nlevels = [\"no\", \"yes\"]\n\n\
                      [features]\nlower = 0\nupper = 10\n";

/// Twelve features from 0 to 10; the log odds of `yes` are 0.5·x_3 − 0.35·x_7 − 0.75.
fn csv(n_records: usize, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(state >> 40).unwrap()) / f64::from(1 << 24)
    };
    let mut text = (0..12)
        .map(|feature| format!("x_{feature},"))
        .collect::<String>()
        + "y\n";
    for _ in 0..n_records {
        let row: Vec<f64> = (0..12).map(|_| (uniform() * 1e4).round() / 1e3).collect();
        let odds = 0.5 * row[3] - 0.35 * row[7] - 0.75;
        let event = uniform() < 1.0 / (1.0 + (-odds).exp());
        for value in &row {
            let _ = write!(text, "{value},");
        }
        let _ = writeln!(text, "{}", if event { "yes" } else { "no" });
    }
    text
}

fn folder(test: &str) -> Folder {
    let folder = Folder::new(&format!("binary_{test}"));
    folder.write("schema.toml", SCHEMA);
    folder.write("data.csv", &csv(4000, 1));
    folder.write("new.csv", &csv(2000, 2));
    folder
}

fn term<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let terms = answer["inference"]["terms"].as_array().unwrap();
    terms.iter().find(|term| term["name"] == name).unwrap()
}

#[test]
fn every_backend_fits_odds_predicts_and_verifies() {
    for (name, options) in [
        ("argmax", "--procedure argmax"),
        ("sieve", "--procedure sieve"),
        ("grad", "--procedure grad"),
        (
            "sums",
            "--procedure sieve --backend secure-sum --clients 12",
        ),
        (
            "trustees",
            "--procedure argmax --backend trustees --clients 12",
        ),
    ] {
        let folder = folder(name);
        let fitted = succeeded(&folder.fit(&format!(
            "--sparsity 3 --epsilon 20 --simulate-noise 3 --evaluate {} --report {} --json {options}",
            folder.path("new.csv"),
            folder.path("page.html")
        )));
        assert_eq!(fitted["status"], "complete", "{name}");
        for (feature, truth) in [("x_3", 0.5), ("x_7", -0.35)] {
            let term = term(&fitted, feature);
            assert_near(number(term, "/estimate"), truth, 0.1);
            let (low, high) = (
                number(term, "/interval/low"),
                number(term, "/interval/high"),
            );
            assert!(low < truth && truth < high, "{name}: {term}");
            assert_near(
                number(term, "/odds_ratio/estimate"),
                number(term, "/estimate").exp(),
                1e-9,
            );
            assert_near(number(term, "/odds_ratio/interval/low"), low.exp(), 1e-9);
        }
        assert_eq!(fitted["inference"]["score"]["link"], "logit");
        let page = folder.read("page.html");
        for words in [
            "odds of `yes`",
            "not covered by the guarantee",
            "<title>ROC curve</title>",
            "<title>Calibration</title>",
        ] {
            assert!(page.contains(words), "{name}: no {words}");
        }

        let [model, new] = ["model.json", "new.csv"].map(|file| folder.path(file));
        let verified = answer(&format!("verify {model}"));
        assert!(number(&verified, "/guarantee/nominal_epsilon") <= 20.0);
        let predicted = answer(&format!("predict {model} {new} --score y"));
        let predictions = predicted["predictions"].as_array().unwrap();
        assert!(
            predictions
                .iter()
                .all(|one| (0.0..=1.0).contains(&one.as_f64().unwrap()))
        );
        let score = &predicted["score"];
        assert!(number(score, "/binary/auc") > 0.8, "{score}");
        assert!(number(score, "/binary/log_loss") < 0.75 * number(score, "/binary/null_log_loss"));
        assert!(
            number(score, "/mse") < 0.8 * number(score, "/null_mse"),
            "{score}"
        );
        assert_near(number(score, "/binary/calibration_slope"), 1.0, 0.25);
        // 0.5 · 8 − 0.35 · 2 − 0.75 against 0.5 · 1 − 0.35 · 9 − 0.75.
        folder.write(
            "two.csv",
            &format!("{}\n{}\n{}\n", header(), row(8.0, 2.0), row(1.0, 9.0)),
        );
        let two = answer(&format!("predict {model} {}", folder.path("two.csv")));
        assert_near(number(&two, "/predictions/0"), 0.928, 0.03);
        assert_near(number(&two, "/predictions/1"), 0.032, 0.03);
    }
}

fn header() -> String {
    let names: Vec<String> = (0..12).map(|feature| format!("x_{feature}")).collect();
    names.join(",")
}

fn row(third: f64, seventh: f64) -> String {
    let value = |feature| match feature {
        3 => third,
        7 => seventh,
        _ => 5.0,
    };
    let values: Vec<String> = (0..12).map(|feature| value(feature).to_string()).collect();
    values.join(",")
}

#[test]
fn a_changed_outcome_is_no_receipt_of_this_fit() {
    let folder = folder("forged");
    succeeded(&folder.fit("--sparsity 2 --epsilon 20 --simulate-noise 3 --procedure sieve --json"));
    let model = folder.json("model.json");
    let forge = |change: &dyn Fn(&mut Value)| {
        let mut forged = model.clone();
        change(&mut forged);
        folder.write("forged.json", &forged.to_string());
        sprifed(&format!("verify {}", folder.path("forged.json")))
    };
    assert_eq!(forge(&|_| ()).exit_code, 0);
    let linear = forge(&|model| {
        let response = model["response"].as_object_mut().unwrap();
        response.remove("outcome");
        response.remove("event");
    });
    linear.assert_refused(1, "sprifed::receipt::wrong");
    // Without the level that is the event, or with another response's, the file is none.
    let without = forge(&|model| drop(model["response"].as_object_mut().unwrap().remove("event")));
    assert_ne!(without.exit_code, 0);
}

#[test]
fn what_is_not_built_is_refused_before_anything_is_spent() {
    let folder = folder("refused");
    for (options, says) in [
        ("--robust", "robust intervals"),
        ("--inference split", "split"),
    ] {
        let refused = folder.fit(&format!("--sparsity 2 --epsilon 20 {options}"));
        assert_eq!(refused.exit_code, 2, "{}", refused.stderr);
        let words: Vec<&str> = refused.stderr.split_whitespace().collect();
        assert!(words.join(" ").contains(says), "{}", refused.stderr);
    }
    assert!(!folder.files().contains(&"model.json".to_owned()));
    folder.write("data.csv", &csv(50, 1).replace("yes", "perhaps"));
    let unknown = folder.fit("--sparsity 2 --epsilon 20");
    assert_eq!(unknown.exit_code, 2, "{}", unknown.stderr);
    let words: Vec<&str> = unknown.stderr.split_whitespace().collect();
    assert!(
        words.join(" ").contains("none of the two `levels`"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn a_plan_follows_the_outcome_of_the_schema() {
    let folder = folder("plan");
    let line = format!(
        "plan --records 4000 --features 12 --sparsity 2 --epsilon 5 --procedure argmax --forecast-trials 1 --schema {}",
        folder.path("schema.toml")
    );
    let plan = answer(&line);
    let steps = plan["steps"].as_array().unwrap();
    assert_eq!(
        steps.last().unwrap()["purpose"],
        "score of the kept features"
    );
    assert!(
        steps
            .iter()
            .all(|step| !step["purpose"].as_str().unwrap().contains("scale"))
    );
    let forecast = &plan["forecast"];
    assert!(forecast["assumes"].as_str().unwrap().contains("log odds"));
    // Of a variance of zeros and ones a linear model cannot explain 0.8.
    let shares: Vec<f64> = forecast["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| number(row, "/population_r2"))
        .collect();
    assert!(
        shares.iter().all(|share| *share < 0.6) && shares.contains(&0.5),
        "{shares:?}"
    );
    assert!(text(&line).contains("score of the kept features"));
}

#[test]
fn simulated_odds_are_found_and_scored() {
    let world = "simulate --procedure argmax --records 1500 --features 60 --sparsity 3 --trials 3 --exactly";
    let found = answer(&format!("{world} --outcome binary"));
    assert!(number(&found, "/recovered_share/mean") > 0.6, "{found}");
    assert!(number(&found, "/deviance_share/mean") > 0.8, "{found}");
    // That of the true model is 0.8619.
    assert!(
        (0.75..0.862).contains(&number(&found, "/auc/mean")),
        "{found}"
    );
    assert_near(number(&found, "/null_mse"), 0.25, 1e-6);
    let rare = answer(&format!("{world} --outcome binary --prevalence 0.1"));
    assert_near(number(&rare, "/null_mse"), 0.09, 1e-6);
    let reference = world
        .replace("argmax", "non-private-omp")
        .replace("--exactly", "");
    let reference = answer(&format!("{reference} --outcome binary"));
    assert!(
        number(&reference, "/deviance_share/mean") > 0.9,
        "{reference}"
    );
    let linear = answer(world);
    assert!(linear.get("auc").is_none() && linear.get("deviance_share").is_none());
    for refused in [
        "--outcome binary --error-std 0.2",
        "--outcome binary --prevalence 1.5",
        "--prevalence 0.2",
    ] {
        assert_eq!(
            sprifed(&format!("{world} {refused}")).exit_code,
            2,
            "{refused}"
        );
    }
}
