//! Fits and simulations with fixed seeds give the same numbers, bit for bit, whatever is moved or rewritten.
//!
//! After a change that is meant to change them: `SPRIFED_WRITE_GOLDEN=1 cargo test -p sprifed-cli --test it golden`.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::command::answer;
use crate::fit::table::Folder;

const FITS: [&str; 10] = [
    "--procedure grad",
    "--procedure sieve",
    "--procedure argmax",
    "--procedure grad --neighbours replace-one",
    "--procedure sieve --clients 40",
    "--procedure grad --backend secure-sum --clients 20",
    "--procedure sieve --backend secure-sum --clients 20",
    "--procedure sieve --backend secure-sum --clients 20 --neighbours replace-one",
    "--procedure argmax --backend trustees --clients 20",
    "--procedure sieve --backend trustees --clients 20 --neighbours replace-one",
];

const SIMULATIONS: [&str; 14] = [
    "--procedure grad",
    "--procedure sieve",
    "--procedure argmax",
    "--procedure honest-omp",
    "--procedure honest-grad",
    "--procedure dp-sgd",
    "--procedure dp-gcd",
    "--procedure paper-omp",
    "--procedure paper-omp-reuse",
    "--procedure paper-grad",
    "--procedure non-private-omp",
    "--procedure sieve --correlation ar:0.8",
    "--procedure sieve --backend secure-sum --clients 30 --dropouts 0.1",
    "--procedure argmax --backend trustees --clients 30 --dropouts 0.1",
];

#[test]
fn fits_and_simulations_with_fixed_seeds_are_the_same_bit_for_bit() {
    let folder = Folder::new("golden");
    let mut found = Map::new();
    for options in FITS {
        let line = format!("{options} --sparsity 3 --epsilon 6 --simulate-noise 7 --force --json");
        found.insert(format!("fit {options}"), numbers_of_fit(&folder, &line));
    }
    for options in SIMULATIONS {
        let world = "--records 300 --features 50 --sparsity 3 --epsilon 5 --trials 2 --seed 1";
        let answer = answer(&format!("simulate {options} {world}"));
        let keys = [
            "recovered",
            "recovered_share",
            "test_mse",
            "test_r2",
            "null_mse",
        ];
        found.insert(format!("simulate {options}"), only(&answer, &keys));
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/numbers.json");
    if std::env::var_os("SPRIFED_WRITE_GOLDEN").is_some() {
        let text = serde_json::to_string_pretty(&found).unwrap();
        std::fs::write(&path, text + "\n").unwrap();
    }
    let kept: Map<String, Value> =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    for (name, numbers) in &found {
        assert_eq!(Some(numbers), kept.get(name), "{name}");
    }
    assert_eq!(found.len(), kept.len());
}

fn numbers_of_fit(folder: &Folder, options: &str) -> Value {
    let ended = folder.fit(options);
    assert_eq!(ended.exit_code, 0, "{options}: {}", ended.stderr);
    let answer = ended.json();
    let mut numbers = only(
        &answer,
        &[
            "support",
            "coefficients",
            "intercept",
            "status",
            "train_size",
        ],
    );
    let guarantee = only(&answer["guarantee"], &["epsilon", "delta", "mu"]);
    numbers["guarantee"] = guarantee;
    numbers
}

fn only(answer: &Value, keys: &[&str]) -> Value {
    let mut kept = json!({});
    for key in keys {
        kept[*key] = answer[*key].clone();
    }
    kept
}
