//! `sprifed-bench sweep`: one cell of `experiment`, against a plain numpy version of the same cell.
//!
//! The numpy version is written from the paper, not from our code, so what it finds is shown beside
//! ours: a second opinion, with other random numbers.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::Serialize;
use sprifed_paper::{AnyMethod, MethodError, PaperAlgorithm};
use sprifed_privacy::Mu;
use sprifed_report::table;
use sprifed_simulate::{
    Correlation, Mean, Method as _, Reading, Unexplained, World, WorldRequest, WorldSites,
};

use crate::error::Error;
use crate::output::Output;
use crate::python;

/// `sprifed-bench sweep`.
#[derive(Args, Debug)]
pub(crate) struct Sweep {
    /// A Python with numpy, to be measured in the same run.
    #[arg(long, value_name = "PYTHON")]
    python: Option<PathBuf>,
    /// How many trials.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    trials: u64,
    /// n of the cell.
    #[arg(long, default_value_t = 2000)]
    records: usize,
    /// p of the cell.
    #[arg(long, default_value_t = 2500)]
    features: usize,
    /// s of the cell; mu_p is 0.543 up to five and 0.4 above.
    #[arg(long, default_value_t = 5)]
    sparsity: usize,
    /// The seed of the first trial.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Serialize)]
struct Measured {
    program: &'static str,
    seconds_per_trial: f64,
    /// Features found by SPriFed-OMP and by SPriFed-OMP-GRAD, mean and standard error.
    omp: (f64, f64),
    grad: (f64, f64),
}

#[derive(Debug, Serialize)]
struct Comparison {
    cell: String,
    trials: u64,
    measured: Vec<Measured>,
    /// numpy's time over ours.
    times_as_long: Option<f64>,
}

/// Both of the paper's algorithms in the reading of `experiment`, from the paper's pseudocode.
const SCRIPT: &str = r"
import sys, time
import numpy as np
n, p, s, trials, seed = map(int, sys.argv[1:6])
mu_p, mu_s = (0.543 if s <= 5 else 0.4), 0.02
high, low = np.sqrt(p) / mu_p, np.sqrt(s) / mu_s

def solve(gram, cross, k):
    return np.linalg.solve(gram[:k, :k], cross[:k])

def fit(X, y, rng, by_gradient):
    S, gram, cross = [], np.zeros((s, s)), np.zeros(s)
    columns, alpha = np.zeros((s, p)), np.zeros(0)
    first = X.T @ y + rng.standard_normal(p) * high
    for k in range(s):
        if by_gradient:
            r = y - X[:, S] @ alpha.astype(np.float32) if S else y
            score = X.T @ r + rng.standard_normal(p) * high
        else:
            score = first - alpha @ columns[:k]
        score[S] = 0
        j = int(np.abs(score).argmax()); S.append(j)
        if not by_gradient and k < s - 1:
            columns[k] = X.T @ X[:, j] + rng.standard_normal(p) * high
        row = X[:, S].T @ X[:, j] + rng.standard_normal(k + 1) * low
        gram[k, :k + 1] = gram[:k + 1, k] = row
        cross[k] = X[:, j] @ y + rng.standard_normal() * low
        alpha = solve(gram, cross, k + 1)
    return S

found, start = [], time.perf_counter()
for t in range(trials):
    rng = np.random.default_rng([seed, t])
    X = np.clip(rng.standard_normal((n + 1000, p), dtype=np.float32), -1, 1) / np.float32(0.718372)
    support = rng.choice(p, s, replace=False)
    y = X[:, support] @ rng.normal(2, 1, s) + 0.001 * rng.standard_normal(n + 1000)
    y = np.clip(y, -1, 1); y = (y / y.std()).astype(np.float32)
    found.append([len(set(fit(X[:n], y[:n], rng, g)) & set(support.tolist())) for g in (False, True)])
seconds = (time.perf_counter() - start) / trials
a = np.array(found, float)
e = a.std(0, ddof=1) / np.sqrt(trials) if trials > 1 else np.zeros(2)
print(seconds, a[:, 0].mean(), e[0], a[:, 1].mean(), e[1])
";

impl Sweep {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Error> {
        let ours = self.ours()?;
        let numpy = self.python.as_ref().map(|_| self.numpy()).transpose()?;
        let times_as_long = numpy
            .as_ref()
            .map(|numpy| numpy.seconds_per_trial / ours.seconds_per_trial);
        let comparison = Comparison {
            cell: format!(
                "both algorithms of the paper on one world: n = {}, p = {}, s = {}",
                self.records, self.features, self.sparsity
            ),
            trials: self.trials,
            measured: core::iter::once(ours).chain(numpy).collect(),
            times_as_long,
        };
        output.answer(&comparison, to_text);
        Ok(())
    }

    /// Trials as `experiment` runs them: worlds generated, both algorithms, several at once.
    fn ours(&self) -> Result<Measured, Error> {
        let request = WorldRequest {
            records: self.records,
            test_records: 1000,
            features: self.features,
            sparsity: self.sparsity,
            support: self.sparsity,
            correlation: Correlation::None,
            unexplained: Unexplained::ErrorStdDev(0.001),
            reading: Reading::Paper,
            outcome: sprifed_simulate::WorldOutcome::Linear,
            sites: WorldSites::NONE,
        };
        let per_vector = Mu::try_from(if self.sparsity <= 5 { 0.543 } else { 0.4 })?;
        let per_support = Mu::try_from(0.02)?;
        let method = |algorithm| AnyMethod::paper(algorithm, &request, per_vector, per_support);
        let (omp, grad) = (method(PaperAlgorithm::Omp)?, method(PaperAlgorithm::Grad)?);
        let start = Instant::now();
        let found = (0..self.trials)
            .into_par_iter()
            .map(|trial| {
                let seed = self.seed.wrapping_add(trial);
                let world = World::generate(request, seed);
                let by = |method: &AnyMethod| -> Result<f64, MethodError> {
                    Ok(method.run_on(&world, seed)?.recovered as f64)
                };
                Ok((by(&omp)?, by(&grad)?))
            })
            .collect::<Result<Vec<(f64, f64)>, MethodError>>()?;
        let seconds_per_trial = start.elapsed().as_secs_f64() / self.trials as f64;
        let summary = |of: fn(&(f64, f64)) -> f64| {
            let mean = Mean::of(&found.iter().map(of).collect::<Vec<f64>>());
            (mean.mean, mean.std_error)
        };
        Ok(Measured {
            program: "sprifed",
            seconds_per_trial,
            omp: summary(|pair| pair.0),
            grad: summary(|pair| pair.1),
        })
    }

    fn numpy(&self) -> Result<Measured, Error> {
        let Some(path) = &self.python else {
            return Err(python::refuse("no Python was named".to_owned()));
        };
        let sizes = [self.records, self.features, self.sparsity].map(|size| size.to_string());
        let counts = [self.trials, self.seed].map(|count| count.to_string());
        let arguments: Vec<String> = sizes.into_iter().chain(counts).collect();
        let printed = python::run(path, SCRIPT, &arguments, |_| Ok(()))?;
        let numbers: Vec<f64> = printed
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let [seconds_per_trial, omp, omp_error, grad, grad_error] = numbers[..] else {
            return Err(python::refuse(format!("the peer printed `{printed}`")));
        };
        Ok(Measured {
            program: "numpy",
            seconds_per_trial,
            omp: (omp, omp_error),
            grad: (grad, grad_error),
        })
    }
}

fn to_text(comparison: &Comparison) -> String {
    let heading = [
        "program",
        "seconds a trial",
        "found by OMP",
        "found by GRAD",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    let found = |(mean, error): (f64, f64)| format!("{mean:.2} +- {error:.2}");
    for one in &comparison.measured {
        rows.push(vec![
            one.program.to_owned(),
            format!("{:.3}", one.seconds_per_trial),
            found(one.omp),
            found(one.grad),
        ]);
    }
    let ratio = comparison.times_as_long.map_or_else(
        || "pass --python PYTHON to measure numpy beside it".to_owned(),
        |ratio| format!("numpy takes {ratio:.2} times as long"),
    );
    format!(
        "{}, {} trials\n\n{}\n{ratio}",
        comparison.cell,
        comparison.trials,
        table(&rows)
    )
}
