//! `account plan`: the certified plan of a whole run, before any record is touched.

use clap::Args;
use num_rational::BigRational;
use sprifed_paper::{RunPlanAnswer, RunPlanRequest};
use sprifed_privacy::{
    Algorithm, Delta, FeatureBound, Participation, Relation, ResidualClip, ResponseBound,
    parse_exact,
};

use crate::account::convert::parse_quantity;
use crate::choices::{algorithms, relations};
use crate::failure::Failure;
use crate::output::Output;

fn parse_share(text: &str) -> Result<BigRational, String> {
    parse_exact(text).map_err(|error| error.to_string())
}

/// `account plan`.
#[derive(Args, Debug)]
pub(crate) struct Run {
    /// Which of the paper's algorithms.
    #[arg(long, value_parser = algorithms())]
    algorithm: Algorithm,
    /// n: how many clients are invited.
    #[arg(long)]
    clients: u32,
    /// t_min: how many clients must stay until a sum is unmasked [default: all].
    #[arg(long)]
    quorum: Option<u32>,
    /// c: how many of them may collude with the coordinator. A client knows its own noise, so one
    /// is the least that makes sense.
    #[arg(long, default_value_t = 1)]
    colluders: u32,
    /// p: how many features.
    #[arg(long)]
    features: u32,
    /// s: how many features are to be chosen.
    #[arg(long)]
    sparsity: u32,
    /// X_M: the public bound on every feature.
    #[arg(long, default_value = "1", value_parser = parse_quantity::<FeatureBound>, allow_hyphen_values = true)]
    feature_bound: FeatureBound,
    /// y_M: the public bound on the response.
    #[arg(long, default_value = "1", value_parser = parse_quantity::<ResponseBound>, allow_hyphen_values = true)]
    response_bound: ResponseBound,
    /// The public bound on residuals, for `grad` [default: the response bound].
    #[arg(long, value_parser = parse_quantity::<ResidualClip>, allow_hyphen_values = true)]
    residual_clip: Option<ResidualClip>,
    /// mu_p: the cost of one release of all features.
    #[arg(long, value_parser = parse_share, allow_hyphen_values = true)]
    mu_p: BigRational,
    /// mu_s: the cost of one low-noise row of the support.
    #[arg(long, value_parser = parse_share, allow_hyphen_values = true)]
    mu_s: BigRational,
    /// Which data sets count as neighbours.
    #[arg(long, value_parser = relations(), default_value = "zero-out")]
    neighbours: Relation,
    /// How many records one client may contribute.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    records_per_client: u32,
    /// The delta of the guarantee.
    #[arg(long, value_parser = parse_quantity::<Delta>, allow_hyphen_values = true)]
    delta: Delta,
}

impl Run {
    pub(crate) fn answer(&self, output: &Output) -> Result<(), Failure> {
        let request = RunPlanRequest {
            algorithm: self.algorithm,
            participation: Participation::new(
                self.clients,
                self.quorum.unwrap_or(self.clients),
                self.colluders,
            )?,
            features: self.features,
            sparsity: self.sparsity,
            feature_bound: self.feature_bound,
            response_bound: self.response_bound,
            residual_clip: self.residual_clip,
            per_vector: self.mu_p.clone(),
            per_support: self.mu_s.clone(),
            relation: self.neighbours,
            records_per_client: self.records_per_client,
            delta: self.delta,
        };
        output.answer(&request.plan()?, RunPlanAnswer::text);
        Ok(())
    }
}
