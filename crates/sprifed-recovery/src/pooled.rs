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
use crate::fit::{Fit, FitStatus};
use crate::pool::{Pool, Ranking, median};
use crate::portable::{larger, smaller, square};
use crate::ready::Ready;
use crate::schedule::{Schedule, Working};
use crate::setting::Setting;
use crate::subset::best_subset;

#[cfg(test)]
pub(crate) mod tests;

/// Certified GRAD.
pub(crate) static GRAD: Entry = Entry {
    name: "grad",
    about: "Certified GRAD: for correlated features",
    needs: Needs::Sums,
    version: 1,
    plan: |setting| Schedule::of(setting, Working::LeastSquares)?.plan(setting),
    begin: |setting| begin(setting, Working::LeastSquares),
};

/// The sieve.
pub(crate) static SIEVE: Entry = Entry {
    name: "sieve",
    about: "The sieve: for weakly correlated features",
    needs: Needs::Sums,
    version: 1,
    plan: |setting| Schedule::of(setting, Working::Pooled)?.plan(setting),
    begin: |setting| begin(setting, Working::Pooled),
};

fn begin(setting: &Setting, working: Working) -> Result<Ready, PlanError> {
    let schedule = Schedule::of(setting, working)?;
    Ok(Ready::sums(Pooled::new(*setting, schedule)))
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
    /// Coefficients in units of scaled features.
    terms: Vec<(u32, f64)>,
    intercept: f64,
    feature_scale: f64,
    scale: f64,
    expected_scale: f64,
    /// The model with the smallest residual so far.
    best: Option<Best>,
    provenance: Option<Provenance>,
}

/// A model and the scale of its residual.
#[derive(Clone, Debug)]
struct Best {
    terms: Vec<(u32, f64)>,
    intercept: f64,
    scale: f64,
}

#[derive(Clone, Debug)]
enum Phase {
    FirstScale,
    Gradient { round: usize, clip: f64 },
    Working { round: usize, features: Vec<u32> },
    Final { finalists: Vec<u32> },
}

impl Pooled {
    /// A run of `schedule`.
    #[must_use]
    pub fn new(setting: Setting, schedule: Schedule) -> Self {
        Self {
            pool: Pool::new(setting.n_features as usize),
            candidates: (0..setting.n_features).collect(),
            phase: Phase::FirstScale,
            step: 0,
            ranking: None,
            terms: Vec::new(),
            intercept: 0.0,
            feature_scale: setting.feature_scale.unwrap_or(1.0),
            scale: setting.response_bound,
            expected_scale: setting.response_bound,
            best: None,
            provenance: None,
            setting,
            schedule,
        }
    }

    fn records(&self) -> f64 {
        f64::from(self.setting.n_records)
    }

    /// The current model in bounded units.
    fn model(&self) -> LinearModel {
        let terms = self
            .terms
            .iter()
            .map(|(feature, value)| (*feature, value / self.feature_scale));
        LinearModel {
            intercept: self.intercept,
            terms: terms.collect(),
        }
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

    fn ask_gradient(self, round: usize) -> Step<Self> {
        let planned = self.schedule.rounds[round];
        let noise_variance = count(self.candidates.len()) / square(planned.cost.get());
        let clip = best_clip(noise_variance, self.records()) * self.expected_scale;
        let gradient = Question::RowClippedGradient {
            model: self.model().into(),
            features: FeatureSet::only(&self.candidates),
            row_norm: Limit::nearest(self.row_norm()),
            residual_limit: Limit::nearest(clip),
        };
        let questions = vec![gradient, self.setting.scale_question(self.model())];
        self.ask(Phase::Gradient { round, clip }, questions)
    }

    fn row_norm(&self) -> f64 {
        count(self.candidates.len()).sqrt() * self.feature_scale
    }

    fn take_first(&mut self, answer: &Answer) {
        let opening = self.setting.opening_of(answer);
        self.scale = opening.scale;
        self.expected_scale = opening.scale;
        self.intercept = opening.intercept;
        self.feature_scale = opening.feature_scale;
    }

    /// Pools the de-biased gradient and ranks the candidates.
    fn take_gradient(&mut self, round: usize, clip: f64, answer: &Answer) {
        if let Some(block) = answer.blocks.get(1) {
            self.scale = self.setting.scale_of(block);
        }
        let Some(block) = answer.blocks.first() else {
            return;
        };
        let size = self.candidates.len();
        // In units of scaled features the row norm is √K.
        let unit = count(size).sqrt();
        let noise_variance = square(block.noise_std_dev * unit);
        let inactive = size > 20 * self.setting.sparsity as usize;
        let centre = if inactive { median(&block.values) } else { 0.0 };
        let relative = clip / self.scale;
        let factor = clip / (self.records() * kept_signal(relative));
        let variance =
            factor * factor * (noise_variance + self.records() * clipped_variance(relative));
        let mut current = vec![0.0; self.setting.n_features as usize];
        for (feature, value) in &self.terms {
            current[*feature as usize] = *value;
        }
        for (feature, value) in self.candidates.iter().zip(&block.values) {
            let estimate = current[*feature as usize] + factor * (value - centre) * unit;
            self.pool.add(*feature, estimate, variance);
        }
        let are_all = size == self.setting.n_features as usize;
        self.ranking = Some(self.pool.rank(&self.candidates, are_all));
        let last = round + 1 == self.schedule.rounds.len();
        match self.schedule.working {
            Working::LeastSquares => self.give_up_if_worse(),
            Working::Pooled if !last => {
                self.adopt(self.standing_out(self.setting.sparsity as usize));
            }
            Working::Pooled => {}
        }
    }

    /// Returns to the best model if the current one's residual is clearly larger. Estimates of
    /// correlated features add up to too much when they enter a model together; fewer will the
    /// next time.
    fn give_up_if_worse(&mut self) {
        match &self.best {
            Some(best) if self.scale > WORSE * best.scale => {
                self.terms.clone_from(&best.terms);
                self.intercept = best.intercept;
                self.scale = best.scale;
            }
            Some(best) if self.scale > best.scale => {}
            _ => {
                let (terms, intercept, scale) = (self.terms.clone(), self.intercept, self.scale);
                self.best = Some(Best {
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

    fn moment_question(&self, support: &[u32]) -> Question {
        let scales = Scales {
            feature: Limit::nearest(self.feature_scale),
            residual: Limit::nearest(self.scale),
        };
        self.setting.moment_question(support, self.model(), scales)
    }

    /// Coefficients of `features` in the current model.
    fn current(&self, features: &[u32]) -> Vec<f64> {
        let of = |feature: &u32| self.terms.iter().find(|(known, _)| known == feature);
        features
            .iter()
            .map(|feature| of(feature).map_or(0.0, |(_, value)| *value))
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

    fn ask_final(self) -> Step<Self> {
        let mut finalists: Vec<u32> = self.terms.iter().map(|(feature, _)| *feature).collect();
        let in_model = finalists.clone();
        if let Some(ranking) = &self.ranking {
            let others = ranking.ranked.iter().map(|candidate| candidate.feature);
            finalists.extend(others.filter(|feature| !in_model.contains(feature)));
        }
        finalists.truncate(self.schedule.final_features);
        let question = self.moment_question(&finalists);
        self.ask(Phase::Final { finalists }, vec![question])
    }

    /// The support and coefficients from the second moments of the finalists.
    fn finish(self, finalists: &[u32], answer: &Answer) -> Fit {
        let Some(moments) = self.setting.moments_of(answer, finalists.len()) else {
            return self.nothing();
        };
        let equations = moments.normal_equations();
        let current = self.current(finalists);
        let before: Vec<f64> = current.iter().map(|value| value / self.scale).collect();
        let response = equations.shifted(&before);
        let chosen = best_subset(&response, self.setting.sparsity as usize);
        let dropped: Vec<f64> = (0..before.len())
            .map(|index| {
                if chosen.contains(&index) {
                    0.0
                } else {
                    before[index]
                }
            })
            .collect();
        let chosen_equations = equations.shifted(&dropped).restricted(&chosen);
        let solution = chosen_equations.solve_expecting(1.0 / count(chosen.len().max(1)));
        let mut changes: Vec<f64> = dropped.iter().map(|value| -value).collect();
        let mut coefficients = Vec::new();
        for (index, change) in chosen.iter().zip(&solution.coefficients) {
            changes[*index] = *change;
            coefficients.push(before[*index] + change);
        }
        let unit = self.scale / self.feature_scale;
        let terms = chosen.iter().zip(&coefficients);
        let terms = terms
            .map(|(index, value)| (finalists[*index], value * unit))
            .collect();
        let intercept = self.intercept + self.scale * moments.intercept_change(&changes);
        Fit {
            model: LinearModel { intercept, terms },
            noise_std_devs: solution
                .noise_std_devs
                .iter()
                .map(|noise| noise * unit)
                .collect(),
            status: solution.status_among(&coefficients, self.setting.n_features),
            residual_scale: Some(self.scale),
            provenance: self.provenance,
        }
    }

    /// What an answer without blocks leaves: the current model. No backend gives one.
    fn nothing(self) -> Fit {
        Fit {
            noise_std_devs: vec![f64::INFINITY; self.terms.len()],
            model: self.model(),
            status: FitStatus::NoFeatureAboveNoise { largest_ratio: 0.0 },
            residual_scale: Some(self.scale),
            provenance: self.provenance,
        }
    }
}

impl Procedure for Pooled {
    type Fit = Fit;

    fn start(self) -> Step<Self> {
        let questions = self.setting.opening_questions();
        self.ask(Phase::FirstScale, questions)
    }

    fn resume(mut self, answer: Answer) -> Step<Self> {
        self.provenance = Some(answer.provenance);
        match self.phase.clone() {
            Phase::FirstScale => {
                self.take_first(&answer);
                self.ask_gradient(0)
            }
            Phase::Gradient { round, clip } => {
                self.take_gradient(round, clip, &answer);
                let last = round + 1 == self.schedule.rounds.len();
                if !last && self.schedule.working == Working::LeastSquares {
                    let features = self.working_features();
                    let question = self.moment_question(&features);
                    return self.ask(Phase::Working { round, features }, vec![question]);
                }
                self.next_round(round)
            }
            Phase::Working { round, features } => {
                self.take_working(&features, &answer);
                self.next_round(round)
            }
            Phase::Final { finalists } => Step::Done(self.finish(&finalists, &answer)),
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
