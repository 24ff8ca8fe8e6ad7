use super::*;
use crate::formats::csv::read_csv;

fn schema(rest: &str) -> Schema {
    Schema::parse(&format!(
        "[response]\nname = \"y\"\nlower = 0\nupper = 10\n[features]\nlower = -1\nupper = 1\n{rest}"
    ))
    .expect("a schema")
}

fn table(text: &str, rest: &str) -> Table {
    read_csv(text.as_bytes(), &schema(rest)).expect("a table")
}

fn refused(text: &str, rest: &str) -> String {
    read_csv(text.as_bytes(), &schema(rest))
        .expect_err("refused")
        .to_string()
}

#[test]
fn values_outside_the_bounds_are_clipped_and_counted_in_total_only() {
    let table = table("a,b,y\n5,-7,0\n0.5,0,99\n", "");
    assert_eq!(*table.design().row(0), [1.0, -1.0]);
    assert_eq!(table.response(), [-1.0, 1.0]);
    assert_eq!(table.counts().clipped_values, 3);
}

#[test]
fn the_cap_keeps_the_first_records_of_each_client_in_file_order() {
    let rest = "[record]\nclient = \"who\"\nmax_per_client = 2";
    let table = table(
        "who,a,y\nn,0.1,1\ns,0.2,1\nn,0.3,1\nn,0.4,1\ns,0.5,1\nn,0.6,1\n",
        rest,
    );
    assert_eq!(*table.design().values(), [0.1, 0.2, 0.3, 0.5]);
    assert_eq!(table.clients().rows_of(0), [0, 2]);
    assert_eq!(table.clients().rows_of(1), [1, 3]);
    assert_eq!(table.counts().over_cap, 2);
    assert_eq!(table.public_size(), 4);
}

#[test]
fn a_dropped_record_does_not_let_a_later_one_of_its_client_move_up() {
    let rest = "[record]\nclient = \"who\"\nmissing_response = \"drop\"";
    let table = table("who,a,y\nn,0.1,\nn,0.2,1\ns,0.3,1\n", rest);
    assert_eq!(
        *table.design().values(),
        [0.0, 0.3],
        "the second record of n is over the cap of one"
    );
    assert_eq!(
        table.clients().n_clients(),
        2,
        "n stays, with nothing to contribute"
    );
    assert_eq!(table.clients().rows_of(0), [0]);
    assert_eq!(table.present(), [false, true]);
    assert_eq!(table.public_size(), 2);
    assert_eq!(table.counts().dropped_without_response, 1);
}

#[test]
fn a_record_over_the_cap_is_not_looked_at() {
    let rest = "[record]\nclient = \"who\"";
    let filler = "n,0,1\n".repeat(30);
    let table = table(&format!("who,a,y\n{filler}n,text,\n"), rest);
    assert_eq!(table.counts().over_cap, 30);
}

#[test]
fn missing_features_are_refused_by_column_and_policy_alone() {
    for (gap, what) in [
        ("", "missing value"),
        ("NA", "missing value"),
        ("nan", "missing value"),
        ("inf", "infinite value"),
        ("-Infinity", "infinite value"),
        ("null", "missing value"),
    ] {
        let message = refused(&format!("a,b,y\n0.125,{gap},7.5\n"), "");
        let start = format!("column `b`, line 2: {what}");
        assert!(message.starts_with(&start), "{message}");
        assert!(
            !message.contains("0.125") && !message.contains("7.5"),
            "{message}"
        );
    }
}

#[test]
fn missing_features_become_the_middle_of_the_bounds_if_so_agreed() {
    let rest = "[feature.b]\nlower = 0\nupper = 4\ncenter = 0\nscale = 1\n[record]\nmissing = \"midpoint\"";
    let table = table("a,b,y\n,,5\ninf,NaN,5\n", rest);
    assert_eq!(*table.design().values(), [0.0, 2.0, 0.0, 2.0]);
    assert_eq!(table.counts().missing_values, 4);
    assert_eq!(table.counts().clipped_values, 0);
}

#[test]
fn a_missing_response_is_refused_by_default() {
    let message = refused("a,y\n0,\n", "");
    assert!(
        message.contains("`y`, line 2: missing response") && message.contains("\"drop\""),
        "{message}"
    );
}

#[test]
fn a_logarithm_that_does_not_exist_is_a_value_below_the_bounds() {
    let schema = Schema::parse(
        "[response]\nname = \"y\"\nlower = 0\nupper = 99\ntransform = \"log1p\"\n\
         [features]\nlower = -1\nupper = 1",
    )
    .expect("a schema");
    let table = read_csv("a,y\n0,-5\n0,-1\n0,9\n".as_bytes(), &schema).expect("a table");
    assert_eq!(&table.response()[..2], [-1.0, -1.0]);
    assert!(table.response()[2].abs() < 1e-6);
    assert_eq!(table.counts().clipped_values, 2);
}

#[test]
fn a_record_without_a_client_is_refused() {
    let message = refused("who,a,y\n n ,0,1\n  ,0,1\n", "[record]\nclient = \"who\"");
    assert!(
        message.contains("client column `who` is empty in line 3"),
        "{message}"
    );
}

#[test]
fn a_table_without_records_is_refused() {
    assert!(refused("a,y\n", "").contains("n = 0"));
}

#[test]
fn a_dropped_record_keeps_its_place_even_if_it_is_the_only_one() {
    let rest = "[record]\nmissing_response = \"drop\"";
    let one = table("a,y\n0.5,\n", rest);
    assert_eq!((one.present(), one.public_size()), (&[false][..], 1));
    let three = table("a,y\n0.1,1\n0.2,\n0.3,1\n", rest);
    assert_eq!(*three.design().values(), [0.1, 0.0, 0.3]);
    assert_eq!(three.response()[1].to_bits(), 0f32.to_bits());
    assert_eq!(three.present(), [true, false, true]);
    assert_eq!(three.clients().rows_of(2), [2]);
}

#[test]
fn clients_are_numbered_by_their_labels_and_not_by_their_first_records() {
    let rest = "[record]\nclient = \"who\"\nmax_per_client = 3";
    let early = table("who,a,y\nb,0.1,1\nc,0.2,1\na,0.3,1\n", rest);
    let late = table("who,a,y\nc,0.2,1\na,0.3,1\nb,0.4,1\nb,0.5,1\n", rest);
    assert_eq!(early.clients().rows_of(0), [2]);
    assert_eq!(early.clients().rows_of(2), [1]);
    assert_eq!(late.clients().rows_of(0), [1]);
    assert_eq!(late.clients().rows_of(1), [2, 3]);
    assert_eq!(late.clients().rows_of(2), [0]);
}

#[test]
fn without_a_client_column_every_record_is_a_client() {
    let table = table("a,y\n0,1\n0,2\n0,3\n", "");
    assert_eq!(table.clients().n_clients(), 3);
    assert_eq!(table.clients().rows_of(2), [2]);
}

#[test]
fn a_matrix_that_cannot_exist_is_refused_and_not_tried() {
    let refused = reserve(&mut Vec::<f32>::new(), usize::MAX / 4).expect_err("too large");
    assert!(refused.to_string().contains("MiB"), "{refused}");
    assert!(DataError::from(refused).is_environment());
}

#[test]
fn categories_logarithms_and_gaps_are_coded_as_the_schema_says() {
    let rest = "[feature.sex]\nlevels = [\"f\", \"m\"]\n[feature.age]\nlower = 0\nupper = 100\nmissing = \"indicator\"\n\
                [feature.\"n_*\"]\nlower = 0\nupper = 99\ntransform = \"log1p\"\ncenter = 0\nscale = 1";
    let table = table("sex,age,n_1,y\nm,,0,1\nf,100,99,2\n", rest);
    assert_eq!(
        table.design().names(),
        ["sex=m", "age", "age=missing", "n_1"]
    );
    assert_eq!(*table.design().row(0), [1.0, 0.0, 1.0, 0.0]);
    assert_eq!(table.design().row(1)[..3], [0.0, 1.0, 0.0]);
    assert!((table.design().row(1)[3] - 100f32.ln()).abs() < 1e-6);
    assert_eq!(table.counts().missing_values, 1);
    let message = refused(
        "sex,y\nf,1\nx,1\n",
        "[feature.sex]\nlevels = [\"f\", \"m\"]",
    );
    assert!(
        message.starts_with("column `sex`, line 3: a value that is none of the `levels`"),
        "{message}"
    );
}

#[test]
fn what_a_cell_seems_to_be_is_said_and_its_value_is_not() {
    for (cell, part) in [
        ("2021-03-04", "a date where a number is required"),
        ("03.04.2021", "a date"),
        ("\"3,5\"", "read the table with decimal commas"),
        ("True", "levels = [false, true]"),
        ("secret", "text where a number is required"),
    ] {
        let message = refused(&format!("a,y\n{cell},1\n"), "");
        assert!(
            message.contains("column `a`, line 2") && message.contains(part),
            "{message}"
        );
        assert!(!message.contains(cell), "{message}");
    }
}
