//! `simulate`: what trials with too few records say.

use serde_json::Value;

use crate::command::{answer, number, text};

const FEW: &str = "simulate --procedure argmax --records 60 --features 2000 --sparsity 3 --epsilon 1 --delta 1e-6 --trials 1";

#[test]
fn trials_with_too_few_records_say_why_nothing_is_kept() {
    let found = answer(FEW);
    let plan = answer(
        "plan --procedure argmax --records 60 --features 2000 --sparsity 3 --epsilon 1 --delta 1e-6 --forecast-trials 0",
    );
    assert_eq!(found["fewest_records"], plan["floor"]["fewest_records"]);
    assert_eq!(
        (number(&found, "/kept/mean"), &found["keep"]),
        (0.0, &"significant".into())
    );
    let said = text(FEW);
    let line = format!(
        "too few     argmax needs at least {} records at this budget: no feature is sought, and each model is the mean",
        found["fewest_records"]
    );
    assert!(said.lines().any(|one| one == line), "{said}");
    let exactly = text(&format!("{FEW} --exactly"));
    assert!(exactly.contains("as good as picked at random"), "{exactly}");
}

#[test]
fn trials_with_enough_records_do_not_speak_of_too_few() {
    let line = "simulate --procedure argmax --records 400 --features 40 --sparsity 2 --epsilon 5 --trials 1";
    assert!(number(&answer(line), "/fewest_records") <= 400.0);
    assert!(!text(line).contains("too few"), "{}", text(line));
    let reference = answer(&line.replace("argmax", "non-private-omp"));
    assert_eq!(reference.get("fewest_records"), None::<&Value>);
}
