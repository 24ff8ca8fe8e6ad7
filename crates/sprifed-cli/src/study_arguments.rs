//! Arguments that several commands share: the world of a simulation and the neighbouring relation.

use clap::{Args, ValueEnum};
use sprifed_privacy::{NoiseOrigin, Participation, Relation};
use sprifed_simulate::{Correlation, Reading, Unexplained, WorldRequest};

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
    /// The name as it is typed.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Curator => "curator",
            Self::SecureSum => "secure-sum",
        }
    }

    /// The backend whose noise is of this origin.
    pub(crate) const fn of(origin: NoiseOrigin) -> Self {
        match origin {
            NoiseOrigin::Curator => Self::Curator,
            NoiseOrigin::Shares(_) => Self::SecureSum,
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
    /// Who adds the noise of a study with this many clients.
    pub(crate) fn origin(&self, clients: usize) -> Result<NoiseOrigin, Failure> {
        let refuse = |message: String, help: &str| {
            Failure::usage("sprifed::study::participation", message, help)
        };
        if self.backend == BackendName::Curator {
            return match (self.quorum, self.colluders) {
                (None, None) => Ok(NoiseOrigin::Curator),
                _ => Err(refuse(
                    "--quorum and --colluders were given, but a curator adds all the noise alone"
                        .to_owned(),
                    "add --backend secure-sum or remove them; nothing was spent",
                )),
            };
        }
        let clients = u32::try_from(clients).unwrap_or(u32::MAX);
        let (quorum, colluders) = (clients - clients / 10, (clients / 20).max(1));
        let participation = Participation::new(
            clients,
            self.quorum.unwrap_or(quorum),
            self.colluders.unwrap_or(colluders),
        );
        let participation = participation.map_err(|error| {
            let help = "correct --clients, --quorum or --colluders; nothing was spent";
            refuse(error.to_string(), help)
        })?;
        Ok(NoiseOrigin::Shares(participation))
    }
}

/// Who adds noise of this origin where one process holds all records, in words.
pub(crate) fn trust_words(origin: NoiseOrigin) -> String {
    match origin {
        NoiseOrigin::Curator => "a trusted curator who holds all records".to_owned(),
        NoiseOrigin::Shares(participation) => format!(
            "{}; here one process, which is trusted, held all records and played all clients",
            participation.words()
        ),
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

fn parse_correlation(text: &str) -> Result<Correlation, String> {
    let legal = "none, ar:R or equi:R with R from 0 to below 1";
    let (kind, number) = text.split_once(':').unwrap_or((text, "0"));
    let number: f64 = number
        .parse()
        .map_err(|_| format!("{text:?} is not {legal}"))?;
    if !(0.0..1.0).contains(&number) {
        return Err(format!("{number} is not a correlation from 0 to below 1"));
    }
    match kind {
        "none" => Ok(Correlation::None),
        "ar" => Ok(Correlation::Autoregressive(number)),
        "equi" => Ok(Correlation::Equal(number)),
        _ => Err(format!("{text:?} is not {legal}")),
    }
}

impl WorldArguments {
    /// How many clients hold the records.
    pub(crate) fn clients(&self) -> usize {
        self.clients.unwrap_or(self.records)
    }

    /// The world to generate.
    pub(crate) fn request(&self) -> Result<WorldRequest, Failure> {
        let refuse = |message: String| {
            Err(Failure::usage(
                "sprifed::simulate::illegal-world",
                message,
                "correct the value",
            ))
        };
        if self.records < 2 {
            return refuse(format!(
                "{} records are given, but at least 2 are required",
                self.records
            ));
        }
        if self.sparsity == 0 || self.sparsity >= self.features {
            return refuse(format!(
                "the sparsity is {}, but it must be at least 1 and below the {} features",
                self.sparsity, self.features
            ));
        }
        if self.clients() == 0 || self.clients() > self.records {
            let (clients, records) = (self.clients(), self.records);
            return refuse(format!(
                "{clients} clients can not hold {records} records, one or more each"
            ));
        }
        if self
            .records
            .checked_mul(self.features)
            .is_none_or(|cells| cells > 1 << 33)
        {
            return refuse(
                "the world has more than 2^33 values, which does not fit memory".to_owned(),
            );
        }
        let unexplained = match (self.population_r2, self.error_std, self.reading) {
            (Some(share), _, _) if share > 0.0 && share < 1.0 => Unexplained::PopulationR2(share),
            (Some(share), _, _) => {
                return refuse(format!(
                    "population R2 is {share}, but it must lie between 0 and 1"
                ));
            }
            (None, Some(error), _) if error.is_finite() && error >= 0.0 => {
                Unexplained::ErrorStdDev(error)
            }
            (None, Some(error), _) => {
                return refuse(format!(
                    "the error is {error}, but it must be finite and not negative"
                ));
            }
            (None, None, ReadingName::Clean) => Unexplained::ErrorStdDev(0.1),
            (None, None, ReadingName::Paper) => Unexplained::ErrorStdDev(0.001),
        };
        let (reading, test_records) = match self.reading {
            ReadingName::Clean => (Reading::Clean, 0),
            ReadingName::Paper => (Reading::Paper, 1000),
        };
        Ok(WorldRequest {
            records: self.records,
            test_records,
            features: self.features,
            sparsity: self.sparsity,
            correlation: self.correlation,
            unexplained,
            reading,
        })
    }
}
