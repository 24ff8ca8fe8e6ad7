//! Orthogonal matching pursuit without privacy, against scikit-learn's `orthogonal_mp`.
//!
//! The answers were written by `reference/orthogonal_mp.py`.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sprifed_query::Records;
use sprifed_recovery::non_private_omp;

fn fixture(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sprifed-recovery/tests/fixtures");
    serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap()
}

fn numbers(list: &Value) -> Vec<f64> {
    let list = list.as_array().unwrap();
    list.iter().map(|number| number.as_f64().unwrap()).collect()
}

fn count(number: &Value) -> usize {
    usize::try_from(number.as_u64().unwrap()).unwrap()
}

fn single(values: &[f64]) -> Vec<f32> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "records are of single precision"
    )]
    values.iter().map(|value| *value as f32).collect()
}

/// The pursuit on these records finds the support and coefficients of `expected`.
fn assert_agrees(features: &[f32], response: &[f32], expected: &Value, name: &str) {
    let records =
        Records::each_a_unit(features, response, features.len() / response.len()).unwrap();
    let fit = non_private_omp(&records, count(&expected["sparsity"]));
    let mut terms = fit.model.terms;
    terms.sort_by_key(|(feature, _)| *feature);
    let support: Vec<f64> = terms
        .iter()
        .map(|(feature, _)| f64::from(*feature))
        .collect();
    assert_eq!(support, numbers(&expected["support"]), "{name}");
    for ((feature, found), expected) in terms.iter().zip(numbers(&expected["coefficients"])) {
        let error = (found - expected).abs();
        assert!(
            error < 1e-6,
            "{name}, feature {feature}: {found} for {expected}"
        );
    }
}

#[test]
fn ten_random_problems_have_the_answers_of_scikit_learn() {
    let fixture = fixture("orthogonal_mp.json");
    let problems = fixture["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 10);
    for problem in problems {
        let features = single(&numbers(&problem["features"]));
        let response = single(&numbers(&problem["response"]));
        assert_eq!(response.len(), count(&fixture["n_records"]));
        assert_eq!(
            features.len(),
            response.len() * count(&fixture["n_features"])
        );
        assert_agrees(
            &features,
            &response,
            problem,
            &format!("seed {}", problem["seed"]),
        );
    }
}

/// The folder of real data sets, if there is one; says so if not.
#[expect(
    clippy::print_stderr,
    reason = "a test that did not run must not look like one that did"
)]
fn real_data() -> Option<PathBuf> {
    let folder = std::env::var_os("SPRIFED_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("SKIPPED: set SPRIFED_DATA to the folder with riboflavin and cookie");
    }
    folder
}

/// Features `x_*` and response `y` of a table, row by row.
fn read_table(path: &Path) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut text)
        .unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let is_feature: Vec<bool> = header.iter().map(|name| name.starts_with("x_")).collect();
    let target = header.iter().position(|name| *name == "y").unwrap();
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let response = rows.iter().map(|row| row[target]).collect();
    let features = rows.iter().map(|row| {
        let kept = row.iter().zip(&is_feature).filter(|(_, kept)| **kept);
        kept.map(|(value, _)| *value).collect()
    });
    (features.collect(), response)
}

/// The mean of each column, added row after row as the reference does.
fn column_means(rows: &[Vec<f64>]) -> Vec<f64> {
    let mut totals = vec![0.0; rows[0].len()];
    for row in rows {
        for (total, value) in totals.iter_mut().zip(row) {
            *total += value;
        }
    }
    totals
        .iter()
        .map(|total| total / rows.len() as f64)
        .collect()
}

/// Columns centred and scaled to unit root mean square.
fn standardised(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let means = column_means(&rows);
    for row in &mut rows {
        for (value, mean) in row.iter_mut().zip(&means) {
            *value -= mean;
        }
    }
    let squares: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| row.iter().map(|value| value * value).collect())
        .collect();
    let scales: Vec<f64> = column_means(&squares)
        .iter()
        .map(|square| square.sqrt())
        .collect();
    let scaled = rows
        .iter()
        .flat_map(|row| row.iter().zip(&scales).map(|(v, scale)| v / scale));
    scaled.collect()
}

#[test]
fn two_real_data_sets_have_the_answers_of_scikit_learn() {
    let Some(folder) = real_data() else { return };
    let fixture = fixture("orthogonal_mp_real.json");
    for name in ["riboflavin", "cookie"] {
        let (features, response) = read_table(&folder.join(name).join("data.csv.gz"));
        assert_eq!(features.len(), count(&fixture[name]["n_records"]), "{name}");
        assert_eq!(
            features[0].len(),
            count(&fixture[name]["n_features"]),
            "{name}"
        );
        let responses: Vec<Vec<f64>> = response.iter().map(|value| vec![*value]).collect();
        let mean = column_means(&responses)[0];
        let centred: Vec<f64> = response.iter().map(|value| value - mean).collect();
        let features = single(&standardised(features));
        assert_agrees(&features, &single(&centred), &fixture[name], name);
    }
}
