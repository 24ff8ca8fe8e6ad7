//! SPriFed-OMP-GRAD [SPRIFED, Algorithm 4]: matching pursuit on noisy gradients.

use sprifed_noise::Provenance;
use sprifed_query::{Answer, FeatureSet, Limit, Procedure, Question, Step, SumQuery};

use super::private_ols::PrivateOls;
use super::{Limits, Solver};
use sprifed_recovery::Fit;
use sprifed_recovery::Setting;

/// SPriFed-OMP-GRAD, waiting for an answer.
///
/// | asked | when | what follows |
/// |---|---|---|
/// | Xᵀ(y − X_S·α) over the unchosen | before each pick | pick |
/// | `[`x_l·y `|` x_l·x_S`]` | after each pick | solve; done after the last |
///
/// # Why
/// The paper bounds an entry of the gradient by B_C [SPRIFED, Lemma 5], which depends on the
/// unknown model and holds only with some probability over the data; no guarantee follows from it.
/// An honest run clips every record's residual instead.
#[derive(Clone, Debug)]
pub struct PaperGradient {
    n_features: u32,
    sparsity: usize,
    ols: PrivateOls,
    phase: Phase,
    step: usize,
    provenance: Option<Provenance>,
}

#[derive(Clone, Debug)]
enum Phase {
    Gradient { features: FeatureSet },
    Row,
}

impl PaperGradient {
    /// The run that [`super::plan_honest_gradient`] plans.
    #[must_use]
    pub fn honest(setting: &Setting) -> Self {
        Self::honest_within(setting, Limits::of(setting))
    }

    /// The same with limits of the caller's.
    ///
    /// # Caller must
    /// know the limits publicly, before any record is touched.
    #[must_use]
    pub fn honest_within(setting: &Setting, limits: Limits) -> Self {
        Self::new(
            setting.n_features,
            setting.sparsity,
            limits,
            Solver::Repaired,
        )
    }

    /// The run as the paper publishes it: nothing repaired, X_M = y_M = 1. For simulation only.
    #[must_use]
    pub fn as_published(n_features: u32, sparsity: u32) -> Self {
        Self::new(n_features, sparsity, Limits::of_paper(), Solver::Plain)
    }

    fn new(n_features: u32, sparsity: u32, limits: Limits, solver: Solver) -> Self {
        Self {
            n_features,
            sparsity: sparsity as usize,
            ols: PrivateOls::new(sparsity as usize, limits, solver),
            phase: Phase::Row,
            step: 0,
            provenance: None,
        }
    }

    fn ask(mut self, phase: Phase, questions: Vec<Question>) -> Step<Self> {
        let query = SumQuery::next(&mut self.step, questions);
        self.phase = phase;
        Step::Ask(query, self)
    }

    fn ask_gradient(self) -> Step<Self> {
        let features = FeatureSet::except(self.n_features, self.ols.support());
        let question = Question::BoxedGradient {
            model: self.ols.model().into(),
            features: features.clone(),
            feature_limit: Limit::nearest(self.ols.limits().feature),
            residual_limit: Limit::nearest(self.ols.limits().residual),
        };
        self.ask(Phase::Gradient { features }, vec![question])
    }

    /// Picks by the gradient and asks for the row of the pick.
    fn pick(mut self, features: &FeatureSet, answer: &Answer) -> Step<Self> {
        let mut gradient = vec![0.0; self.n_features as usize];
        let values = answer.blocks.first().map_or(&[][..], |block| &block.values);
        for (feature, value) in features.iter().zip(values) {
            gradient[feature as usize] = *value;
        }
        if self.ols.choose(&gradient).is_none() {
            return Step::Done(self.ols.finish(self.provenance));
        }
        let questions = self.ols.questions();
        self.ask(Phase::Row, questions)
    }
}

impl Procedure for PaperGradient {
    type Fit = Fit;

    fn start(self) -> Step<Self> {
        self.ask_gradient()
    }

    fn resume(mut self, answer: Answer) -> Step<Self> {
        self.provenance = Some(answer.provenance);
        if let Phase::Gradient { features } = self.phase.clone() {
            return self.pick(&features, &answer);
        }
        if let [response, row] = answer.blocks.as_slice() {
            self.ols.take_row(response, row);
        }
        if self.ols.support().len() < self.sparsity {
            return self.ask_gradient();
        }
        Step::Done(self.ols.finish(self.provenance))
    }
}
