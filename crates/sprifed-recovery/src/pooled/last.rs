//! The last questions of the pooled procedures, about the finalists, and the fit that follows.

use sprifed_query::{Answer, Step};

use super::{Phase, Pooled};
use crate::conclusion::{Conclusion, Evidence, PoolEvidence};
use crate::fit::{Fit, FitStatus};
use crate::inference::{Inferred, NoInference};
use crate::joint::LastAnswer;
use crate::outcome::LastPoint;
use crate::outcome::refit::Ended;
use crate::setting::Keep;
use crate::subset::best_subset;

impl Pooled {
    pub(super) fn ask_final(self) -> Step<Self> {
        let mut finalists: Vec<u32> = self.terms.iter().map(|(feature, _)| *feature).collect();
        let in_model = finalists.clone();
        if let Some(ranking) = &self.ranking {
            let others = ranking.ranked.iter().map(|candidate| candidate.feature);
            finalists.extend(others.filter(|feature| !in_model.contains(feature)));
        }
        finalists.truncate(self.schedule.final_features);
        let mut asked = self.setting.always_features();
        asked.extend(finalists);
        let (point, factor) = (self.last_point(&asked), self.schedule.clip_factor);
        let scales = self.scales_of(point.scale);
        let questions = self
            .setting
            .last_questions(&asked, point.model, scales, factor);
        self.ask(Phase::Final { asked }, questions)
    }

    /// Where the last second moments are asked, about `asked`.
    fn last_point(&self, asked: &[u32]) -> LastPoint {
        let current = self.current(asked);
        let current = LastPoint {
            model: self.model(),
            coefficients: current.iter().map(|value| value / self.scale).collect(),
            scale: self.scale,
        };
        self.setting.last_point(&self.opening, current)
    }

    /// The fit that the second moments of the finalists, asked after the features of every model, give, or what is still
    /// to be asked.
    pub(super) fn finish(self, asked: &[u32], answer: &Answer) -> Step<Self> {
        let always = self.setting.always as usize;
        let point = self.last_point(asked);
        let clip_factor = self.schedule.clip_factor;
        let answer = LastAnswer::new(&self.setting, answer, point.coefficients, clip_factor);
        let Some(answer) = answer else {
            return Step::Done(self.nothing());
        };
        let response = answer.equations().eliminating(always);
        let places = |size: usize| -> Vec<usize> {
            let subset = best_subset(&response, size);
            subset.iter().map(|place| always + place).collect()
        };
        let chosen = places(self.setting.sparsity as usize);
        // Of features that stand in for one another, fewer are told apart
        // (docs/proofs/selective_inference.md#4-conditioning).
        let mut judged = chosen.clone();
        if self.setting.choice == Keep::Significant {
            while !judged.is_empty() && answer.solve(&judged).repaired > 0 {
                judged = places(judged.len() - 1);
            }
        }
        let finalists = &asked[always..];
        let others = self.setting.always..self.setting.n_features;
        let pooled = asked.iter().map(|feature| self.pool.estimate(*feature));
        let evidence = PoolEvidence {
            pooled: pooled.collect(),
            largest_left_out: self
                .pool
                .largest_ratio(others.filter(|feature| !finalists.contains(feature))),
        };
        let ended = Conclusion {
            setting: &self.setting,
            too_few: self.too_few,
            opening: self.opening,
            asked,
            chosen,
            judged: judged.into_iter().map(|place| place..place + 1).collect(),
            answer,
            clip_factor,
            scale: point.scale,
            intercept: point.model.intercept,
            evidence: Evidence::Pool(evidence),
            provenance: self.provenance,
        }
        .ended();
        match ended {
            Ended::Fit(fit) => Step::Done(Fit {
                sites: self.sites.into_deviations(),
                ..*fit
            }),
            Ended::Refit(refit) => {
                let questions = refit.questions();
                self.ask(Phase::Refit(refit), questions)
            }
        }
    }

    /// What an answer without blocks leaves: the current model. No backend gives one.
    fn nothing(self) -> Fit {
        let model = match self.setting.outcome.is_linear() {
            true => self.feature_model(),
            false => self.setting.null_model(&self.opening),
        };
        Fit {
            model,
            sites: self.sites.into_deviations(),
            inference: Inferred::NotAvailable {
                reason: NoInference::NoAnswer,
            },
            status: FitStatus::NoFeatureAboveNoise { largest_ratio: 0.0 },
            residual_scale: Some(self.scale),
            baseline: None,
            cuts: Vec::new(),
            provenance: self.provenance,
        }
    }
}
