//! The contenders: the paper's algorithms, ours, baselines and references without privacy.

use sprifed_recovery::CertifiedProcedure;
use sprifed_simulate::{Reference, WorldRequest};

use crate::baseline::{Baseline, DpGcdParameters, DpSgdParameters};
use crate::cell::Noise;
use crate::comparison::{DP_GCD, DP_SGD, HONEST_GRAD, HONEST_OMP};
use crate::method::{AnyMethod, MethodError, PaperAlgorithm};

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
    /// One without privacy.
    NonPrivate(Reference),
}

/// A contender under a name that the command line takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedContender {
    /// The name.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// The contender.
    pub contender: Contender,
}

/// What trials can run beside the procedures of the registry and the references, in the order of the help.
const NAMED: [NamedContender; 10] = [
    NamedContender {
        name: "omp",
        about: "The paper's SPriFed-OMP with certified noise (the same as honest-omp)",
        contender: Contender::Certified(HONEST_OMP),
    },
    certified(HONEST_OMP),
    certified(HONEST_GRAD),
    NamedContender {
        name: "paper-omp",
        about: "SPriFed-OMP as published. NOT PRIVATE as claimed",
        contender: Contender::Paper(PaperAlgorithm::Omp),
    },
    NamedContender {
        name: "paper-omp-reuse",
        about: "SPriFed-OMP as published, without Enhancement 1. NOT PRIVATE as claimed",
        contender: Contender::Paper(PaperAlgorithm::OmpReusing),
    },
    NamedContender {
        name: "paper-grad",
        about: "SPriFed-OMP-GRAD as published. NOT PRIVATE",
        contender: Contender::Paper(PaperAlgorithm::Grad),
    },
    certified(DP_SGD),
    certified(DP_GCD),
    NamedContender {
        name: "paper-dp-sgd",
        about: "DP-SGD with an L1 penalty and the paper's noise. NOT PRIVATE",
        contender: Contender::PaperDpSgd,
    },
    NamedContender {
        name: "paper-dp-gcd",
        about: "Enhanced DP-GCD as published. NOT PRIVATE",
        contender: Contender::PaperDpGcd,
    },
];

const fn certified(procedure: CertifiedProcedure) -> NamedContender {
    NamedContender {
        name: procedure.name(),
        about: procedure.about(),
        contender: Contender::Certified(procedure),
    }
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
        Self::Certified(CertifiedProcedure::ARGMAX),
        Self::Certified(CertifiedProcedure::SIEVE),
        Self::Certified(CertifiedProcedure::GRAD),
        Self::Certified(HONEST_GRAD),
        Self::Certified(HONEST_OMP),
        Self::Certified(DP_GCD),
        Self::Certified(DP_SGD),
    ];

    /// Everything that trials can run: the procedures of the registry, the comparisons, the references.
    pub fn named() -> impl Iterator<Item = NamedContender> {
        let references = Reference::ALL.map(|reference| NamedContender {
            name: reference.name(),
            about: reference.about(),
            contender: Self::NonPrivate(reference),
        });
        let registered = CertifiedProcedure::all().map(certified);
        registered.chain(NAMED).chain(references)
    }

    /// The procedure, if its noise is certified.
    #[must_use]
    pub const fn procedure(self) -> Option<CertifiedProcedure> {
        match self {
            Self::Certified(procedure) => Some(procedure),
            _ => None,
        }
    }

    /// Whether it is one of the algorithms that the paper's recovery theorems are about.
    #[must_use]
    pub fn has_recovery_theorem(self) -> bool {
        match self {
            Self::Paper(_) => true,
            Self::Certified(procedure) => [HONEST_OMP, HONEST_GRAD].contains(&procedure),
            Self::PaperDpSgd | Self::PaperDpGcd | Self::NonPrivate(_) => false,
        }
    }

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
            Self::NonPrivate(reference) => reference.name().to_owned(),
        }
    }

    /// How it looks for a model in worlds of this kind.
    ///
    /// # Errors
    /// When no plan exists, or the noise is not one this contender can use.
    pub fn method(self, world: &WorldRequest, noise: Noise) -> Result<AnyMethod, MethodError> {
        match (self, noise) {
            (Self::Certified(procedure), Noise::Certified { budget, relation }) => {
                Ok(AnyMethod::certified(procedure, world, budget, relation)?)
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
                    Ok(AnyMethod::paper(algorithm, world, per_vector, per_support)?)
                }
                Published::Baseline(baseline) => Ok(AnyMethod::paper_baseline(
                    baseline,
                    world,
                    per_vector,
                    per_support,
                )?),
                Published::Nothing => Ok(AnyMethod::Reference(Reference::Omp)),
            },
            _ => Ok(AnyMethod::Reference(Reference::Omp)),
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
            Self::Certified(_) | Self::NonPrivate(_) => Published::Nothing,
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
