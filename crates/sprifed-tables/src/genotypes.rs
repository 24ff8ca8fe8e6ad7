//! Rows of which most places are genotypes: two bits each in memory, numbers only while a row is looked at.
//!
//! A marker has four codes, so what it becomes in bounded units is four public numbers.

mod decode;
mod transpose;

use core::ops::Range;

pub(crate) use self::transpose::{MARKERS_AT_ONCE, transpose};

#[cfg(test)]
mod tests;

/// Genotypes in a byte, the lowest two bits first.
pub(crate) const IN_A_BYTE: usize = 4;

/// Codes that there are.
pub(crate) const CODES: usize = 4;

/// Copies of the counted allele that each code says, as PLINK stores them; none where the genotype is missing.
pub(crate) const COPIES: [Option<u8>; CODES] = [Some(2), None, Some(1), Some(0)];

/// Each stretch of genotypes begins at a multiple of so many, which are decoded together.
const ALIGNED: usize = decode::TOGETHER;

/// What a column of the table becomes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Place {
    /// So many numbers in every row.
    Numbers(usize),
    /// One genotype, of which each code is this number.
    Genotype([f32; CODES]),
}

/// Where the features of a row are.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Layout {
    stretches: Vec<Stretch>,
    n_features: usize,
    numbers_of_row: usize,
    bytes_of_row: usize,
}

/// Neighbouring features that are stored in the same way.
#[derive(Debug, Clone, PartialEq)]
struct Stretch {
    features: Range<usize>,
    stored: Stored,
}

#[derive(Debug, Clone, PartialEq)]
enum Stored {
    /// As numbers, from this place of the numbers of a row on.
    Numbers { first: usize },
    /// As genotypes, from this byte of a row on.
    Genotypes { first_byte: usize, values: Values },
}

/// What the codes of a stretch become.
#[derive(Debug, Clone, PartialEq)]
enum Values {
    /// The same numbers at every marker.
    Alike([f32; CODES]),
    /// Others at each marker.
    Own(Vec<[f32; CODES]>),
}

impl Layout {
    /// The layout of columns that become these places, in the order of the features.
    pub(crate) fn of(places: impl IntoIterator<Item = Place>) -> Self {
        let mut layout = Self::default();
        for place in places {
            layout.push(place);
        }
        layout.bytes_of_row = layout.bytes_of_row.next_multiple_of(ALIGNED / IN_A_BYTE);
        layout
    }

    fn push(&mut self, place: Place) {
        let start = self.n_features;
        let last = self.stretches.last_mut();
        match (place, last) {
            (Place::Numbers(width), Some(stretch))
                if matches!(stretch.stored, Stored::Numbers { .. }) =>
            {
                stretch.features.end += width;
            }
            (Place::Numbers(width), _) => self.stretches.push(Stretch {
                features: start..start + width,
                stored: Stored::Numbers {
                    first: self.numbers_of_row,
                },
            }),
            (
                Place::Genotype(genotype),
                Some(Stretch {
                    features,
                    stored: Stored::Genotypes { first_byte, values },
                }),
            ) => {
                values.push(genotype, features.len());
                features.end += 1;
                self.bytes_of_row = *first_byte + features.len().div_ceil(IN_A_BYTE);
            }
            (Place::Genotype(genotype), _) => {
                let first_byte = self.bytes_of_row.next_multiple_of(ALIGNED / IN_A_BYTE);
                self.bytes_of_row = first_byte + 1;
                self.stretches.push(Stretch {
                    features: start..start + 1,
                    stored: Stored::Genotypes {
                        first_byte,
                        values: Values::Alike(genotype),
                    },
                });
            }
        }
        match place {
            Place::Numbers(width) => {
                self.numbers_of_row += width;
                self.n_features += width;
            }
            Place::Genotype(_) => self.n_features += 1,
        }
    }

    /// How many features of a row are stored as numbers.
    pub(crate) const fn numbers_of_row(&self) -> usize {
        self.numbers_of_row
    }

    /// How many bytes the genotypes of a row have.
    pub(crate) const fn bytes_of_row(&self) -> usize {
        self.bytes_of_row
    }

    /// Where the numbers of a feature that is stored so begin in a row, or where its genotype is: byte and place in it.
    pub(crate) fn place_of(&self, feature: usize) -> Option<Spot> {
        let after = self
            .stretches
            .partition_point(|stretch| stretch.features.end <= feature);
        let stretch = self.stretches.get(after)?;
        let offset = feature.checked_sub(stretch.features.start)?;
        Some(match stretch.stored {
            Stored::Numbers { first } => Spot::Number(first + offset),
            Stored::Genotypes { first_byte, .. } => Spot::Genotype(first_byte * IN_A_BYTE + offset),
        })
    }

    /// Writes a row from its numbers and its packed codes.
    pub(crate) fn decode(&self, numbers: &[f32], codes: &[u8], row: &mut [f32]) {
        for Stretch { features, stored } in &self.stretches {
            let places = &mut row[features.clone()];
            match stored {
                Stored::Numbers { first } => {
                    places.copy_from_slice(&numbers[*first..*first + features.len()]);
                }
                Stored::Genotypes { first_byte, values } => match values {
                    Values::Alike(values) => decode::alike(&codes[*first_byte..], values, places),
                    Values::Own(values) => decode::own(&codes[*first_byte..], values, places),
                },
            }
        }
    }
}

/// Where a feature is within the stored part of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spot {
    /// The number at this place.
    Number(usize),
    /// The genotype at this place.
    Genotype(usize),
}

impl Values {
    /// Adds what one more marker becomes, after `count` others.
    fn push(&mut self, genotype: [f32; CODES], count: usize) {
        let bits = |values: &[f32; CODES]| values.map(f32::to_bits);
        match self {
            Self::Alike(values) if bits(values) == bits(&genotype) => {}
            Self::Alike(values) => {
                let mut own = vec![*values; count];
                own.push(genotype);
                *self = Self::Own(own);
            }
            Self::Own(values) => values.push(genotype),
        }
    }
}

/// How many of the samples that `counted` marks have each code; four in a byte in both.
pub(crate) fn tally(codes: &[u8], counted: &[u8]) -> [u64; CODES] {
    let mut tally = [0; CODES];
    for (byte, counted) in codes.iter().zip(counted) {
        let (low, high) = (byte & 0x55, byte >> 1 & 0x55);
        let of_code = [!low & !high, low & !high, !low & high, low & high];
        for (count, found) in tally.iter_mut().zip(of_code) {
            *count += u64::from((found & counted & 0x55).count_ones());
        }
    }
    tally
}

/// The code at `place` of packed ones.
pub(crate) const fn code(codes: &[u8], place: usize) -> usize {
    (codes[place / IN_A_BYTE] >> (2 * (place % IN_A_BYTE))) as usize & 3
}
