//! Packed genotypes give the table that the same numbers in a CSV file give.

use core::fmt::Write as _;
use std::io::Cursor;

use proptest::prelude::*;
use sprifed_schema::Schema;

use super::read_plink;
use crate::error::DataError;
use crate::formats::csv::read_csv;
use crate::table::Table;

const SCHEMA: &str = "
    [response]
    name = \"PHENO\"
    lower = 0
    upper = 10
    [features]
    lower = 0
    upper = 2
    exclude = [\"FID\", \"IID\"]
    [feature.SEX]
    lower = 1
    upper = 2
";

/// What a schema says of some markers and of records.
const VARIANTS: [&str; 5] = [
    "[record]\nmissing = \"midpoint\"\nmissing_response = \"drop\"\n",
    "[record]\nmissing = \"midpoint\"\nmissing_response = \"drop\"\nclient = \"FID\"\nmax_per_client = 2\n",
    "[feature.m1]\nmissing_value = 0.3\ncenter = 0.3\nscale = 0.5\n[feature.m4]\nlower = 0\nupper = 1\n\
     [record]\nmissing = \"midpoint\"\nmissing_response = \"drop\"\n",
    "[feature.m2]\nmissing = \"indicator\"\n\
     [record]\nmissing = \"midpoint\"\nmissing_response = \"drop\"\n",
    "[record]\nmissing = \"reject\"\nmissing_response = \"drop\"\n",
];

/// A cohort: the family and the response of each sample, and the codes of each marker.
#[derive(Debug, Clone)]
struct Cohort {
    samples: Vec<(u8, Option<u8>)>,
    markers: Vec<Vec<u8>>,
}

fn cohort() -> impl Strategy<Value = Cohort> {
    let sizes = (1usize..40, prop_oneof![4 => 5usize..30, 1 => 250usize..530]);
    sizes.prop_flat_map(|(n_samples, n_markers)| {
        let sample = (0u8..5, prop::option::weighted(0.8, 1u8..10));
        let samples = prop::collection::vec(sample, n_samples);
        // Few gaps, so that some tables have none.
        let code = prop_oneof![8 => Just(0u8), 8 => Just(2), 8 => Just(3), 1 => Just(1)];
        let some = prop::collection::vec(prop::collection::vec(code, n_samples), 1..6);
        (samples, some).prop_map(move |(samples, some)| {
            let shifted = |at: usize| {
                let mut codes = some[at % some.len()].clone();
                codes.rotate_left(at % n_samples);
                codes
            };
            Cohort {
                samples,
                markers: (0..n_markers).map(shifted).collect(),
            }
        })
    })
}

impl Cohort {
    fn of_genotypes(&self, schema: &Schema) -> Result<Table, DataError> {
        let (mut bed, mut bim, mut fam) = (vec![0x6C, 0x1B, 1], String::new(), String::new());
        for (marker, codes) in self.markers.iter().enumerate() {
            let byte = |four: &[u8]| four.iter().rev().fold(0, |byte, code| byte << 2 | code);
            bed.extend(codes.chunks(4).map(byte));
            writeln!(bim, "1 m{marker} 0 {} A G", marker + 1).expect("text");
        }
        for (sample, (family, response)) in self.samples.iter().enumerate() {
            let sex = 1 + sample % 2;
            let response = response.map_or("NA".to_owned(), |response| response.to_string());
            writeln!(fam, "f{family} s{sample} 0 0 {sex} {response}").expect("text");
        }
        read_plink(Cursor::new(bed), bim.as_bytes(), fam.as_bytes(), schema)
    }

    fn of_text(&self, schema: &Schema) -> Result<Table, DataError> {
        let mut text = "FID,IID,SEX,PHENO".to_owned();
        for marker in 0..self.markers.len() {
            write!(text, ",m{marker}").expect("text");
        }
        for (sample, (family, response)) in self.samples.iter().enumerate() {
            let sex = 1 + sample % 2;
            let response = response.map_or(String::new(), |response| response.to_string());
            write!(text, "\nf{family},s{sample},{sex},{response}").expect("text");
            for codes in &self.markers {
                text += [",2", ",", ",1", ",0"][usize::from(codes[sample])];
            }
        }
        text.push('\n');
        read_csv(text.as_bytes(), schema)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn genotypes_and_the_same_numbers_make_the_same_table(
        cohort in cohort(),
        variant in prop::sample::select(&VARIANTS[..]),
    ) {
        let schema = Schema::parse(&(SCHEMA.to_owned() + variant)).expect("a schema");
        match (cohort.of_genotypes(&schema), cohort.of_text(&schema)) {
            (Ok(packed), Ok(numbers)) => {
                prop_assert_eq!(packed.design().names(), numbers.design().names());
                let bits = |table: &Table| -> Vec<u32> {
                    table.design().values().iter().map(|value| value.to_bits()).collect()
                };
                prop_assert_eq!(bits(&packed), bits(&numbers));
                prop_assert!(packed.design() == numbers.design());
                for record in 0..packed.design().n_records() {
                    packed.design().with_row(record, |row| {
                        assert_eq!(row, &*numbers.design().row(record));
                    });
                }
                prop_assert_eq!(packed.response(), numbers.response());
                prop_assert_eq!(packed.present(), numbers.present());
                prop_assert_eq!(packed.clients(), numbers.clients());
                prop_assert_eq!(packed.counts(), numbers.counts());
                // Two bits for each genotype, what fills the last group of a stretch, and at most three numbers.
                let most = 3 * 4 + cohort.markers.len().div_ceil(4) + 2 * 4;
                prop_assert!(packed.design().n_bytes() <= most * packed.design().n_records());
            }
            (Err(_), Err(_)) => {}
            (packed, numbers) => prop_assert!(false, "{:?} / {:?}", packed.err(), numbers.err()),
        }
    }
}
