//! Argmax OMP: orthogonal matching pursuit in which only the index of each pick is revealed.
//!
//! For backends that never show scores. The noise on a score does not grow with the number of
//! features: one score moves by at most b·c, where the vector of all of them moves by √p·b·c.

use sprifed_noise::Provenance;
use sprifed_query::{
    Answer, ChoiceQuery, ChoosingProcedure, ChoosingStep, Constant, FeatureList, FeatureSet, Limit,
    LinearModel, Newest, PlanError, Question, Scales, SumQuery,
};

use crate::catalogue::{Entry, Needs};
use crate::conclusion::{Conclusion, Evidence, Picked};
use crate::fit::{Fit, FitStatus};
use crate::inference::{Inferred, NoInference};
use crate::joint::{LastAnswer, joint_size};
use crate::least_squares::NoisyNormalEquations;
use crate::opening::Opening;
use crate::outcome::LastPoint;
use crate::outcome::refit::{Ended, Refit};
use crate::portable::{larger, smaller, square};
use crate::ready::Ready;
use crate::selection::Pick;
use crate::setting::Setting;
use crate::sites::SiteEffects;
use crate::square_matrix::SquareMatrix;

mod plan;

pub use plan::plan_argmax;
use plan::{PlannedNoise, score_clips};

#[cfg(test)]
mod tests;

pub(crate) static ENTRY: Entry = Entry {
    name: "argmax",
    about: "Argmax OMP: a curator, or three trustees, reveal only which feature is picked",
    needs: Needs::Choices,
    version: 3,
    plan: plan_argmax,
    begin: |setting| Ok(Ready::choices(Argmax::new(*setting)?)),
};

/// Residuals are clipped at this many of their scale in an update.
const UPDATE_CLIP: f64 = 3.0;

/// Coefficients whose residual is this many times as large as the best ones' are given up.
const WORSE: f64 = 1.5;

/// An update is clipped to this many times the square root of its length.
const UPDATE_NORM: f64 = 0.8;

/// Argmax OMP, waiting for an answer.
///
/// It needs a backend that makes choices, and nothing more:
///
/// ```
/// # use sprifed_query::{ChoiceBackend, SumBackend, run_choosing};
/// # use sprifed_recovery::{Argmax, Fit};
/// fn fit<B: ChoiceBackend>(procedure: Argmax, backend: &mut B) -> Result<Fit, B::Error> {
///     run_choosing(procedure, backend, |_| ())
/// }
/// ```
///
/// One that answers sums only will not do:
///
/// ```compile_fail,E0277
/// # use sprifed_query::{ChoiceBackend, SumBackend, run_choosing};
/// # use sprifed_recovery::{Argmax, Fit};
/// fn fit<B: SumBackend>(procedure: Argmax, backend: &mut B) -> Result<Fit, B::Error> {
///     run_choosing(procedure, backend, |_| ())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Argmax {
    setting: Setting,
    /// Clips of features and residuals in a score, in units of their scale.
    clips: (f64, f64),
    phase: Phase,
    step: usize,
    /// Whether the first joint question is still to be asked.
    asks_joint: bool,
    /// The features of every model, then those that were picked, each with its group.
    support: Vec<u32>,
    /// What the plan says of the noise of each choice, and of the last question.
    planned: PlannedNoise,
    /// The feature that each choice named. They are no candidates any more; others of their groups still are, so that a
    /// plan says how many candidates each choice has. One of those that is named again adds nothing.
    named: Vec<u32>,
    /// How each feature or group of the support was picked.
    picks: Vec<Picked>,
    opening: Opening,
    /// Coefficients in units of scaled features, in the order of the support.
    coefficients: Vec<f64>,
    /// Second moments of (constant, x_S), as far as they were queried.
    gram: SquareMatrix,
    intercept: f64,
    sites: SiteEffects,
    scale: f64,
    /// The model with the smallest residual so far.
    best: Option<Best>,
    provenance: Option<Provenance>,
}

/// A model and the scale of its residual.
#[derive(Clone, Debug)]
struct Best {
    coefficients: Vec<f64>,
    intercept: f64,
    sites: SiteEffects,
    scale: f64,
}

#[derive(Clone, Debug)]
enum Phase {
    Centre,
    Scale,
    Joint,
    Choice { candidates: FeatureSet },
    Update { newest: u32 },
    Final,
    Refit(Box<Refit>),
}

impl Argmax {
    /// A run for `setting`.
    ///
    /// # Errors
    /// When the setting makes no sense or the budget is too small.
    pub fn new(setting: Setting) -> Result<Self, PlanError> {
        setting.check()?;
        let constant = setting.constant();
        let size = setting.most_features(setting.sparsity) + constant.entries();
        let mut gram = SquareMatrix::zeros(size);
        if constant == Constant::One {
            gram[(0, 0)] = f64::from(setting.n_records);
        }
        Ok(Self {
            planned: PlannedNoise::of(&setting)?,
            named: Vec::new(),
            picks: Vec::new(),
            opening: Opening::before(&setting),
            clips: score_clips(&setting)?,
            phase: Phase::Centre,
            step: 0,
            asks_joint: setting.asks_joint(),
            support: Vec::new(),
            coefficients: Vec::new(),
            gram,
            intercept: 0.0,
            sites: SiteEffects::new(&setting),
            scale: setting.response_bound,
            best: None,
            provenance: None,
            setting,
        })
    }

    /// The model of features, in bounded units.
    fn model(&self) -> LinearModel {
        let terms = self.support.iter().zip(&self.coefficients);
        let unit = self.opening.feature_scale;
        let terms = terms.map(|(feature, value)| (*feature, value / unit));
        LinearModel {
            intercept: self.intercept,
            terms: terms.collect(),
        }
    }

    /// The same with the intercepts of sites: what residuals are measured against.
    fn current(&self) -> LinearModel {
        let mut model = self.model();
        model
            .terms
            .extend(self.sites.terms(self.setting.n_features));
        model
    }

    /// One unit of the residual in updates: its scale, or that of the response where no residual has its scale asked.
    const fn unit(&self) -> f64 {
        if self.setting.outcome.has_scale_of_mean() {
            self.opening.scale
        } else {
            self.scale
        }
    }

    /// What one unit of each variable is now.
    const fn scales(&self) -> Scales {
        self.scales_of(self.unit())
    }

    /// What one unit of each variable is, where `residual` is that of the residual.
    const fn scales_of(&self, residual: f64) -> Scales {
        Scales {
            feature: Limit::nearest(self.opening.feature_scale),
            residual: Limit::nearest(residual),
        }
    }

    /// Where the last second moments are asked.
    fn last_point(&self) -> LastPoint {
        let scale = self.scale;
        let current = LastPoint {
            model: self.current(),
            coefficients: self
                .coefficients
                .iter()
                .map(|value| value / scale)
                .collect(),
            scale,
        };
        self.setting.last_point(&self.opening, current)
    }

    fn ask(mut self, phase: Phase, questions: Vec<Question>) -> ChoosingStep<Self> {
        let query = SumQuery {
            step: self.step,
            questions,
        };
        self.step += 1;
        self.phase = phase;
        ChoosingStep::Ask(query, self)
    }

    fn ask_scale(mut self) -> ChoosingStep<Self> {
        let known = self
            .setting
            .scale_without_question(&self.opening, &self.coefficients);
        if let Some(scale) = known {
            self.scale = scale;
            return self.with_scale();
        }
        let question = self.setting.scale_question(self.current());
        self.ask(Phase::Scale, vec![question])
    }

    fn take_scale(&mut self, answer: &Answer) {
        self.scale = self.setting.scale_after(answer, self.scale);
        // The scale of the response is none that a model has to reach: responses that lie at one
        // value make it smaller than that of any honest residual.
        if !self.named.is_empty() {
            self.give_up_if_worse();
        }
    }

    /// Returns to the best coefficients if the residual is clearly larger under these: rows that
    /// were clipped differently need not fit together.
    fn give_up_if_worse(&mut self) {
        match &self.best {
            Some(best) if self.scale > WORSE * best.scale => {
                self.coefficients.clone_from(&best.coefficients);
                self.coefficients.resize(self.support.len(), 0.0);
                self.intercept = best.intercept;
                self.sites.clone_from(&best.sites);
                self.scale = best.scale;
            }
            Some(best) if self.scale > best.scale => {}
            _ => {
                self.best = Some(Best {
                    coefficients: self.coefficients.clone(),
                    intercept: self.intercept,
                    sites: self.sites.clone(),
                    scale: self.scale,
                });
            }
        }
    }

    fn ask_choice(mut self) -> ChoosingStep<Self> {
        let others: Vec<u32> = (0..self.setting.always)
            .chain(self.named.iter().copied())
            .collect();
        let candidates = FeatureSet::except(self.setting.n_features, &others);
        let scores = Question::BoxedGradient {
            model: self.current().into(),
            features: candidates.clone(),
            feature_limit: Limit::nearest(self.clips.0 * self.opening.feature_scale),
            residual_limit: Limit::nearest(self.clips.1 * self.scale),
        };
        let query = ChoiceQuery {
            step: self.step,
            scores,
        };
        self.step += 1;
        self.phase = Phase::Choice { candidates };
        ChoosingStep::Choose(query, self)
    }

    /// Takes the feature that a choice named, with its group, and returns how many features are new in the support.
    fn take_choice(&mut self, feature: u32) -> u32 {
        let pick = self.pick();
        self.named.push(feature);
        let unit = self.setting.groups.of_feature(feature);
        if unit.clone().any(|other| self.support.contains(&other)) {
            return 0;
        }
        let start = self.support.len();
        let place = start + (feature - unit.start) as usize;
        self.support.extend(unit.clone());
        let places = start..self.support.len();
        self.picks.extend(pick.map(|pick| Picked {
            pick,
            place,
            places,
        }));
        unit.end - unit.start
    }

    /// What p-values depend on of the choice that is asked now.
    fn pick(&self) -> Option<Pick> {
        let planned = self.planned.choices.get(self.named.len())?;
        let (rate, steps) = planned.noise_rate;
        Some(Pick {
            n_records: f64::from(self.setting.n_records),
            residual_scale: self.scale,
            feature_clip: self.clips.0,
            residual_clip: self.clips.1,
            feature_variance: 1.0,
            score_steps: f64::from(planned.score_bound),
            noise_rate: f64::from(rate) / f64::from(steps),
            candidates: f64::from(planned.candidates),
        })
    }

    fn ask_joint(self) -> ChoosingStep<Self> {
        let (model, scales) = (self.current(), self.scales());
        let question = self.setting.first_joint_question(model, scales);
        self.ask(Phase::Joint, vec![question])
    }

    /// How many variables an update counts: sites are one, as a constant is.
    #[expect(clippy::cast_precision_loss, reason = "a support is small")]
    fn update_size(&self) -> f64 {
        let has_constant = self.setting.constant() != Constant::Absent;
        (self.support.len() + usize::from(has_constant)) as f64
    }

    fn update_norm(&self) -> f64 {
        let constant = match self.setting.constant() {
            Constant::Absent => 0.0,
            Constant::One | Constant::Sites { .. } => 1.0,
        };
        UPDATE_NORM * (2.0 * (self.variables() + constant)).sqrt()
    }

    /// The squared norm that the features of the support usually have, in units of their scale: one for each, and for a
    /// group at most that of its single one.
    #[expect(clippy::cast_precision_loss, reason = "a support is small")]
    fn variables(&self) -> f64 {
        let one = larger(1.0 / square(self.opening.feature_scale), 1.0);
        let picks = self.picks.iter();
        let picked = picks.map(|picked| smaller(picked.places.len() as f64, one));
        f64::from(self.setting.always) + picked.sum::<f64>()
    }

    /// Moves the intercepts and the coefficients by `changes`, in units of the residual: of the constant or the sites,
    /// then of the support.
    fn move_by(&mut self, changes: &[f64]) {
        let unit = self.unit();
        let changes: Vec<f64> = changes.iter().map(|change| unit * change).collect();
        let constant = self.setting.constant();
        let (constants, features) = changes.split_at(constant.entries().min(changes.len()));
        self.intercept += match constant {
            Constant::Sites { .. } => self.sites.move_by(constants),
            Constant::One | Constant::Absent => constants.iter().sum::<f64>(),
        };
        self.coefficients.resize(self.support.len(), 0.0);
        for (coefficient, change) in self.coefficients.iter_mut().zip(features) {
            *coefficient += change;
        }
    }

    /// Reads the rows of the `newest` features in the Gram matrix and the correlations with the residual, and solves.
    fn take_update(&mut self, newest: usize, answer: &Answer) {
        let Some(block) = answer.blocks.first() else {
            return;
        };
        let size = self.support.len() + self.setting.constant().entries();
        let norm = self.update_norm();
        let values: Vec<f64> = block.values.iter().map(|value| value * norm).collect();
        let (rows, cross) = values.split_at((newest * size).min(values.len()));
        let first = size - newest;
        for (row, entries) in (first..).zip(rows.chunks_exact(size.max(1))) {
            for (column, value) in entries.iter().enumerate() {
                // No record has two levels of one category.
                let value = match column >= first && column != row {
                    true => 0.0,
                    false => *value,
                };
                self.gram[(row, column)] = value;
                self.gram[(column, row)] = value;
            }
        }
        let noise = block.noise_std_dev * norm;
        let equations = NoisyNormalEquations {
            gram: SquareMatrix::from_fn(size, |row, column| self.gram[(row, column)]),
            cross: cross.get(..size).unwrap_or(cross).to_vec(),
            gram_noise: noise,
            cross_noise: noise,
        };
        let expected = 1.0 / self.update_size();
        let changes = self.sites.solve(&equations, &answer.absent, expected);
        self.move_by(&changes);
    }

    /// Solves for the sites and the features of every model, and takes their second moments.
    fn take_joint(&mut self, answer: &Answer) {
        self.support = self.setting.always_features();
        let always = self.support.len();
        self.coefficients = vec![0.0; always];
        if let Constant::Sites { .. } = self.setting.constant() {
            let equations = self.sites.first_equations(&self.setting, answer);
            if let Some(equations) = equations {
                let size = equations.cross.len();
                for (row, column) in (0..size).flat_map(|row| (0..size).map(move |at| (row, at))) {
                    self.gram[(row, column)] = equations.gram[(row, column)];
                }
                let expected = 1.0 / self.update_size();
                let changes = self.sites.solve(&equations, &answer.absent, expected);
                self.move_by(&changes);
            }
            return;
        }
        let Some(joint) = self.setting.joint_moments(answer, always, 1.0) else {
            return;
        };
        let constant = self.setting.constant().entries();
        for row in 0..always {
            for column in 0..=row {
                let value = joint.matrix()[(row + 1, column + 1)];
                self.gram[(constant + row, constant + column)] = value;
                self.gram[(constant + column, constant + row)] = value;
            }
            if constant == 1 {
                self.gram[(0, row + 1)] = joint.matrix()[(0, row + 1)];
                self.gram[(row + 1, 0)] = joint.matrix()[(0, row + 1)];
            }
        }
        let moments = self.setting.modelled(&joint);
        #[expect(clippy::cast_precision_loss, reason = "a support is small")]
        let expected = 1.0 / always.max(1) as f64;
        let solution = moments.normal_equations().solve_expecting(expected);
        let unit = self.unit();
        self.intercept += unit * moments.intercept_change(&solution.coefficients);
        for (coefficient, change) in self.coefficients.iter_mut().zip(&solution.coefficients) {
            *coefficient += unit * change;
        }
    }

    /// By how much the clip of the last question is loosened, and the same for its number of columns.
    fn clip_factors(&self) -> (f64, f64) {
        // The constant and the residual are further variables.
        let size = self.variables() + 2.0;
        let noise = self.setting.last_noise(&self.planned.last);
        let factor = self.setting.clip_factor_of(size, noise);
        (factor, factor * (size / joint_size(self.support.len())))
    }

    /// The fit that the last second moments give, or what is still to be asked.
    fn finish(mut self, answer: &Answer) -> ChoosingStep<Self> {
        let point = self.last_point();
        let (clip_factor, of_columns) = self.clip_factors();
        let answer = LastAnswer::new(&self.setting, answer, point.coefficients, of_columns);
        let Some(answer) = answer else {
            let model = match self.setting.outcome.is_linear() {
                true => self.model(),
                false => self.setting.null_model(&self.opening),
            };
            return ChoosingStep::Done(Fit {
                model,
                sites: self.sites.into_deviations(),
                inference: Inferred::NotAvailable {
                    reason: NoInference::NoAnswer,
                },
                status: FitStatus::NoFeatureAboveNoise { largest_ratio: 0.0 },
                residual_scale: None,
                baseline: None,
                cuts: Vec::new(),
                provenance: self.provenance,
            });
        };
        let judged = self.picks.iter().map(|picked| picked.places.clone());
        let ended = Conclusion {
            setting: &self.setting,
            too_few: self.planned.too_few,
            opening: self.opening,
            asked: &self.support,
            chosen: (self.setting.always as usize..self.support.len()).collect(),
            judged: judged.collect(),
            answer,
            clip_factor,
            scale: point.scale,
            intercept: point.model.intercept,
            evidence: Evidence::Picks(core::mem::take(&mut self.picks)),
            provenance: self.provenance,
        }
        .ended();
        match ended {
            Ended::Fit(fit) => ChoosingStep::Done(Fit {
                sites: self.sites.into_deviations(),
                ..*fit
            }),
            Ended::Refit(refit) => {
                let questions = refit.questions();
                self.ask(Phase::Refit(refit), questions)
            }
        }
    }

    /// What follows once the scale of the residual is known.
    fn with_scale(self) -> ChoosingStep<Self> {
        if self.asks_joint {
            return self.ask_joint();
        }
        if self.named.len() < self.setting.sparsity as usize {
            return self.ask_choice();
        }
        let (point, (_, factor)) = (self.last_point(), self.clip_factors());
        let scales = self.scales_of(point.scale);
        let questions = self
            .setting
            .last_questions(&self.support, point.model, scales, factor);
        self.ask(Phase::Final, questions)
    }
}

impl ChoosingProcedure for Argmax {
    type Fit = Fit;

    fn start(self) -> ChoosingStep<Self> {
        let questions = self.setting.centre_questions();
        if questions.is_empty() {
            return self.ask_scale();
        }
        self.ask(Phase::Centre, questions)
    }

    fn resume(mut self, answer: Answer) -> ChoosingStep<Self> {
        self.provenance = Some(answer.provenance);
        match self.phase {
            Phase::Centre => {
                self.opening = self.setting.centre_of(&answer);
                self.intercept = self.opening.intercept;
                self.ask_scale()
            }
            Phase::Scale | Phase::Choice { .. } => {
                self.take_scale(&answer);
                self.with_scale()
            }
            Phase::Joint => {
                self.asks_joint = false;
                self.take_joint(&answer);
                self.ask_scale()
            }
            Phase::Update { newest } => {
                self.take_update(newest as usize, &answer);
                self.ask_scale()
            }
            Phase::Final => self.finish(&answer),
            Phase::Refit(refit) => ChoosingStep::Done(refit.finish(&answer)),
        }
    }

    fn chosen(mut self, index: usize) -> ChoosingStep<Self> {
        let named = match &self.phase {
            Phase::Choice { candidates } => candidates.iter().nth(index),
            _ => None,
        };
        let newest = named.map_or(0, |feature| self.take_choice(feature));
        let question = Question::SupportUpdate {
            support: FeatureList::of(&self.support),
            newest: Newest::of(newest),
            constant: self.setting.constant(),
            model: self.current().into(),
            scales: self.scales(),
            residual_limit: Limit::nearest(UPDATE_CLIP),
            norm: Limit::nearest(self.update_norm()),
        };
        self.ask(Phase::Update { newest }, vec![question])
    }
}
