//! scikit-learn's orthogonal matching pursuit, on the same numbers, in the same run.

use std::path::Path;

use sprifed_simulate::World;

use crate::error::Error;
use crate::python;

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
) -> Result<f64, Error> {
    let records = world.responses().len();
    let features = world.features().len() / records.max(1);
    let numbers = [records, features, sparsity, rounds as usize].map(|number| number.to_string());
    let printed = python::run(python, SCRIPT, &numbers, |input| {
        for part in [world.features(), world.responses()] {
            for block in part.chunks(1 << 16) {
                let bytes: Vec<u8> = block.iter().flat_map(|value| value.to_le_bytes()).collect();
                input.write_all(&bytes)?;
            }
        }
        Ok(())
    })?;
    printed
        .parse()
        .map_err(|_| python::refuse("the peer printed no time".to_owned()))
}
