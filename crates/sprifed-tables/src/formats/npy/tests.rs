use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::raw::RawRequest;

fn schema(rest: &str) -> Schema {
    Schema::parse(&format!(
        "[response]\nname = \"x_2\"\nlower = -8\nupper = 8\n[features]\nlower = -8\nupper = 8\n{rest}"
    ))
    .expect("a schema")
}

/// What `numpy.save` writes.
fn npy(kind: &str, order: &str, shape: &str, items: &[u8]) -> Vec<u8> {
    let dictionary =
        format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let length = u16::try_from(dictionary.len())
        .expect("short")
        .to_le_bytes();
    [
        b"\x93NUMPY\x01\x00",
        &length[..],
        dictionary.as_bytes(),
        items,
    ]
    .concat()
}

fn read(bytes: Vec<u8>, rest: &str) -> Result<Table, DataError> {
    read_npy(Cursor::new(bytes), &schema(rest))
}

#[test]
fn rows_and_columns_order_give_the_same_table() {
    let by_rows = npy("<i2", "False", "(2, 3)", &le16(&[1, 2, 3, -4, -5, -6]));
    let by_columns = npy("<i2", "True", "(2, 3)", &le16(&[1, -4, 2, -5, 3, -6]));
    let (by_rows, by_columns) = (read(by_rows, ""), read(by_columns, ""));
    let table = by_rows.expect("a table");
    assert_eq!(table.design().names(), ["x_0", "x_1"]);
    assert_eq!(*table.design().values(), [0.125, 0.25, -0.5, -0.625]);
    assert_eq!(table.response(), [0.375, -0.75]);
    assert_eq!(by_columns.expect("a table"), table);
}

#[test]
fn raw_columns_are_read_in_both_orders() {
    for (order, items) in [("False", [1, 2, 3, 4, 5, 6]), ("True", [1, 4, 2, 5, 3, 6])] {
        let bytes = npy("<i2", order, "(2, 3)", &le16(&items));
        let names = ["x_2", "x_0"].map(|name| RawRequest::Number(name.to_owned()));
        let array = Box::new(NpyArray::open(Cursor::new(bytes)).expect("an array"));
        let raw = array.into_source().into_raw(&names).expect("columns");
        assert_eq!(
            [raw.row(0), raw.row(1)],
            [[3.0, 1.0], [6.0, 4.0]],
            "{order}"
        );
    }
}

#[test]
fn a_table_whose_every_response_is_missing_keeps_their_places() {
    for order in ["False", "True"] {
        let items: Vec<u8> = [f32::NAN; 6]
            .iter()
            .flat_map(|item| item.to_le_bytes())
            .collect();
        let bytes = npy("<f4", order, "(2, 3)", &items);
        let table = read(bytes, "[record]\nmissing_response = \"drop\"").expect("a table");
        assert_eq!(table.present(), [false, false]);
        assert_eq!(table.public_size(), 2);
    }
}

fn le16(numbers: &[i16]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

#[test]
fn every_kind_of_number_is_read() {
    let cases: [(&str, Vec<u8>); 6] = [
        (
            "<f4",
            [1f32, -2.0, 3.0]
                .iter()
                .flat_map(|v| v.to_le_bytes())
                .collect(),
        ),
        (
            ">f8",
            [1f64, -2.0, 3.0]
                .iter()
                .flat_map(|v| v.to_be_bytes())
                .collect(),
        ),
        (
            "|i1",
            [1i8, -2, 3].iter().flat_map(|v| v.to_le_bytes()).collect(),
        ),
        (
            ">i4",
            [1i32, -2, 3].iter().flat_map(|v| v.to_be_bytes()).collect(),
        ),
        (
            "<i8",
            [1i64, -2, 3].iter().flat_map(|v| v.to_le_bytes()).collect(),
        ),
        (
            "=f4",
            [1f32, -2.0, 3.0]
                .iter()
                .flat_map(|v| v.to_le_bytes())
                .collect(),
        ),
    ];
    for (kind, items) in cases {
        let table = read(npy(kind, "False", "(1, 3)", &items), "").expect(kind);
        assert_eq!(*table.design().values(), [0.125, -0.25], "{kind}");
        assert_eq!(table.response(), [0.375], "{kind}");
    }
    let table = read(npy("|u1", "False", "(1, 3)", &[1, 255, 3]), "").expect("a table");
    assert_eq!(
        *table.design().values(),
        [0.125, 1.0],
        "255 is clipped, not minus one"
    );
}

#[test]
fn a_column_of_numbers_can_name_the_clients() {
    for order in ["False", "True"] {
        let items: Vec<u8> = if order == "False" {
            vec![7, 1, 1, 9, 1, 1, 7, 1, 1]
        } else {
            vec![7, 9, 7, 1, 1, 1, 1, 1, 1]
        };
        let bytes = npy("|u1", order, "(3, 3)", &items);
        let rest = "[record]\nclient = \"x_0\"\nmax_per_client = 5";
        let table = read(bytes, rest).expect("a table");
        assert_eq!(table.clients().rows_of(0), [0, 2]);
    }
}

#[test]
fn what_is_not_a_matrix_of_numbers_is_refused() {
    for (bytes, reason) in [
        (npy("<f4", "False", "(3,)", &[0; 12]), "two dimensions"),
        (npy("<c8", "False", "(1, 3)", &[0; 24]), "not real numbers"),
        (npy("<U3", "False", "(1, 3)", &[0; 36]), "not real numbers"),
        (npy("<f4", "False", "(2, 3)", &[0; 23]), "23 bytes follow"),
        (
            npy("<f4", "False", "(9999999999999999999, 3)", &[0; 24]),
            "promises",
        ),
        (
            npy("<f8", "False", "(999999999999999999, 9999)", &[0; 24]),
            "promises",
        ),
        (npy("<f4", "False", "(0, 999999999999999999)", &[]), "n = 0"),
        (npy("<f4", "False", "(9, 0)", &[]), "header line"),
        (
            b"\x93NUMPY\x01\x00\x10\x00abc".to_vec(),
            "ends inside the header",
        ),
        (b"\x93NUMPY\x09\x00\x10\x00abc".to_vec(), "version"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(), "too long"),
    ] {
        let message = read(bytes, "").expect_err(reason).to_string();
        assert!(message.contains(reason), "{message}");
    }
}

proptest! {
    #[test]
    fn arbitrary_headers_never_panic(text in "[\\{\\}'descrfotanhp_: <f48,()0-9TrueFalse]{0,80}") {
        let length = u16::try_from(text.len()).expect("short").to_le_bytes();
        let bytes = [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes(), &[0; 24]].concat();
        let _ = read(bytes, "");
    }
}
