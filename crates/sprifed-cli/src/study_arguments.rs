//! Arguments that several commands share: the world of a simulation and who adds up.

use clap::Args;
use sprifed::{Backend, BackendRequest, WorldSize, parse_correlation};
use sprifed_simulate::{Correlation, Reading};

use crate::choices::{backends, readings};

/// Who answers, and on whom the noise depends.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct BackendArguments {
    /// Who adds up the records and adds the noise.
    #[arg(long, value_parser = backends(), default_value = "curator")]
    pub(crate) backend: Backend,
    /// Of secure sums: a sum of fewer clients is never opened [default: nine tenths of them].
    #[arg(long)]
    quorum: Option<u32>,
    /// Of secure sums: how many clients may tell others their shares of the noise [default: a
    /// twentieth of them, at least one].
    #[arg(long)]
    colluders: Option<u32>,
}

impl BackendArguments {
    /// The same without the command line.
    pub(crate) const fn request(&self) -> BackendRequest {
        BackendRequest {
            backend: self.backend,
            quorum: self.quorum,
            colluders: self.colluders,
        }
    }
}

/// The generated data.
#[derive(Args, Clone, Debug)]
pub(crate) struct WorldArguments {
    /// n: how many records.
    #[arg(long)]
    pub(crate) records: usize,
    /// p: how many features.
    #[arg(long)]
    pub(crate) features: usize,
    /// s: how many of them are active.
    #[arg(long)]
    pub(crate) sparsity: usize,
    /// How many clients hold the records [default: one record each].
    #[arg(long)]
    clients: Option<usize>,
    /// Standard deviation of the error [default: 0.1; 0.001 in the paper's reading].
    #[arg(long, conflicts_with = "population_r2")]
    error_std: Option<f64>,
    /// Share of the response's variance that the true model explains.
    #[arg(long)]
    population_r2: Option<f64>,
    /// How features depend on each other: none, ar:0.9 or equi:0.3.
    #[arg(long, default_value = "none", value_parser = parse_correlation)]
    correlation: Correlation,
    /// How the generated numbers are read.
    #[arg(long, value_parser = readings(), default_value = "clean")]
    reading: Reading,
}

impl WorldArguments {
    /// The same without the command line.
    pub(crate) const fn size(&self) -> WorldSize {
        WorldSize {
            records: self.records,
            features: self.features,
            sparsity: self.sparsity,
            clients: self.clients,
            error_std: self.error_std,
            population_r2: self.population_r2,
            correlation: self.correlation,
            reading: self.reading,
        }
    }
}
