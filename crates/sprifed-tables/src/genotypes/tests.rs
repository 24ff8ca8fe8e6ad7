use proptest::prelude::*;

use super::*;

fn packed(codes: &[u8]) -> Vec<u8> {
    let byte = |four: &[u8]| four.iter().rev().fold(0, |byte, code| byte << 2 | code);
    codes.chunks(IN_A_BYTE).map(byte).collect()
}

/// A column with its cells: numbers, or codes and what they become.
#[derive(Debug, Clone)]
enum TestColumn {
    Numbers(Vec<f32>),
    Genotypes([f32; CODES], Vec<u8>),
}

fn columns(n_records: usize) -> impl Strategy<Value = Vec<TestColumn>> {
    let values = prop_oneof![
        3 => Just([1.0, 0.0, 0.0, -1.0]),
        1 => prop::array::uniform4(-2.0f32..2.0),
    ];
    let codes = prop::collection::vec(0u8..4, n_records);
    let column = prop_oneof![
        1 => prop::collection::vec(-1.0f32..1.0, n_records).prop_map(TestColumn::Numbers),
        9 => (values, codes).prop_map(|(values, codes)| TestColumn::Genotypes(values, codes)),
    ];
    let some = prop::collection::vec(column, 1..60);
    (some, 1usize..10).prop_map(|(some, times)| {
        let all = some.iter().cycle().take(some.len() * times);
        all.cloned().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_hold_what_was_in_the_columns(
        (n_records, columns) in (1usize..20).prop_flat_map(|n| (Just(n), columns(n))),
    ) {
        let places = columns.iter().map(|column| match column {
            TestColumn::Numbers(_) => Place::Numbers(1),
            TestColumn::Genotypes(values, _) => Place::Genotype(*values),
        });
        let layout = Layout::of(places);
        let (n_numbers, n_bytes) = (layout.numbers_of_row(), layout.bytes_of_row());
        let mut numbers = vec![0.0; n_records * n_numbers];
        let mut codes = vec![0u8; n_records * n_bytes];
        for (feature, column) in columns.iter().enumerate() {
            for record in 0..n_records {
                match (layout.place_of(feature), column) {
                    (Some(Spot::Number(place)), TestColumn::Numbers(cells)) => {
                        numbers[record * n_numbers + place] = cells[record];
                    }
                    (Some(Spot::Genotype(place)), TestColumn::Genotypes(_, cells)) => {
                        codes[record * n_bytes + place / 4] |= cells[record] << (2 * (place % 4));
                    }
                    (place, column) => prop_assert!(false, "{place:?} of {column:?}"),
                }
            }
        }
        prop_assert_eq!(layout.place_of(columns.len()), None);
        for record in 0..n_records {
            let mut row = vec![7.0; columns.len()];
            layout.decode(
                &numbers[record * n_numbers..(record + 1) * n_numbers],
                &codes[record * n_bytes..(record + 1) * n_bytes],
                &mut row,
            );
            let expected: Vec<f32> = columns
                .iter()
                .map(|column| match column {
                    TestColumn::Numbers(cells) => cells[record],
                    TestColumn::Genotypes(values, cells) => values[usize::from(cells[record])],
                })
                .collect();
            prop_assert_eq!(row, expected);
        }
    }

    #[test]
    fn every_code_of_every_sample_is_turned(
        some in prop::collection::vec(0u8..4, 1..50),
        n_markers in 1usize..=MARKERS_AT_ONCE,
        n_samples in prop_oneof![4 => 1usize..80, 1 => 4090usize..4110, 1 => 8190usize..8200],
    ) {
        let cell = |marker: usize, sample: usize| some[(marker * 31 + sample * 7) % some.len()];
        let markers: Vec<Vec<u8>> = (0..n_markers)
            .map(|marker| packed(&(0..n_samples).map(|sample| cell(marker, sample)).collect::<Vec<_>>()))
            .collect();
        let markers: Vec<&[u8]> = markers.iter().map(Vec::as_slice).collect();
        let mut next = 0;
        transpose(&markers, n_samples, |sample, codes| {
            assert_eq!(sample, next);
            next += 1;
            let expected: Vec<u8> = (0..n_markers).map(|marker| cell(marker, sample)).collect();
            assert_eq!(codes, packed(&expected));
        });
        prop_assert_eq!(next, n_samples);
    }

    #[test]
    fn codes_of_samples_that_count_are_tallied(
        cells in prop::collection::vec((0u8..4, any::<bool>()), 1..70),
    ) {
        let codes: Vec<u8> = cells.iter().map(|(code, _)| *code).collect();
        let marks: Vec<u8> = cells.iter().map(|(_, is_counted)| u8::from(*is_counted)).collect();
        let mut expected = [0u64; CODES];
        for (code, is_counted) in cells {
            expected[usize::from(code)] += u64::from(is_counted);
        }
        prop_assert_eq!(tally(&packed(&codes), &packed(&marks)), expected);
    }
}
