//! The sieve and certified GRAD: one procedure, two ways to make the model between rounds.
//!
//! Each round asks the gradient at the current model over a public set of candidates, with rows
//! clipped to a norm and residuals clipped tightly. De-biased, a gradient entry is an estimate of
//! that feature's coefficient; estimates of all rounds are pooled, the strongest features make the
//! next model, and the weakest candidates are dropped. One second-moment question about the
//! finalists decides support and coefficients. Everything after a sum is post-processing.
//!
//! The selection needs no bound on features or response, and no quantity that depends on the
//! unknown model, as the paper's B_C does.

use sprifed_noise::Provenance;
use sprifed_query::{
    Answer, FeatureSet, Limit, LinearModel, PlanError, Procedure, Question, Scales, Step, SumQuery,
};

use crate::catalogue::{Entry, Needs};
use crate::clipping::{best_clip, clipped_variance, kept_signal};
use crate::fit::Fit;
use crate::opening::Opening;
use crate::outcome::refit::Refit;
use crate::pool::{Pool, Ranking, median};
use crate::portable::{larger, smaller, square};
use crate::ready::Ready;
use crate::schedule::{Schedule, Working};
use crate::setting::Setting;
use crate::sites::SiteEffects;

mod last;
#[cfg(test)]
pub(crate) mod tests;

/// Certified GRAD.
pub(crate) static GRAD: Entry = Entry {
    name: "grad",
    about: "Certified GRAD: for correlated features",
    needs: Needs::Sums,
    version: 3,
    plan: |setting| Schedule::of(setting, Working::LeastSquares)?.plan(setting),
    begin: |setting| begin(setting, Working::LeastSquares),
};

/// The sieve.
pub(crate) static SIEVE: Entry = Entry {
    name: "sieve",
    about: "The sieve: for weakly correlated features",
    needs: Needs::Sums,
    version: 3,
    plan: |setting| Schedule::of(setting, Working::Pooled)?.plan(setting),
    begin: |setting| begin(setting, Working::Pooled),
};

fn begin(setting: &Setting, working: Working) -> Result<Ready, PlanError> {
    let schedule = Schedule::of(setting, working)?;
    let too_few = setting.too_few_records(Needs::Sums, &schedule.plan(setting)?)?;
    Ok(Ready::sums(Pooled {
        too_few,
        ..Pooled::new(*setting, schedule)
    }))
}

/// A feature is significant when its pooled estimate is this many standard deviations of its noise.
const THRESHOLD: f64 = 4.0;

/// A coefficient of the working model stays when it is this many of its own standard errors.
const KEPT: f64 = 3.0;

/// The intercept follows the working model when the noise on the residual's mean is below this
/// many of the residual's scale.
const MOST_MEAN_NOISE: f64 = 0.2;

/// The residual's variance is not expected to fall below this fraction in one round.
const LEAST_FALL: f64 = 0.25;

/// A model whose residual is this many times as large as the best one's is given up.
const WORSE: f64 = 1.5;

/// The sieve or certified GRAD, waiting for an answer.
#[derive(Clone, Debug)]
pub struct Pooled {
    setting: Setting,
    schedule: Schedule,
    phase: Phase,
    step: usize,
    pool: Pool,
    candidates: Vec<u32>,
    ranking: Option<Ranking>,
    /// Coefficients of the features of every model, in units of scaled features.
    covariates: Vec<f64>,
    /// Coefficients of selected features in units of scaled features.
    terms: Vec<(u32, f64)>,
    intercept: f64,
    /// Asked about once, before the first gradient.
    sites: SiteEffects,
    opening: Opening,
    scale: f64,
    expected_scale: f64,
    /// How many features may enter a pooled model together.
    most_together: usize,
    /// The model with the smallest residual so far.
    best: Option<Best>,
    /// How many records would do, if there are too few.
    too_few: Option<u64>,
    provenance: Option<Provenance>,
}

/// A model and the scale of its residual.
#[derive(Clone, Debug)]
struct Best {
    covariates: Vec<f64>,
    terms: Vec<(u32, f64)>,
    intercept: f64,
    scale: f64,
}

#[derive(Clone, Debug)]
enum Phase {
    Centre,
    FirstScale,
    Joint,
    JointScale,
    Gradient { round: usize, clip: f64 },
    Working { round: usize, features: Vec<u32> },
    Final { asked: Vec<u32> },
    Refit(Box<Refit>),
}

impl Pooled {
    /// A run of `schedule`.
    #[must_use]
    pub fn new(setting: Setting, schedule: Schedule) -> Self {
        Self {
            pool: Pool::new(setting.n_features as usize),
            candidates: (setting.always..setting.n_features).collect(),
            phase: Phase::Centre,
            step: 0,
            ranking: None,
            covariates: vec![0.0; setting.always as usize],
            terms: Vec::new(),
            intercept: 0.0,
            sites: SiteEffects::new(&setting),
            opening: Opening::before(&setting),
            scale: setting.response_bound,
            expected_scale: setting.response_bound,
            most_together: setting.sparsity as usize,
            best: None,
            too_few: None,
            provenance: None,
            setting,
            schedule,
        }
    }

    fn records(&self) -> f64 {
        f64::from(self.setting.n_records)
    }

    /// The current model of features, in bounded units.
    fn feature_model(&self) -> LinearModel {
        let covariates = self.setting.always_features();
        let covariates = covariates.into_iter().zip(self.covariates.iter().copied());
        let unit = self.opening.feature_scale;
        let terms = covariates
            .chain(self.terms.iter().copied())
            .map(|(feature, value)| (feature, value / unit));
        LinearModel {
            intercept: self.intercept,
            terms: terms.collect(),
        }
    }

    /// The current model with the intercepts of sites: what residuals are measured against.
    fn model(&self) -> LinearModel {
        let mut model = self.feature_model();
        model
            .terms
            .extend(self.sites.terms(self.setting.n_features));
        model
    }

    fn ask(mut self, phase: Phase, questions: Vec<Question>) -> Step<Self> {
        let query = SumQuery {
            step: self.step,
            questions,
        };
        self.step += 1;
        self.phase = phase;
        Step::Ask(query, self)
    }

    /// What follows once the scale of the response is known.
    fn after_opening(self) -> Step<Self> {
        if !self.setting.asks_joint() {
            return self.ask_gradient(0);
        }
        let (model, scales) = (self.model(), self.scales());
        let question = self.setting.first_joint_question(model, scales);
        self.ask(Phase::Joint, vec![question])
    }

    fn ask_gradient(self, round: usize) -> Step<Self> {
        let planned = self.schedule.rounds[round];
        let coordinates = self.coordinates();
        let noise_variance = count(coordinates.len()) / square(planned.cost.get());
        let clip = best_clip(noise_variance, self.records()) * self.expected_scale;
        let gradient = Question::RowClippedGradient {
            model: self.model().into(),
            features: FeatureSet::only(&coordinates),
            row_norm: Limit::nearest(count(coordinates.len()).sqrt() * self.opening.feature_scale),
            residual_limit: Limit::nearest(clip),
        };
        let questions = vec![gradient, self.setting.scale_question(self.model())];
        self.ask(Phase::Gradient { round, clip }, questions)
    }

    /// The features of a gradient: those of every model, then the candidates.
    fn coordinates(&self) -> Vec<u32> {
        let covariates = self.setting.always_features();
        covariates
            .into_iter()
            .chain(self.candidates.iter().copied())
            .collect()
    }

    fn ask_scale(self, phase: Phase) -> Step<Self> {
        let question = self.setting.scale_question(self.model());
        self.ask(phase, vec![question])
    }

    /// Takes the first coefficients of the features of every model.
    fn take_joint(&mut self, answer: &Answer) {
        let always = self.covariates.len();
        let (coefficients, cross_noise) = if self.setting.sites.is_empty() {
            let Some(joint) = self.setting.joint_moments(answer, always, 1.0) else {
                return;
            };
            let moments = self.setting.modelled(&joint);
            let equations = moments.normal_equations();
            let solution = equations.solve_expecting(1.0 / count(always.max(1)));
            self.intercept += self.scale * moments.intercept_change(&solution.coefficients);
            (solution.coefficients, equations.cross_noise)
        } else {
            let Some(equations) = self.sites.first_equations(&self.setting, answer) else {
                return;
            };
            let expected = 1.0 / count(always + 1);
            let mut changes = self.sites.solve(&equations, &answer.absent, expected);
            let coefficients = changes.split_off(self.setting.sites.count());
            let sites: Vec<f64> = changes.iter().map(|change| self.scale * change).collect();
            self.intercept += self.sites.move_by(&sites);
            (coefficients, equations.cross_noise)
        };
        let records = self.records();
        let noise = square(cross_noise / records) + 1.0 / records;
        let variance = square(self.scale) * noise;
        for feature in self.setting.always_features() {
            let change = coefficients.get(feature as usize);
            let estimate = self.scale * change.copied().unwrap_or(0.0);
            self.covariates[feature as usize] = estimate;
            self.pool.add(feature, estimate, variance);
        }
    }

    fn take_scale(&mut self, answer: &Answer) {
        let scale = self.setting.scale_after(answer, self.scale);
        self.scale = self.setting.least_scale(&self.opening, scale);
        self.expected_scale = self.scale;
    }

    /// Pools the de-biased gradient and ranks the candidates.
    fn take_gradient(&mut self, round: usize, clip: f64, answer: &Answer) {
        if let Some(block) = answer.blocks.get(1) {
            let scale = self.setting.scale_of(block);
            self.scale = self.setting.least_scale(&self.opening, scale);
        }
        let Some(block) = answer.blocks.first() else {
            return;
        };
        let coordinates = self.coordinates();
        let always = self.covariates.len();
        let size = coordinates.len();
        // In units of scaled features the row norm is √K.
        let unit = count(size).sqrt();
        let noise_variance = square(block.noise_std_dev * unit);
        let inactive = size > 20 * self.setting.sparsity as usize;
        let ranked = block.values.get(always..).unwrap_or(&[]);
        let centre = if inactive { median(ranked) } else { 0.0 };
        let relative = clip / self.scale;
        let factor = clip / (self.records() * kept_signal(relative));
        let variance =
            factor * factor * (noise_variance + self.records() * clipped_variance(relative));
        let mut current = vec![0.0; self.setting.n_features as usize];
        current[..always].copy_from_slice(&self.covariates);
        for (feature, value) in &self.terms {
            current[*feature as usize] = *value;
        }
        for (place, (feature, value)) in coordinates.iter().zip(&block.values).enumerate() {
            let common = if place < always { 0.0 } else { centre };
            let estimate = current[*feature as usize] + factor * (value - common) * unit;
            self.pool.add(*feature, estimate, variance);
        }
        let are_all = self.candidates.len() == self.setting.n_candidates() as usize;
        self.ranking = Some(self.pool.rank(&self.candidates, are_all));
        let last = round + 1 == self.schedule.rounds.len();
        self.give_up_if_worse();
        if self.schedule.working == Working::Pooled && !last {
            let pooled = self.setting.always_features().into_iter();
            self.covariates = pooled
                .map(|feature| self.pool.estimate(feature).0)
                .collect();
            self.adopt(self.standing_out(self.most_together));
        }
    }

    /// Returns to the best model if the current one's residual is clearly larger. Estimates of
    /// correlated features add up to too much when they enter a model together; half as many will
    /// the next time.
    /// The first best model is the one without a selected feature; the opening's scale is never compared.
    fn give_up_if_worse(&mut self) {
        match &self.best {
            Some(best) if self.scale > WORSE * best.scale => {
                self.covariates.clone_from(&best.covariates);
                self.terms.clone_from(&best.terms);
                self.intercept = best.intercept;
                self.scale = best.scale;
                self.most_together = (self.most_together / 2).max(1);
            }
            Some(best) if self.scale > best.scale => {}
            _ => {
                let (terms, intercept, scale) = (self.terms.clone(), self.intercept, self.scale);
                self.best = Some(Best {
                    covariates: self.covariates.clone(),
                    terms,
                    intercept,
                    scale,
                });
            }
        }
    }

    /// The strongest features above the threshold, at most `most`.
    fn standing_out(&self, most: usize) -> Vec<(u32, f64)> {
        let Some(ranking) = &self.ranking else {
            return Vec::new();
        };
        let threshold = THRESHOLD * ranking.background;
        let ranked = ranking.ranked.iter().take(most);
        let above = ranked.filter(|candidate| candidate.ratio.abs() > threshold);
        above
            .map(|candidate| (candidate.feature, candidate.estimate))
            .collect()
    }

    /// Makes `terms` the model and predicts the residual's scale under it.
    fn adopt(&mut self, terms: Vec<(u32, f64)>) {
        let size = |terms: &[(u32, f64)]| terms.iter().map(|(_, value)| value * value).sum::<f64>();
        let explained = size(&terms) - size(&self.terms);
        let least = LEAST_FALL * self.scale * self.scale;
        let expected = larger(self.scale * self.scale - explained, least).sqrt();
        self.expected_scale = smaller(expected, self.scale);
        self.terms = terms;
    }

    /// The features of the working model: those kept so far and the new significant ones.
    fn working_features(&self) -> Vec<u32> {
        let mut features: Vec<u32> = self.terms.iter().map(|(feature, _)| *feature).collect();
        let Some(ranking) = &self.ranking else {
            return features;
        };
        let threshold = THRESHOLD * ranking.background;
        let sparsity = self.setting.sparsity as usize;
        let kept = features.clone();
        let is_new = |feature: &u32| !kept.contains(feature);
        for candidate in ranking.ranked.iter().take(4 * sparsity) {
            let room = features.len() < self.schedule.working_features;
            if room && candidate.ratio.abs() > threshold && is_new(&candidate.feature) {
                features.push(candidate.feature);
            }
        }
        if features.len() == kept.len() && kept.len() < sparsity {
            let strongest = ranking
                .ranked
                .iter()
                .find(|candidate| is_new(&candidate.feature));
            features.extend(strongest.map(|candidate| candidate.feature));
        }
        features
    }

    /// What one unit of each variable is now.
    const fn scales(&self) -> Scales {
        self.scales_of(self.scale)
    }

    /// What one unit of each variable is, where `residual` is that of the residual.
    const fn scales_of(&self, residual: f64) -> Scales {
        Scales {
            feature: Limit::nearest(self.opening.feature_scale),
            residual: Limit::nearest(residual),
        }
    }

    /// Coefficients of `features` in the current model.
    fn current(&self, features: &[u32]) -> Vec<f64> {
        let of = |feature: &u32| self.terms.iter().find(|(known, _)| known == feature);
        let selected = |feature: &u32| of(feature).map_or(0.0, |(_, value)| *value);
        let covariates = |feature: &u32| self.covariates.get(*feature as usize).copied();
        let features = features.iter();
        features
            .map(|feature| covariates(feature).unwrap_or_else(|| selected(feature)))
            .collect()
    }

    fn take_working(&mut self, features: &[u32], answer: &Answer) {
        let Some(moments) = self.setting.moments_of(answer, features.len()) else {
            return;
        };
        let equations = moments.normal_equations();
        let changes = equations.solve().coefficients;
        let changes: Vec<f64> = changes.iter().map(|change| change * self.scale).collect();
        let records = self.records();
        let error = self.scale * (square(equations.cross_noise / records) + 1.0 / records).sqrt();
        let now = self.current(features);
        let updated = features.iter().zip(now.iter().zip(&changes));
        let mut terms: Vec<(u32, f64)> = updated
            .map(|(feature, (before, change))| (*feature, before + change))
            .collect();
        let covariates = terms.drain(..self.covariates.len()).map(|(_, value)| value);
        self.covariates = covariates.collect();
        terms.sort_by(|left, right| right.1.abs().total_cmp(&left.1.abs()));
        terms.truncate(self.setting.sparsity as usize);
        terms.retain(|(_, value)| value.abs() > KEPT * error);
        // Features that are not centred move the mean of the residual, which the next gradient
        // must not take for an effect of all of them.
        self.adopt(terms);
        if moments.mean_noise() < MOST_MEAN_NOISE {
            let after = self.current(features);
            let changes = after.iter().zip(&now);
            let changes: Vec<f64> = changes
                .map(|(after, before)| (after - before) / self.scale)
                .collect();
            self.intercept += self.scale * moments.intercept_change(&changes);
        }
    }

    /// Keeps the strongest candidates, features of the model first, and continues.
    fn next_round(mut self, round: usize) -> Step<Self> {
        let Some(next) = self.schedule.rounds.get(round + 1) else {
            return self.ask_final();
        };
        let size = next.candidates;
        if size < self.candidates.len()
            && let Some(ranking) = &self.ranking
        {
            let in_model: Vec<u32> = self.terms.iter().map(|(feature, _)| *feature).collect();
            let others = ranking.ranked.iter().map(|candidate| candidate.feature);
            let others = others.filter(|feature| !in_model.contains(feature));
            let mut kept: Vec<u32> = in_model.iter().copied().chain(others).take(size).collect();
            kept.sort_unstable();
            self.candidates = kept;
        }
        self.ask_gradient(round + 1)
    }
}

impl Procedure for Pooled {
    type Fit = Fit;

    fn start(self) -> Step<Self> {
        let questions = self.setting.centre_questions();
        if questions.is_empty() {
            return self.ask_scale(Phase::FirstScale);
        }
        self.ask(Phase::Centre, questions)
    }

    fn resume(mut self, answer: Answer) -> Step<Self> {
        self.provenance = Some(answer.provenance);
        match self.phase.clone() {
            Phase::Centre => {
                self.opening = self.setting.centre_of(&answer);
                self.intercept = self.opening.intercept;
                if let Some(scale) = self.setting.scale_without_question(&self.opening, &[]) {
                    self.scale = scale;
                    self.expected_scale = scale;
                    return self.after_opening();
                }
                self.ask_scale(Phase::FirstScale)
            }
            Phase::FirstScale => {
                self.take_scale(&answer);
                self.after_opening()
            }
            Phase::Joint => {
                self.take_joint(&answer);
                self.ask_scale(Phase::JointScale)
            }
            Phase::JointScale => {
                self.take_scale(&answer);
                self.ask_gradient(0)
            }
            Phase::Gradient { round, clip } => {
                self.take_gradient(round, clip, &answer);
                let last = round + 1 == self.schedule.rounds.len();
                if !last && self.schedule.working == Working::LeastSquares {
                    let mut features = self.setting.always_features();
                    features.extend(self.working_features());
                    let (model, scales) = (self.model(), self.scales());
                    let question = self.setting.moment_question(&features, model, scales);
                    return self.ask(Phase::Working { round, features }, vec![question]);
                }
                self.next_round(round)
            }
            Phase::Working { round, features } => {
                self.take_working(&features, &answer);
                self.next_round(round)
            }
            Phase::Final { asked } => self.finish(&asked, &answer),
            Phase::Refit(refit) => Step::Done(refit.finish(&answer)),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of features are far below 2^53"
)]
fn count(number: usize) -> f64 {
    number as f64
}
