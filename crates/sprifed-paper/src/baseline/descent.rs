//! A baseline with certified noise, as a procedure.

use sprifed_noise::Provenance;
use sprifed_query::{
    Answer, FeatureSet, Limit, LinearModel, Procedure, Question, Scales, Step, SumQuery,
};

use super::{Baseline, Iterate};
use sprifed_recovery::Opening;
use sprifed_recovery::Setting;
use sprifed_recovery::{Fit, FitStatus};

/// DP-GCD's second look clips the feature here, in units of its scale …
const COORDINATE_FEATURE_CLIP: f64 = 2.0;
/// … and the residual here, in units of the response's scale.
const COORDINATE_RESIDUAL_CLIP: f64 = 2.0;

/// A baseline, waiting for an answer.
///
/// | asked | when | what follows |
/// |---|---|---|
/// | scale of the response | first | the clip |
/// | gradient over all features | T times | DP-SGD: a proximal step; DP-GCD: a pick |
/// | one coordinate of the gradient | DP-GCD, after each pick | the coefficient moves |
/// | scale of the residual of the strongest s | after the last step | its unit |
/// | second moments of the strongest s | last | refit, done |
#[derive(Clone, Debug)]
pub struct Descent {
    setting: Setting,
    baseline: Baseline,
    phase: Phase,
    step: usize,
    iterate: Iterate,
    opening: Opening,
    provenance: Option<Provenance>,
}

#[derive(Clone, Debug)]
enum Phase {
    Opening,
    Gradient { round: u32 },
    Coordinate { round: u32, feature: u32 },
    Scale { terms: Vec<(u32, f64)> },
    Refit { terms: Vec<(u32, f64)>, scale: f64 },
}

impl Descent {
    /// The run that [`Baseline::plan`] plans.
    #[must_use]
    pub fn new(setting: Setting, baseline: Baseline) -> Self {
        Self {
            phase: Phase::Opening,
            step: 0,
            iterate: Iterate::zero(setting.n_features),
            opening: Opening {
                scale: setting.response_bound,
                intercept: 0.0,
                feature_scale: setting.feature_scale.unwrap_or(1.0),
            },
            provenance: None,
            setting,
            baseline,
        }
    }

    fn ask(self, phase: Phase, question: Question) -> Step<Self> {
        self.ask_all(phase, vec![question])
    }

    fn ask_all(mut self, phase: Phase, questions: Vec<Question>) -> Step<Self> {
        let query = SumQuery {
            step: self.step,
            questions,
        };
        self.step += 1;
        self.phase = phase;
        Step::Ask(query, self)
    }

    /// The whole iterate, in bounded units.
    fn model(&self) -> LinearModel {
        self.iterate
            .model(self.opening.intercept, self.opening.feature_scale)
    }

    /// Some coefficients, in bounded units.
    fn model_of(&self, terms: &[(u32, f64)]) -> LinearModel {
        let unit = self.opening.feature_scale;
        let terms = terms
            .iter()
            .map(|(feature, value)| (*feature, value / unit));
        LinearModel {
            intercept: self.opening.intercept,
            terms: terms.collect(),
        }
    }

    /// The norm to which a row of all features is clipped, in units of scaled features.
    fn row_norm(&self) -> f64 {
        f64::from(self.setting.n_features).sqrt()
    }

    fn residual_limit(&self) -> f64 {
        self.baseline.clip() * self.opening.scale
    }

    fn ask_gradient(self, round: u32) -> Step<Self> {
        let question = Question::RowClippedGradient {
            model: self.model().into(),
            features: FeatureSet::all(self.setting.n_features),
            row_norm: Limit::nearest(self.row_norm() * self.opening.feature_scale),
            residual_limit: Limit::nearest(self.residual_limit()),
        };
        self.ask(Phase::Gradient { round }, question)
    }

    fn take_gradient(mut self, round: u32, answer: &Answer) -> Step<Self> {
        let unit = self.row_norm() * self.residual_limit() / f64::from(self.setting.n_records);
        let Some(block) = answer.blocks.first() else {
            return self.after(round);
        };
        let gradient: Vec<f64> = block.values.iter().map(|value| value * unit).collect();
        match self.baseline {
            Baseline::DpSgd(parameters) => {
                let penalty = parameters.penalty * block.noise_std_dev * unit;
                self.iterate
                    .proximal_step(gradient, parameters.step_size, penalty);
                self.after(round)
            }
            Baseline::DpGcd(_) => {
                let feature = self.iterate.steepest(gradient);
                let question = Question::RowClippedGradient {
                    model: self.model().into(),
                    features: FeatureSet::only(&[feature]),
                    row_norm: Limit::nearest(COORDINATE_FEATURE_CLIP * self.opening.feature_scale),
                    residual_limit: Limit::nearest(COORDINATE_RESIDUAL_CLIP * self.opening.scale),
                };
                self.ask(Phase::Coordinate { round, feature }, question)
            }
        }
    }

    fn take_coordinate(mut self, round: u32, feature: u32, answer: &Answer) -> Step<Self> {
        let value = answer.blocks.first().and_then(|block| block.values.first());
        if let (Some(value), Baseline::DpGcd(parameters)) = (value, self.baseline) {
            let clips = COORDINATE_FEATURE_CLIP * COORDINATE_RESIDUAL_CLIP;
            let slope = value * clips * self.opening.scale / f64::from(self.setting.n_records);
            self.iterate.move_one(feature, parameters.step_size * slope);
        }
        self.after(round)
    }

    /// The next step, or the end.
    fn after(self, round: u32) -> Step<Self> {
        if round + 1 < self.baseline.steps() {
            return self.ask_gradient(round + 1);
        }
        let terms = self.iterate.strongest(self.setting.sparsity as usize);
        let question = self.setting.scale_question(self.model_of(&terms));
        self.ask(Phase::Scale { terms }, question)
    }

    /// Asks for the second moments of the strongest features; their coefficients are forgotten if
    /// the response is smaller than the residual they leave.
    fn take_scale(self, mut terms: Vec<(u32, f64)>, answer: &Answer) -> Step<Self> {
        let scale = answer.blocks.first();
        let mut scale = scale.map_or(self.opening.scale, |block| self.setting.scale_of(block));
        if scale > self.opening.scale {
            scale = self.opening.scale;
            terms.iter_mut().for_each(|(_, value)| *value = 0.0);
        }
        let support: Vec<u32> = terms.iter().map(|(feature, _)| *feature).collect();
        let scales = Scales {
            feature: Limit::nearest(self.opening.feature_scale),
            residual: Limit::nearest(scale),
        };
        let question = self
            .setting
            .moment_question(&support, self.model_of(&terms), scales);
        self.ask(Phase::Refit { terms, scale }, question)
    }

    fn finish(mut self, mut terms: Vec<(u32, f64)>, scale: f64, answer: &Answer) -> Fit {
        let Some(moments) = self.setting.moments_of(answer, terms.len()) else {
            return Fit {
                model: self.model_of(&terms),
                noise_std_devs: vec![f64::INFINITY; terms.len()],
                status: FitStatus::NoFeatureAboveNoise { largest_ratio: 0.0 },
                residual_scale: Some(scale),
                provenance: self.provenance,
            };
        };
        let expected = 1.0 / f64::from(self.setting.sparsity);
        let solution = moments.normal_equations().solve_expecting(expected);
        self.opening.intercept += scale * moments.intercept_change(&solution.coefficients);
        for ((_, coefficient), change) in terms.iter_mut().zip(&solution.coefficients) {
            *coefficient += scale * change;
        }
        let relative: Vec<f64> = terms.iter().map(|(_, value)| value / scale).collect();
        let unit = scale / self.opening.feature_scale;
        let noise = solution.noise_std_devs.iter().map(|noise| noise * unit);
        Fit {
            model: self.model_of(&terms),
            noise_std_devs: noise.collect(),
            status: solution.status_among(&relative, self.setting.n_features),
            residual_scale: Some(scale),
            provenance: self.provenance,
        }
    }
}

impl Procedure for Descent {
    type Fit = Fit;

    fn start(self) -> Step<Self> {
        let questions = self.setting.opening_questions();
        self.ask_all(Phase::Opening, questions)
    }

    fn resume(mut self, answer: Answer) -> Step<Self> {
        self.provenance = Some(answer.provenance);
        match self.phase.clone() {
            Phase::Opening => {
                self.opening = self.setting.opening_of(&answer);
                self.ask_gradient(0)
            }
            Phase::Gradient { round } => self.take_gradient(round, &answer),
            Phase::Coordinate { round, feature } => self.take_coordinate(round, feature, &answer),
            Phase::Scale { terms } => self.take_scale(terms, &answer),
            Phase::Refit { terms, scale } => Step::Done(self.finish(terms, scale, &answer)),
        }
    }
}
