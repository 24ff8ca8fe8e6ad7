//! Loads a generated table and prints time and peak memory beside the size of the matrix.
//!
//! `cargo run --release -p sprifed-tables --example load -- write wide wide.csv`, then
//! `… --example load -- read wide.csv`. Two runs, so that generating does not count. Shapes: `wide`
//! (2,000 x 15,000) and `long` (50,000 x 280).

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it measures time"
)]

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Instant;

use sprifed_schema::Schema;
use sprifed_tables::read_table;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["write", "wide", path] => write_table(Path::new(path), 2_000, 15_000),
        ["write", "long", path] => write_table(Path::new(path), 50_000, 280),
        ["read", path] => read(Path::new(path), "x_0"),
        ["read", path, response] => read(Path::new(path), response),
        _ => Err("arguments: write wide|long FILE, or read FILE [RESPONSE]".into()),
    }
}

/// CSV, or `.npy` if the name ends so.
fn write_table(path: &Path, n_records: usize, n_columns: usize) -> Outcome {
    let mut file = BufWriter::new(File::create(path)?);
    let is_npy = path.extension().is_some_and(|extension| extension == "npy");
    if is_npy {
        let header = format!(
            "{{'descr': '<f8', 'fortran_order': False, 'shape': ({n_records}, {n_columns}), }}\n"
        );
        file.write_all(b"\x93NUMPY\x01\x00")?;
        file.write_all(&u16::try_from(header.len())?.to_le_bytes())?;
        file.write_all(header.as_bytes())?;
    } else {
        let names: Vec<String> = (0..n_columns).map(|column| format!("x_{column}")).collect();
        writeln!(file, "{}", names.join(","))?;
    }
    let mut state = 1u64;
    for _ in 0..n_records {
        for column in 0..n_columns {
            // A multiplicative generator: only the number of digits matters here.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let value = f64::from(u32::try_from(state >> 32)?) / f64::from(u32::MAX) - 0.5;
            if is_npy {
                file.write_all(&value.to_le_bytes())?;
            } else {
                let separator = if column == 0 { "" } else { "," };
                write!(file, "{separator}{value:.12}")?;
            }
        }
        if !is_npy {
            writeln!(file)?;
        }
    }
    Ok(file.flush()?)
}

#[expect(clippy::print_stdout, reason = "the measurement is the output")]
#[expect(clippy::cast_precision_loss, reason = "sizes in megabytes")]
fn read(path: &Path, response: &str) -> Outcome {
    let schema = Schema::parse(&format!(
        "[response]\nname = \"{response}\"\nlower = -1\nupper = 1\n\
         [features]\nlower = -1\nupper = 1\n"
    ))?;
    let start = Instant::now();
    let table = read_table(path, &schema)?;
    let seconds = start.elapsed().as_secs_f64();
    let matrix = table.design().n_bytes() as f64 / 1e6;
    let peak = peak_kilobytes()? as f64 * 1024.0 / 1e6;
    println!(
        "{} x {}: {seconds:.2} s, matrix {matrix:.1} MB, peak {peak:.1} MB, ratio {:.3}",
        table.design().n_records(),
        table.design().n_features(),
        peak / matrix
    );
    Ok(())
}

/// The largest resident size of this process so far, as Linux counts it.
fn peak_kilobytes() -> Result<u64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .ok_or("no VmHWM line")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
}
