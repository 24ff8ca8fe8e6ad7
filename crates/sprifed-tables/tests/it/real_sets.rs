//! The public data sets, where `SPRIFED_DATA` says they are.

use std::path::{Path, PathBuf};

use sprifed_schema::Schema;
use sprifed_tables::{Table, read_table};

/// The path of one data set, or nothing, with a message, if the sets are absent.
#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
#[expect(
    clippy::disallowed_methods,
    reason = "an environment variable says where the data sets are"
)]
fn set(name: &str) -> Option<PathBuf> {
    let found = std::env::var_os("SPRIFED_DATA").map(|folder| Path::new(&folder).join(name));
    if found.is_none() {
        eprintln!("SKIPPED: {name}: set SPRIFED_DATA to the folder of the data sets");
    }
    found
}

fn read(path: &Path, schema: &str) -> Table {
    let schema = Schema::parse(schema).expect("a schema");
    read_table(path, &schema).expect("a table")
}

/// Every value is where the bounds allow it.
fn assert_bounded(table: &Table) {
    let bound = table.mapping().feature_bound();
    assert!(
        table
            .design()
            .values()
            .iter()
            .all(|value| f64::from(value.abs()) <= bound)
    );
    assert_eq!(table.response().len(), table.design().n_records());
}

#[test]
fn riboflavin_is_read_whole() {
    let Some(path) = set("riboflavin/data.csv.gz") else {
        return;
    };
    let table = read(
        &path,
        "[response]\nname = \"y\"\nlower = -15\nupper = 0\n[features]\nlower = 0\nupper = 20",
    );
    assert_eq!(
        (table.design().n_records(), table.design().n_features()),
        (71, 4088)
    );
    assert_eq!(table.counts().clipped_values, 0);
    let first = table.mapping().features()[0].from_unit(f64::from(table.design().row(0)[0]));
    assert!((first - 8.492_403_600_634_873).abs() < 1e-5, "{first}");
    assert_bounded(&table);
}

#[test]
fn gse1992_is_read_by_pattern_with_its_one_missing_value() {
    let Some(path) = set("gse1992/data.csv.gz") else {
        return;
    };
    let table = read(
        &path,
        "[response]\nname = \"time\"\nlower = 0\nupper = 120\n\
         [features]\nlower = -5\nupper = 5\ninclude = [\"num_*\"]\n\
         [feature.num_age]\nlower = 0\nupper = 120\n\
         [record]\nmissing = \"midpoint\"",
    );
    assert_eq!(
        (table.design().n_records(), table.design().n_features()),
        (124, 15_530)
    );
    assert_eq!(table.counts().missing_values, 1);
    assert_bounded(&table);
}

#[test]
fn blogfeedback_is_read_with_its_response_on_a_log_scale() {
    let Some(path) = set("blogfeedback/train.csv.gz") else {
        return;
    };
    let table = read(
        &path,
        "[response]\nname = \"y\"\nlower = 0\nupper = 1000\ntransform = \"log1p\"\n\
         [features]\nlower = -500\nupper = 500",
    );
    assert_eq!(
        (table.design().n_records(), table.design().n_features()),
        (52_397, 280)
    );
    assert!(table.counts().clipped_values > 0);
    assert_bounded(&table);
}

#[test]
fn mice_without_a_response_are_dropped_but_stay_in_the_public_count() {
    let Some(path) = set("mice/data.csv.gz") else {
        return;
    };
    let table = read(
        &path,
        "[response]\nname = \"y_alp\"\nlower = 0\nupper = 400\n\
         [features]\nlower = 0\nupper = 2\ninclude = [\"x_*\"]\n\
         [record]\nmissing_response = \"drop\"",
    );
    assert_eq!(table.design().n_features(), 10_346);
    assert_eq!(table.counts().dropped_without_response, 123);
    assert_eq!(table.design().n_records(), 1814);
    let counted = table.present().iter().filter(|present| **present).count();
    assert_eq!(counted, 1814 - 123);
    assert_eq!(table.public_size(), 1814);
    assert_eq!(table.clients().n_clients(), 1814);
    assert_bounded(&table);
}
