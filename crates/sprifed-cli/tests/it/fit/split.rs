//! `--inference split`: features by one part of the records, estimates by the other, each with the whole budget.

use serde_json::Value;

use super::succeeded;
use super::table::{Folder, TRUTH};
use crate::command::{answer, assert_near, number, sprifed};

fn term<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let terms = answer["inference"]["terms"].as_array().unwrap();
    terms.iter().find(|term| term["name"] == name).unwrap()
}

/// The part of the records that each line of the ledger is about.
fn parts(model: &Value) -> Vec<String> {
    let entries = model["receipts"][0]["ledger"]["entries"]
        .as_array()
        .unwrap();
    let part = |entry: &Value| {
        let line = &entry["line"];
        let part = line
            .pointer("/sum/plan/part")
            .or_else(|| line.pointer("/selection/part"));
        part.map_or("all", |part| part.as_str().unwrap()).to_owned()
    };
    entries.iter().map(part).collect()
}

#[test]
fn a_split_fit_says_so_and_its_receipt_is_verified() {
    for procedure in ["argmax", "sieve", "grad"] {
        let folder = Folder::new(&format!("split_{procedure}"));
        let page = folder.path("page.html");
        let fitted = succeeded(&folder.fit(&format!(
            "--sparsity 5 --epsilon 20 --procedure {procedure} --inference split --simulate-noise 3 --report {page} --json"
        )));
        let report = &fitted["inference"];
        assert_eq!(report["inference"], "split");
        assert_eq!(
            (number(report, "/records"), number(report, "/estimated_by")),
            (3000.0, 750.0)
        );
        for (name, truth) in TRUTH {
            let term = term(&fitted, name);
            assert_near(number(term, "/estimate"), truth, 0.15);
            assert_near(number(term, "/level"), 0.95, 1e-12);
            let (low, high) = (
                number(term, "/interval/low"),
                number(term, "/interval/high"),
            );
            assert!(low < truth && truth < high, "{term}");
        }
        let notes = report["notes"].to_string();
        assert!(notes.contains("chosen by 2250 of the records"), "{notes}");
        assert!(notes.contains("estimated by the other 750"), "{notes}");
        assert!(
            folder
                .read("page.html")
                .contains("estimates by 750 of them")
        );

        // Each line says which records it is about, and the cost is that of the dearer part: not the sum of both.
        let model = folder.json("model.json");
        let parts = parts(&model);
        let (selection, estimation) = parts.split_at(parts.len() - 2);
        assert!(
            selection.iter().all(|part| part == "selection"),
            "{parts:?}"
        );
        assert_eq!(estimation, ["estimation", "estimation"]);
        let spent = number(&model, "/receipts/0/ledger/spent");
        assert!(spent <= 20.0 && spent > 18.0, "{spent}");
        let verified = answer(&format!("verify {}", folder.path("model.json")));
        assert_near(number(&verified, "/guarantee/nominal_epsilon"), spent, 1e-9);

        // A file that says another part of one line is refused, in the ledger and in the plan.
        let text = folder.read("model.json");
        for forged in [
            text.replacen("\"estimation\"", "\"selection\"", 1),
            text.replacen("\"selection\"", "\"estimation\"", 1),
        ] {
            folder.write("forged.json", &forged);
            sprifed(&format!("verify {}", folder.path("forged.json")))
                .assert_refused(1, "sprifed::receipt::wrong");
        }
    }
}

#[test]
fn a_plan_shows_which_records_each_step_is_about() {
    let world = "plan --records 2000 --features 50 --sparsity 5 --epsilon 3 --forecast-trials 0 --procedure argmax";
    let split = answer(&format!("{world} --inference split"));
    assert_eq!(split["inference"], "split");
    let steps = split["steps"].as_array().unwrap();
    let (selection, estimation) = steps.split_at(steps.len() - 2);
    assert!(selection.iter().all(|step| step["part"] == "selection"));
    assert!(estimation.iter().all(|step| step["part"] == "estimation"));
    let epsilon = number(&split, "/guarantee/epsilon");
    assert!(epsilon <= 3.0 && epsilon > 2.7, "{epsilon}");
    let text = sprifed(&format!("{world} --inference split")).stdout;
    assert!(text.contains("chosen by 1500 of the records"), "{text}");
    let selective = answer(world);
    assert_eq!(selective["inference"], "selective");
    assert!(
        selective["steps"]
            .as_array()
            .unwrap()
            .iter()
            .all(|step| step["part"] == "all")
    );
}

#[test]
fn what_is_not_built_is_refused_before_anything_is_spent() {
    let folder = Folder::new("split_refused");
    for (options, says) in [
        ("--backend secure-sum", "--backend curator"),
        ("--backend secure-sum --clients 10", "--backend curator"),
        ("--backend trustees", "--backend curator"),
        ("--clients 30", "one record each"),
    ] {
        let refused = folder.fit(&format!(
            "--sparsity 3 --epsilon 20 --inference split {options}"
        ));
        assert_eq!(refused.exit_code, 2, "{}", refused.stderr);
        let words = refused
            .stderr
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(words.contains("split") && words.contains(says), "{words}");
    }
    assert!(!folder.files().contains(&"model.json".to_owned()));
    let simulated =
        "simulate --procedure non-private-omp --records 100 --features 20 --sparsity 2 --trials 1";
    let refused = sprifed(&format!("{simulated} --inference split"));
    refused.assert_refused(2, "sprifed::simulate::nothing-to-split");
}
