//! A world, looked at through changed units and offsets, and a curator's fit to it.

use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{ApproxDp, Delta, Epsilon, NoiseOrigin, PrivacyUnit, Relation};
use sprifed_query::{Curator, LinearModel, Records};
use sprifed_recovery::{
    CertifiedProcedure, ColumnScales, Fit, Groups, InferenceMethod, Intercept, Keep, Outcome,
    Setting, Sites,
};
use sprifed_simulate::{Correlation, Reading, Unexplained, World, WorldRequest, WorldSites};

pub(crate) const FEATURES: usize = 80;
pub(crate) const RECORDS: usize = 1200;
pub(crate) const SPARSITY: usize = 3;

pub(crate) fn world(correlation: Correlation, unexplained: Unexplained) -> WorldRequest {
    WorldRequest {
        records: RECORDS,
        test_records: 0,
        features: FEATURES,
        sparsity: SPARSITY,
        support: SPARSITY,
        correlation,
        unexplained,
        reading: Reading::Clean,
        outcome: sprifed_simulate::WorldOutcome::Linear,
        sites: WorldSites::NONE,
    }
}

pub(crate) fn budget(epsilon: f64) -> ApproxDp {
    ApproxDp::new(
        Epsilon::try_from(epsilon).unwrap(),
        Delta::try_from(1e-5).unwrap(),
    )
}

/// Records of a world, and what its true model is in their units.
pub(crate) struct Study {
    features: Vec<f32>,
    responses: Vec<f32>,
    pub(crate) truth: LinearModel,
    pub(crate) setting: Setting,
}

impl Study {
    pub(crate) fn of(request: WorldRequest, seed: u64, epsilon: f64) -> Self {
        let world = World::generate(request, seed);
        let setting = Setting {
            n_records: u32::try_from(request.records).unwrap(),
            n_features: u32::try_from(request.features).unwrap(),
            sparsity: u32::try_from(request.sparsity).unwrap(),
            choice: Keep::Exactly,
            inference: InferenceMethod::Selective,
            always: 0,
            groups: Groups::NONE,
            sites: Sites::NONE,
            column_scales: ColumnScales::NONE,
            outcome: Outcome::Linear,
            budget: budget(epsilon),
            relation: Relation::ZeroOut,
            unit: PrivacyUnit::Record,
            origin: NoiseOrigin::Curator,
            response_bound: 32.0,
            feature_bound: 8.0,
            feature_scale: Some(1.0),
            intercept: Intercept::Absent,
            robust: false,
        };
        Self {
            features: world.features().to_vec(),
            responses: world.responses().to_vec(),
            truth: world.truth().clone(),
            setting,
        }
    }

    /// Features in other units, which the study does not know.
    pub(crate) fn scaled(mut self, factor: f32) -> Self {
        self.features.iter_mut().for_each(|value| *value *= factor);
        self.truth
            .terms
            .iter_mut()
            .for_each(|(_, value)| *value /= f64::from(factor));
        self.setting.feature_scale = None;
        self
    }

    /// Features and responses that are not centred, and an intercept to be estimated.
    pub(crate) fn moved(mut self, feature_offset: f32, response_offset: f32) -> Self {
        self.features
            .iter_mut()
            .for_each(|value| *value += feature_offset);
        self.responses
            .iter_mut()
            .for_each(|value| *value += response_offset);
        let slope: f64 = self.truth.terms.iter().map(|(_, value)| value).sum();
        self.truth.intercept = f64::from(response_offset) - slope * f64::from(feature_offset);
        self.setting.intercept = Intercept::Estimated;
        self
    }

    /// Responses that have nothing to do with the features.
    pub(crate) fn shuffled(mut self) -> Self {
        self.responses.rotate_left(1);
        self
    }

    /// One feature copied over all others.
    pub(crate) fn all_alike(mut self, feature: usize) -> Self {
        for row in self.features.chunks_mut(FEATURES) {
            row.fill(row[feature]);
        }
        self
    }

    pub(crate) fn fit(&self, procedure: CertifiedProcedure, seed: u64) -> Fit {
        let width = self.setting.n_features as usize;
        let records = Records::each_a_unit(&self.features, &self.responses, width).unwrap();
        self.fit_to(procedure, records, seed)
    }

    /// The fit when `rows` records each are one client's, and clients are protected.
    pub(crate) fn fit_by_client(&self, procedure: CertifiedProcedure, rows: usize) -> Fit {
        let width = self.setting.n_features as usize;
        let records = Records::each_a_unit(&self.features, &self.responses, width).unwrap();
        let starts = (0..records.n_records()).step_by(rows);
        let units = starts.map(|start| start..start + rows).collect();
        let n_clients = self.setting.n_records / u32::try_from(rows).unwrap();
        let study = Setting {
            unit: PrivacyUnit::Client,
            n_records: n_clients,
            ..self.setting
        };
        let plan = procedure.plan(&study).unwrap();
        let records = records.grouped(units).unwrap();
        let mut curator = Curator::open(records, plan, NoiseGenerator::simulated(1)).unwrap();
        procedure.run(&study, &mut curator, |_| ()).unwrap()
    }

    fn fit_to(&self, procedure: CertifiedProcedure, records: Records<'_>, seed: u64) -> Fit {
        let plan = procedure.plan(&self.setting).unwrap();
        let generator = NoiseGenerator::simulated(seed);
        let mut curator = Curator::open(records, plan, generator).unwrap();
        procedure.run(&self.setting, &mut curator, |_| ()).unwrap()
    }

    /// The largest error of a coefficient, features that were not found included, in units of a
    /// typical coefficient.
    pub(crate) fn error(&self, fit: &Fit) -> f64 {
        let of = |model: &LinearModel, feature: u32| {
            let term = model.terms.iter().find(|(known, _)| *known == feature);
            term.map_or(0.0, |(_, value)| *value)
        };
        let typical = self
            .truth
            .terms
            .iter()
            .fold(0.0f64, |most, (_, value)| most.max(value.abs()));
        let all = self.truth.support().into_iter().chain(fit.model.support());
        all.map(|feature| (of(&self.truth, feature) - of(&fit.model, feature)).abs() / typical)
            .fold(0.0, f64::max)
    }

    pub(crate) fn has_found_the_support(&self, fit: &Fit) -> bool {
        let (mut truth, mut found) = (self.truth.support(), fit.model.support());
        truth.sort_unstable();
        found.sort_unstable();
        truth == found
    }
}
