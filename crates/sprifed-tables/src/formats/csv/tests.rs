use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;

fn schema() -> Schema {
    Schema::parse(
        "[response]\nname = \"y\"\nlower = 0\nupper = 1\n[features]\nlower = -1\nupper = 1",
    )
    .expect("a schema")
}

fn refused(bytes: &[u8]) -> DataError {
    read_csv(bytes, &schema()).expect_err("refused")
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn quotes_blanks_and_a_byte_order_mark_are_understood() {
    let text = "\u{feff}\"a\", b ,y\r\n\"0.5\", -0.25 ,1\r\n";
    let table = read_csv(text.as_bytes(), &schema()).expect("a table");
    assert_eq!(table.design().names(), ["a", "b"]);
    assert_eq!(*table.design().row(0), [0.5, -0.25]);
}

#[test]
fn gzip_of_several_parts_is_read_as_one_table() {
    let bytes = [gzip("a,y\n0.5,1\n"), gzip("0.25,0\n")].concat();
    let table = read_csv(&bytes[..], &schema()).expect("a table");
    assert_eq!(*table.design().values(), [0.5, 0.25]);
}

#[test]
fn a_broken_gzip_file_is_a_matter_of_the_environment() {
    let bytes = gzip("a,y\n0.5,1\n");
    assert!(refused(&bytes[..bytes.len() - 6]).is_environment());
}

#[test]
fn a_ragged_record_is_refused_by_its_line() {
    let message = refused(b"a,y\n0.125,1\n0.125\n").to_string();
    assert!(
        message.contains("line 3 has 1 fields, the header has 2"),
        "{message}"
    );
}

#[test]
fn text_that_turns_up_late_is_refused_without_being_shown() {
    let filler = "0.5,1\n".repeat(20);
    let message = refused(format!("a,y\n{filler}secret,1\n").as_bytes()).to_string();
    assert!(message.contains("column `a`, line 22: text"), "{message}");
    assert!(!message.contains("secret"), "{message}");
}

#[test]
fn one_record_of_text_refuses_a_table_and_never_shrinks_it() {
    let message = refused(b"a,note,y\n0.5,1,1\n0.5,hello,1\n").to_string();
    assert!(message.contains("`note`"), "{message}");
    assert!(message.contains("features.exclude"), "{message}");
    assert!(!message.contains("hello"), "{message}");
}

fn read_as(text: &str, separator: &str, decimal: &str) -> Result<Table, DataError> {
    let format = TextFormat {
        separator: crate::text_format::Separator::parse(separator).expect("a separator"),
        decimal: Decimal::parse(decimal).expect("a mark"),
        svmlight: None,
    };
    Box::new(open_csv(text.as_bytes(), format)?)
        .into_source()
        .into_table(&schema())
}

#[test]
fn other_separators_are_diagnosed_by_the_header_and_read_if_stated() {
    for (text, separator, named) in [
        ("a;b;y\n0.5;0,5;1\n", ";", "separated by semicolons;"),
        ("a\tb\ty\n0.5\t0.25\t1\n", "tab", "separated by tabs;"),
        ("a b y\n0.5 0.25 1\n", " ", "separated by spaces;"),
    ] {
        let message = refused(text.as_bytes()).to_string();
        assert!(message.starts_with("the file has one column"), "{message}");
        assert!(message.contains(named), "{message}");
        let read = read_as(&text.replace("0,5", "0.5"), separator, ".").expect("a table");
        assert_eq!(read.design().names(), ["a", "b"]);
    }
    let decimal = read_as("a;b;y\n0,5;-0,25;1\n", ";", ",").expect("a table");
    assert_eq!(*decimal.design().row(0), [0.5, -0.25]);
    let message = read_as("a;y\n0,5;1\n", ";", ".")
        .expect_err("a comma")
        .to_string();
    assert!(message.contains("decimal comma"), "{message}");
}

/// `1.500` is fifteen hundred where decimals follow a comma, and one and a half elsewhere.
#[test]
fn a_point_beside_decimal_commas_is_refused_and_not_guessed() {
    for cell in ["1.500", "1.234,5", "0.5", "1e-3.0"] {
        let text = format!("a;b;y\n0,5;{cell};1\n");
        let message = read_as(&text, ";", ",").expect_err("a point").to_string();
        assert!(message.contains("column `b`, line 2"), "{message}");
        assert!(!message.contains(cell), "{message}");
    }
    let message = read_as("a;b;y\n0,5;1.500;1\n", ";", ",")
        .expect_err("a point")
        .to_string();
    assert!(message.contains("a point in a number"), "{message}");
    assert!(read_as("a;b;y\n0,5;-1,5e-1;1\n", ";", ",").is_ok());
}

/// The header decides what a table's columns are called and nothing decides what they hold.
#[test]
fn no_cell_decides_what_is_said_of_the_columns() {
    let columns = |text: &'static str| {
        let opened = open_csv(text.as_bytes(), TextFormat::default()).expect("a header");
        OpenTable::columns(&opened).to_vec()
    };
    let header = columns("a,note,y\n");
    for text in [
        "a,note,y\n1,2,3\n",
        "a,note,y\nx,hello,NA\n",
        "a,note,y\n,2021-01-01\n",
    ] {
        assert_eq!(columns(text), header);
    }
}

#[test]
fn an_empty_file_has_no_header() {
    assert!(refused(b"").to_string().contains("header line"));
    assert!(refused(b"\n\n").to_string().contains("header line"));
}

#[test]
fn repeated_and_absent_names_are_refused() {
    assert!(
        refused(b"a,a,y\n1,1,1\n")
            .to_string()
            .contains("`a` occurs more than once")
    );
    assert!(
        refused(b",a,y\n0,1,1\n")
            .to_string()
            .contains("column 1 has no name")
    );
    assert!(refused(b"a\xff,y\n1,1\n").to_string().contains("not UTF-8"));
}

#[test]
fn a_wide_table_is_read() {
    let names: Vec<String> = (0..15_000).map(|at| format!("x_{at}")).collect();
    let fields = vec!["0.25"; 15_000].join(",");
    let text = format!("{},y\n{fields},1\n{fields},0\n", names.join(","));
    let table = read_csv(text.as_bytes(), &schema()).expect("a table");
    assert_eq!(table.design().n_features(), 15_000);
    assert_eq!(table.design().n_records(), 2);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read_csv(&bytes[..], &schema());
    }

    #[test]
    fn arbitrary_gzip_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_csv(&[&GZIP_MAGIC[..], &[8, 0], &bytes].concat()[..], &schema());
    }

    #[test]
    fn arbitrary_tables_never_panic_and_never_leave_the_bounds(
        text in "[a,y\"\n .0-9eNi+-]{0,200}"
    ) {
        if let Ok(table) = read_csv(format!("a,b,y\n{text}").as_bytes(), &schema()) {
            prop_assert!(table.design().values().iter().all(|value| value.abs() <= 1.0));
            prop_assert!(table.response().iter().all(|value| value.abs() <= 1.0));
        }
    }
}
