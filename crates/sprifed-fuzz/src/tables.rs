//! Tables that other programs wrote, in formats whose readers are ours.

use std::io::Cursor;

use sprifed_schema::Schema;
use sprifed_tables::{DataError, IndexRange, Table, read_arrow, read_plink, read_svmlight};

use crate::{Way, way};

type Seeds = Vec<(&'static str, Vec<u8>)>;

/// What is held of every table that a reader accepts.
fn held(read: Result<Table, DataError>) -> Way {
    let table = match read {
        Ok(table) => table,
        Err(refused) => {
            assert!(!refused.to_string().is_empty());
            return way(&refused);
        }
    };
    let (design, counts) = (table.design(), table.counts());
    assert!(table.public_size() > 0 && counts.over_cap < counts.records_read);
    assert_eq!(design.n_records() as u64, table.public_size());
    assert_eq!(table.response().len(), design.n_records());
    assert!(design.values().iter().all(|value| value.abs() <= 1.0));
    assert!(table.response().iter().all(|value| value.abs() <= 1.0));
    let has_gaps = counts.missing_values > 0;
    way(&(has_gaps, counts.clipped_values > 0, design.n_features() > 2))
}

/// PLINK 1 genotypes: the lengths of the lists of markers and of samples in two bytes each, both lists, and the rest is
/// the `.bed` file.
pub(crate) fn plink(bytes: &[u8]) -> Way {
    let (lengths, content) = bytes.split_at(bytes.len().min(4));
    let length = |at: usize| {
        lengths
            .get(at..at + 2)
            .map_or(0, |two| two[0] as usize | (two[1] as usize) << 8)
    };
    let (bim, rest) = content.split_at(length(0).min(content.len()));
    let (fam, bed) = rest.split_at(length(2).min(rest.len()));
    held(read_plink(Cursor::new(bed), bim, fam, &schema("PHENO")))
}

/// Inputs of [`plink`].
pub(crate) fn plinks() -> Seeds {
    let bim = b"6 rs1 0 1000 A G\n6 . 0 2000 T C\n19 rs1 0 7 A ACGT\n";
    let fam = b"f1 p1 0 0 1 2\nf1 p2 0 0 2 4.5\nf2 p3 0 0 0 -9\nf2 p4 0 0 1 8\nf3 p5 0 0 2 10\n";
    let bed = [0x6C, 0x1B, 1, 0b1110_0100, 0b10, 0b0000_1111, 0b01, 0, 0];
    let length = |list: &[u8]| u16::try_from(list.len()).unwrap().to_le_bytes();
    let whole = [&length(bim)[..], &length(fam), bim, fam, &bed].concat();
    vec![("cohort", whole)]
}

/// The sparse text format of SVMlight.
pub(crate) fn svmlight(bytes: &[u8]) -> Way {
    let indices = IndexRange::parse("1-4").unwrap();
    held(read_svmlight(bytes, indices, &schema("y")))
}

/// Inputs of [`svmlight`].
pub(crate) fn svmlights() -> Seeds {
    let text = b"# made up\n1 1:0.5 4:2 # first\n\n-2.5e0 2:nan 3:-7\n0\n";
    vec![("records", text.to_vec())]
}

/// Arrow IPC files.
pub(crate) fn arrow(bytes: &[u8]) -> Way {
    let arm =
        "[feature.arm]\nlevels = [\"low\", \"high\"]\nother = true\nmissing = \"indicator\"\n";
    held(read_arrow(Cursor::new(bytes), &schema_with("y", arm)))
}

/// Inputs of [`arrow`]: files of pyarrow.
pub(crate) fn arrows() -> Seeds {
    let plain = include_bytes!("../../sprifed-tables/tests/arrow/plain.arrow");
    let packed = include_bytes!("../../sprifed-tables/tests/arrow/lz4.arrow");
    vec![("plain", plain.to_vec()), ("lz4", packed.to_vec())]
}

/// A schema that takes most tables.
fn schema(response: &str) -> Schema {
    schema_with(response, "")
}

fn schema_with(response: &str, feature: &str) -> Schema {
    let text = format!(
        "[response]\nname = \"{response}\"\nlower = -10\nupper = 10\n[features]\nlower = 0\nupper = 2\n\
         exclude = [\"FID\", \"IID\", \"seen\", \"place\"]\n{feature}\n[record]\nmissing = \"midpoint\"\nmissing_response = \"drop\"\n"
    );
    Schema::parse(&text).unwrap()
}
