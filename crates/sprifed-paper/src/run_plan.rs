//! The certified plan of a whole run of one of the paper's algorithms, before any record is touched.

use num_rational::BigRational;
use schemars::JsonSchema;
use serde::Serialize;
use sprifed::{Error, Mode};
use sprifed_privacy::{
    Algorithm, Delta, Epsilon, FeatureBound, IntegerBounds, ModulusPlan, Mu, NoiseOrigin,
    NoiseVariance, Participation, PrivacyUnit, Relation, ResidualClip, ResponseBound, RunPlan,
    RunRequest, SumCost, SumPlan,
};

/// A run to be planned.
#[derive(Clone, Debug)]
pub struct RunPlanRequest {
    /// Which of the paper's algorithms.
    pub algorithm: Algorithm,
    /// Who takes part, must stay and may collude.
    pub participation: Participation,
    /// p: how many features.
    pub features: u32,
    /// s: how many features are to be chosen.
    pub sparsity: u32,
    /// X_M: the public bound on every feature.
    pub feature_bound: FeatureBound,
    /// y_M: the public bound on the response.
    pub response_bound: ResponseBound,
    /// The public bound on residuals; the response bound by default.
    pub residual_clip: Option<ResidualClip>,
    /// μ_p: the cost of one release of all features.
    pub per_vector: BigRational,
    /// μ_s: the cost of one low-noise row of the support.
    pub per_support: BigRational,
    /// Which data sets count as neighbours.
    pub relation: Relation,
    /// How many records one client may contribute.
    pub records_per_client: u32,
    /// δ.
    pub delta: Delta,
}

/// The plan of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunPlanAnswer {
    /// What the run promises.
    pub guarantee: RunGuarantee,
    /// Who takes part, must stay and may collude.
    pub participation: Participation,
    /// How many honest shares of the noise are certain.
    pub honest: u32,
    /// How many sums.
    pub rounds: usize,
    /// How many integers in all.
    pub coordinates: u64,
    /// The modulus of every sum.
    pub modulus: ModulusPlan,
    /// Bytes that each client uploads.
    pub upload_bytes: u64,
    /// The sums, in order.
    pub sums: Vec<SumAnswer>,
}

/// What a run promises.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunGuarantee {
    /// Always `certified`.
    pub mode: Mode,
    /// Always `record`.
    pub unit: PrivacyUnit,
    /// Which data sets are neighbours.
    pub neighbours: Relation,
    /// ε at δ.
    pub epsilon: Epsilon,
    /// δ.
    pub delta: Delta,
    /// μ of all sums.
    pub mu: Mu,
    /// The slack of the discrete noise, contained in ε.
    pub slack: f64,
    /// How likely the protocol fails, contained in δ.
    pub protocol_failure: f64,
    /// All of it in one sentence.
    pub statement: String,
}

/// One sum.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SumAnswer {
    /// Its blocks.
    pub blocks: Vec<BlockAnswer>,
    /// μ of the sum.
    pub mu: Mu,
    /// Its slack.
    pub slack: f64,
}

/// One block of a sum.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BlockAnswer {
    /// What it asks.
    pub block: String,
    /// How many integers.
    pub coordinates: u32,
    /// The largest integer that one record can add.
    pub bound: u64,
    /// How many of the coordinates are squares.
    pub squares: u32,
    /// The variance of one share of the noise.
    pub share_variance: NoiseVariance,
    /// The bound of one coordinate in the units of the data.
    #[schemars(with = "Option<f64>")]
    pub limit: f64,
    /// Δ², if it fits 128 bits.
    pub squared_sensitivity: Option<String>,
}

impl RunPlanRequest {
    /// The plan of this run.
    ///
    /// # Errors
    /// When there is none.
    pub fn plan(&self) -> Result<RunPlanAnswer, Error> {
        let request = RunRequest {
            algorithm: self.algorithm,
            features: self.features,
            sparsity: self.sparsity,
            per_vector: self.per_vector.clone(),
            per_support: self.per_support.clone(),
            participation: self.participation,
            relation: self.relation,
            records_per_client: self.records_per_client,
        };
        let mut plan = request.plan()?;
        let origin = NoiseOrigin::Shares(self.participation);
        origin.noise_delta(self.delta)?;
        plan.total = plan.total.with_protocol_of(origin);
        let sums = plan.sums.iter().zip(&plan.costs);
        Ok(RunPlanAnswer {
            guarantee: self.guarantee(&plan)?,
            participation: self.participation,
            honest: self.participation.honest(),
            rounds: plan.sums.len(),
            coordinates: plan.coordinates,
            modulus: plan.modulus,
            upload_bytes: (plan.coordinates * u64::from(plan.modulus.bits)).div_ceil(8),
            sums: sums
                .map(|(sum, cost)| self.sum(sum, *cost))
                .collect::<Result<_, Error>>()?,
        })
    }

    fn guarantee(&self, plan: &RunPlan) -> Result<RunGuarantee, Error> {
        let epsilon = plan.total.to_approx_dp(self.delta).epsilon();
        let statement = format!(
            "({}, {})-DP for each record under {}: what the coordinator and {} \
             see differs by at most this when one record is {}; the currency is Gaussian DP",
            epsilon.shown(),
            self.delta.shown(),
            self.relation.text(),
            match self.participation.colluders() {
                1 => "one colluding client".to_owned(),
                more => format!("{more} colluding clients"),
            },
            match self.relation {
                Relation::ZeroOut => "set to zero",
                Relation::ReplaceOne => "replaced by any other",
            }
        );
        Ok(RunGuarantee {
            mode: Mode::Certified,
            unit: PrivacyUnit::Record,
            neighbours: self.relation,
            epsilon,
            delta: self.delta,
            mu: plan.total.mu()?,
            slack: plan.total.slack(),
            protocol_failure: plan.total.failure(),
            statement,
        })
    }

    fn sum(&self, sum: &SumPlan, cost: SumCost) -> Result<SumAnswer, Error> {
        let blocks = sum.blocks.iter().map(|block| BlockAnswer {
            block: block.name.clone(),
            coordinates: block.coordinates,
            bound: block.bounds.coordinate_bound(),
            squares: match block.bounds {
                IntegerBounds::Box { squares, .. } => squares,
                IntegerBounds::Ball { .. } => 0,
            },
            share_variance: block.share_variance,
            limit: self.limit(&block.name),
            squared_sensitivity: block
                .squared_sensitivity(self.relation)
                .map(|square| square.to_string()),
        });
        Ok(SumAnswer {
            blocks: blocks.collect(),
            mu: cost.mu()?,
            slack: cost.slack(),
        })
    }

    /// The bound of one coordinate of a block in the units of the data.
    fn limit(&self, block: &str) -> f64 {
        let (feature, response) = (self.feature_bound.get(), self.response_bound.get());
        match block {
            "gamma0" | "gammaS" => feature * response,
            "grad" => feature * self.residual_clip.map_or(response, ResidualClip::get),
            _ => feature * feature,
        }
    }
}
