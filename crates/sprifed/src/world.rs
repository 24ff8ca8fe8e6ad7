//! The world of a simulation, as people ask for it.

use sprifed_privacy::{ApproxDp, Relation, counted};
use sprifed_recovery::Setting;
use sprifed_simulate::{
    Correlation, Reading, Unexplained, WorldOutcome, WorldRequest, WorldSites, explained_share,
    setting_of, typical_response,
};

use crate::backend::BackendRequest;
use crate::error::Error;
use crate::procedure_choice::{ProcedureChoice, ProcedureRequest, Stated};

/// The largest error, and the least share of explained variance, that generated data can have: squares stay within single
/// precision.
const LARGEST_ERROR: f64 = 1e15;
const LEAST_SHARE: f64 = 1e-12;

/// The size and the kind of generated data.
#[derive(Clone, Copy, Debug)]
pub struct WorldSize {
    /// n: how many records.
    pub records: usize,
    /// p: how many features.
    pub features: usize,
    /// s: how many features are sought at most.
    pub sparsity: usize,
    /// How many features the true model has; as many as are sought by default.
    pub support: Option<usize>,
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
    /// What the response is.
    pub outcome: WorldOutcome,
    /// The sites of the records.
    pub sites: WorldSites,
}

/// Why there is no such generated world.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IllegalWorld {
    /// Too few records.
    #[error("{} given, but at least 2 are required", counted(*.0, "record is", "records are"))]
    Records(usize),
    /// Too few or too many features are sought.
    #[error(
        "the sparsity is {sparsity}, but it must be at least 1 and below the {}",
        counted(*features, "feature", "features")
    )]
    Sparsity {
        /// How many features are sought at most.
        sparsity: usize,
        /// How many there are.
        features: usize,
    },
    /// Too many features are true.
    #[error(
        "{} given, but it must be at most the {}",
        counted(*support, "true feature is", "true features are"),
        counted(*features, "feature", "features")
    )]
    Support {
        /// How many features are true.
        support: usize,
        /// How many there are.
        features: usize,
    },
    /// No clients, or more than records.
    #[error(
        "{} cannot hold {}, one or more each",
        counted(*clients, "client", "clients"),
        counted(*records, "record", "records")
    )]
    Clients {
        /// How many clients.
        clients: usize,
        /// How many records.
        records: usize,
    },
    /// Too many values.
    #[error("the world has more than 2^33 values, which does not fit memory")]
    TooLarge,
    /// A share of explained variance that is none.
    #[error("population R2 is {0:?}, but it must be at least {least:e} and below 1", least = LEAST_SHARE)]
    PopulationR2(f64),
    /// Sites that do not fit the rest.
    #[error(
        "{sites} sites are given, and with them {share} of the variance would be explained; at least 2 sites are required, \
         and less than all of the variance"
    )]
    Sites {
        /// How many sites.
        sites: usize,
        /// The share of the variance that features and sites explain together.
        share: f64,
    },
    /// The paper has no sites.
    #[error("the paper's reading has no sites, but sites are given")]
    SitesOfPaper,
    /// Only certified procedures, and sums that no party leaves, have sites.
    #[error("sites are given, but only certified procedures without dropouts have site effects")]
    SitesOfContender,
    /// Zeros and ones follow from their odds alone.
    #[error(
        "zeros and ones, or times, are asked for together with {with}, but they follow from the standard deviation of the \
         linear predictor and the share of events alone"
    )]
    OutcomeWith {
        /// What was asked for with it.
        with: &'static str,
    },
    /// Odds that are none.
    #[error(
        "the linear predictor has the standard deviation {spread} and the share of ones is {prevalence}; required: a \
         standard deviation above 0 and at most 20, and a share from 0.001 to 0.999"
    )]
    Odds {
        /// The standard deviation of the linear predictor.
        spread: f64,
        /// The share of ones.
        prevalence: f64,
    },
    /// Hazards that are none.
    #[error(
        "the logarithm of the hazard has the standard deviation {spread} and the share of events is {events}; required: a \
         standard deviation above 0 and at most 20, and a share from 0.001 to 0.999"
    )]
    Hazards {
        /// The standard deviation of the linear predictor.
        spread: f64,
        /// The share of records with an event.
        events: f64,
    },
    /// Only certified procedures explain zeros and ones.
    #[error(
        "zeros and ones, or times, are asked for, but only certified procedures and the references without noise explain \
         them"
    )]
    OutcomeOfContender,
    /// A standard deviation that is none.
    #[error("the error is {0:?}, but it must be from 0 to {most:e}", most = LARGEST_ERROR)]
    ErrorStd(f64),
    /// A correlation that does not exist.
    #[error("{0:?} is not none, ar:R or equi:R with R from 0 to below 1")]
    Correlation(String),
    /// A correlation outside its range.
    #[error("{0} is not a correlation from 0 to below 1")]
    CorrelationRange(f64),
}

/// How features depend on each other: none, ar:0.9 or equi:0.3.
///
/// # Errors
/// When the text is none of these.
pub fn parse_correlation(text: &str) -> Result<Correlation, IllegalWorld> {
    let unknown = || IllegalWorld::Correlation(text.to_owned());
    let (kind, number) = text.split_once(':').unwrap_or((text, "0"));
    let number: f64 = number.parse().map_err(|_| unknown())?;
    if !(0.0..1.0).contains(&number) {
        return Err(IllegalWorld::CorrelationRange(number));
    }
    match kind {
        "none" => Ok(Correlation::None),
        "ar" => Ok(Correlation::Autoregressive(number)),
        "equi" => Ok(Correlation::Equal(number)),
        _ => Err(unknown()),
    }
}

impl WorldSize {
    /// How many clients hold the records.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.clients.unwrap_or(self.records)
    }

    /// How many features the true model has.
    #[must_use]
    pub fn support(&self) -> usize {
        self.support.unwrap_or(self.sparsity)
    }

    /// What is stated about the data: the share of explained variance, or an error that implies one.
    #[must_use]
    pub fn stated(&self) -> Stated {
        let explained = typical_response(self.support()).powi(2);
        if let WorldOutcome::Binary { spread, prevalence } = self.outcome {
            return Stated {
                population_r2: Some(explained_share(spread, prevalence)),
                correlation: self.correlation,
            };
        }
        let implied = |error: f64| explained / (explained + error * error);
        Stated {
            population_r2: self.population_r2.or_else(|| self.error_std.map(implied)),
            correlation: self.correlation,
        }
    }

    /// The procedure that is expected to do best on generated data of this kind, on this backend.
    ///
    /// # Errors
    /// When there is no such world, or no plan for it.
    pub fn choose(
        &self,
        backend: BackendRequest,
        budget: ApproxDp,
        relation: Relation,
    ) -> Result<ProcedureChoice, Error> {
        let setting = Setting {
            origin: backend.origin(self.clients())?,
            ..setting_of(&self.request()?, budget, relation)?
        };
        // The error of generated data is known where it is not stated.
        let error_std = self.error_std.or(Some(0.1));
        let stated = Self { error_std, ..*self }.stated();
        let can_run = |needs| backend.backend.answers(needs);
        Ok(ProcedureRequest::Auto.choose(&setting, stated, can_run)?)
    }

    /// The world to generate.
    ///
    /// # Errors
    /// When there is no such world.
    pub fn request(&self) -> Result<WorldRequest, IllegalWorld> {
        if self.records < 2 {
            return Err(IllegalWorld::Records(self.records));
        }
        if self.sparsity == 0 || self.sparsity >= self.features {
            return Err(IllegalWorld::Sparsity {
                sparsity: self.sparsity,
                features: self.features,
            });
        }
        if self.support() > self.features {
            return Err(IllegalWorld::Support {
                support: self.support(),
                features: self.features,
            });
        }
        if self.clients() == 0 || self.clients() > self.records {
            return Err(IllegalWorld::Clients {
                clients: self.clients(),
                records: self.records,
            });
        }
        if self
            .records
            .checked_mul(self.features)
            .is_none_or(|cells| cells > 1 << 33)
        {
            return Err(IllegalWorld::TooLarge);
        }
        let unexplained = match (self.population_r2, self.error_std, self.reading) {
            (Some(share), _, _) if (LEAST_SHARE..1.0).contains(&share) => {
                Unexplained::PopulationR2(share)
            }
            (Some(share), _, _) => {
                return Err(IllegalWorld::PopulationR2(share));
            }
            (None, Some(error), _) if (0.0..=LARGEST_ERROR).contains(&error) => {
                Unexplained::ErrorStdDev(error)
            }
            (None, Some(error), _) => {
                return Err(IllegalWorld::ErrorStd(error));
            }
            (None, None, Reading::Clean) => Unexplained::ErrorStdDev(0.1),
            (None, None, Reading::Paper) => Unexplained::ErrorStdDev(0.001),
        };
        self.check_outcome()?;
        let share = self.population_r2.unwrap_or(0.0) + self.sites.r2;
        if self.sites.count == 1 || !(0.0..1.0).contains(&self.sites.r2) || share >= 1.0 {
            return Err(IllegalWorld::Sites {
                sites: self.sites.count,
                share,
            });
        }
        if self.sites.count > 0 && self.reading == Reading::Paper {
            return Err(IllegalWorld::SitesOfPaper);
        }
        let (reading, test_records) = match self.reading {
            Reading::Clean => (Reading::Clean, 0),
            Reading::Paper => (Reading::Paper, 1000),
        };
        Ok(WorldRequest {
            records: self.records,
            test_records,
            features: self.features,
            sparsity: self.sparsity,
            support: self.support(),
            correlation: self.correlation,
            unexplained,
            reading,
            outcome: self.outcome,
            sites: self.sites,
        })
    }

    /// Refuses odds that do not exist, and what would say the same in another way.
    fn check_outcome(&self) -> Result<(), IllegalWorld> {
        let (spread, share, illegal) = match self.outcome {
            WorldOutcome::Linear => return Ok(()),
            WorldOutcome::Binary { spread, prevalence } => (
                spread,
                prevalence,
                IllegalWorld::Odds { spread, prevalence },
            ),
            WorldOutcome::Survival { spread, events } => {
                (spread, events, IllegalWorld::Hazards { spread, events })
            }
        };
        let others = [
            (self.error_std.is_some(), "an error"),
            (
                self.population_r2.is_some(),
                "a share of explained variance",
            ),
            (self.reading == Reading::Paper, "the paper's reading"),
            (self.sites.count > 0, "sites"),
        ];
        if let Some((_, with)) = others.into_iter().find(|(is_given, _)| *is_given) {
            return Err(IllegalWorld::OutcomeWith { with });
        }
        let is_legal = spread > 0.0 && spread <= 20.0 && (0.001..=0.999).contains(&share);
        match is_legal {
            true => Ok(()),
            false => Err(illegal),
        }
    }
}
