//! One cell of an experiment: a world, a contender, its noise, and what the paper says of it.

use sprifed_privacy::{ApproxDp, Delta, Epsilon, IllegalQuantity, Mu, Relation};
use sprifed_simulate::{Correlation, Reading, Unexplained, WorldRequest};

use crate::contender::Contender;

/// How much noise is added, in whose currency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// The paper's: NOT PRIVATE as claimed.
    Paper {
        /// μ_p.
        per_vector: Mu,
        /// μ_s.
        per_support: Mu,
        /// The ε that the paper prints beside it, at δ = 1e-4.
        claimed: f64,
    },
    /// Calibrated from proved sensitivities.
    Certified {
        /// The budget.
        budget: ApproxDp,
        /// Which data sets are neighbours.
        relation: Relation,
    },
    /// None.
    Absent,
}

/// A number that the paper prints, or a bound that its text gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PaperSays {
    /// This value, a mean of three trials.
    Exactly(f64),
    /// At least this.
    AtLeast(f64),
}

/// One cell: what is measured, and what it is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Which part of the figure or table.
    pub panel: String,
    /// The contender.
    pub contender: Contender,
    /// What varies, and its value here.
    pub axis: (&'static str, f64),
    /// The world.
    pub world: WorldRequest,
    /// The noise.
    pub noise: Noise,
    /// What the paper says, by metric.
    pub paper: Vec<(&'static str, PaperSays)>,
    /// What an independent simulation found, by metric.
    pub independent: Vec<(&'static str, f64)>,
    /// How many trials.
    pub trials: u64,
}

/// The paper's μ_s on generated data.
const PER_SUPPORT: f64 = 0.02;

impl Noise {
    /// The paper's noise for this sparsity, with the ε that it claims.
    ///
    /// # Errors
    /// Never for the constants of this module.
    pub fn paper(sparsity: usize, claimed: f64) -> Result<Self, IllegalQuantity> {
        let per_vector = if sparsity <= 5 { 0.543 } else { 0.4 };
        Ok(Self::Paper {
            per_vector: Mu::try_from(per_vector)?,
            per_support: Mu::try_from(PER_SUPPORT)?,
            claimed,
        })
    }

    /// A certified budget at the paper's δ, under zero-out.
    ///
    /// # Errors
    /// When ε is not positive.
    pub fn certified(epsilon: f64) -> Result<Self, IllegalQuantity> {
        let budget = ApproxDp::new(Epsilon::try_from(epsilon)?, Delta::try_from(DELTA)?);
        Ok(Self::Certified {
            budget,
            relation: Relation::ZeroOut,
        })
    }

    fn text(self) -> String {
        match self {
            Self::Paper {
                per_vector,
                per_support,
                ..
            } => format!("mu_p={per_vector} mu_s={per_support}"),
            Self::Certified { budget, relation } => format!(
                "eps={} delta={} {}",
                budget.epsilon(),
                budget.delta(),
                relation.text()
            ),
            Self::Absent => "no noise".to_owned(),
        }
    }
}

/// The paper's δ on generated data.
pub(crate) const DELTA: f64 = 1e-4;

impl Cell {
    /// Everything that decides the numbers, in one line: rows with the same line are not measured again.
    #[must_use]
    pub fn settings(&self) -> String {
        let WorldRequest {
            records,
            test_records,
            features,
            sparsity,
            support,
            correlation,
            unexplained,
            reading,
            // The paper has neither sites nor zeros and ones.
            sites: _,
            outcome: _,
        } = self.world;
        let correlation = match correlation {
            Correlation::None => String::new(),
            Correlation::Autoregressive(by) => format!(" AR({by})"),
            Correlation::Equal(by) => format!(" equal({by})"),
        };
        // Rows that were measured before the two could differ have no word for it.
        let support = match support == sparsity {
            true => String::new(),
            false => format!(" true={support}"),
        };
        let unexplained = match unexplained {
            Unexplained::ErrorStdDev(error) => format!("error={error}"),
            Unexplained::PopulationR2(share) => format!("population-r2={share}"),
        };
        let reading = match reading {
            Reading::Clean => "clean",
            Reading::Paper => "paper",
        };
        format!(
            "n={records} test={test_records} p={features} s={sparsity}{support}{correlation} {unexplained} \
             reading={reading} {}",
            self.noise.text()
        )
    }
}
