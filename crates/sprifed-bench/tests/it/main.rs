//! The figures are the machine's, the form is ours.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic")]
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use serde_json::Value;

/// What the binary prints for the arguments in `line`; it must succeed.
fn text(line: &str) -> String {
    let output = assert_cmd::cargo::cargo_bin_cmd!("sprifed-bench")
        .args(line.split_whitespace())
        .output()
        .unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(line: &str) -> Value {
    serde_json::from_str(&text(line)).unwrap()
}

#[test]
fn a_benchmark_of_noise_has_one_row_per_sampler_and_a_verdict_where_there_is_a_goal() {
    let report = json("noise --rounds 1 --json");
    let rows = report["rows"].as_array().unwrap();
    for (law, n_parameters) in [
        ("discrete Gaussian", 5),
        ("Skellam", 4),
        ("floor-Gumbel", 3),
    ] {
        let is_ours = |row: &&Value| {
            let [found, sampler] = ["law", "sampler"].map(|key| row[key].as_str().unwrap());
            found.starts_with(law) && sampler.starts_with("sprifed")
        };
        assert_eq!(
            rows.iter().filter(is_ours).count(),
            2 * n_parameters,
            "{law}"
        );
    }
    for row in rows {
        assert!(row["nanoseconds_per_draw"].as_f64().unwrap() > 0.0, "{row}");
        assert_eq!(
            row["goal_nanoseconds"].is_null(),
            row["is_within_goal"].is_null(),
            "{row}"
        );
    }
}

#[test]
fn the_text_of_a_benchmark_says_how_to_include_other_crates() {
    let text = text("noise --rounds 1");
    assert!(text.contains("within goal"), "{text}");
    if !cfg!(feature = "peers") {
        assert!(text.contains("--features peers"), "{text}");
    }
}

#[test]
fn a_benchmark_of_masked_sums_has_every_figure_for_every_setting() {
    let report = json("secure-sum --quick --repetitions 1 --json");
    let rows = report["rows"].as_array().unwrap();
    let count = |figure: &str| rows.iter().filter(|row| row["figure"] == figure).count();
    for figure in [
        "client, one sum",
        "client, noise draw beside it",
        "client, exchange of keys for all sums",
        "server, one sum",
        "upload",
    ] {
        assert_eq!(count(figure), 5, "{figure}");
    }
    assert_eq!(count("a mask against its key stream"), 1);
    for row in rows {
        let value = row["value"].as_f64().unwrap();
        assert!(value > 0.0, "{row}");
        if let Some(goal) = row["goal"].as_f64() {
            assert_eq!(row["is_within_goal"], value <= goal, "{row}");
        }
    }
    let uploads = rows.iter().filter(|row| row["figure"] == "upload");
    for upload in uploads {
        let [value, limit] = ["value", "limit"].map(|key| upload[key].as_f64().unwrap());
        assert!(value >= limit, "{upload}");
    }
}

#[test]
fn a_benchmark_without_flower_says_so_loudly() {
    for request in [
        "secure-sum --quick --repetitions 1",
        "secure-sum --quick --repetitions 1 --python no-such-python",
    ] {
        let text = text(request);
        assert!(text.contains("FLOWER WAS NOT MEASURED"), "{text}");
        assert!(text.contains("client, one sum"), "{text}");
    }
}

#[test]
fn a_benchmark_of_trustees_has_gates_proofs_and_growth_and_verdicts_where_there_is_a_goal() {
    let report = json("trustees --quick --repetitions 1 --json");
    let rows = report["rows"].as_array().unwrap();
    let works = |work: &str| rows.iter().filter(|row| row["work"] == work).count();
    let works = ["gates", "trustee", "proof", "whole"].map(works);
    assert_eq!(works, [5, 2, 2, 3]);
    for row in rows {
        assert!(row["cpu_milliseconds"].as_f64().unwrap() >= 0.0, "{row}");
        let has_goal = !row["cpu_goal_milliseconds"].is_null();
        assert_eq!(has_goal, row["is_within_goal"].is_boolean(), "{row}");
    }
    let gates: Vec<f64> = rows
        .iter()
        .filter(|row| row["work"] == "gates")
        .map(|row| row["megabytes_sent"].as_f64().unwrap())
        .collect();
    assert!(gates[2] < gates[3] && gates[3] < gates[4], "{gates:?}");
    assert!(report["noise"]["nanoseconds_per_draw"].as_f64().unwrap() > 0.0);
    if cfg!(target_os = "linux") {
        assert!(report["load"][0].is_f64(), "{report}");
    }
}

#[test]
fn a_benchmark_without_spu_says_so_loudly() {
    for request in ["", "--python no-such-python"] {
        let line = format!("trustees --quick --repetitions 1 --without-proofs {request}");
        let text = text(&line);
        assert!(text.contains("SPU WAS NOT MEASURED"), "{text}");
        assert!(text.contains("half share of Euler noise"), "{text}");
    }
}

#[test]
fn a_benchmark_of_studies_finishes_one_and_says_what_its_coordinator_used() {
    let bench = assert_cmd::cargo::cargo_bin!("sprifed-bench");
    if !bench.with_file_name("sprifed").is_file() {
        eprintln!(
            "SKIPPED: the program `sprifed` is not built; `cargo test --workspace` builds it"
        );
        return;
    }
    let folder = std::env::temp_dir().join(format!("sprifed-bench-{}", std::process::id()));
    let request = format!(
        "study --clients 6 --features 20 --json --folder {}",
        folder.display()
    );
    let report = json(&request);
    std::fs::remove_dir_all(&folder).unwrap();
    let row = &report["rows"][0];
    assert_eq!(row["finished"], 6, "{row}");
    assert!(row["sums"].as_u64().unwrap() > 0, "{row}");
    assert!(row["sums_per_minute"].as_f64().unwrap() > 0.0, "{row}");
    if cfg!(target_os = "linux") {
        let peak = row["coordinator_peak_mebibytes"].as_f64().unwrap();
        assert!(peak > 1.0, "{row}");
    }
}
