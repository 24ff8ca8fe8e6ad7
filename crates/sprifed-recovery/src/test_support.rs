//! Small worlds, legal settings and what every procedure must do, for the tests of this crate and of those above it.

pub mod procedure_checks;

use rand_core::Rng;
use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{ApproxDp, Delta, Epsilon, NoiseOrigin, PrivacyUnit, Relation};
use sprifed_query::LinearModel;

use crate::column_scales::ColumnScales;
use crate::fit::Fit;
use crate::groups::Groups;
use crate::outcome::Outcome;
use crate::setting::{InferenceMethod, Intercept, Keep, Setting};
use crate::sites::Sites;

/// A setting in which everything is legal.
#[must_use]
pub fn legal_setting() -> Setting {
    Setting {
        n_records: 400,
        n_features: 30,
        sparsity: 3,
        choice: Keep::Exactly,
        inference: InferenceMethod::Selective,
        always: 0,
        groups: Groups::NONE,
        sites: Sites::NONE,
        column_scales: ColumnScales::NONE,
        outcome: Outcome::Linear,
        budget: budget(5.34, 1e-4),
        relation: Relation::ZeroOut,
        unit: PrivacyUnit::Record,
        origin: NoiseOrigin::Curator,
        response_bound: 8.0,
        feature_bound: 4.0,
        feature_scale: Some(1.0),
        intercept: Intercept::Absent,
        robust: false,
    }
}

/// A setting made from `seed`; any two differ in all that a plan depends on.
#[must_use]
pub fn setting_from(seed: u64) -> Setting {
    let mut generator = NoiseGenerator::simulated(seed);
    let mut below = move |most: u32| generator.next_u32() % most;
    let n_features = 2 + below(3998);
    let share = f64::from(below(1000)) / 1000.0;
    let epsilons = [0.05 + 0.95 * share, 1.0 + 19.0 * share];
    let deltas = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9];
    Setting {
        n_records: 2 + below(199_998),
        n_features,
        sparsity: (1 + below(11)).min(n_features - 1),
        budget: budget(epsilons[below(2) as usize], deltas[below(7) as usize]),
        relation: [Relation::ReplaceOne, Relation::ZeroOut][below(2) as usize],
        unit: [PrivacyUnit::Client, PrivacyUnit::Record][below(2) as usize],
        intercept: [Intercept::Estimated, Intercept::Absent][below(2) as usize],
        feature_scale: [None, Some(1.0)][below(2) as usize],
        ..legal_setting()
    }
}

/// A budget.
///
/// # Panics
/// When a number is not legal.
#[must_use]
pub fn budget(epsilon: f64, delta: f64) -> ApproxDp {
    let epsilon = Epsilon::try_from(epsilon).expect("a legal epsilon");
    ApproxDp::new(epsilon, Delta::try_from(delta).expect("a legal delta"))
}

/// Features uniform on [−1, 1] and a response without error.
#[derive(Debug)]
pub struct SmallWorld {
    /// Row after row.
    pub features: Vec<f32>,
    /// One for each row.
    pub responses: Vec<f32>,
    support: Vec<u32>,
}

impl SmallWorld {
    /// 1, 1.5, 2, … in the order of the support.
    ///
    /// # Panics
    /// Never: a support is small.
    #[must_use]
    pub fn coefficient(&self, feature: u32) -> f64 {
        let place = self.support.iter().position(|known| *known == feature);
        place.map_or(0.0, |index| {
            1.0 + 0.5 * f64::from(u32::try_from(index).expect("a small support"))
        })
    }

    /// # Panics
    /// When another support was found, or a coefficient is further off than `tolerance`.
    pub fn assert_found(&self, fit: &Fit, tolerance: f64) {
        let mut support = fit.model.support();
        support.sort_unstable();
        assert_eq!(support, self.support);
        for (feature, coefficient) in &fit.model.terms {
            let expected = self.coefficient(*feature);
            let is_close = (coefficient - expected).abs() < tolerance;
            assert!(is_close, "{feature}: {coefficient} for {expected}");
        }
    }

    /// The squared distance of coefficients.
    #[must_use]
    pub fn error(&self, fit: &Fit) -> f64 {
        let found = |feature: &u32| {
            let term = fit.model.terms.iter().find(|(known, _)| known == feature);
            term.map_or(0.0, |(_, coefficient)| *coefficient)
        };
        let missed = self
            .support
            .iter()
            .map(|f| (self.coefficient(*f) - found(f)).powi(2));
        let others = fit
            .model
            .terms
            .iter()
            .filter(|(f, _)| !self.support.contains(f));
        missed.sum::<f64>() + others.map(|(_, value)| value * value).sum::<f64>()
    }
}

/// A world of this size, support and seed.
#[expect(
    clippy::cast_possible_truncation,
    reason = "records are of single precision"
)]
#[must_use]
pub fn small_world(n_records: usize, n_features: usize, support: &[u32], seed: u64) -> SmallWorld {
    let mut generator = NoiseGenerator::simulated(seed);
    let mut uniform = || (generator.next_u32() >> 8) as f32 / (1u32 << 23) as f32 - 1.0;
    let features: Vec<f32> = (0..n_records * n_features).map(|_| uniform()).collect();
    let mut world = SmallWorld {
        features,
        responses: Vec::new(),
        support: support.to_vec(),
    };
    let terms = support
        .iter()
        .map(|feature| (*feature, world.coefficient(*feature)));
    let model = LinearModel {
        intercept: 0.0,
        terms: terms.collect(),
    };
    let rows = world.features.chunks_exact(n_features);
    world.responses = rows.map(|row| model.predict(row) as f32).collect();
    world
}
