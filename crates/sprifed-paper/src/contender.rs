//! The contenders: the paper's algorithms, ours, baselines and references without privacy.

use sprifed_recovery::CertifiedProcedure;
use sprifed_report::chart::{Marker, Shape};
use sprifed_simulate::{Reference, WorldRequest};

use crate::baseline::{Baseline, DpGcdParameters, DpSgdParameters};
use crate::cell::Noise;
use crate::comparison::{DP_GCD, DP_IHT, DP_SGD, HONEST_GRAD, HONEST_OMP, certified_setting};
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
const NAMED: [NamedContender; 11] = [
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
    certified(DP_IHT),
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
    NamedContender::of(procedure)
}

impl NamedContender {
    /// A procedure with certified noise, under its own name.
    #[must_use]
    pub const fn of(procedure: CertifiedProcedure) -> Self {
        Self {
            name: procedure.name(),
            about: procedure.about(),
            contender: Contender::Certified(procedure),
        }
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
                let setting = certified_setting(procedure, world, budget, relation)?;
                Ok(AnyMethod::certified(procedure, setting)?)
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

/// How the series of this name looks on every page. The shape is that of the algorithm; certified noise
/// is filled, the paper's noise is hollow.
pub(crate) fn look(series: &str) -> Marker {
    let (shape, is_filled, colour) = match series {
        "argmax" => (Shape::Star, true, (10, 110, 79)),
        "sieve" => (Shape::Square, true, (31, 97, 141)),
        "grad" => (Shape::Diamond, true, (122, 63, 160)),
        "honest-omp" => (Shape::Circle, true, (170, 110, 90)),
        "honest-grad" => (Shape::TriangleUp, true, (150, 134, 30)),
        "dp-gcd" => (Shape::TriangleDown, true, (42, 140, 140)),
        "dp-sgd" => (Shape::Hourglass, true, (192, 72, 136)),
        "paper-omp" => (Shape::Circle, false, (196, 78, 32)),
        "paper-omp-reuse" => (Shape::TriangleLeft, false, (138, 56, 24)),
        "paper-grad" => (Shape::TriangleUp, false, (200, 130, 0)),
        "paper-dp-gcd" => (Shape::TriangleDown, false, (42, 140, 140)),
        "paper-dp-sgd" => (Shape::Hourglass, false, (192, 72, 136)),
        "gradient" => (Shape::Circle, true, (196, 78, 32)),
        "X'X_j" => (Shape::Square, true, (31, 97, 141)),
        "X_j'y" => (Shape::Diamond, true, (10, 110, 79)),
        _ => (Shape::Plus, true, (96, 98, 108)),
    };
    Marker {
        shape,
        is_filled,
        colour,
    }
}

#[cfg(test)]
mod tests {
    use super::{Contender, look};

    #[test]
    fn every_method_has_its_own_marker() {
        // Only these are drawn beside each other: `omp` is a second name, and other procedures of the registry are in
        // no experiment.
        let is_drawn = |contender: &Contender| match contender {
            Contender::Certified(_) => Contender::CERTIFIED.contains(contender),
            Contender::Paper(_) | Contender::PaperDpSgd | Contender::PaperDpGcd => true,
            Contender::NonPrivate(_) => false,
        };
        let named = Contender::named().filter(|one| one.name != "omp");
        let mut seen = Vec::new();
        for one in named.filter(|one| is_drawn(&one.contender)) {
            let marker = look(one.name);
            let mark = (marker.shape, marker.is_filled);
            assert!(!seen.contains(&mark), "{} looks like another", one.name);
            seen.push(mark);
        }
    }

    #[test]
    fn a_shape_is_one_algorithm() {
        let ours = ["argmax", "sieve", "grad"];
        let published = ["omp", "omp-reuse", "grad", "dp-gcd", "dp-sgd"];
        let ours = ours.map(|name| look(name).shape);
        let published = published.map(|name| look(&format!("paper-{name}")).shape);
        let shapes: Vec<_> = ours.into_iter().chain(published).collect();
        for (place, shape) in shapes.iter().enumerate() {
            assert!(!shapes[..place].contains(shape), "{shape:?}");
        }
    }
}
