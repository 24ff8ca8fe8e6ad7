use std::path::{Path, PathBuf};

use clap::Parser;
use sprifed_noise::{NoiseGenerator, Provenance};
use sprifed_party::Overwrite;
use sprifed_privacy::{ApproxDp, Epsilon, Ledger, LedgerRecord};
use sprifed_schema::Schema;
use sprifed_tables::{Table, read_csv};

use super::*;

#[derive(Debug, Parser)]
struct Command {
    #[command(flatten)]
    fit: super::super::Fit,
}

const SCHEMA: &str =
    "[response]\nname = \"y\"\nlower = -2\nupper = 2\n[features]\nlower = -1\nupper = 1\n";

fn table(schema: &Schema) -> Table {
    let mut text = String::from("a,b,c,y\n");
    for record in 0..200 {
        let value = f64::from(record % 7) / 3.5 - 1.0;
        text += &format!(
            "{value},{},{},{}\n",
            -value / 2.0,
            f64::from(record % 2),
            1.5 * value
        );
    }
    read_csv(text.as_bytes(), schema).unwrap()
}

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("sprifed-release-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Releases a study whose ledger holds less than its plan needs, on each of `tries`.
fn refused_midway(place: &Path, tries: usize) -> Vec<Failure> {
    let schema = Schema::parse(SCHEMA).unwrap();
    let table = table(&schema);
    let request = Command::parse_from(["fit", "data.csv", "--sparsity", "1", "--epsilon", "3"]).fit;
    let mut study = Study::prepare(&request.request(), &schema, table.outline()).unwrap();
    let delta = study.plan.budget.delta();
    study.plan.budget = ApproxDp::new(Epsilon::try_from(2.0).unwrap(), delta);
    (0..tries)
        .map(|_| {
            let destination = Destination::reserve(place, Overwrite::Refused, &[]).unwrap();
            release(
                &study,
                &table,
                Secret::Curator(NoiseGenerator::simulated(1).into()),
                destination,
                Vec::new(),
                FitEntry::none(),
            )
            .unwrap_err()
        })
        .collect()
}

#[test]
fn a_run_refused_midway_leaves_no_model_but_a_ledger_that_adds_up() {
    let place = folder("midway").join("model.json");
    let failure = refused_midway(&place, 1).remove(0);
    assert_eq!(failure.exit_code(), 1);
    assert!(failure.message.contains("the budget is 2"), "{failure:?}");
    assert!(
        failure.help.contains("model.json.spent.json, keep it"),
        "{failure:?}"
    );
    assert!(!place.exists());
    let text = std::fs::read_to_string(place.with_file_name("model.json.spent.json")).unwrap();
    let stored: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&stored["format"], &stored["label"]),
        (&"sprifed-spent".into(), &"NOT PRIVATE".into())
    );
    let record: LedgerRecord = serde_json::from_value(stored["ledger"].clone()).unwrap();
    assert!(!record.entries.is_empty());
    assert_eq!(Ledger::replay(&record).unwrap().record(), record);
    assert!(failure.help.contains(&record.spent.unwrap().shown()));
    let others = std::fs::read_dir(place.parent().unwrap()).unwrap().count();
    assert_eq!(others, 1, "a reservation was left behind");
    std::fs::remove_dir_all(place.parent().unwrap()).unwrap();
}

#[test]
fn a_second_refusal_does_not_overwrite_the_ledger_of_the_first() {
    let place = folder("twice").join("model.json");
    let failures = refused_midway(&place, 2);
    assert!(
        failures[1].help.contains("model.json.spent-2.json"),
        "{:?}",
        failures[1]
    );
    assert!(place.with_file_name("model.json.spent.json").exists());
    std::fs::remove_dir_all(place.parent().unwrap()).unwrap();
}

#[test]
fn a_ledger_that_cannot_be_stored_is_said_in_full() {
    let place = Path::new("/nonexistent-folder/model.json");
    let schema = Schema::parse(SCHEMA).unwrap();
    let table = table(&schema);
    let request = Command::parse_from(["fit", "data.csv", "--sparsity", "1", "--epsilon", "3"]).fit;
    let study = Study::prepare(&request.request(), &schema, table.outline()).unwrap();
    let rows = rows_of(&table);
    let secret = Secret::Curator(NoiseGenerator::simulated(1).into());
    let go_on = &mut |_| ControlFlow::Continue(());
    let Run { outcome, receipt } = study.run(&rows, secret, go_on).unwrap();
    outcome.unwrap();
    let failure = Failure::environment("sprifed::file::unwritable", "no space".to_owned(), "");
    let kept = keep_ledger(failure, place, &receipt);
    assert_eq!(kept.exit_code(), 3);
    assert!(
        kept.help.contains("keep this record: {") && kept.help.contains("\"entries\""),
        "{kept:?}"
    );
}

#[test]
fn before_the_first_charge_nothing_is_written_and_the_failure_says_so() {
    let place = folder("unspent").join("model.json");
    let delta = sprifed_privacy::Delta::try_from(1e-6).unwrap();
    let budget = ApproxDp::new(Epsilon::try_from(1.0).unwrap(), delta);
    let ledger = Ledger::open(
        budget,
        sprifed_privacy::Relation::ZeroOut,
        sprifed_privacy::PrivacyUnit::Record,
    );
    let receipt = Receipt {
        provenance: Provenance::Cryptographic,
        ledger: ledger.record(),
    };
    let failure = Failure::outcome("sprifed::fit::ended", "no".to_owned(), "");
    let kept = keep_ledger(failure, &place, &receipt);
    assert!(kept.help.contains("nothing was spent"), "{kept:?}");
    assert_eq!(
        std::fs::read_dir(place.parent().unwrap()).unwrap().count(),
        0
    );
    std::fs::remove_dir_all(place.parent().unwrap()).unwrap();
}
