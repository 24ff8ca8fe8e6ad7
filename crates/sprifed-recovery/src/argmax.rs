//! Argmax OMP: orthogonal matching pursuit in which only the index of each pick is revealed.
//!
//! For backends that never show scores. The noise on a score does not grow with the number of
//! features: one score moves by at most b·c, where the vector of all of them moves by √p·b·c.

use sprifed_noise::Provenance;
use sprifed_privacy::{Mu, RangeBound, Rho, Rounding};
use sprifed_query::{
    Answer, ChoiceQuery, ChoosingProcedure, ChoosingStep, FeatureList, FeatureSet, Limit,
    LinearModel, Plan, PlanError, PlannedStep, PlannedSum, Question, SCALE_BUCKETS, Scales,
    SumQuery,
};

use crate::catalogue::{Entry, Needs};
use crate::clipping::{clipped_variance, kept_signal};
use crate::fit::{Fit, FitStatus};
use crate::least_squares::{NoisyNormalEquations, Solution};
use crate::opening::OpeningCosts;
use crate::ready::Ready;
use crate::setting::{Intercept, Setting};
use crate::square_matrix::SquareMatrix;

#[cfg(test)]
mod tests;

pub(crate) static ENTRY: Entry = Entry {
    name: "argmax",
    about: "Argmax OMP: the curator reveals only which feature is picked",
    needs: Needs::Choices,
    version: 1,
    plan: plan_argmax,
    begin: |setting| Ok(Ready::choices(Argmax::new(*setting)?)),
};

/// Shares of ρ.
const SCALE_SHARE: f64 = 0.03;
const UPDATE_SHARE: f64 = 0.27;
const FINAL_SHARE: f64 = 0.13;
const MEAN_SHARE: f64 = 0.01;
const ROW_SCALE_SHARE: f64 = 0.003;

/// Residuals are clipped at this many of their scale in an update.
const UPDATE_CLIP: f64 = 3.0;

/// Clips of features and residuals that are tried for a score, in units of their scale.
const SCORE_CLIPS: [f64; 7] = [0.7, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0];

/// Coefficients whose residual is this many times as large as the best ones' are given up.
const WORSE: f64 = 1.5;

/// An update is clipped to this many times the square root of its length.
const UPDATE_NORM: f64 = 0.8;

/// The clips of features and residuals that separate the largest score most clearly from its noise.
///
/// # Why
/// A score's signal per record is k(b)/b · k(q)/q of the covariance; its variance is that of the
/// clipped products, and the largest of p Gumbel variables of scale β adds about β ln p, which
/// for a choice of cost ρ has the square ln p / (4ρ) up to a constant.
fn score_clips(setting: &Setting, choice_rho: f64) -> (f64, f64) {
    let records = f64::from(setting.n_records);
    let noise = libm::log(f64::from(setting.n_features)) / (4.0 * choice_rho);
    let quality = |(feature, residual): (f64, f64)| {
        let signal = kept_signal(feature) / feature * kept_signal(residual) / residual;
        let spread = noise + records * clipped_variance(feature) * clipped_variance(residual);
        spread / (signal * signal)
    };
    let pairs = SCORE_CLIPS
        .iter()
        .flat_map(|b| SCORE_CLIPS.iter().map(move |q| (*b, *q)));
    let best = pairs.min_by(|left, right| quality(*left).total_cmp(&quality(*right)));
    best.unwrap_or((1.0, 1.0))
}

/// The ρ of one choice when all steps together cost `total`.
fn choice_rho(setting: &Setting, total: f64) -> f64 {
    let mut others = SCALE_SHARE + UPDATE_SHARE + FINAL_SHARE;
    others += if setting.intercept == Intercept::Estimated {
        MEAN_SHARE
    } else {
        0.0
    };
    others += if setting.feature_scale.is_none() {
        ROW_SCALE_SHARE
    } else {
        0.0
    };
    total * (1.0 - others) / f64::from(setting.sparsity)
}

/// The ρ that is within the budget by zCDP alone.
fn least_rho(setting: &Setting) -> Result<f64, PlanError> {
    Ok(Rho::largest_within(setting.noise_budget()?)?.get() * (1.0 - 1e-9))
}

/// The plan of argmax OMP.
///
/// # Why
/// The shares are shares of ρ, in which Gaussians cost μ²/2 and a choice of range ε costs ε²/8
/// [CR21, Lemma 3.4]. A ρ that converts to the budget by [CKS20, Prop. 12] is a safe start; where
/// composing privacy losses shows that the plan costs less, it is scaled up to fill the budget.
///
/// # Errors
/// When the sparsity does not suit the features or no grid exists.
pub fn plan_argmax(setting: &Setting) -> Result<Plan, PlanError> {
    setting.check()?;
    let start = least_rho(setting)?;
    let mut best = plan_of(setting, start)?;
    let (mut fits, mut exceeds) = (1.0, LARGEST_GAIN);
    for _ in 0..SEARCH_STEPS {
        let middle = f64::midpoint(fits, exceeds);
        let candidate = plan_of(setting, start * middle)?;
        let cost = candidate.spending()?.to_approx_dp(setting.budget.delta());
        if cost.is_some_and(|cost| cost.epsilon() <= setting.budget.epsilon()) {
            (best, fits) = (candidate, middle);
        } else {
            exceeds = middle;
        }
    }
    Ok(best)
}

/// How much more than by zCDP a plan may spend at most, in ρ, and how closely that is searched.
const LARGEST_GAIN: f64 = 1.5;
const SEARCH_STEPS: u32 = 7;

/// The plan that costs ρ = `total` by zCDP.
fn plan_of(setting: &Setting, total: f64) -> Result<Plan, PlanError> {
    let planner = setting.planner();
    let picks = f64::from(setting.sparsity);
    let gaussian = |share: f64, times: f64| Mu::try_from((2.0 * total * share / times).sqrt());
    let with_mean = setting.intercept == Intercept::Estimated;
    let range = RangeBound::try_from((8.0 * choice_rho(setting, total)).sqrt())?;
    let costs = OpeningCosts {
        scale: gaussian(SCALE_SHARE, picks + 1.0)?,
        mean: gaussian(MEAN_SHARE, 1.0)?,
        row_scale: gaussian(ROW_SCALE_SHARE, 1.0)?,
    };
    let mut steps = Vec::new();
    for pick in 0..setting.sparsity {
        let number = pick + 1;
        let blocks = if pick == 0 {
            setting.opening_blocks(costs)?
        } else {
            vec![planner.ball(
                "scale",
                SCALE_BUCKETS,
                costs.scale,
                setting.count_rounding(),
            )?]
        };
        let purpose = format!("residual scale before pick {number}");
        steps.push(PlannedStep::Sum(PlannedSum { purpose, blocks }));
        let candidates = (setting.n_features - pick) as usize;
        let choice = planner.choice(&format!("pick {number}"), candidates, range)?;
        steps.push(PlannedStep::Choice(choice));
        let entries = 2 * (number as usize + usize::from(with_mean));
        let cost = gaussian(UPDATE_SHARE, picks)?;
        let update = planner.ball("support update", entries, cost, Rounding::Dithered)?;
        let purpose = format!("support update of pick {number}");
        steps.push(PlannedStep::Sum(PlannedSum {
            purpose,
            blocks: vec![update],
        }));
    }
    let scale = planner.ball(
        "scale",
        SCALE_BUCKETS,
        costs.scale,
        setting.count_rounding(),
    )?;
    let entries = setting.moment_entries(setting.sparsity as usize);
    let cost = gaussian(FINAL_SHARE, 1.0)?;
    let moments = planner.ball("second moment", entries, cost, Rounding::Dithered)?;
    for (purpose, block) in [
        ("residual scale after the last pick", scale),
        ("second moments of the support", moments),
    ] {
        let (purpose, blocks) = (purpose.to_owned(), vec![block]);
        steps.push(PlannedStep::Sum(PlannedSum { purpose, blocks }));
    }
    Ok(setting.plan("argmax OMP", steps))
}

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
    support: Vec<u32>,
    /// Coefficients in units of scaled features, in the order of the support.
    coefficients: Vec<f64>,
    /// Second moments of (1?, x_S), as far as they were queried.
    gram: SquareMatrix,
    intercept: f64,
    feature_scale: f64,
    scale: f64,
    /// Coefficients and intercept with the smallest residual so far, and that residual's scale.
    best: Option<(Vec<f64>, f64, f64)>,
    solution: Option<Solution>,
    provenance: Option<Provenance>,
}

#[derive(Clone, Debug)]
enum Phase {
    Scale,
    Choice { candidates: FeatureSet },
    Update,
    Final,
}

impl Argmax {
    /// A run for `setting`.
    ///
    /// # Errors
    /// When the setting makes no sense or the budget is too small.
    pub fn new(setting: Setting) -> Result<Self, PlanError> {
        setting.check()?;
        let constant = usize::from(setting.intercept == Intercept::Estimated);
        let size = setting.sparsity as usize + constant;
        let mut gram = SquareMatrix::zeros(size);
        if constant == 1 {
            gram[(0, 0)] = f64::from(setting.n_records);
        }
        let choice_rho = choice_rho(&setting, least_rho(&setting)?);
        Ok(Self {
            clips: score_clips(&setting, choice_rho),
            phase: Phase::Scale,
            step: 0,
            support: Vec::new(),
            coefficients: Vec::new(),
            gram,
            intercept: 0.0,
            feature_scale: setting.feature_scale.unwrap_or(1.0),
            scale: setting.response_bound,
            best: None,
            solution: None,
            provenance: None,
            setting,
        })
    }

    fn model(&self) -> LinearModel {
        let terms = self.support.iter().zip(&self.coefficients);
        let terms = terms.map(|(feature, value)| (*feature, value / self.feature_scale));
        LinearModel {
            intercept: self.intercept,
            terms: terms.collect(),
        }
    }

    /// What one unit of each variable is now.
    const fn scales(&self) -> Scales {
        Scales {
            feature: Limit::nearest(self.feature_scale),
            residual: Limit::nearest(self.scale),
        }
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

    fn ask_scale(self) -> ChoosingStep<Self> {
        let questions = if self.support.is_empty() {
            self.setting.opening_questions()
        } else {
            vec![self.setting.scale_question(self.model())]
        };
        self.ask(Phase::Scale, questions)
    }

    fn take_scale(&mut self, answer: &Answer) {
        if self.support.is_empty() {
            let opening = self.setting.opening_of(answer);
            self.scale = opening.scale;
            self.intercept = opening.intercept;
            self.feature_scale = opening.feature_scale;
        } else if let Some(block) = answer.blocks.first() {
            self.scale = self.setting.scale_of(block);
        }
        self.give_up_if_worse();
    }

    /// Returns to the best coefficients if the residual is clearly larger under these: rows that
    /// were clipped differently need not fit together.
    fn give_up_if_worse(&mut self) {
        match &self.best {
            Some((coefficients, intercept, scale)) if self.scale > WORSE * scale => {
                self.coefficients.clone_from(coefficients);
                self.coefficients.resize(self.support.len(), 0.0);
                self.intercept = *intercept;
                self.scale = *scale;
            }
            Some((_, _, scale)) if self.scale > *scale => {}
            _ => self.best = Some((self.coefficients.clone(), self.intercept, self.scale)),
        }
    }

    fn ask_choice(mut self) -> ChoosingStep<Self> {
        let candidates = FeatureSet::except(self.setting.n_features, &self.support);
        let scores = Question::BoxedGradient {
            model: self.model().into(),
            features: candidates.clone(),
            feature_limit: Limit::nearest(self.clips.0 * self.feature_scale),
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

    /// One for a model with an intercept, which then is the first variable of an update.
    fn constant(&self) -> usize {
        usize::from(self.setting.intercept == Intercept::Estimated)
    }

    fn update_norm(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a support is small")]
        let entries = 2.0 * (self.support.len() + self.constant()) as f64;
        UPDATE_NORM * entries.sqrt()
    }

    /// Reads the new row of the Gram matrix and the correlations with the residual, and solves.
    fn take_update(&mut self, answer: &Answer) {
        let Some(block) = answer.blocks.first() else {
            return;
        };
        let constant = self.constant();
        let size = self.support.len() + constant;
        let norm = self.update_norm();
        let values: Vec<f64> = block.values.iter().map(|value| value * norm).collect();
        let (row, cross) = values.split_at(size.min(values.len()));
        for (column, value) in row.iter().enumerate() {
            self.gram[(size - 1, column)] = *value;
            self.gram[(column, size - 1)] = *value;
        }
        let noise = block.noise_std_dev * norm;
        #[expect(clippy::cast_precision_loss, reason = "a support is small")]
        let expected = 1.0 / size as f64;
        let mut solution = NoisyNormalEquations {
            gram: SquareMatrix::from_fn(size, |row, column| self.gram[(row, column)]),
            cross: cross.get(..size).unwrap_or(cross).to_vec(),
            gram_noise: noise,
            cross_noise: noise,
        }
        .solve_expecting(expected);
        if constant == 1 {
            self.intercept += self.scale * solution.coefficients.remove(0);
            solution.noise_std_devs.remove(0);
            solution.sampling_std_devs.remove(0);
        }
        self.coefficients.resize(self.support.len(), 0.0);
        for (coefficient, change) in self.coefficients.iter_mut().zip(&solution.coefficients) {
            *coefficient += self.scale * change;
        }
        self.solution = Some(solution);
    }

    /// Solves once more, with moments that were all clipped alike.
    fn take_moments(&mut self, answer: &Answer) {
        let Some(moments) = self.setting.moments_of(answer, self.support.len()) else {
            return;
        };
        #[expect(clippy::cast_precision_loss, reason = "a support is small")]
        let expected = 1.0 / self.support.len().max(1) as f64;
        let solution = moments.normal_equations().solve_expecting(expected);
        self.intercept += self.scale * moments.intercept_change(&solution.coefficients);
        for (coefficient, change) in self.coefficients.iter_mut().zip(&solution.coefficients) {
            *coefficient += self.scale * change;
        }
        self.solution = Some(solution);
    }

    fn finish(self) -> Fit {
        let model = self.model();
        let unit = self.scale / self.feature_scale;
        let Some(solution) = self.solution else {
            let status = FitStatus::NoFeatureAboveNoise { largest_ratio: 0.0 };
            let (noise_std_devs, provenance) = (Vec::new(), self.provenance);
            return Fit {
                model,
                noise_std_devs,
                status,
                residual_scale: None,
                provenance,
            };
        };
        let relative: Vec<f64> = self
            .coefficients
            .iter()
            .map(|value| value / self.scale)
            .collect();
        Fit {
            model,
            noise_std_devs: solution
                .noise_std_devs
                .iter()
                .map(|noise| noise * unit)
                .collect(),
            status: solution.status_among(&relative, self.setting.n_features),
            residual_scale: Some(self.scale),
            provenance: self.provenance,
        }
    }
}

impl ChoosingProcedure for Argmax {
    type Fit = Fit;

    fn start(self) -> ChoosingStep<Self> {
        self.ask_scale()
    }

    fn resume(mut self, answer: Answer) -> ChoosingStep<Self> {
        self.provenance = Some(answer.provenance);
        match self.phase {
            Phase::Scale | Phase::Choice { .. } => {
                self.take_scale(&answer);
                if self.support.len() < self.setting.sparsity as usize {
                    return self.ask_choice();
                }
                let scales = self.scales();
                let question = self
                    .setting
                    .moment_question(&self.support, self.model(), scales);
                self.ask(Phase::Final, vec![question])
            }
            Phase::Update => {
                self.take_update(&answer);
                self.ask_scale()
            }
            Phase::Final => {
                self.take_moments(&answer);
                ChoosingStep::Done(self.finish())
            }
        }
    }

    fn chosen(mut self, index: usize) -> ChoosingStep<Self> {
        if let Phase::Choice { candidates } = &self.phase {
            self.support.extend(candidates.iter().nth(index));
        }
        let question = Question::SupportUpdate {
            support: FeatureList::of(&self.support),
            intercept: self.setting.intercept == Intercept::Estimated,
            model: self.model().into(),
            scales: self.scales(),
            residual_limit: Limit::nearest(UPDATE_CLIP),
            norm: Limit::nearest(self.update_norm()),
        };
        self.ask(Phase::Update, vec![question])
    }
}
