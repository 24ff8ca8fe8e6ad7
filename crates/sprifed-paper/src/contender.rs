//! Who competes: the paper's algorithms, ours, baselines and references without privacy.

use sprifed_recovery::{Baseline, CertifiedProcedure, DpGcdParameters, DpSgdParameters};
use sprifed_simulate::{Method, PaperAlgorithm, TrialError, WorldRequest};

use crate::cell::Noise;

/// A procedure that an experiment runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// One of the paper's, with the paper's noise.
    Paper(PaperAlgorithm),
    /// DP-SGD with L1 with the paper's noise and parameters that suit it.
    PaperDpSgd,
    /// Enhanced DP-GCD with the paper's noise and parameters that suit it.
    PaperDpGcd,
    /// One with certified noise, ours or a baseline.
    Certified(CertifiedProcedure),
    /// Matching pursuit without privacy.
    NonPrivateOmp,
}

/// A procedure of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Published {
    /// One of its own.
    Algorithm(PaperAlgorithm),
    /// One that it compares with.
    Baseline(Baseline),
    /// None: certified or without noise.
    Nothing,
}

/// What kind of procedure it is, which decides how it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// As published: circles.
    Paper,
    /// Certified noise: squares.
    Certified,
    /// What the paper compares itself with: rings.
    Baseline,
    /// No noise: dots.
    NonPrivate,
}

impl Contender {
    /// Every contender that takes a certified budget, in the order of tables.
    pub const CERTIFIED: [Self; 7] = [
        Self::Certified(CertifiedProcedure::Argmax),
        Self::Certified(CertifiedProcedure::Sieve),
        Self::Certified(CertifiedProcedure::Grad),
        Self::Certified(CertifiedProcedure::HonestGrad),
        Self::Certified(CertifiedProcedure::HonestOmp),
        Self::Certified(CertifiedProcedure::DpGcd),
        Self::Certified(CertifiedProcedure::DpSgd),
    ];

    /// The name, as the command line spells it.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Paper(PaperAlgorithm::Omp) => "paper-omp".to_owned(),
            Self::Paper(PaperAlgorithm::OmpReusing) => "paper-omp-reuse".to_owned(),
            Self::Paper(PaperAlgorithm::Grad) => "paper-grad".to_owned(),
            Self::PaperDpSgd => "paper-dp-sgd".to_owned(),
            Self::PaperDpGcd => "paper-dp-gcd".to_owned(),
            Self::Certified(procedure) => procedure.to_string(),
            Self::NonPrivateOmp => "non-private-omp".to_owned(),
        }
    }

    /// How it looks for a model in worlds of this kind.
    ///
    /// # Errors
    /// When no plan exists, or the noise is not one this contender can use.
    pub fn method(self, world: &WorldRequest, noise: Noise) -> Result<Method, TrialError> {
        match (self, noise) {
            (Self::Certified(procedure), Noise::Certified { budget, relation }) => {
                Ok(Method::certified(procedure, world, budget, relation)?)
            }
            (
                _,
                Noise::Paper {
                    per_vector,
                    per_support,
                    ..
                },
            ) => match self.published(world.sparsity) {
                Published::Algorithm(algorithm) => {
                    Ok(Method::paper(algorithm, world, per_vector, per_support)?)
                }
                Published::Baseline(baseline) => Ok(Method::paper_baseline(
                    baseline,
                    world,
                    per_vector,
                    per_support,
                )?),
                Published::Nothing => Ok(Method::NonPrivateOmp),
            },
            _ => Ok(Method::NonPrivateOmp),
        }
    }

    /// What the paper publishes under this name.
    pub(crate) fn published(self, sparsity: usize) -> Published {
        let sparsity = u32::try_from(sparsity).unwrap_or(u32::MAX);
        match self {
            Self::Paper(algorithm) => Published::Algorithm(algorithm),
            Self::PaperDpSgd => Published::Baseline(Baseline::DpSgd(DpSgdParameters::published())),
            Self::PaperDpGcd => {
                Published::Baseline(Baseline::DpGcd(DpGcdParameters::published(sparsity)))
            }
            Self::Certified(_) | Self::NonPrivateOmp => Published::Nothing,
        }
    }
}

/// The colour and the marker of the series of this name, the same on every page.
pub(crate) fn look(series: &str) -> ((u8, u8, u8), Family) {
    match series {
        "paper-omp" => ((196, 78, 32), Family::Paper),
        "paper-omp-reuse" => ((138, 56, 24), Family::Paper),
        "paper-grad" => ((214, 143, 0), Family::Paper),
        "dp-gcd" | "paper-dp-gcd" => ((120, 94, 170), Family::Baseline),
        "dp-sgd" | "paper-dp-sgd" => ((192, 72, 136), Family::Baseline),
        "argmax" => ((10, 110, 79), Family::Certified),
        "sieve" => ((31, 97, 141), Family::Certified),
        "grad" => ((64, 160, 200), Family::Certified),
        "honest-grad" => ((176, 160, 64), Family::Certified),
        "honest-omp" => ((170, 110, 90), Family::Certified),
        "gradient" => ((196, 78, 32), Family::Paper),
        "X'X_j" => ((31, 97, 141), Family::Certified),
        "X_j'y" => ((10, 110, 79), Family::Baseline),
        _ => ((96, 98, 108), Family::NonPrivate),
    }
}
