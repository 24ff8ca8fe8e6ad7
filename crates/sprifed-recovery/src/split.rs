//! Features chosen by one part of the records, their coefficients estimated by the other.
//!
//! The procedure runs as it is with the records for the selection and the whole budget, and decides which features are kept.
//! Then the records for the estimates, on which no answer so far depends, are asked about these features, again with the
//! whole budget: a record is in one part, so it is in the answers about that part only
//! (docs/proofs/composition.md#10-two-parts-of-the-records).
//!
//! # Why
//! Given the selection, estimates from other records are as if the features had been named in advance. Their intervals are
//! ordinary ones, whatever the procedure did.

use core::ops::{ControlFlow, Range};

use sprifed_privacy::{Mu, NoiseOrigin, PrivacyUnit, RecordPart, counted};
use sprifed_query::{
    Answer, ChoosingProcedure, ChoosingStep, Limit, LinearModel, Plan, PlanError, PlannedBlock,
    PlannedStep, PlannedSum, Procedure, Question, ROW_BUCKETS, Scales, Step, SumQuery,
};

use crate::catalogue::Entry;
use crate::conclusion::{Conclusion, Evidence};
use crate::fit::{Fit, FitStatus};
use crate::inference::{Inferred, NoInference};
use crate::joint::LastAnswer;
use crate::opening::Opening;
use crate::ready::Ready;
use crate::residual_scale::estimate_row_scale;
use crate::setting::{InferenceMethod, Setting, share_of};

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// Shares of μ² of the records for the estimates: the scale of the residual, and of a row of features if it is not public.
const SCALE_SHARE: f64 = 0.05;
const ROW_SCALE_SHARE: f64 = 0.02;

impl Setting {
    /// What the procedure runs with: the setting of the records for the selection, if they are not all.
    #[must_use]
    pub fn selecting(&self) -> Self {
        self.within(RecordPart::Selection)
    }

    /// The setting of the records of `part`, with which a procedure runs as if there were no others.
    fn within(&self, part: RecordPart) -> Self {
        if self.inference.is_selective() {
            return *self;
        }
        let records = part.size(u64::from(self.n_records));
        // Intervals are computed from the records for the estimates, so only these are asked for what robust ones need.
        let robust = self.robust && part == RecordPart::Estimation;
        Self {
            robust,
            n_records: u32::try_from(records).unwrap_or(self.n_records),
            inference: InferenceMethod::Selective,
            ..*self
        }
    }

    /// Refuses to split records where no proof says what that costs, or what the intervals are worth.
    pub(crate) fn check_split(&self) -> Result<(), PlanError> {
        if self.inference.is_selective() {
            return Ok(());
        }
        let found = "the inference \"split\"".to_owned();
        let refuse = |required: &str| {
            let required = required.to_owned();
            Err(PlanError::Request {
                found: found.clone(),
                required,
            })
        };
        if self.unit == PrivacyUnit::Client {
            return refuse("it is built for records as the unit of privacy: use \"selective\"");
        }
        if self.origin != NoiseOrigin::Curator {
            return refuse(
                "it is built for a curator, who knows the place of each record: use \"selective\" with other backends \
                 and in studies between parties",
            );
        }
        if !self.sites.is_empty() {
            return refuse(
                "it is not built for site effects, because the records of a site in each part are not public: use \
                 \"selective\", or no site effects",
            );
        }
        if !self.column_scales.is_empty() {
            return refuse(
                "it is not built for private units of columns: use \"selective\", or give columns scales in the schema",
            );
        }
        if RecordPart::Estimation.size(u64::from(self.n_records)) < 2 {
            let records = counted(self.n_records, "record leaves", "records leave");
            return refuse(&format!("{records} fewer than 2 for the estimates"));
        }
        Ok(())
    }
}

/// The plan of `entry` for the records for the selection, and then the questions for the others.
pub(crate) fn plan(entry: &Entry, setting: &Setting) -> Result<Plan, PlanError> {
    setting.check()?;
    let mut plan = (entry.plan)(&setting.selecting())?;
    let selection = plan.steps.into_iter();
    let selection = selection.map(|step| step.about(RecordPart::Selection));
    let estimation = Costs::of(&setting.within(RecordPart::Estimation))?;
    let estimation = estimation.steps()?.into_iter();
    let estimation = estimation.map(|step| step.about(RecordPart::Estimation));
    plan.steps = selection.chain(estimation).collect();
    Ok(plan)
}

/// The procedure of `entry`, about to ask its first question.
pub(crate) fn begin(entry: &Entry, setting: &Setting) -> Result<Ready, PlanError> {
    setting.check()?;
    let selecting = setting.selecting();
    let estimator = Box::new(Estimator {
        costs: Costs::of(&setting.within(RecordPart::Estimation))?,
        n_records: setting.n_records,
        step: (entry.plan)(&selecting)?.steps.len(),
        too_few: setting.too_few_records(entry.needs, &plan(entry, setting)?)?,
    });
    Ok(match (entry.begin)(&selecting)? {
        Ready::Sums(procedure) => Ready::sums(Split::Selecting(procedure, estimator)),
        Ready::Choices(procedure) => Ready::choices(Split::Selecting(procedure, estimator)),
    })
}

/// What the questions for the estimates may cost.
#[derive(Clone, Copy, Debug)]
struct Costs {
    /// The setting of the records for the estimates.
    setting: Setting,
    scale: Mu,
    row_scale: Mu,
    last: Mu,
    robust: Option<Mu>,
}

impl Costs {
    fn of(setting: &Setting) -> Result<Self, PlanError> {
        let (total, robust) = setting.without_robust(setting.total_mu()?)?;
        let mut others = SCALE_SHARE;
        others += match setting.feature_scale {
            None => ROW_SCALE_SHARE,
            Some(_) => 0.0,
        };
        let last = share_of(total, 1.0 - others, 1)?;
        setting.check_always(last)?;
        Ok(Self {
            setting: *setting,
            scale: share_of(total, SCALE_SHARE, 1)?,
            row_scale: share_of(total, ROW_SCALE_SHARE, 1)?,
            last,
            robust,
        })
    }

    fn steps(&self) -> Result<[PlannedStep; 2], PlanError> {
        let setting = &self.setting;
        let mut scales = vec![setting.scale_block(self.scale)?];
        if setting.feature_scale.is_none() {
            let (planner, counts) = (setting.planner(), setting.count_rounding());
            scales.push(planner.ball("row scale", ROW_BUCKETS, self.row_scale, counts)?);
        }
        let sum = |purpose: &str, blocks| {
            PlannedStep::Sum(PlannedSum::new(
                format!("{purpose}, by {}", RecordPart::Estimation.text()),
                blocks,
            ))
        };
        Ok([
            sum("residual scale of the kept features", scales),
            sum("second moments of the kept features", self.last_blocks()?),
        ])
    }

    /// The blocks of the last question, if all features that are sought are kept.
    fn last_blocks(&self) -> Result<Vec<PlannedBlock>, PlanError> {
        let most = self.setting.most_features(self.setting.sparsity);
        self.setting.last_blocks(most, self.last, self.robust)
    }
}

/// A procedure that chooses features by some records, and then the questions for the others.
#[derive(Clone, Debug)]
enum Split<P> {
    Selecting(P, Box<Estimator>),
    Estimating(Box<Estimation>),
}

/// The questions for the estimates, waiting for an answer.
#[derive(Clone, Debug)]
struct Estimation {
    estimator: Box<Estimator>,
    selected: Selected,
    /// Absent until the first answer.
    scaled: Option<Scaled>,
}

/// What asks the records for the estimates.
#[derive(Clone, Debug)]
struct Estimator {
    costs: Costs,
    /// n: how many records both parts have.
    n_records: u32,
    /// The next step of the plan.
    step: usize,
    /// How many records would do, if there are too few.
    too_few: Option<u64>,
}

/// What the selection ended with.
#[derive(Clone, Debug)]
struct Selected {
    fit: Fit,
    /// The features of every model and the kept ones, with their estimates by the records for the selection.
    model: LinearModel,
}

/// The units of the last question.
#[derive(Clone, Copy, Debug)]
struct Scaled {
    residual: f64,
    feature: f64,
    clip_factor: f64,
}

impl Selected {
    /// # Why
    /// Every feature of the model is asked about, so that what is estimated does not depend on features that were dropped.
    fn of(fit: Fit, setting: &Setting) -> Self {
        let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
        let model = match fit.inference.available() {
            Some(inference) => LinearModel {
                intercept: finite(inference.intercept.as_ref().map_or(0.0, |own| own.estimate)),
                terms: inference
                    .terms
                    .iter()
                    .map(|term| (term.feature, finite(term.estimate)))
                    .collect(),
            },
            // A procedure that says nothing of its coefficients keeps all features of its model.
            None => {
                let most = setting.most_features(setting.sparsity);
                let terms = fit.model.terms.iter().take(most);
                LinearModel {
                    intercept: finite(fit.model.intercept),
                    terms: terms
                        .map(|(feature, value)| (*feature, finite(*value)))
                        .collect(),
                }
            }
        };
        Self { fit, model }
    }

    fn features(&self) -> Vec<u32> {
        self.model
            .terms
            .iter()
            .map(|(feature, _)| *feature)
            .collect()
    }
}

impl Estimator {
    fn ask_scale(&mut self, selected: &Selected) -> SumQuery {
        let setting = &self.costs.setting;
        let mut questions = vec![setting.scale_question(selected.model.clone())];
        if setting.feature_scale.is_none() {
            questions.push(Question::RowScale {
                features: setting.n_features,
                largest: Limit::nearest(setting.feature_bound),
            });
        }
        SumQuery::next(&mut self.step, questions)
    }

    fn scaled(&self, selected: &Selected, answer: &Answer) -> Scaled {
        let setting = &self.costs.setting;
        let feature = || {
            let block = answer.blocks.get(1)?;
            Some(estimate_row_scale(&block.values, setting.feature_bound))
        };
        let blocks = self.costs.last_blocks().unwrap_or_default();
        Scaled {
            residual: setting.scale_after(answer, setting.response_bound),
            feature: setting.feature_scale.or_else(feature).unwrap_or(1.0),
            clip_factor: setting.planned_clip_factor(selected.model.terms.len(), &blocks),
        }
    }

    fn ask_last(&mut self, selected: &Selected, scaled: Scaled) -> SumQuery {
        let scales = Scales {
            feature: Limit::nearest(scaled.feature),
            residual: Limit::nearest(scaled.residual),
        };
        let (features, model) = (selected.features(), selected.model.clone());
        let setting = &self.costs.setting;
        let questions = setting.last_questions(&features, model, scales, scaled.clip_factor);
        SumQuery::next(&mut self.step, questions)
    }

    /// The fit: the model that predicts is that of the selection, what is said of its coefficients is not.
    fn finish(&self, selected: Selected, scaled: Scaled, answer: &Answer) -> Fit {
        let setting = &self.costs.setting;
        let asked = selected.features();
        let Selected { fit, model } = selected;
        let unit = scaled.feature / scaled.residual;
        let current = model.terms.iter().map(|(_, value)| value * unit).collect();
        let Some(answer) = LastAnswer::new(setting, answer, current, scaled.clip_factor) else {
            let reason = NoInference::NoAnswer;
            return Fit {
                inference: Inferred::NotAvailable { reason },
                ..fit
            };
        };
        let chosen = setting.always as usize..asked.len();
        let mut judged: Vec<Range<usize>> = Vec::new();
        for place in chosen.clone() {
            let group = setting.groups.of_feature(asked[place]);
            match judged.last_mut() {
                Some(unit) if group.contains(&asked[unit.start]) => unit.end = place + 1,
                _ => judged.push(place..place + 1),
            }
        }
        let estimated = Conclusion {
            setting,
            too_few: self.too_few,
            opening: Opening {
                feature_scale: scaled.feature,
                ..Opening::before(setting)
            },
            asked: &asked,
            chosen: chosen.collect(),
            judged,
            answer,
            clip_factor: scaled.clip_factor,
            scale: scaled.residual,
            intercept: model.intercept,
            evidence: Evidence::OtherRecords,
            provenance: fit.provenance,
        };
        let (mut inference, unsound) = estimated.estimates();
        inference.estimated_by = Some(inference.records);
        inference.records = self.n_records;
        inference.inference = InferenceMethod::Split;
        Fit {
            status: match (fit.status, unsound) {
                (FitStatus::Complete, Some(status)) => status,
                (status, _) => status,
            },
            inference: Inferred::Available(inference),
            ..fit
        }
    }
}

impl Estimation {
    /// The first question for the estimates.
    fn begin(mut estimator: Box<Estimator>, fit: Fit) -> (SumQuery, Box<Self>) {
        let selected = Selected::of(fit, &estimator.costs.setting);
        let query = estimator.ask_scale(&selected);
        let waiting = Self {
            estimator,
            selected,
            scaled: None,
        };
        (query, Box::new(waiting))
    }

    /// The next question, or the fit.
    fn resume(mut self: Box<Self>, answer: &Answer) -> ControlFlow<Fit, (SumQuery, Box<Self>)> {
        if let Some(scaled) = self.scaled {
            return ControlFlow::Break(self.estimator.finish(self.selected, scaled, answer));
        }
        let scaled = self.estimator.scaled(&self.selected, answer);
        let query = self.estimator.ask_last(&self.selected, scaled);
        self.scaled = Some(scaled);
        ControlFlow::Continue((query, self))
    }
}

impl<P: Procedure<Fit = Fit>> Split<P> {
    fn after_sums(step: Step<P>, estimator: Box<Estimator>) -> Step<Self> {
        match step {
            Step::Ask(query, waiting) => Step::Ask(query, Self::Selecting(waiting, estimator)),
            Step::Done(fit) => {
                let (query, estimation) = Estimation::begin(estimator, fit);
                Step::Ask(query, Self::Estimating(estimation))
            }
        }
    }
}

impl<P: Procedure<Fit = Fit>> Procedure for Split<P> {
    type Fit = Fit;

    fn start(self) -> Step<Self> {
        match self {
            Self::Selecting(procedure, estimator) => Self::after_sums(procedure.start(), estimator),
            // A run starts once.
            Self::Estimating(estimation) => Step::Done(estimation.selected.fit),
        }
    }

    fn resume(self, answer: Answer) -> Step<Self> {
        match self {
            Self::Selecting(procedure, estimator) => {
                Self::after_sums(procedure.resume(answer), estimator)
            }
            Self::Estimating(estimation) => match estimation.resume(&answer) {
                ControlFlow::Continue((query, waiting)) => {
                    Step::Ask(query, Self::Estimating(waiting))
                }
                ControlFlow::Break(fit) => Step::Done(fit),
            },
        }
    }
}

impl<P: ChoosingProcedure<Fit = Fit>> Split<P> {
    fn after_choices(step: ChoosingStep<P>, estimator: Box<Estimator>) -> ChoosingStep<Self> {
        match step {
            ChoosingStep::Ask(query, waiting) => {
                ChoosingStep::Ask(query, Self::Selecting(waiting, estimator))
            }
            ChoosingStep::Choose(query, waiting) => {
                ChoosingStep::Choose(query, Self::Selecting(waiting, estimator))
            }
            ChoosingStep::Done(fit) => {
                let (query, estimation) = Estimation::begin(estimator, fit);
                ChoosingStep::Ask(query, Self::Estimating(estimation))
            }
        }
    }
}

impl<P: ChoosingProcedure<Fit = Fit>> ChoosingProcedure for Split<P> {
    type Fit = Fit;

    fn start(self) -> ChoosingStep<Self> {
        match self {
            Self::Selecting(procedure, estimator) => {
                Self::after_choices(procedure.start(), estimator)
            }
            // A run starts once.
            Self::Estimating(estimation) => ChoosingStep::Done(estimation.selected.fit),
        }
    }

    fn resume(self, answer: Answer) -> ChoosingStep<Self> {
        match self {
            Self::Selecting(procedure, estimator) => {
                Self::after_choices(procedure.resume(answer), estimator)
            }
            Self::Estimating(estimation) => match estimation.resume(&answer) {
                ControlFlow::Continue((query, waiting)) => {
                    ChoosingStep::Ask(query, Self::Estimating(waiting))
                }
                ControlFlow::Break(fit) => ChoosingStep::Done(fit),
            },
        }
    }

    fn chosen(self, index: usize) -> ChoosingStep<Self> {
        match self {
            Self::Selecting(procedure, estimator) => {
                Self::after_choices(procedure.chosen(index), estimator)
            }
            // The estimates ask for sums only.
            Self::Estimating(estimation) => ChoosingStep::Done(estimation.selected.fit),
        }
    }
}
