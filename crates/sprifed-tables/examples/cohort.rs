//! Makes up a cohort of PLINK 1 genotypes with phenotypes and a schema, of any size, a marker at a time.
//!
//! `cargo run --release -p sprifed-tables --example cohort -- 5000 50000 cohort` writes `cohort.bed`, `.bim`, `.fam`, `.csv` and
//! `.toml`. Then `sprifed fit cohort.bed --phenotypes cohort.csv --schema cohort.toml …` fits them. Neighbouring markers are
//! correlated, rare alleles are frequent, one genotype in a hundred is missing, and ten markers have effects.

use std::fs::{File, write};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Markers with effects.
const CAUSES: usize = 10;

/// One in so many haplotypes begins anew at a marker.
const NEW_ONE_IN: u32 = 12;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [people, markers, prefix] = &arguments[..] else {
        return Err("arguments: PEOPLE MARKERS PREFIX".into());
    };
    make(people.parse()?, markers.parse()?, Path::new(prefix))
}

fn make(people: usize, markers: usize, prefix: &Path) -> Outcome {
    let create = |extension: &str| File::create(beside(prefix, extension)).map(BufWriter::new);
    let (mut bed, mut bim) = (create("bed")?, create("bim")?);
    bed.write_all(&[0x6C, 0x1B, 1])?;
    let mut numbers = Numbers(0x9E37_79B9);
    // A haplotype has the effect allele where its number is below the frequency; it keeps the number from marker to marker.
    let mut haplotypes: Vec<u16> = (0..2 * people).map(|_| numbers.next_short()).collect();
    let mut traits = vec![0.0; people];
    let every = (markers / CAUSES).max(1);
    for marker in 0..markers {
        let uniform = f64::from(numbers.next_short()) / 65_536.0;
        let frequency = 0.02 + 0.48 * uniform * uniform;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below 2^16"
        )]
        let limit = (frequency * 65_536.0) as u16;
        let effect = match (marker % every, marker / every) {
            (0, cause) if cause < CAUSES => [0.5, -0.5][cause % 2] / (2.0 * frequency).sqrt(),
            _ => 0.0,
        };
        let mut packed = vec![0u8; people.div_ceil(4)];
        for (person, pair) in haplotypes.chunks_exact_mut(2).enumerate() {
            let mut copies = 0u8;
            for haplotype in pair {
                let word = numbers.next();
                if word % NEW_ONE_IN == 0 {
                    *haplotype = (word >> 16) as u16;
                }
                copies += u8::from(*haplotype < limit);
            }
            traits[person] += effect * f64::from(copies);
            let is_missing = numbers.next() % 100 == 0;
            let code = if is_missing {
                1
            } else {
                [3, 2, 0][usize::from(copies)]
            };
            packed[person / 4] |= code << (2 * (person % 4));
        }
        bed.write_all(&packed)?;
        let chromosome = 1 + 22 * marker / markers;
        writeln!(
            bim,
            "{chromosome}\tm{marker}\t0\t{}\tA\tG",
            1000 * (marker + 1)
        )?;
    }
    bed.flush()?;
    bim.flush()?;
    let (mut fam, mut csv) = (create("fam")?, create("csv")?);
    writeln!(csv, "IID,trait")?;
    for (person, value) in traits.iter().enumerate() {
        let noise: f64 = (0..12)
            .map(|_| f64::from(numbers.next_short()) / 65_536.0 - 0.5)
            .sum();
        writeln!(fam, "f{person} p{person} 0 0 {} -9", 1 + person % 2)?;
        writeln!(csv, "p{person},{:.4}", value + noise)?;
    }
    fam.flush()?;
    csv.flush()?;
    let schema = "[response]\nname = \"trait\"\nlower = -8\nupper = 8\n\n[features]\nlower = 0\nupper = 2\n\
                  exclude = [\"FID\", \"IID\", \"SEX\"]\n\n[record]\nmissing = \"midpoint\"\n";
    Ok(write(beside(prefix, "toml"), schema)?)
}

fn beside(prefix: &Path, extension: &str) -> PathBuf {
    prefix.with_extension(extension)
}

/// Words of xorshift: made-up data, not noise.
struct Numbers(u32);

impl Numbers {
    const fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    const fn next_short(&mut self) -> u16 {
        (self.next() >> 16) as u16
    }
}
