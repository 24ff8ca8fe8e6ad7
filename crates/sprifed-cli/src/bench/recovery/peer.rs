//! scikit-learn's orthogonal matching pursuit, on the same numbers, in the same run.

use std::path::Path;
use std::process::{Command, Stdio};

use sprifed_simulate::World;

use crate::failure::Failure;

/// Reads rows of single precision from standard input, tries the layouts scikit-learn is offered in
/// practice, and prints the shortest time of the best one.
const SCRIPT: &str = r"
import sys, time
import numpy as np
from sklearn.linear_model import orthogonal_mp
n, p, s, rounds = map(int, sys.argv[1:5])
raw = np.frombuffer(sys.stdin.buffer.read(), dtype=np.float32)
rows, y = raw[: n * p].reshape(n, p), raw[n * p :].astype(float)
best = float('inf')
for layout in (np.asfortranarray(rows), np.asfortranarray(rows, dtype=float), np.ascontiguousarray(rows, dtype=float)):
    for _ in range(rounds):
        start = time.perf_counter()
        orthogonal_mp(layout, y.astype(layout.dtype), n_nonzero_coefs=s)
        best = min(best, time.perf_counter() - start)
print(best)
";

/// The shortest time that scikit-learn takes for the world, in seconds.
pub(super) fn orthogonal_matching_pursuit(
    python: &Path,
    world: &World,
    sparsity: usize,
    rounds: u32,
) -> Result<f64, Failure> {
    let records = world.responses().len();
    let features = world.features().len() / records.max(1);
    let numbers = [records, features, sparsity, rounds as usize].map(|number| number.to_string());
    let refuse = |found: String| {
        let help = "install numpy and scikit-learn there, or leave --python out";
        Failure::environment("sprifed::bench::no-peer", found, help)
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "a benchmark starts the peer that it measures"
    )]
    let mut command = Command::new(python);
    let mut child = command
        .args(["-c", SCRIPT])
        .args(numbers)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| refuse(format!("{} does not start: {error}", python.display())))?;
    if let Some(mut stdin) = child.stdin.take() {
        use std::io::Write as _;
        for part in [world.features(), world.responses()] {
            for block in part.chunks(1 << 16) {
                let bytes: Vec<u8> = block.iter().flat_map(|value| value.to_le_bytes()).collect();
                let written = stdin.write_all(&bytes);
                written.map_err(|error| refuse(format!("the peer stopped reading: {error}")))?;
            }
        }
    }
    let ended = child.wait_with_output();
    let ended = ended.map_err(|error| refuse(format!("the peer was lost: {error}")))?;
    let text = String::from_utf8_lossy(&ended.stdout);
    text.trim()
        .parse()
        .map_err(|_| refuse("the peer printed no time".to_owned()))
}
