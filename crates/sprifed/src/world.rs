//! The world of a simulation, as people ask for it.

use sprifed_simulate::{Correlation, Reading, Unexplained, WorldRequest};

use crate::failure::Failure;

/// The size and the kind of generated data.
#[derive(Clone, Copy, Debug)]
pub struct WorldSize {
    /// n: how many records.
    pub records: usize,
    /// p: how many features.
    pub features: usize,
    /// s: how many of them are active.
    pub sparsity: usize,
    /// How many clients hold the records; one record each by default.
    pub clients: Option<usize>,
    /// Standard deviation of the error; 0.1 by default, 0.001 in the paper's reading.
    pub error_std: Option<f64>,
    /// Share of the response's variance that the true model explains.
    pub population_r2: Option<f64>,
    /// How features depend on each other.
    pub correlation: Correlation,
    /// How the generated numbers are read.
    pub reading: Reading,
}

/// How features depend on each other: none, ar:0.9 or equi:0.3.
///
/// # Errors
/// When the text is none of these.
pub fn parse_correlation(text: &str) -> Result<Correlation, String> {
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

impl WorldSize {
    /// How many clients hold the records.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.clients.unwrap_or(self.records)
    }

    /// The world to generate.
    ///
    /// # Errors
    /// When there is no such world.
    pub fn request(&self) -> Result<WorldRequest, Failure> {
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
            (None, None, Reading::Clean) => Unexplained::ErrorStdDev(0.1),
            (None, None, Reading::Paper) => Unexplained::ErrorStdDev(0.001),
        };
        let (reading, test_records) = match self.reading {
            Reading::Clean => (Reading::Clean, 0),
            Reading::Paper => (Reading::Paper, 1000),
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
