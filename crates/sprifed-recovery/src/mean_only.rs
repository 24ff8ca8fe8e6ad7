//! What a study with too few records asks: the mean of the response and the features of every model, nothing else.
//!
//! The mean is asked twice. The first answer is clipped to the public bounds, which are wide; the second one to a few
//! scales of the residual around the first, so that its noise is smaller.

use sprifed_privacy::Mu;
use sprifed_query::{
    Answer, Limit, Plan, PlanError, PlannedStep, PlannedSum, Procedure, Question, Scales, Step,
    SumQuery,
};

use crate::column_scales::ColumnScales;
use crate::conclusion::{Conclusion, Evidence};
use crate::fit::{Fit, FitStatus};
use crate::inference::{Inferred, NoInference};
use crate::joint::LastAnswer;
use crate::opening::{Opening, OpeningCosts};
use crate::outcome::LastCosts;
use crate::outcome::refit::{Ended, Refit};
use crate::portable::larger;
use crate::setting::{Intercept, Setting, share_of};

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// Shares of μ².
const MEAN_SHARE: f64 = 0.35;
const SCALE_SHARE: f64 = 0.2;
const ROW_SCALE_SHARE: f64 = 0.02;

/// The mean is asked a second time if the noise on the histogram of residuals is at most this share of the records.
const MOST_SCALE_NOISE: f64 = 0.25;

/// What is asked, by public facts.
#[derive(Clone, Copy, Debug)]
enum Asked {
    /// The mean alone, or the scale alone where the response is known to be centred.
    One(Mu),
    /// The mean, the scale, and then the mean and the features of every model together.
    All {
        opening: OpeningCosts,
        last: LastCosts,
        robust: Option<Mu>,
        clip_factor: f64,
    },
}

/// The plan of a study with too few records.
pub(crate) fn plan(setting: &Setting) -> Result<Plan, PlanError> {
    let setting = &of_the_mean(setting);
    let sum = |purpose: &str, blocks| PlannedStep::Sum(PlannedSum::new(purpose.to_owned(), blocks));
    let total = setting.total_mu()?;
    let steps = match Asked::of(setting)? {
        Asked::One(all) if setting.intercept == Intercept::Estimated => {
            vec![sum("mean of the response", vec![setting.mean_block(all)?])]
        }
        Asked::One(all) => vec![sum(
            "scale of the response",
            vec![setting.scale_block(all)?],
        )],
        Asked::All {
            opening,
            last,
            robust,
            ..
        } => {
            let mut steps = setting.opening_steps(opening)?;
            let purpose = match setting.always {
                0 => "mean of the response around the first one",
                _ => "second moments of the features of every model",
            };
            let always = setting.always as usize;
            let blocks = setting.last_blocks(always, last.moments, robust)?;
            steps.push(sum(purpose, blocks));
            steps.extend(setting.refit_step(always, last)?);
            steps
        }
    };
    let steps = setting.with_event_times(total, setting.always as usize, steps)?;
    Ok(setting.plan("mean only", steps))
}

/// What is asked of a study that seeks no feature: no units of columns, and no row scale where there is no feature to
/// scale.
pub(crate) fn of_the_mean(setting: &Setting) -> Setting {
    Setting {
        feature_scale: match setting.always {
            0 => setting.feature_scale.or(Some(1.0)),
            _ => setting.feature_scale,
        },
        column_scales: ColumnScales::NONE,
        ..*setting
    }
}

impl Asked {
    fn of(setting: &Setting) -> Result<Self, PlanError> {
        let all = setting.of_procedure(setting.total_mu()?)?;
        let (total, robust) = setting.without_robust(all)?;
        let with_mean = setting.intercept == Intercept::Estimated;
        let has_scale = setting.outcome.has_scale_of_mean();
        let mut others = if has_scale { 0.0 } else { SCALE_SHARE };
        others += if with_mean { MEAN_SHARE } else { 0.0 };
        others += if setting.asks_row_scale() {
            ROW_SCALE_SHARE
        } else {
            0.0
        };
        let opening = OpeningCosts {
            scale: share_of(total, SCALE_SHARE, 1)?,
            mean: share_of(total, MEAN_SHARE, 1)?,
            row_scale: share_of(total, ROW_SCALE_SHARE, 1)?,
            columns: share_of(total, Setting::column_share(), 1)?,
        };
        let last = share_of(total, 1.0 - others, 1)?;
        let shares = setting.origin.most_shares();
        if setting.always == 0 && has_scale {
            return Ok(Self::One(all));
        }
        let last = setting.last_costs(last)?;
        if setting.always == 0 {
            let scale_noise = setting.scale_block(opening.scale)?.noise_std_dev(shares);
            let is_told = scale_noise <= MOST_SCALE_NOISE * f64::from(setting.n_records);
            if !with_mean || !is_told {
                return Ok(Self::One(all));
            }
        }
        setting.check_told_apart(0, last.moments)?;
        let always = setting.always as usize;
        let blocks = setting.last_blocks(always, last.moments, robust)?;
        Ok(Self::All {
            opening,
            last,
            robust,
            clip_factor: setting.planned_clip_factor(always, &blocks),
        })
    }
}

/// A run with too few records, waiting for an answer.
#[derive(Clone, Debug)]
pub(crate) struct MeanOnly {
    setting: Setting,
    /// How many records would do.
    needed: u64,
    asked: Asked,
    phase: Phase,
    step: usize,
    opening: Opening,
    scale: f64,
}

#[derive(Clone, Debug)]
enum Phase {
    Centre,
    Scale,
    Final,
    Refit(Box<Refit>),
}

impl MeanOnly {
    /// A run for `setting`, one [`of_the_mean`], of which `needed` records would do.
    pub(crate) fn new(setting: &Setting, needed: u64) -> Result<Self, PlanError> {
        Ok(Self {
            asked: Asked::of(setting)?,
            opening: Opening::before(setting),
            scale: setting.response_bound,
            phase: Phase::Centre,
            step: 0,
            setting: *setting,
            needed,
        })
    }

    fn ask(mut self, phase: Phase, questions: Vec<Question>) -> Step<Self> {
        self.phase = phase;
        let query = SumQuery::next(&mut self.step, questions);
        Step::Ask(query, self)
    }

    fn ask_scale(self) -> Step<Self> {
        let question = self.setting.scale_question(self.opening.model());
        self.ask(Phase::Scale, vec![question])
    }

    fn ask_last(mut self, clip_factor: f64) -> Step<Self> {
        // A residual is not smaller than the first mean is wrong, whatever the noisy histogram says.
        if !self.setting.outcome.has_scale_of_mean() {
            self.scale = larger(self.scale, self.opening.mean_noise.unwrap_or(0.0));
        }
        let scales = Scales {
            feature: Limit::nearest(self.opening.feature_scale),
            residual: Limit::nearest(self.scale),
        };
        let always = self.setting.always_features();
        let model = self.opening.model();
        let questions = self
            .setting
            .last_questions(&always, model, scales, clip_factor);
        self.ask(Phase::Final, questions)
    }

    /// The fit after one answer: the model is the mean.
    fn after_one(&self, answer: &Answer) -> Fit {
        let has_scale = self.setting.intercept == Intercept::Absent;
        Fit {
            model: self.setting.null_model(&self.opening),
            sites: self.equal_sites(),
            inference: Inferred::NotAvailable {
                reason: NoInference::TooFewRecords,
            },
            status: FitStatus::TooFewRecords {
                needed: self.needed,
            },
            residual_scale: has_scale.then_some(self.scale),
            baseline: None,
            cuts: Vec::new(),
            provenance: Some(answer.provenance),
        }
    }

    fn finish(self, clip_factor: f64, answer: &Answer) -> Step<Self> {
        let always = self.setting.always_features();
        let current = vec![0.0; always.len()];
        let Some(last) = LastAnswer::new(&self.setting, answer, current, clip_factor) else {
            return Step::Done(self.after_one(answer));
        };
        let ended = Conclusion {
            setting: &self.setting,
            too_few: Some(self.needed),
            opening: self.opening,
            asked: &always,
            chosen: Vec::new(),
            judged: Vec::new(),
            answer: last,
            clip_factor,
            scale: self.scale,
            intercept: self.opening.intercept,
            evidence: Evidence::Picks(Vec::new()),
            provenance: Some(answer.provenance),
        }
        .ended();
        match ended {
            Ended::Fit(fit) => Step::Done(Fit {
                sites: self.equal_sites(),
                ..*fit
            }),
            Ended::Refit(refit) => {
                let questions = refit.questions();
                self.ask(Phase::Refit(refit), questions)
            }
        }
    }

    /// No site differs from the others in a model that was made without asking for it.
    fn equal_sites(&self) -> Vec<f64> {
        vec![0.0; self.setting.sites.count()]
    }
}

impl Procedure for MeanOnly {
    type Fit = Fit;

    fn start(self) -> Step<Self> {
        let questions = self.setting.centre_questions();
        if questions.is_empty() {
            return self.ask_scale();
        }
        self.ask(Phase::Centre, questions)
    }

    fn resume(mut self, answer: Answer) -> Step<Self> {
        match (self.phase.clone(), self.asked) {
            (Phase::Centre, asked) => {
                self.opening = self.setting.centre_of(&answer);
                let known = self.setting.scale_without_question(&self.opening, &[]);
                match (asked, known) {
                    (Asked::One(_), _) => Step::Done(self.after_one(&answer)),
                    (Asked::All { clip_factor, .. }, Some(scale)) => {
                        self.scale = scale;
                        self.ask_last(clip_factor)
                    }
                    (Asked::All { .. }, None) => self.ask_scale(),
                }
            }
            (Phase::Scale, asked) => {
                self.scale = self.setting.scale_after(&answer, self.scale);
                match asked {
                    Asked::One(_) => Step::Done(self.after_one(&answer)),
                    Asked::All { clip_factor, .. } => self.ask_last(clip_factor),
                }
            }
            (Phase::Final, Asked::All { clip_factor, .. }) => self.finish(clip_factor, &answer),
            (Phase::Refit(refit), _) => Step::Done(refit.finish(&answer)),
            (Phase::Final, Asked::One(_)) => Step::Done(self.after_one(&answer)),
        }
    }
}
