use std::sync::Arc;

use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int64Type};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use bytes::Bytes;

use super::*;

const MESSAGE: &str = "
message table {
  REQUIRED DOUBLE a;
  OPTIONAL FLOAT b;
  REQUIRED BOOLEAN flag;
  OPTIONAL BYTE_ARRAY who (UTF8);
  OPTIONAL INT64 y;
  REQUIRED INT64 day (TIMESTAMP(MILLIS,true));
}";

/// Two row groups of three records; `b` is missing in the second record of each.
fn file(codec: Compression) -> Bytes {
    let schema = Arc::new(parse_message_type(MESSAGE).expect("a message type"));
    let properties = Arc::new(WriterProperties::builder().set_compression(codec).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).expect("a writer");
    for _ in 0..2 {
        let mut group = writer.next_row_group().expect("a group");
        write::<DoubleType>(&mut group, &[0.5, -0.5, 9.0], None);
        write::<FloatType>(&mut group, &[0.25, 0.75], Some(&[1, 0, 1]));
        write::<BoolType>(&mut group, &[true, false, true], None);
        let names = ["n", "s", "n"].map(ByteArray::from);
        write::<ByteArrayType>(&mut group, &names, Some(&[1, 1, 1]));
        write::<Int64Type>(&mut group, &[1, 4], Some(&[1, 1, 0]));
        write::<Int64Type>(&mut group, &[1, 2, 3], None);
        group.close().expect("a group");
    }
    writer.into_inner().expect("a file").into()
}

fn write<T: ::parquet::data_type::DataType>(
    group: &mut ::parquet::file::writer::SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    levels: Option<&[i16]>,
) {
    let mut column = group
        .next_column()
        .expect("a column")
        .expect("one more column");
    column
        .typed::<T>()
        .write_batch(values, levels, None)
        .expect("values");
    column.close().expect("a column");
}

fn schema(record: &str) -> Schema {
    Schema::parse(&format!(
        "[response]\nname = \"y\"\nlower = 0\nupper = 4\n[features]\nlower = -1\nupper = 1\n\
         exclude = [\"day\", \"who\"]\n[record]\n{record}"
    ))
    .expect("a schema")
}

fn read(bytes: Bytes, record: &str) -> Result<Table, DataError> {
    Box::new(ParquetColumns::open(bytes)?)
        .into_source()
        .into_table(&schema(record))
}

#[test]
fn columns_of_several_row_groups_become_rows() {
    for codec in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(::parquet::basic::GzipLevel::default()),
    ] {
        let record = "client = \"who\"\nmax_per_client = 3\nmissing = \"midpoint\"\n\
                      missing_response = \"drop\"";
        let table = read(file(codec), record).expect("a table");
        assert_eq!(
            table.design().names(),
            ["a", "b", "flag"],
            "no text, no dates"
        );
        let rows = table.design().rows().map(|row| row.to_vec());
        let rows: Vec<Vec<f32>> = rows.collect();
        let pair = [[0.5, 0.25, 1.0], [-0.5, 0.0, 0.0]];
        let dropped = [[0.0; 3]];
        assert_eq!(rows, [&pair[..], &dropped, &pair].concat());
        assert_eq!(table.response(), [-0.5, 1.0, 0.0, -0.5, 1.0]);
        assert_eq!(table.present(), [true, true, false, true, true]);
        assert_eq!(table.clients().rows_of(0), [0, 2, 3]);
        assert_eq!(table.clients().rows_of(1), [1, 4]);
        let counts = table.counts();
        assert_eq!((counts.records_read, counts.over_cap), (6, 1));
        assert_eq!(
            (counts.dropped_without_response, counts.missing_values),
            (1, 2)
        );
        assert_eq!(
            counts.clipped_values, 0,
            "the clipped value belonged to dropped records"
        );
    }
}

#[test]
fn policies_that_refuse_do_so_by_column() {
    let response = read(file(Compression::SNAPPY), "")
        .expect_err("a gap")
        .to_string();
    assert!(response.contains("column `y`, record "), "{response}");
    assert!(response.contains("missing response"), "{response}");
    let feature = read(file(Compression::SNAPPY), "missing_response = \"drop\"");
    let feature = feature.expect_err("a gap").to_string();
    assert!(feature.contains("column `b`, record "), "{feature}");
    assert!(feature.contains("missing value"), "{feature}");
}

#[cfg(not(feature = "parquet-zstd"))]
#[test]
fn a_codec_that_is_not_built_in_is_named_with_a_way_out() {
    let message = require_codec(Compression::ZSTD(Default::default())).expect_err("not built in");
    assert!(message.to_string().contains("snappy"), "{message}");
}

#[test]
fn a_damaged_file_is_refused() {
    let whole = file(Compression::SNAPPY);
    let cut = whole.slice(..whole.len() - 9);
    let message = read(cut, "").expect_err("damaged").to_string();
    assert!(message.contains("Parquet content is damaged"), "{message}");
}

/// The kinds of the columns of `message`.
fn kinds_of(message: &str) -> Vec<ColumnKind> {
    let message = Arc::new(parse_message_type(message).expect("a message type"));
    let described = ::parquet::schema::types::SchemaDescriptor::new(message);
    let columns = described.columns().iter();
    columns.map(|column| kind(column)).collect()
}

#[test]
fn dates_are_told_from_numbers_by_what_the_file_states() {
    let message = "message table { REQUIRED INT32 day (DATE); REQUIRED INT64 at (TIMESTAMP_MILLIS); REQUIRED INT32 n; }";
    assert_eq!(
        kinds_of(message),
        [ColumnKind::Date, ColumnKind::Date, ColumnKind::Numeric]
    );
}

#[test]
fn the_row_index_of_pandas_is_no_feature() {
    let message = "message table { REQUIRED INT64 __index_level_0__; REQUIRED DOUBLE a; }";
    assert_eq!(kinds_of(message), [ColumnKind::Text, ColumnKind::Numeric]);
}
