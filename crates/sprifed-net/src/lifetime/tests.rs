use super::*;

#[test]
#[expect(clippy::float_cmp, reason = "sums of a few halves are exact")]
fn a_study_counts_with_its_most_until_it_is_settled_and_only_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/sprifed-net")
        .join(format!("lifetime-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("ledger.sqlite");
    let _ = std::fs::remove_file(&path);
    let mut ledger = LifetimeLedger::open(&path).expect("a ledger");
    ledger.reserve("a", "first", 3.0, 1e-6).expect("stored");
    ledger.reserve("b", "second", 2.0, 1e-6).expect("stored");
    assert_eq!(ledger.spent_elsewhere("c").expect("read"), 5.0);
    assert_eq!(ledger.spent_elsewhere("a").expect("read"), 2.0);
    ledger.settle("a", 2.5).expect("stored");
    ledger.settle("a", 0.1).expect("stored");
    ledger.reserve("a", "first", 0.0, 1e-6).expect("stored");
    assert!(
        LifetimeLedger::open(&path).is_err(),
        "one process at a time"
    );
    drop(ledger);
    let ledger = LifetimeLedger::open(&path).expect("a ledger");
    assert_eq!(ledger.spent_elsewhere("c").expect("read"), 4.5);
    let settled: Vec<bool> = ledger
        .lines()
        .expect("read")
        .iter()
        .map(|l| l.is_settled)
        .collect();
    assert_eq!(settled, [true, false]);
    let _ = std::fs::remove_dir_all(folder);
}
