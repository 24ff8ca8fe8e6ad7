use std::io::Cursor;

use proptest::prelude::*;
use sprifed_schema::Marker;

use super::*;
use crate::raw::RawRequest;

const SCHEMA: &str = "
    [response]
    name = \"PHENO\"
    lower = 0
    upper = 10
    [features]
    lower = 0
    upper = 2
    exclude = [\"FID\", \"IID\", \"SEX\"]
";

const FAM: &str =
    "f1 p1 0 0 1 2\nf1 p2 0 0 2 4\nf2 p3 0 0 0 6\nf2 p4 0 0 1 8\nf3\tp5\t0\t0\t2\t10\n";
const BIM: &str = "6 rs1 0 1000 A G\n6 rs2 0 2000 T C\n";

/// Codes of five samples: 00 two copies, 01 missing, 10 one, 11 none; the first sample in the lowest bits.
const BED: [u8; 7] = [0x6C, 0x1B, 1, 0b11_10_01_00, 0b10, 0b00_00_11_11, 0b01];

fn read_as(bed: &[u8], bim: &str, fam: &str, schema: &str) -> Result<Table, DataError> {
    let schema = Schema::parse(schema).expect("a schema");
    read_plink(Cursor::new(bed), bim.as_bytes(), fam.as_bytes(), &schema)
}

fn refusal(bed: &[u8], bim: &str, fam: &str) -> String {
    let schema = SCHEMA.to_owned() + "[record]\nmissing = \"midpoint\"\n";
    let refused = read_as(bed, bim, fam, &schema).expect_err("refused");
    assert!(!refused.is_environment(), "{refused}");
    refused.to_string()
}

#[test]
fn genotypes_are_copies_of_the_first_allele_and_gaps_become_the_midpoint() {
    let schema = SCHEMA.to_owned() + "[record]\nmissing = \"midpoint\"\n";
    let table = read_as(&BED, BIM, FAM, &schema).expect("a table");
    assert_eq!(table.design().names(), ["rs1", "rs2"]);
    // In units of the bounds: 2 copies are 1, 1 copy and a gap are 0, no copy is -1.
    let copies = table.design().rows().map(|row| row.to_vec());
    let copies: Vec<Vec<f32>> = copies.collect();
    assert_eq!(
        copies,
        [
            [1.0, -1.0],
            [0.0, -1.0],
            [0.0, 1.0],
            [-1.0, 1.0],
            [0.0, 0.0]
        ]
    );
    assert_eq!(table.counts().missing_values, 2);
    assert_eq!(table.response(), [-0.6, -0.2, 0.2, 0.6, 1.0]);
}

#[test]
fn a_gap_can_count_as_a_public_frequency_says() {
    let schema = SCHEMA.to_owned()
        + "[feature.rs1]\nmissing_value = 0.5\n[feature.rs2]\nmissing_value = 1.5\n";
    let table = read_as(&BED, BIM, FAM, &schema).expect("a table");
    assert_eq!(table.design().row(1)[..1], [-0.5]);
    assert_eq!(table.design().row(4)[1..], [0.5]);
}

#[test]
fn gaps_refuse_the_table_unless_the_schema_says_what_they_count_as() {
    let refused = read_as(&BED, BIM, FAM, SCHEMA).expect_err("refused");
    assert!(
        refused
            .to_string()
            .contains("column `rs1`, record 2: missing value"),
        "{refused}"
    );
}

#[test]
fn families_can_be_the_clients() {
    let schema = SCHEMA.to_owned()
        + "[record]\nmissing = \"midpoint\"\nclient = \"FID\"\nmax_per_client = 2\n";
    let table = read_as(&BED, BIM, FAM, &schema).expect("a table");
    assert_eq!(table.clients().n_clients(), 3);
    assert_eq!(table.clients().rows_of(0), [0, 1]);
}

#[test]
fn alleles_and_positions_stay_with_the_columns() {
    let table =
        PlinkTable::open(Cursor::new(BED), BIM.as_bytes(), FAM.as_bytes()).expect("a table");
    let columns = OpenTable::columns(&table);
    assert_eq!(columns[3].marker(), None);
    assert_eq!(
        columns[4].marker(),
        Some(&Marker {
            chromosome: "6".to_owned(),
            position: Some(1000),
            effect_allele: "A".to_owned(),
            other_allele: "G".to_owned(),
        })
    );
}

#[test]
fn markers_without_a_name_of_their_own_are_called_by_place_and_alleles() {
    let bim = "1 . 0 5 A G\n2 rs7 0 9 T C\n2 rs7 0 9 G C\nX rs8 0 0 A AT\n";
    let columns = marker_list::read(bim.as_bytes()).expect("markers");
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["1:5:G:A", "rs7:2:9:C:T", "rs7:2:9:C:G", "rs8"]);
    assert_eq!(columns[3].marker().and_then(|marker| marker.position), None);
}

#[test]
fn one_marker_twice_is_refused() {
    let said = refusal(&BED, "6 rs1 0 1000 A G\n6 rs1 0 1000 A G\n", FAM);
    assert!(
        said.contains("`rs1:6:1000:G:A` occurs more than once"),
        "{said}"
    );
}

#[test]
fn files_that_do_not_belong_together_are_refused_with_all_counts() {
    let longer = BIM.to_owned() + "6 rs3 0 3000 A G\n";
    let said = refusal(&BED, &longer, FAM);
    for part in ["5 samples", "3 markers", "9 bytes", "it has 7"] {
        assert!(said.contains(part), "{said}");
    }
    let more = FAM.to_owned() + "f p6 0 0 1 1\nf p7 0 0 1 1\nf p8 0 0 1 1\nf p9 0 0 1 1\n";
    assert!(refusal(&BED, BIM, &more).contains("9 samples"));
}

#[test]
fn one_sample_too_few_is_found_by_the_unused_places() {
    let fewer = FAM.rsplit_once("f3").expect("five samples").0;
    let fewer = fewer.rsplit_once("f2").expect("four samples").0;
    // Three samples need as many bytes as four.
    let bed = [0x6C, 0x1B, 1, 0b11_10_10_00, 0b00_00_11_11];
    let said = refusal(&bed, BIM, fewer);
    assert!(
        said.contains("more samples than the .fam file names"),
        "{said}"
    );
}

#[test]
fn content_of_another_kind_is_refused() {
    for (bed, part) in [
        (&[0x6C, 0x1B][..], "has 2 bytes"),
        (&[][..], "has 0 bytes"),
        (&[0x6C, 0x1C, 1, 0, 0, 0, 0][..], "6C 1B"),
        (&[0x6C, 0x1B, 0, 0, 0, 0, 0][..], "sample after sample"),
        (&[0x6C, 0x1B, 7, 0, 0, 0, 0][..], "third byte"),
        (&BED[..6], "it has 6"),
    ] {
        let said = refusal(bed, BIM, FAM);
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_line_that_is_none_is_refused_by_its_number() {
    for (bim, part) in [
        (
            "6 rs1 0 1000 A\n",
            "line 1 of the .bim file has fewer than 6 fields",
        ),
        (
            "6 rs1 0 1000 A G T\n",
            "line 1 of the .bim file has more than 6 fields",
        ),
        ("6 rs1 0 1000 A G\n\n", "line 2 of the .bim file has fewer"),
        ("6 rs1 0 ten A G\n", "position that is no whole number"),
        ("6 rs1 0 -4 A G\n", "negative position"),
    ] {
        let said = refusal(&BED, bim, FAM);
        assert!(said.contains(part), "{said}");
    }
    let endless = "6".repeat(2 << 20);
    assert!(refusal(&BED, &endless, FAM).contains("longer than 1 MiB"));
    let no_text = marker_list::read(&b"6 rs\xff 0 1 A G\n"[..]).expect_err("refused");
    assert!(no_text.to_string().contains("UTF-8"), "{no_text}");
    assert!(matches!(
        sample_list::read(&b""[..]),
        Err(DataError::Table(TableError::NoRecords))
    ));
}

#[test]
fn a_phenotype_of_0_is_refused_because_it_has_two_meanings() {
    let said = refusal(&BED, BIM, &FAM.replace("0 0 2 4", "0 0 2 0"));
    assert!(
        said.contains("column `PHENO`, record 2: a phenotype of 0"),
        "{said}"
    );
    let schema =
        SCHEMA.to_owned() + "[record]\nmissing = \"midpoint\"\nmissing_response = \"drop\"\n";
    let table = |response: &str| {
        let fam = FAM.replace("0 0 2 4", &format!("0 0 2 {response}"));
        read_as(&BED, BIM, &fam, &schema).expect("a table")
    };
    assert_eq!(table("0.0").response()[1..2], [-1.0]);
    for missing in ["-9", "NA", "nan"] {
        assert_eq!(table(missing).counts().dropped_without_response, 1);
    }
}

#[test]
fn sex_is_1_or_2_or_missing() {
    let table =
        PlinkTable::open(Cursor::new(BED), BIM.as_bytes(), FAM.as_bytes()).expect("a table");
    let names = [RawRequest::Number("SEX".to_owned())];
    let raw = Box::new(table)
        .into_source()
        .into_raw(&names)
        .expect("columns");
    assert_eq!(raw.row(0), [1.0]);
    assert_eq!(raw.row(1), [2.0]);
    assert!(raw.row(2)[0].is_nan());
}

proptest! {
    /// A file with any number of samples is read as it was written, across the borders of bytes and of blocks.
    #[test]
    fn every_code_comes_out_where_it_went_in(
        genotypes in prop::collection::vec(0u8..4, 1..70),
        markers in 1u8..4,
        repeats in prop::sample::select(vec![1usize, 2000]),
    ) {
        let genotypes: Vec<u8> = genotypes.iter().copied().cycle().take(genotypes.len() * repeats).collect();
        let mut bed = vec![0x6C, 0x1B, 1];
        for marker in 0..markers {
            let shifted: Vec<u8> = genotypes.iter().map(|code| (code + marker) % 4).collect();
            for four in shifted.chunks(4) {
                bed.push(four.iter().rev().fold(0, |byte, code| byte << 2 | code));
            }
        }
        let mut opened = Bed::open(Cursor::new(bed), genotypes.len(), markers.into()).expect("genotypes");
        for marker in (0..markers).rev() {
            let mut found = Vec::new();
            opened.visit(marker.into(), |copies| found.push(copies)).expect("readable");
            let expected: Vec<Option<u8>> = genotypes
                .iter()
                .map(|code| match (code + marker) % 4 {
                    0 => Some(2),
                    1 => None,
                    2 => Some(1),
                    _ => Some(0),
                })
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
