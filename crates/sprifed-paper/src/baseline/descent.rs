//! A baseline with certified noise, as a procedure.

use sprifed_noise::Provenance;
use sprifed_query::{Answer, FeatureSet, Limit, LinearModel, Procedure, Question, Step, SumQuery};

use super::refit::Refit;
use super::{Baseline, Iterate};
use sprifed_recovery::Fit;
use sprifed_recovery::Opening;
use sprifed_recovery::Setting;

/// DP-GCD's second look clips the feature here, in units of its scale …
const COORDINATE_FEATURE_CLIP: f64 = 2.0;
/// … and the residual here, in units of the response's scale.
const COORDINATE_RESIDUAL_CLIP: f64 = 2.0;

/// A baseline, waiting for an answer.
///
/// | asked | when | what follows |
/// |---|---|---|
/// | mean of the response, scale of the features | first, where they are not public | the centre |
/// | scale of the response | then | the clip |
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
    Centre,
    Opening,
    Gradient { round: u32 },
    Coordinate { round: u32, feature: u32 },
    Scale(Refit),
    Moments(Refit),
}

impl Descent {
    /// The run that [`Baseline::plan`] plans.
    #[must_use]
    pub fn new(setting: Setting, baseline: Baseline) -> Self {
        Self {
            phase: Phase::Centre,
            step: 0,
            iterate: Iterate::zero(setting.n_features),
            opening: Opening::before(&setting),
            provenance: None,
            setting,
            baseline,
        }
    }

    fn ask(self, phase: Phase, question: Question) -> Step<Self> {
        self.ask_all(phase, vec![question])
    }

    fn ask_all(mut self, phase: Phase, questions: Vec<Question>) -> Step<Self> {
        let query = SumQuery::next(&mut self.step, questions);
        self.phase = phase;
        Step::Ask(query, self)
    }

    /// The whole iterate, in bounded units.
    fn model(&self) -> LinearModel {
        self.iterate
            .model(self.opening.intercept, self.opening.feature_scale)
    }

    /// The norm to which a row of all features is clipped, in units of scaled features.
    fn row_norm(&self) -> f64 {
        f64::from(self.setting.n_features).sqrt()
    }

    fn residual_limit(&self) -> f64 {
        self.baseline.clip() * self.opening.scale
    }

    fn ask_scale(self) -> Step<Self> {
        let question = self.setting.scale_question(self.opening.model());
        self.ask(Phase::Opening, question)
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
        let refit = Refit::new(self.setting, self.opening, terms);
        let question = refit.scale_question();
        self.ask(Phase::Scale(refit), question)
    }
}

impl Procedure for Descent {
    type Fit = Fit;

    fn start(self) -> Step<Self> {
        let questions = self.setting.centre_questions();
        if questions.is_empty() {
            return self.ask_scale();
        }
        self.ask_all(Phase::Centre, questions)
    }

    fn resume(mut self, answer: Answer) -> Step<Self> {
        self.provenance = Some(answer.provenance);
        match self.phase.clone() {
            Phase::Centre => {
                self.opening = self.setting.centre_of(&answer);
                self.ask_scale()
            }
            Phase::Opening => {
                self.opening.scale = self.setting.scale_after(&answer, self.opening.scale);
                self.ask_gradient(0)
            }
            Phase::Gradient { round } => self.take_gradient(round, &answer),
            Phase::Coordinate { round, feature } => self.take_coordinate(round, feature, &answer),
            Phase::Scale(mut refit) => {
                let question = refit.moment_question(&answer);
                self.ask(Phase::Moments(refit), question)
            }
            Phase::Moments(refit) => Step::Done(refit.finish(&answer, self.provenance)),
        }
    }
}
