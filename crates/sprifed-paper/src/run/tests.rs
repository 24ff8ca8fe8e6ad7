//! Rows are kept, resumed and replaced.

use sprifed_simulate::Reference;
use std::path::PathBuf;

use super::run;
use crate::cell::{Cell, Noise};
use crate::contender::Contender;
use crate::experiment::{Conditions, Experiment, ExperimentError, Size, Work};
use crate::store::Store;
use crate::verdict::Verdict;
use sprifed_recovery::CertifiedProcedure;
use sprifed_simulate::{Correlation, Reading, Unexplained, WorldRequest, WorldSites};

const EXPERIMENT: Experiment = Experiment {
    name: "tiny",
    title: "",
    claim: "",
    setting: "",
    work: Work::Cells(cells),
    figures: &[],
    metrics: &[],
    judge: |_| Verdict::not_run(),
};

fn cells(conditions: &Conditions) -> Result<Vec<Cell>, ExperimentError> {
    let world = WorldRequest {
        records: 300,
        test_records: 0,
        features: 60,
        sparsity: 2,
        support: 2,
        correlation: Correlation::None,
        unexplained: Unexplained::ErrorStdDev(0.1),
        reading: Reading::Clean,
        outcome: sprifed_simulate::WorldOutcome::Linear,
        sites: WorldSites::NONE,
    };
    let cell = |contender, noise| Cell {
        panel: "one".to_owned(),
        contender,
        axis: ("records", 300.0),
        world,
        noise,
        paper: Vec::new(),
        independent: Vec::new(),
        trials: conditions.trials_for(300, 60),
    };
    let grad = Contender::Certified(CertifiedProcedure::GRAD);
    Ok(vec![
        cell(grad, Noise::certified(5.0)?),
        cell(Contender::NonPrivate(Reference::Omp), Noise::Absent),
    ])
}

fn conditions(seed: u64) -> Conditions {
    Conditions {
        size: Size::Full,
        trials: Some(3),
        seed,
        data: None,
        commit: "test".to_owned(),
    }
}

fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/experiment-tests")
        .join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// Runs the tiny experiment in `folder` and returns its messages and rows.
fn runs(folder: &std::path::Path, seed: u64) -> (Vec<String>, Vec<crate::row::Row>) {
    let mut reported = Vec::new();
    let mut store = Store::open(folder).unwrap();
    let mut watch = |text: &str| reported.push(text.to_owned());
    run(&EXPERIMENT, &conditions(seed), &mut store, &mut watch).unwrap();
    (reported, store.of("tiny"))
}

#[test]
fn a_second_run_measures_nothing_and_another_seed_everything() {
    let folder = folder("resume");
    let (reported, first) = runs(&folder, 1);
    assert_eq!((reported.len(), first.len()), (2, 6));
    let (reported, second) = runs(&folder, 1);
    assert_eq!(reported, ["tiny: 2 of 2 cells are there already"]);
    assert_eq!(first, second);
    let (reported, third) = runs(&folder, 2);
    assert_eq!((reported.len(), third.len()), (2, 6));
    assert!(third.iter().all(|row| row.seed == 2 && row.trials == 3));
}

#[test]
fn a_row_says_what_it_delivers_and_what_chance_would_find() {
    let (_, rows) = runs(&folder("labels"), 1);
    let grad = rows
        .iter()
        .find(|row| row.series == "grad" && row.metric == "recovered")
        .unwrap();
    let (zero_out, replace_one) = (
        grad.epsilon_zero_out.unwrap(),
        grad.epsilon_replace_one.unwrap(),
    );
    assert!(
        zero_out <= 5.0 && zero_out > 4.9 && replace_one > 10.0,
        "{grad:?}"
    );
    assert!((grad.null.unwrap() - 4.0 / 60.0).abs() < 1e-12);
    let free = rows
        .iter()
        .find(|row| row.series == "non-private-omp")
        .unwrap();
    assert_eq!(
        (free.epsilon_zero_out, free.privacy.as_str()),
        (None, "NOT PRIVATE: no noise")
    );
}

#[test]
fn without_data_an_experiment_on_data_is_skipped_loudly() {
    let skipped = Experiment {
        work: Work::OnData(|_| panic!("there is no data")),
        ..EXPERIMENT
    };
    let mut reported = Vec::new();
    let mut store = Store::open(&folder("skipped")).unwrap();
    run(&skipped, &conditions(1), &mut store, &mut |text| {
        reported.push(text.to_owned())
    })
    .unwrap();
    assert!(reported[0].starts_with("SKIPPED tiny"), "{reported:?}");
}

#[test]
fn a_file_that_holds_no_rows_is_refused() {
    let folder = folder("refused");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(Store::ROWS), "a,b\n1,2\n").unwrap();
    let refused = Store::open(&folder).unwrap_err().to_string();
    assert!(
        refused.contains("holds no rows of experiments"),
        "{refused}"
    );
}
