//! Genotypes of two bits each, a marker after another.
//!
//! Codes stay packed as they are read: [`Bed::read`] hands them over without numbers in between.

use core::ops::Range;
use std::io::{Read, Seek, SeekFrom};

use super::malformed;
use crate::error::{DataError, FileError};
use crate::genotypes::{COPIES, IN_A_BYTE, code};

/// What every file of PLINK 1 genotypes begins with.
pub(super) const MAGIC: [u8; 2] = [0x6C, 0x1B];

/// The third byte: marker after marker, or, in files of the first versions, sample after sample.
const BY_MARKER: u8 = 1;
const BY_SAMPLE: u8 = 0;

/// The two magic bytes and the mode.
const HEADER: u64 = 3;

/// Bytes that are read at once: 65,536 genotypes.
const BYTES_AT_ONCE: usize = 1 << 14;

/// An opened `.bed` file.
#[derive(Debug)]
pub(super) struct Bed<R> {
    reader: R,
    n_samples: usize,
    n_markers: usize,
    bytes: Vec<u8>,
}

impl<R: Read + Seek> Bed<R> {
    /// Compares what the lists of samples and markers promise with the size of the file.
    pub(super) fn open(
        mut reader: R,
        n_samples: usize,
        n_markers: usize,
    ) -> Result<Self, DataError> {
        let end = reader.seek(SeekFrom::End(0)).map_err(FileError::from)?;
        if end < HEADER {
            return Err(malformed(format!(
                "the .bed file has {end} bytes, fewer than the {HEADER} of its header"
            ))
            .into());
        }
        reader.rewind().map_err(FileError::from)?;
        let mut header = [0; 3];
        reader.read_exact(&mut header).map_err(FileError::from)?;
        let [first, second, mode] = header;
        if [first, second] != MAGIC {
            return Err(
                malformed("the .bed file does not begin with the bytes 6C 1B".to_owned()).into(),
            );
        }
        match mode {
            BY_MARKER => {}
            BY_SAMPLE => {
                return Err(malformed(
                    "the .bed file holds sample after sample; required: marker after marker"
                        .to_owned(),
                )
                .into());
            }
            _ => {
                return Err(
                    malformed("the third byte of the .bed file is not 01".to_owned()).into(),
                );
            }
        }
        let required = (n_markers as u64)
            .checked_mul(n_samples.div_ceil(IN_A_BYTE) as u64)
            .and_then(|bytes| bytes.checked_add(HEADER));
        if required != Some(end) {
            let required = required.map_or_else(|| "too many".to_owned(), |n| n.to_string());
            return Err(malformed(format!(
                "{n_samples} samples in the .fam file and {n_markers} markers in the .bim file require a .bed file of \
                 {required} bytes, but it has {end}"
            ))
            .into());
        }
        Ok(Self {
            reader,
            n_samples,
            n_markers,
            bytes: Vec::new(),
        })
    }

    /// The packed codes of these samples of one marker, four in a byte; the first sample is a multiple of four.
    fn codes(&mut self, marker: usize, samples: Range<usize>) -> Result<&[u8], DataError> {
        debug_assert!(samples.start.is_multiple_of(IN_A_BYTE) && marker < self.n_markers);
        let in_a_marker = self.n_samples.div_ceil(IN_A_BYTE) as u64;
        let start = HEADER + marker as u64 * in_a_marker + (samples.start / IN_A_BYTE) as u64;
        self.reader
            .seek(SeekFrom::Start(start))
            .map_err(FileError::from)?;
        self.bytes.resize(samples.len().div_ceil(IN_A_BYTE), 0);
        self.reader
            .read_exact(&mut self.bytes)
            .map_err(FileError::from)?;
        Ok(&self.bytes)
    }

    /// Appends the packed codes of all samples of one marker.
    pub(super) fn read(&mut self, marker: usize, codes: &mut Vec<u8>) -> Result<(), DataError> {
        self.each_part(marker, |part, _| codes.extend_from_slice(part))
    }

    /// Hands over the copies of the first allele of each sample at one marker; none where they are missing.
    pub(super) fn visit(
        &mut self,
        marker: usize,
        mut take: impl FnMut(Option<u8>),
    ) -> Result<(), DataError> {
        self.each_part(marker, |codes, samples| {
            for sample in 0..samples {
                take(COPIES[code(codes, sample)]);
            }
        })
    }

    /// Hands over the packed codes of one marker, part by part, and of how many samples they are.
    fn each_part(
        &mut self,
        marker: usize,
        mut take: impl FnMut(&[u8], usize),
    ) -> Result<(), DataError> {
        let n_samples = self.n_samples;
        for start in (0..n_samples).step_by(BYTES_AT_ONCE * IN_A_BYTE) {
            let end = n_samples.min(start + BYTES_AT_ONCE * IN_A_BYTE);
            let codes = self.codes(marker, start..end)?;
            let places = codes.len() * IN_A_BYTE;
            // Only the last byte of a marker has unused places.
            if (end - start..places).any(|place| code(codes, place) != 0) {
                return Err(malformed(
                    "the .bed file has genotypes of more samples than the .fam file names"
                        .to_owned(),
                )
                .into());
            }
            take(codes, end - start);
        }
        Ok(())
    }
}
