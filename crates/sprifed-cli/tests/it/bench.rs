//! `bench study`: the figures are the machine's, the form is ours.

use crate::command::sprifed;

#[test]
fn a_benchmark_of_studies_finishes_one_and_says_what_its_coordinator_used() {
    let folder = std::env::temp_dir().join(format!("sprifed-bench-{}", std::process::id()));
    let request = format!(
        "bench study --clients 6 --features 20 --json --folder {}",
        folder.display()
    );
    let report = sprifed(&request).json();
    std::fs::remove_dir_all(&folder).unwrap();
    let row = &report["rows"][0];
    assert_eq!(row["finished"], 6, "{row}");
    assert!(row["sums"].as_u64().unwrap() > 0, "{row}");
    assert!(row["sums_per_minute"].as_f64().unwrap() > 0.0, "{row}");
    if cfg!(target_os = "linux") {
        assert!(
            row["coordinator_peak_mebibytes"].as_f64().unwrap() > 1.0,
            "{row}"
        );
    }
}
