//! How every baseline ends: the features that it chose are refitted from one question for their second moments.

use sprifed_noise::Provenance;
use sprifed_query::{Answer, Limit, LinearModel, Question, Scales};
use sprifed_recovery::{Fit, FitStatus, Inferred, NoInference, Opening, Setting};

/// Baselines are compared by what they find and predict.
const NO_INFERENCE: Inferred = Inferred::NotAvailable {
    reason: NoInference::Procedure,
};

/// The features that a baseline chose, about to be refitted.
///
/// | asked | what follows |
/// |---|---|
/// | scale of the residual that they leave | its unit |
/// | their second moments | coefficients, done |
#[derive(Clone, Debug)]
pub(super) struct Refit {
    setting: Setting,
    opening: Opening,
    /// Features and coefficients, in units of scaled features.
    terms: Vec<(u32, f64)>,
    scale: f64,
}

impl Refit {
    /// A refit of `terms`, whose coefficients are in units of scaled features.
    pub(super) const fn new(setting: Setting, opening: Opening, terms: Vec<(u32, f64)>) -> Self {
        let scale = opening.scale;
        Self {
            setting,
            opening,
            terms,
            scale,
        }
    }

    /// The question for the scale of the residual.
    pub(super) fn scale_question(&self) -> Question {
        self.setting.scale_question(self.model())
    }

    /// The question for the second moments; the coefficients are forgotten if the response is smaller than the
    /// residual that they leave.
    pub(super) fn moment_question(&mut self, answer: &Answer) -> Question {
        let block = answer.blocks.first();
        self.scale = block.map_or(self.scale, |block| self.setting.scale_of(block));
        if self.scale > self.opening.scale {
            self.scale = self.opening.scale;
            self.terms.iter_mut().for_each(|(_, value)| *value = 0.0);
        }
        let support: Vec<u32> = self.terms.iter().map(|(feature, _)| *feature).collect();
        let scales = Scales {
            feature: Limit::nearest(self.opening.feature_scale),
            residual: Limit::nearest(self.scale),
        };
        self.setting.moment_question(&support, self.model(), scales)
    }

    /// The fit that the second moments give.
    pub(super) fn finish(mut self, answer: &Answer, provenance: Option<Provenance>) -> Fit {
        let scale = self.scale;
        let Some(moments) = self.setting.moments_of(answer, self.terms.len()) else {
            return Fit {
                sites: Vec::new(),
                model: self.model(),
                inference: NO_INFERENCE,
                status: FitStatus::NoFeatureAboveNoise { largest_ratio: 0.0 },
                residual_scale: Some(scale),
                baseline: None,
                cuts: Vec::new(),
                provenance,
            };
        };
        let expected = 1.0 / f64::from(self.setting.sparsity);
        let solution = moments.normal_equations().solve_expecting(expected);
        self.opening.intercept += scale * moments.intercept_change(&solution.coefficients);
        for ((_, coefficient), change) in self.terms.iter_mut().zip(&solution.coefficients) {
            *coefficient += scale * change;
        }
        let relative: Vec<f64> = self.terms.iter().map(|(_, value)| value / scale).collect();
        Fit {
            sites: Vec::new(),
            model: self.model(),
            inference: NO_INFERENCE,
            status: solution.status_among(&relative, self.setting.n_features),
            residual_scale: Some(scale),
            baseline: None,
            cuts: Vec::new(),
            provenance,
        }
    }

    /// The model in bounded units.
    fn model(&self) -> LinearModel {
        model_of(&self.terms, &self.opening)
    }
}

/// The model of `terms`, whose coefficients are in units of scaled features, in bounded units.
pub(super) fn model_of(terms: &[(u32, f64)], opening: &Opening) -> LinearModel {
    let unit = opening.feature_scale;
    let terms = terms
        .iter()
        .map(|(feature, value)| (*feature, value / unit));
    LinearModel {
        intercept: opening.intercept,
        terms: terms.collect(),
    }
}
