//! Assembly of columns of packed genotypes, which stay packed.

use sprifed_schema::{CellDefect, CellNote, Coding, NumberCoding};

use super::by_column::{Fate, Rows};
use super::{Bounding, ColumnSource};
use crate::error::DataError;
use crate::genotypes::{
    CODES, COPIES, IN_A_BYTE, Layout, MARKERS_AT_ONCE, Place, code, tally, transpose,
};

/// Where each feature of the columns of a study is stored: as a genotype if the file stores it so and it becomes one feature.
pub(super) fn layout_of(source: &dyn ColumnSource, bounding: &Bounding<'_>) -> Layout {
    let columns = bounding.mapping.columns().iter();
    let places =
        columns
            .zip(&bounding.selection.features)
            .map(|(coded, &at)| match genotype_coding(&coded.coding) {
                Some(number) if source.is_packed(at) => {
                    Place::Genotype(Outcomes::of(number).values)
                }
                _ => Place::Numbers(coded.features.len()),
            });
    Layout::of(places)
}

/// How copies of an allele are read, if that gives one number.
fn genotype_coding(coding: &Coding) -> Option<&NumberCoding> {
    match coding {
        Coding::Number(number) if !number.has_indicator() => Some(number),
        _ => None,
    }
}

/// What becomes of each code of a marker.
struct Outcomes {
    values: [f32; CODES],
    notes: [Result<CellNote, CellDefect>; CODES],
}

impl Outcomes {
    fn of(number: &NumberCoding) -> Self {
        let mut values = [0.0; CODES];
        let notes = core::array::from_fn(|code| {
            let copies = COPIES[code].map_or(f64::NAN, f64::from);
            number.encode(copies, core::slice::from_mut(&mut values[code]))
        });
        Self { values, notes }
    }
}

/// Columns of genotypes that are read together.
pub(super) struct Packed {
    /// The first of them.
    pub(super) columns: usize,
    /// The byte of a row where they begin.
    pub(super) first_byte: usize,
    /// How many bytes the genotypes of a row have.
    pub(super) n_bytes: usize,
}

impl Packed {
    /// Writes their codes into every row and returns how many columns these were.
    pub(super) fn fill(
        self,
        source: &mut dyn ColumnSource,
        bounding: &mut Bounding<'_>,
        rows: Rows<'_>,
        codes: &mut [u8],
    ) -> Result<usize, DataError> {
        let counted = marks(rows.fates);
        let at_once = self.columns..bounding.mapping.columns().len();
        let mut markers = Vec::new();
        for column in at_once.take(MARKERS_AT_ONCE) {
            let position = bounding.selection.features[column];
            let number = genotype_coding(&bounding.mapping.columns()[column].coding);
            let Some(number) = number.filter(|_| source.is_packed(position)) else {
                break;
            };
            let outcomes = Outcomes::of(number);
            let mut marker = Vec::new();
            source.packed(position, &mut marker)?;
            let places = source.places(position);
            let counts = tally(&marker, &counted);
            for (found, (outcome, count)) in outcomes.notes.into_iter().zip(counts).enumerate() {
                match outcome {
                    Ok(note) => bounding.count_alike(note, count),
                    Err(_) if count == 0 => {}
                    Err(defect) => {
                        let with_code = (0..).zip(rows.fates).filter(|(record, fate)| {
                            **fate == Fate::Counted && code(&marker, *record) == found
                        });
                        for (record, _) in with_code {
                            let place = places.of(record as u64 + 1);
                            bounding.count(column, Err(defect.into()), place);
                        }
                    }
                }
            }
            markers.push(marker);
        }
        let markers: Vec<&[u8]> = markers.iter().map(Vec::as_slice).collect();
        let mut rows_of_codes = codes.chunks_exact_mut(self.n_bytes);
        transpose(&markers, rows.fates.len(), |sample, turned| {
            if rows.fates[sample] != Fate::OverCap
                && let Some(row) = rows_of_codes.next()
            {
                row[self.first_byte..self.first_byte + turned.len()].copy_from_slice(turned);
            }
        });
        Ok(markers.len())
    }
}

/// A mark at the lower bit of each record that counts, four in a byte.
fn marks(fates: &[Fate]) -> Vec<u8> {
    let mark = |four: &[Fate]| {
        (0..).zip(four).fold(0, |byte, (place, fate)| {
            byte | u8::from(*fate == Fate::Counted) << (2 * place)
        })
    };
    fates.chunks(IN_A_BYTE).map(mark).collect()
}
