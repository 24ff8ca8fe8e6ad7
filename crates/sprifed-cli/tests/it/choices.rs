//! Choices that nothing can carry out: refused before anything is spent, in the same words by every command.

use crate::command::{file, run, sprifed};
use crate::fit::table::Folder;

#[test]
fn an_epsilon_beyond_the_noise_is_refused_before_anything_is_spent() {
    let folder = Folder::new("huge_epsilon");
    let before = folder.files();
    let ledger = folder.path("ledger");
    let wanted = "--sparsity 5 --procedure argmax --epsilon";
    for epsilon in ["3e8", "1e9"] {
        let ended = folder.fit(&format!("{wanted} {epsilon} --ledger {ledger}"));
        ended.assert_refused(2, "sprifed::plan::impossible");
        assert_eq!(folder.files(), before, "{}", ended.stderr);
        let planned = sprifed(&format!(
            "plan --records 3000 --features 20 --forecast-trials 0 {wanted} {epsilon}"
        ));
        planned.assert_refused(2, "sprifed::plan::impossible");
        assert!(planned.stderr.contains("spend less"), "{}", planned.stderr);
    }
}

#[test]
fn an_epsilon_of_zero_is_refused_in_the_same_words_by_every_command() {
    for line in [
        "fit data.csv --schema schema.toml --sparsity 1",
        "plan --records 1000 --features 10 --sparsity 2 --forecast-trials 0",
        "simulate --records 600 --features 30 --sparsity 3 --trials 2",
        "audit",
    ] {
        for zero in ["0", "-0", "0.0"] {
            let ended = sprifed(&format!("{line} --epsilon {zero}"));
            assert_eq!((ended.exit_code, ended.stdout.as_str()), (2, ""), "{line}");
            assert!(
                ended.stderr.contains("--epsilon must be greater than 0"),
                "{line}: {}",
                ended.stderr
            );
        }
    }
}

#[test]
fn indices_beyond_every_table_are_refused() {
    let data = file("indices.svm", "1 1:1\n");
    let schema = file(
        "indices.toml",
        "[response]\nname = \"y\"\nlower = 0\nupper = 2\n[features]\nlower = 0\nupper = 1\n",
    );
    let [data, schema] = [&data, &schema].map(|path| path.to_str().unwrap());
    let ended = run([
        "schema",
        "check",
        schema,
        data,
        "--svmlight",
        "1-4294967295",
    ]);
    assert_eq!((ended.exit_code, ended.stdout.as_str()), (2, ""));
    assert!(
        ended.stderr.contains("at most 8388608 indices"),
        "{}",
        ended.stderr
    );
}

#[test]
fn an_error_that_no_number_holds_is_refused() {
    for error in ["1e300", "1e16"] {
        let ended = sprifed(&format!(
            "simulate --records 600 --features 30 --sparsity 3 --trials 2 --error-std {error} --json"
        ));
        assert_eq!(ended.exit_code, 2, "{error}: {}", ended.stdout);
    }
}
