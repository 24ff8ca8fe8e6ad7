//! `sprifed-bench recovery`: the limit first (reading X once), then ours against it and against a peer.

mod peer;

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde::Serialize;
use sprifed_privacy::{ApproxDp, Delta, Epsilon, Relation};
use sprifed_query::Records;
use sprifed_recovery::{CertifiedProcedure, correlate, non_private_omp};
use sprifed_report::table;
use sprifed_simulate::{Certified, Method as _, World, WorldRequest};

use crate::error::Error;
use crate::output::Output;
use crate::pass::read_once;

/// `sprifed-bench recovery`.
#[derive(Args, Debug)]
pub(crate) struct Recovery {
    /// A Python with numpy and scikit-learn, to be measured in the same run.
    #[arg(long, value_name = "PYTHON")]
    python: Option<PathBuf>,
    /// How often each measurement is repeated; the shortest counts.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Also fit n = 8000, p = 40000 and report the peak memory (1.3 GB).
    #[arg(long)]
    large: bool,
}

#[derive(Debug, Serialize)]
struct Measured {
    what: String,
    seconds: f64,
    /// What it is compared with, and how many times as long it takes.
    against: &'static str,
    ratio: f64,
    goal: &'static str,
}

impl Recovery {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Error> {
        let mut lines = Vec::new();
        let world = World::generate(WorldRequest::clean(2000, 10_000, 10), 1);
        self.measure_pass(&world, &mut lines);
        self.measure_pursuit(&world, &mut lines)?;
        self.measure_growth(&mut lines)?;
        drop(world);
        if self.large {
            self.measure_memory(&mut lines)?;
        }
        output.answer(&lines, |lines| to_text(lines));
        Ok(())
    }

    /// The shortest of several runs, in seconds.
    fn shortest<T>(&self, mut work: impl FnMut() -> T) -> f64 {
        let mut shortest = f64::INFINITY;
        for _ in 0..self.rounds {
            let start = Instant::now();
            black_box(work());
            shortest = shortest.min(start.elapsed().as_secs_f64());
        }
        shortest
    }

    fn measure_pass(&self, world: &World, lines: &mut Vec<Measured>) {
        let features = world.features();
        let weights = vec![1.0; world.responses().len()];
        let read = self.shortest(|| read_once(features));
        let pass = self.shortest(|| correlate(features, &weights, 10_000));
        lines.push(Measured {
            what: "one pass of X'v, n = 2000, p = 10000".to_owned(),
            seconds: pass,
            against: "reading X once",
            ratio: pass / read,
            goal: "at most 1.3",
        });
    }

    fn measure_pursuit(&self, world: &World, lines: &mut Vec<Measured>) -> Result<(), Error> {
        let records = records_of(world, 10_000)?;
        let ours = self.shortest(|| non_private_omp(&records, 10));
        let Some(python) = &self.python else {
            return Ok(());
        };
        let theirs = peer::orthogonal_matching_pursuit(python, world, 10, self.rounds)?;
        lines.push(Measured {
            what: "matching pursuit without privacy, n = 2000, p = 10000, s = 10".to_owned(),
            seconds: ours,
            against: "scikit-learn's orthogonal_mp on its best layout",
            ratio: ours / theirs,
            goal: "at most 0.33",
        });
        Ok(())
    }

    fn measure_growth(&self, lines: &mut Vec<Measured>) -> Result<(), Error> {
        let base = self.private_seconds(1000, 5000)?;
        for (what, records, features) in [
            ("a private fit with twice the records", 2000, 5000),
            ("a private fit with twice the features", 1000, 10_000),
        ] {
            let seconds = self.private_seconds(records, features)?;
            lines.push(Measured {
                what: what.to_owned(),
                seconds,
                against: "n = 1000, p = 5000 (certified GRAD, s = 5)",
                ratio: seconds / base,
                goal: "about 2",
            });
        }
        Ok(())
    }

    fn private_seconds(&self, records: usize, features: usize) -> Result<f64, Error> {
        let request = WorldRequest::clean(records, features, 5);
        let budget = ApproxDp::new(Epsilon::try_from(5.34)?, Delta::try_from(1e-4)?);
        let relation = Relation::ZeroOut;
        let method = Certified::on_curator(CertifiedProcedure::GRAD, &request, budget, relation)?;
        let world = World::generate(request, 1);
        let mut failed = None;
        let seconds = self.shortest(|| {
            if let Err(error) = method.run_on(&world, 1) {
                failed = Some(error);
            }
        });
        failed.map_or(Ok(seconds), |error| Err(error.into()))
    }

    fn measure_memory(&self, lines: &mut Vec<Measured>) -> Result<(), Error> {
        let request = WorldRequest::clean(8000, 40_000, 10);
        let budget = ApproxDp::new(Epsilon::try_from(5.34)?, Delta::try_from(1e-4)?);
        let relation = Relation::ZeroOut;
        let method = Certified::on_curator(CertifiedProcedure::GRAD, &request, budget, relation)?;
        let world = World::generate(request, 1);
        let start = Instant::now();
        method.run_on(&world, 1)?;
        let seconds = start.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53 bytes")]
        let matrix = size_of_val(world.features()) as f64;
        if let Some(peak) = peak_memory() {
            lines.push(Measured {
                what: "peak memory of a private fit, n = 8000, p = 40000".to_owned(),
                seconds,
                against: "the matrix of single precision",
                ratio: peak / matrix,
                goal: "at most 1.2",
            });
        }
        Ok(())
    }
}

fn records_of(world: &World, features: usize) -> Result<Records<'_>, Error> {
    Records::each_a_unit(world.features(), world.responses(), features)
        .map_err(|error| sprifed_simulate::TrialError::from(error).into())
}

/// The most memory this process has had, in bytes, where the system reports it.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kibibytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024.0 * kibibytes)
}

fn to_text(lines: &[Measured]) -> String {
    let mut rows = vec![
        ["measured", "seconds", "times", "compared with", "goal"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for line in lines {
        rows.push(vec![
            line.what.clone(),
            format!("{:.4}", line.seconds),
            format!("{:.2}", line.ratio),
            line.against.to_owned(),
            line.goal.to_owned(),
        ]);
    }
    table(&rows)
}
