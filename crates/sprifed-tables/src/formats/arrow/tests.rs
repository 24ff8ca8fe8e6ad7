use std::io::Cursor;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float32Array, Int64Array, ListArray, StringArray,
    UInt8Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};

use super::*;
use crate::formats::Format;

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .expect("a batch")
}

fn file(batches: &[RecordBatch], options: IpcWriteOptions) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = FileWriter::try_new_with_options(&mut bytes, &batches[0].schema(), options)
        .expect("a writer");
    for batch in batches {
        writer.write(batch).expect("written");
    }
    writer.finish().expect("finished");
    drop(writer);
    bytes
}

fn plain(batches: &[RecordBatch]) -> Vec<u8> {
    file(batches, IpcWriteOptions::default())
}

/// Two batches: three records and one.
fn records() -> Vec<RecordBatch> {
    let who = |ids: &[i64]| -> ArrayRef { Arc::new(Int64Array::from(ids.to_vec())) };
    let dose = |doses: Vec<Option<f32>>| -> ArrayRef { Arc::new(Float32Array::from(doses)) };
    let flag = |flags: Vec<Option<bool>>| -> ArrayRef { Arc::new(BooleanArray::from(flags)) };
    let arm = |arms: Vec<Option<&str>>| -> ArrayRef {
        Arc::new(arms.into_iter().collect::<DictionaryArray<Int8Type>>())
    };
    let text = |texts: Vec<Option<&str>>| -> ArrayRef { Arc::new(StringArray::from(texts)) };
    let y = |ys: &[u8]| -> ArrayRef { Arc::new(UInt8Array::from(ys.to_vec())) };
    vec![
        batch(vec![
            (
                "who",
                who(&[9_007_199_254_740_993, 9_007_199_254_740_992, 5]),
            ),
            ("dose", dose(vec![Some(0.5), None, Some(-1.0)])),
            ("flag", flag(vec![Some(true), Some(false), None])),
            ("arm", arm(vec![Some("high"), Some("low"), Some("high")])),
            (
                "place",
                text(vec![Some("north"), Some("south"), Some("north")]),
            ),
            ("y", y(&[0, 5, 10])),
        ]),
        batch(vec![
            ("who", who(&[5])),
            ("dose", dose(vec![Some(9.0)])),
            ("flag", flag(vec![Some(true)])),
            ("arm", arm(vec![Some("low")])),
            ("place", text(vec![Some("south")])),
            ("y", y(&[5])),
        ]),
    ]
}

const SCHEMA: &str = "
    [response]
    name = \"y\"
    lower = 0
    upper = 10
    [features]
    lower = -1
    upper = 1
    exclude = [\"who\"]
    [feature.arm]
    levels = [\"low\", \"high\"]
    [feature.place]
    levels = [\"north\", \"south\"]
    [record]
    missing = \"midpoint\"
";

fn read(bytes: &[u8], rest: &str) -> Result<Table, DataError> {
    let schema = Schema::parse(&(SCHEMA.to_owned() + rest)).expect("a schema");
    read_arrow(Cursor::new(bytes), &schema)
}

fn schema_without_indicator() -> String {
    SCHEMA.replace("missing = \"midpoint\"", "")
}

#[test]
fn batches_follow_each_other_and_every_kind_is_read() {
    // One dictionary for both batches: a file may not replace it.
    let mut batches = records();
    let both: ArrayRef = Arc::new(
        vec![Some("high"), Some("low"), Some("high"), Some("low")]
            .into_iter()
            .collect::<DictionaryArray<Int8Type>>(),
    );
    for (at, range) in [(0, (0, 3)), (1, (3, 1))] {
        let mut columns = batches[at].columns().to_vec();
        columns[3] = both.slice(range.0, range.1);
        batches[at] = RecordBatch::try_new(batches[at].schema(), columns).expect("a batch");
    }
    for options in [
        IpcWriteOptions::default(),
        IpcWriteOptions::default()
            .try_with_compression(Some(CompressionType::LZ4_FRAME))
            .expect("options"),
    ] {
        let table = read(&file(&batches, options), "").expect("a table");
        assert_eq!(
            table.design().names(),
            ["dose", "flag", "arm=high", "place=south"]
        );
        let rows = table.design().rows().map(|row| row.to_vec());
        let rows: Vec<Vec<f32>> = rows.collect();
        assert_eq!(
            rows,
            [
                [0.5, 1.0, 1.0, 0.0],
                [0.0, 0.0, 0.0, 1.0],
                [-1.0, 0.0, 1.0, 0.0],
                [1.0, 1.0, 0.0, 1.0]
            ]
        );
        assert_eq!(table.response(), [-1.0, 0.0, 1.0, 0.0]);
        assert_eq!(table.counts().missing_values, 2);
        assert_eq!(table.counts().clipped_values, 1);
    }
}

#[test]
fn long_identifiers_stay_different() {
    let bytes = plain(&records()[..1]);
    let table = read(&bytes, "client = \"who\"\n").expect("a table");
    assert_eq!(table.clients().n_clients(), 3);
}

#[test]
fn what_is_missing_refuses_the_table_by_its_record() {
    let schema = Schema::parse(&schema_without_indicator()).expect("a schema");
    let said = read_arrow(Cursor::new(plain(&records()[..1])), &schema)
        .expect_err("refused")
        .to_string();
    assert!(
        said.contains("column `dose`, record 2: missing value"),
        "{said}"
    );
}

#[test]
fn nested_columns_are_refused() {
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<
        arrow_array::types::Int32Type,
        _,
        _,
    >(vec![Some(vec![Some(1)])]));
    let said = read(&plain(&[batch(vec![("a", lists)])]), "")
        .expect_err("refused")
        .to_string();
    assert!(said.contains("nested"), "{said}");
}

#[test]
fn a_file_that_is_cut_off_or_longer_is_refused() {
    let whole = plain(&records()[..1]);
    assert_eq!(Format::of(&whole).names, ["Arrow"]);
    for length in 0..whole.len() {
        assert!(read(&whole[..length], "").is_err(), "{length}");
    }
    assert!(read(&[&whole[..], b"x"].concat(), "").is_err());
}

/// Each byte changed in several ways: the file is refused or read, without a panic.
#[test]
fn no_changed_byte_ends_the_program() {
    let whole = plain(&records()[..1]);
    for at in 0..whole.len() {
        for change in [0x01, 0x80, 0xFF] {
            let mut changed = whole.clone();
            changed[at] ^= change;
            let _ = read(&changed, "");
        }
    }
}
