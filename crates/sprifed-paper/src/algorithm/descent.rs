//! The paper's baselines under the paper's noise: DP-SGD with L1, and DP-GCD [SPRIFED, Algorithm 5].

use sprifed_noise::Provenance;
use sprifed_query::{Answer, FeatureSet, Limit, LinearModel, Procedure, Question, Step, SumQuery};

use super::private_ols::PrivateOls;
use super::{Limits, Solver};
use crate::baseline::{Baseline, Iterate};
use sprifed_recovery::{Fit, FitStatus, Inferred, NoInference};

/// A baseline as the paper publishes it, waiting for an answer: NOT PRIVATE, for simulation only.
///
/// | asked | when | what follows |
/// |---|---|---|
/// | Xᵀ(y − X·α) over all features | T times | DP-SGD: a proximal step; DP-GCD: a pick |
/// | one entry of it | DP-GCD, after each pick | the coefficient moves |
/// | `[`x_l·y `|` x_l·x_S`]` | DP-SGD, for each of the strongest s | refit; done after the last |
///
/// # Why
/// The noise is written for B_C = 1 and nothing is clipped, as for [`super::PaperGradient`]. DP-SGD's
/// refit is PRIVATE-OLS, which every other method of the paper ends with; DP-GCD has none.
#[derive(Clone, Debug)]
pub struct PaperDescent {
    n_records: u32,
    n_features: u32,
    sparsity: usize,
    baseline: Baseline,
    iterate: Iterate,
    /// How often DP-GCD moved each feature, in order of first moves.
    moves: Vec<(u32, u32)>,
    coordinate_noise: f64,
    ols: PrivateOls,
    /// Features to be refitted, the next one last.
    waiting: Vec<u32>,
    phase: Phase,
    step: usize,
    provenance: Option<Provenance>,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Gradient { round: u32 },
    Coordinate { round: u32, feature: u32 },
    Row,
}

impl PaperDescent {
    /// A run over `n_records` records, whose number is public.
    #[must_use]
    pub fn as_published(
        n_records: u32,
        n_features: u32,
        sparsity: u32,
        baseline: Baseline,
    ) -> Self {
        let size = sparsity as usize;
        Self {
            n_records,
            n_features,
            sparsity: size,
            baseline,
            iterate: Iterate::zero(n_features),
            moves: Vec::new(),
            coordinate_noise: 0.0,
            ols: PrivateOls::new(size, Limits::of_paper(), Solver::Plain),
            waiting: Vec::new(),
            provenance: None,
            step: 0,
            phase: Phase::Row,
        }
    }

    fn ask(mut self, phase: Phase, questions: Vec<Question>) -> Step<Self> {
        let query = SumQuery::next(&mut self.step, questions);
        self.phase = phase;
        Step::Ask(query, self)
    }

    fn ask_gradient(self, phase: Phase, features: FeatureSet) -> Step<Self> {
        let limits = self.ols.limits();
        let question = Question::BoxedGradient {
            model: self.iterate.model(0.0, 1.0).into(),
            features,
            feature_limit: Limit::nearest(limits.feature),
            residual_limit: Limit::nearest(limits.residual),
        };
        self.ask(phase, vec![question])
    }

    fn take_gradient(mut self, round: u32, answer: &Answer) -> Step<Self> {
        let records = f64::from(self.n_records);
        let Some(block) = answer.blocks.first() else {
            return self.after(round);
        };
        let gradient: Vec<f64> = block.values.iter().map(|value| value / records).collect();
        match self.baseline {
            Baseline::DpSgd(parameters) => {
                let penalty = parameters.penalty * block.noise_std_dev / records;
                self.iterate
                    .proximal_step(gradient, parameters.step_size, penalty);
                self.after(round)
            }
            Baseline::DpGcd(_) => {
                let feature = self.iterate.steepest(gradient);
                let only = FeatureSet::only(&[feature]);
                self.ask_gradient(Phase::Coordinate { round, feature }, only)
            }
        }
    }

    fn take_coordinate(mut self, round: u32, feature: u32, answer: &Answer) -> Step<Self> {
        if let (Some(block), Baseline::DpGcd(parameters)) = (answer.blocks.first(), self.baseline) {
            let factor = parameters.step_size / f64::from(self.n_records);
            self.coordinate_noise = factor * block.noise_std_dev;
            let slope = block.values.first().copied().unwrap_or(0.0);
            self.iterate.move_one(feature, factor * slope);
            match self.moves.iter_mut().find(|(known, _)| *known == feature) {
                Some((_, times)) => *times += 1,
                None => self.moves.push((feature, 1)),
            }
        }
        self.after(round)
    }

    /// The next step, or the end.
    fn after(mut self, round: u32) -> Step<Self> {
        if round + 1 < self.baseline.steps() {
            let all = FeatureSet::all(self.n_features);
            return self.ask_gradient(Phase::Gradient { round: round + 1 }, all);
        }
        let strongest = self.iterate.strongest(self.sparsity);
        match self.baseline {
            Baseline::DpSgd(_) => {
                self.waiting = strongest
                    .iter()
                    .rev()
                    .map(|(feature, _)| *feature)
                    .collect();
                self.ask_row()
            }
            Baseline::DpGcd(_) => Step::Done(self.finish_moved(strongest)),
        }
    }

    /// Asks for the row of the next feature to be refitted, or is done.
    fn ask_row(mut self) -> Step<Self> {
        let Some(feature) = self.waiting.pop() else {
            return Step::Done(self.ols.finish(self.provenance));
        };
        self.ols.add(feature);
        let questions = self.ols.questions();
        self.ask(Phase::Row, questions)
    }

    /// The coefficients as DP-GCD left them; features it never moved are no part of the model.
    fn finish_moved(self, strongest: Vec<(u32, f64)>) -> Fit {
        let times = |feature: u32| self.moves.iter().find(|(known, _)| *known == feature);
        let moved = strongest.into_iter().filter_map(|(feature, value)| {
            times(feature).map(|(_, times)| (feature, value, *times))
        });
        let moved: Vec<(u32, f64, u32)> = moved.collect();
        let noise = |times: u32| self.coordinate_noise * f64::from(times).sqrt();
        let ratios = moved
            .iter()
            .map(|(_, value, times)| value.abs() / noise(*times).max(f64::MIN_POSITIVE));
        let largest_ratio = ratios.fold(0.0, f64::max);
        let status = if largest_ratio < 2.0 {
            FitStatus::NoFeatureAboveNoise { largest_ratio }
        } else {
            FitStatus::Complete
        };
        let terms = moved.iter().map(|(feature, value, _)| (*feature, *value));
        Fit {
            sites: Vec::new(),
            model: LinearModel {
                intercept: 0.0,
                terms: terms.collect(),
            },
            inference: Inferred::NotAvailable {
                reason: NoInference::Procedure,
            },
            status,
            residual_scale: None,
            baseline: None,
            cuts: Vec::new(),
            provenance: self.provenance,
        }
    }
}

impl Procedure for PaperDescent {
    type Fit = Fit;

    fn start(self) -> Step<Self> {
        let all = FeatureSet::all(self.n_features);
        self.ask_gradient(Phase::Gradient { round: 0 }, all)
    }

    fn resume(mut self, answer: Answer) -> Step<Self> {
        self.provenance = Some(answer.provenance);
        match self.phase {
            Phase::Gradient { round } => self.take_gradient(round, &answer),
            Phase::Coordinate { round, feature } => self.take_coordinate(round, feature, &answer),
            Phase::Row => {
                if let [response, row] = answer.blocks.as_slice() {
                    self.ols.take_row(response, row);
                }
                self.ask_row()
            }
        }
    }
}
