//! SPriFed-OMP [SPRIFED, Algorithm 3]: matching pursuit on noisy correlations.

use sprifed_noise::Provenance;
use sprifed_query::{Answer, AnswerBlock, FeatureSet, Limit, Procedure, Question, Step, SumQuery};

use super::private_ols::PrivateOls;
use super::{Limits, Solver, SupportNoise};
use sprifed_recovery::Fit;
use sprifed_recovery::Setting;

/// SPriFed-OMP, waiting for an answer.
///
/// | asked | when | what follows |
/// |---|---|---|
/// | Xᵀy over all features | first | γ = γ₀, pick |
/// | `[`Xᵀx_l over the unchosen `|` x_l·y `|` x_l·x_S`]` | after each pick but the last | solve, γ = γ₀ − βα, pick |
/// | `[`x_l·y `|` x_l·x_S`]` | after the last pick | solve, done |
///
/// With [`SupportNoise::Reused`] every pick asks Xᵀx_l over *all* features and nothing else: the
/// entries of the support are then needed too.
#[derive(Clone, Debug)]
pub struct PaperOmp {
    n_features: u32,
    sparsity: usize,
    support_noise: SupportNoise,
    ols: PrivateOls,
    step: usize,
    /// γ₀ and the noise on it, in units of the data.
    first: (Vec<f64>, f64),
    /// β: one column for each chosen feature; coordinates that were not queried are zero.
    columns: Vec<Vec<f64>>,
    provenance: Option<Provenance>,
}

impl PaperOmp {
    /// The run that [`super::plan_honest_omp`] plans.
    #[must_use]
    pub fn honest(setting: &Setting) -> Self {
        Self::honest_within(setting, Limits::of(setting), SupportNoise::Fresh)
    }

    /// A certified run with limits of the caller's; [`SupportNoise::Reused`] is planned by
    /// [`super::plan_honest_reusing`].
    ///
    /// # Caller must
    /// know the limits publicly, before any record is touched.
    #[must_use]
    pub fn honest_within(setting: &Setting, limits: Limits, support_noise: SupportNoise) -> Self {
        let (features, sparsity) = (setting.n_features, setting.sparsity);
        Self::new(features, sparsity, limits, support_noise, Solver::Repaired)
    }

    /// The run as the paper publishes it: nothing repaired, X_M = y_M = 1. For simulation only.
    #[must_use]
    pub fn as_published(n_features: u32, sparsity: u32, support_noise: SupportNoise) -> Self {
        Self::new(
            n_features,
            sparsity,
            Limits::of_paper(),
            support_noise,
            Solver::Plain,
        )
    }

    fn new(
        n_features: u32,
        sparsity: u32,
        limits: Limits,
        support_noise: SupportNoise,
        solver: Solver,
    ) -> Self {
        Self {
            n_features,
            sparsity: sparsity as usize,
            support_noise,
            ols: PrivateOls::new(sparsity as usize, limits, solver),
            step: 0,
            first: (Vec::new(), 0.0),
            columns: Vec::new(),
            provenance: None,
        }
    }

    fn ask(mut self, questions: Vec<Question>) -> Step<Self> {
        let query = SumQuery::next(&mut self.step, questions);
        Step::Ask(query, self)
    }

    /// Picks by γ and asks for what the pick needs.
    fn pick(mut self) -> Step<Self> {
        let correlations = self.residual_correlations();
        let Some(feature) = self.ols.choose(&correlations) else {
            return Step::Done(self.ols.finish(self.provenance));
        };
        let column = Question::FeatureCorrelation {
            feature,
            features: self.column_features(),
            feature_limit: Limit::nearest(self.ols.limits().feature),
        };
        let is_last = self.ols.support().len() == self.sparsity;
        let questions = match self.support_noise {
            SupportNoise::Reused => vec![column],
            SupportNoise::Fresh if is_last => self.ols.questions(),
            SupportNoise::Fresh => core::iter::once(column)
                .chain(self.ols.questions())
                .collect(),
        };
        self.ask(questions)
    }

    /// The features over which the column of the last pick is queried.
    fn column_features(&self) -> FeatureSet {
        match self.support_noise {
            SupportNoise::Fresh => FeatureSet::except(self.n_features, self.ols.support()),
            SupportNoise::Reused => FeatureSet::all(self.n_features),
        }
    }

    /// γ_l = γ₀ − β·α; of no meaning for chosen features.
    fn residual_correlations(&self) -> Vec<f64> {
        let mut correlations = self.first.0.clone();
        for (column, coefficient) in self.columns.iter().zip(self.ols.coefficients()) {
            for (correlation, value) in correlations.iter_mut().zip(column) {
                *correlation -= value * coefficient;
            }
        }
        correlations
    }

    fn take_first(&mut self, answer: &Answer) {
        let Some(block) = answer.blocks.first() else {
            return;
        };
        let unit = self.ols.limits().feature * self.ols.limits().response;
        let values = block.values.iter().map(|value| value * unit).collect();
        self.first = (values, block.noise_std_dev * unit);
    }

    /// Takes the answer to a pick and solves.
    fn take_pick(&mut self, answer: &Answer) {
        match (self.support_noise, answer.blocks.as_slice()) {
            (SupportNoise::Fresh, [response, row]) => self.ols.take_row(response, row),
            (SupportNoise::Fresh, [column, response, row]) => {
                self.take_column(column);
                self.ols.take_row(response, row);
            }
            (SupportNoise::Reused, [column]) => {
                let noise = self.take_column(column);
                let first = (self.first.0.as_slice(), self.first.1);
                self.ols.take_noisy_column(first, &self.columns, noise);
            }
            // A backend answers with the requested blocks only.
            _ => {}
        }
    }

    /// Adds a column to β; the noise on it is returned.
    fn take_column(&mut self, block: &AnswerBlock) -> f64 {
        let unit = self.ols.limits().feature * self.ols.limits().feature;
        let mut column = vec![0.0; self.n_features as usize];
        for (feature, value) in self.column_features().iter().zip(&block.values) {
            column[feature as usize] = value * unit;
        }
        self.columns.push(column);
        block.noise_std_dev * unit
    }
}

impl Procedure for PaperOmp {
    type Fit = Fit;

    fn start(self) -> Step<Self> {
        let Limits {
            feature, response, ..
        } = self.ols.limits();
        let question = Question::ResponseCorrelation {
            features: FeatureSet::all(self.n_features),
            feature_limit: Limit::nearest(feature),
            response_limit: Limit::nearest(response),
        };
        self.ask(vec![question])
    }

    fn resume(mut self, answer: Answer) -> Step<Self> {
        self.provenance = Some(answer.provenance);
        if self.ols.support().is_empty() {
            self.take_first(&answer);
        } else {
            self.take_pick(&answer);
        }
        if self.ols.support().len() < self.sparsity {
            return self.pick();
        }
        Step::Done(self.ols.finish(self.provenance))
    }
}
