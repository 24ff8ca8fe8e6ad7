//! Arguments that several commands share: the world of a simulation and the neighbouring relation.

use clap::{Args, ValueEnum};
use sprifed::{Backend, BackendRequest, WorldSize, parse_correlation};
use sprifed_privacy::Relation;
use sprifed_simulate::{Correlation, Reading, WorldRequest};

use crate::failure::Failure;

/// The neighbouring relations, as the command line names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RelationName {
    /// One record's contribution becomes zero.
    ZeroOut,
    /// One record is replaced by any other.
    ReplaceOne,
}

impl RelationName {
    pub(crate) const fn relation(self) -> Relation {
        match self {
            Self::ZeroOut => Relation::ZeroOut,
            Self::ReplaceOne => Relation::ReplaceOne,
        }
    }
}

/// Backends, as the command line names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BackendName {
    /// One trusted party holds all records; it adds all the noise.
    Curator,
    /// Every client masks its own vector and adds its own share of the noise; nobody is trusted
    /// with records.
    SecureSum,
}

impl BackendName {
    /// The backend of this name.
    pub(crate) const fn backend(self) -> Backend {
        match self {
            Self::Curator => Backend::Curator,
            Self::SecureSum => Backend::SecureSum,
        }
    }
}

/// Who answers, and on whom the noise depends.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct BackendArguments {
    /// Who adds up the records and adds the noise.
    #[arg(long, value_enum, default_value = "curator")]
    pub(crate) backend: BackendName,
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
            backend: self.backend.backend(),
            quorum: self.quorum,
            colluders: self.colluders,
        }
    }
}

/// How generated numbers are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReadingName {
    /// Raw standard normal features.
    Clean,
    /// Clipped and rescaled as in the paper.
    Paper,
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
    #[arg(long, value_enum, default_value = "clean")]
    reading: ReadingName,
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
            reading: match self.reading {
                ReadingName::Clean => Reading::Clean,
                ReadingName::Paper => Reading::Paper,
            },
        }
    }

    /// How many clients hold the records.
    pub(crate) fn clients(&self) -> usize {
        self.size().clients()
    }

    /// The world to generate.
    pub(crate) fn request(&self) -> Result<WorldRequest, Failure> {
        self.size().request()
    }
}
