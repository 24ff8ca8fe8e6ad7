//! Which procedure a study runs: one by name, or the one that is expected to do best.
//!
//! The choice uses public facts only: the numbers of records, of features and of features sought, the budget, the backend,
//! and what the user states about the data. No record is read for it, so it costs nothing.

use core::fmt;
use core::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use sprifed_query::PlanError;
use sprifed_recovery::{CertifiedProcedure, Needs, Setting, UnknownProcedure};
use sprifed_simulate::{Assumed, Correlation, Expected};

#[cfg(test)]
mod tests;

/// Which procedure is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcedureRequest {
    /// The one that is expected to do best.
    #[default]
    Auto,
    /// This one.
    Named(CertifiedProcedure),
}

/// The name of [`ProcedureRequest::Auto`].
pub const AUTO: &str = "auto";

/// What the help says of [`ProcedureRequest::Auto`].
pub const ABOUT_AUTO: &str = "The one that is expected to do best on the backend, by public facts";

/// What a user states about the data, without looking at a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stated {
    /// Share of the response's variance that the best model explains; several shares are assumed without it.
    pub population_r2: Option<f64>,
    /// How features depend on each other.
    pub correlation: Correlation,
}

/// Shares of explained variance that are assumed where none is stated.
pub const USUAL_R2: [f64; 4] = [0.1, 0.25, 0.5, 0.8];

/// A procedure whose expected R² is this close to the best one's is as good.
const AS_GOOD: f64 = 0.01;

/// The procedure of a study, and why it is this one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProcedureChoice {
    /// The procedure that runs.
    pub procedure: CertifiedProcedure,
    /// Whether it was chosen here rather than named by the user.
    pub is_auto: bool,
    /// What each procedure that the backend can run is expected to find, by an approximation without records.
    pub expected: Vec<ExpectedLine>,
}

/// What one procedure is expected to find.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExpectedLine {
    /// The procedure.
    pub procedure: CertifiedProcedure,
    /// The share of the response's variance that the best model is assumed to explain.
    pub population_r2: f64,
    /// The share of the true features that is found.
    pub recovered_share: f64,
    /// R² on new records; predicting the mean has 0.
    pub test_r2: f64,
}

impl Stated {
    /// Nothing is stated.
    pub const NOTHING: Self = Self {
        population_r2: None,
        correlation: Correlation::None,
    };

    /// The shares of explained variance to look at.
    #[must_use]
    pub fn levels(&self) -> Vec<f64> {
        self.population_r2
            .map_or_else(|| USUAL_R2.to_vec(), |stated| vec![stated])
    }
}

impl ProcedureRequest {
    /// The procedure for `setting` on a backend that answers what `can_run` says.
    ///
    /// # Why
    /// Of procedures whose expected R² on new records is nearly the same, the one that reveals least is chosen: choices
    /// before sums, then the order of the registry's sums from the cheapest. A procedure that seeks no feature with so few
    /// records gives the mean, so nothing better and nothing worse is expected of it. So does a fit in which no feature is
    /// significant: with few records that is what happens where little can be explained.
    ///
    /// # Errors
    /// When the setting makes no sense or its budget is too small.
    pub fn choose(
        self,
        setting: &Setting,
        stated: Stated,
        can_run: impl Fn(Needs) -> bool,
    ) -> Result<ProcedureChoice, PlanError> {
        let mut expected = Vec::new();
        let mut scores: Vec<(CertifiedProcedure, f64)> = Vec::new();
        for procedure in PREFERENCE {
            if !can_run(procedure.needs()) {
                continue;
            }
            let seeks_nothing = procedure.seeks_nothing(setting)?;
            let mut each = Vec::new();
            for population_r2 in stated.levels() {
                let assumed = Assumed {
                    population_r2,
                    correlation: stated.correlation,
                };
                let found = if seeks_nothing {
                    Expected::NOTHING
                } else {
                    Expected::of(procedure, &setting.selecting(), assumed)?
                };
                each.push(found.test_r2);
                expected.push(ExpectedLine {
                    procedure,
                    population_r2,
                    recovered_share: found.recovered_share,
                    test_r2: found.test_r2,
                });
            }
            scores.push((procedure, mean(&each)));
        }
        let best = scores
            .iter()
            .fold(f64::NEG_INFINITY, |best, (_, score)| best.max(*score));
        let good = scores.iter().find(|(_, score)| *score >= best - AS_GOOD);
        let auto = good.map_or(CertifiedProcedure::SIEVE, |(procedure, _)| *procedure);
        Ok(ProcedureChoice {
            procedure: match self {
                Self::Auto => auto,
                Self::Named(procedure) => procedure,
            },
            is_auto: self == Self::Auto,
            expected,
        })
    }
}

/// The procedures among which a choice is made; the first of equals is chosen.
const PREFERENCE: [CertifiedProcedure; 3] = [
    CertifiedProcedure::ARGMAX,
    CertifiedProcedure::SIEVE,
    CertifiedProcedure::GRAD,
];

#[expect(clippy::cast_precision_loss, reason = "a few levels")]
fn mean(each: &[f64]) -> f64 {
    each.iter().sum::<f64>() / each.len().max(1) as f64
}

impl ProcedureChoice {
    /// The choice in one line.
    #[must_use]
    pub fn reason(&self) -> String {
        let procedure = self.procedure;
        if !self.is_auto {
            return format!("Procedure: {procedure}, as asked");
        }
        let of = |procedure: CertifiedProcedure| {
            let own = self
                .expected
                .iter()
                .filter(|line| line.procedure == procedure);
            mean(&own.map(|line| line.test_r2).collect::<Vec<_>>())
        };
        let mut levels: Vec<f64> = self
            .expected
            .iter()
            .map(|line| line.population_r2)
            .collect();
        levels.dedup();
        levels.truncate(USUAL_R2.len());
        let assumed: Vec<String> = levels.iter().map(f64::to_string).collect();
        let assumed = match assumed.as_slice() {
            [several @ .., last] if !several.is_empty() => {
                let several = several.join(", ");
                format!("on average over best models of R2 {several} and {last}")
            }
            one => format!("if the best model has R2 {}", one.concat()),
        };
        let others = PREFERENCE
            .into_iter()
            .filter(|other| *other != procedure)
            .filter(|other| self.expected.iter().any(|line| line.procedure == *other))
            .collect::<Vec<_>>();
        let others = others
            .iter()
            .map(|other| format!("{other} {:.2}", of(*other)));
        format!(
            "Procedure: {procedure}, chosen by auto: expected R2 on new records {:.2} ({}), {assumed}",
            of(procedure),
            others.collect::<Vec<_>>().join(", "),
        )
    }
}

impl From<CertifiedProcedure> for ProcedureRequest {
    fn from(procedure: CertifiedProcedure) -> Self {
        Self::Named(procedure)
    }
}

impl fmt::Display for ProcedureRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => formatter.write_str(AUTO),
            Self::Named(procedure) => write!(formatter, "{procedure}"),
        }
    }
}

impl FromStr for ProcedureRequest {
    type Err = UnknownProcedure;

    fn from_str(name: &str) -> Result<Self, UnknownProcedure> {
        if name == AUTO {
            return Ok(Self::Auto);
        }
        name.parse().map(Self::Named)
    }
}

impl<'de> Deserialize<'de> for ProcedureRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}
