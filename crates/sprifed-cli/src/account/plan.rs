//! `account plan`: the certified plan of a whole run, before any record is touched.

use clap::{Args, ValueEnum};
use num_rational::BigRational;
use serde_json::{Value, json};
use sprifed_privacy::{
    Algorithm, Delta, FeatureBound, IntegerBounds, Mu, NoiseOrigin, Participation, RecordBounds,
    ResidualClip, ResponseBound, RunPlan, RunRequest, SumCost, SumPlan, parse_exact, shown_cost,
};
use sprifed_report::table;

use crate::account::convert::parse_quantity;
use crate::failure::Failure;
use crate::output::Output;
use crate::study_arguments::RelationName;

/// The paper's algorithms, as the command line names them.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum AlgorithmName {
    Omp,
    Grad,
}

fn parse_share(text: &str) -> Result<BigRational, String> {
    parse_exact(text).map_err(|error| error.to_string())
}

/// `account plan`.
#[derive(Args, Debug)]
pub(crate) struct Run {
    /// Which of the paper's algorithms.
    #[arg(long, value_enum)]
    algorithm: AlgorithmName,
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
    #[arg(long, value_enum, default_value = "zero-out")]
    neighbours: RelationName,
    /// How many records one client may contribute.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    records_per_client: u32,
    /// The delta of the guarantee.
    #[arg(long, value_parser = parse_quantity::<Delta>, allow_hyphen_values = true)]
    delta: Delta,
}

impl Run {
    pub(crate) fn answer(&self, output: &Output) -> Result<(), Failure> {
        let participation = Participation::new(
            self.clients,
            self.quorum.unwrap_or(self.clients),
            self.colluders,
        )?;
        let request = RunRequest {
            algorithm: match self.algorithm {
                AlgorithmName::Omp => Algorithm::Omp,
                AlgorithmName::Grad => Algorithm::Grad,
            },
            features: self.features,
            sparsity: self.sparsity,
            per_vector: self.mu_p.clone(),
            per_support: self.mu_s.clone(),
            participation,
            relation: self.neighbours.relation(),
            records_per_client: self.records_per_client,
        };
        let mut plan = request.plan()?;
        let origin = NoiseOrigin::Shares(participation);
        origin.noise_delta(self.delta)?;
        plan.total = plan.total.with_protocol_of(origin);
        let answer = self.to_json(&plan, participation)?;
        output.answer(&answer, |answer| self.to_text(&plan, participation, answer));
        Ok(())
    }

    fn statement(&self, plan: &RunPlan) -> String {
        let guarantee = plan.total.to_approx_dp(self.delta);
        format!(
            "({}, {})-DP for each record under {}: what the coordinator and {} \
             see differs by at most this when one record is {}; the currency is Gaussian DP",
            guarantee.epsilon().shown(),
            self.delta.shown(),
            self.neighbours.relation().text(),
            match self.colluders {
                1 => "one colluding client".to_owned(),
                more => format!("{more} colluding clients"),
            },
            match self.neighbours {
                RelationName::ZeroOut => "set to zero",
                RelationName::ReplaceOne => "replaced by any other",
            }
        )
    }

    fn to_json(&self, plan: &RunPlan, participation: Participation) -> Result<Value, Failure> {
        let bounds = RecordBounds {
            feature: self.feature_bound,
            response: self.response_bound,
        };
        let sums: Result<Vec<Value>, Failure> = plan
            .sums
            .iter()
            .zip(&plan.costs)
            .map(|(sum, cost)| self.sum_to_json(sum, *cost, bounds))
            .collect();
        Ok(json!({
            "guarantee": {
                "mode": "certified", "unit": "record", "neighbours": self.neighbours.relation(),
                "epsilon": plan.total.to_approx_dp(self.delta).epsilon(), "delta": self.delta,
                "mu": plan.total.mu()?, "slack": plan.total.slack(),
                "protocol_failure": plan.total.failure(),
                "statement": self.statement(plan),
            },
            "participation": participation, "honest": participation.honest(),
            "rounds": plan.sums.len(), "coordinates": plan.coordinates,
            "modulus": plan.modulus,
            "upload_bytes": upload_bytes(plan),
            "sums": sums?,
        }))
    }

    fn sum_to_json(
        &self,
        sum: &SumPlan,
        cost: SumCost,
        bounds: RecordBounds,
    ) -> Result<Value, Failure> {
        let blocks: Vec<Value> = sum
            .blocks
            .iter()
            .map(|block| {
                let limit = self.limit(&block.name, bounds);
                let bound = block.bounds.coordinate_bound();
                json!({
                    "block": block.name, "coordinates": block.coordinates, "bound": bound,
                    "squares": match block.bounds {
                        IntegerBounds::Box { squares, .. } => squares,
                        IntegerBounds::Ball { .. } => 0,
                    },
                    "share_variance": block.share_variance, "limit": limit,
                    "squared_sensitivity":
                        block.squared_sensitivity(self.neighbours.relation()).map(|d| d.to_string()),
                })
            })
            .collect();
        Ok(json!({ "blocks": blocks, "mu": cost.mu()?, "slack": cost.slack() }))
    }

    /// The bound of one coordinate of a block in the units of the data.
    fn limit(&self, block: &str, bounds: RecordBounds) -> f64 {
        let (feature, response) = (bounds.feature.get(), bounds.response.get());
        match block {
            "gamma0" | "gammaS" => feature * response,
            "grad" => feature * self.residual_clip.map_or(response, ResidualClip::get),
            _ => feature * feature,
        }
    }

    fn to_text(&self, plan: &RunPlan, participation: Participation, answer: &Value) -> String {
        let mut text = format!("{}.\n\n", self.statement(plan));
        text += &format!(
            "{} sums, {} integers, {} bits each (modulus at least {}); {} bytes uploaded by each client\n",
            plan.sums.len(),
            plan.coordinates,
            plan.modulus.bits,
            plan.modulus.least,
            upload_bytes(plan),
        );
        text += &format!(
            "{} clients, {} must stay, {} may collude: {} honest noise shares are certain\n",
            participation.clients(),
            participation.quorum(),
            participation.colluders(),
            participation.honest(),
        );
        let mu = answer["guarantee"]["mu"].as_f64().unwrap_or(f64::NAN);
        let slack = shown_cost(plan.total.slack());
        text += &format!("mu = {mu}, slack = {slack}\n\n");
        text + &sums_table(plan)
    }
}

fn upload_bytes(plan: &RunPlan) -> u64 {
    (plan.coordinates * u64::from(plan.modulus.bits)).div_ceil(8)
}

fn sums_table(plan: &RunPlan) -> String {
    let mut rows = vec![
        [
            "sum",
            "block",
            "integers",
            "bound",
            "share variance",
            "mu of the sum",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    let last = plan.sums.len() - 1;
    for (index, (sum, cost)) in plan.sums.iter().zip(&plan.costs).enumerate() {
        if index > 2 && index < last {
            if index == 3 {
                rows.push(vec!["…".to_owned()]);
            }
            continue;
        }
        for (position, block) in sum.blocks.iter().enumerate() {
            let first = position == 0;
            rows.push(vec![
                if first {
                    (index + 1).to_string()
                } else {
                    String::new()
                },
                block.name.clone(),
                block.coordinates.to_string(),
                block.bounds.coordinate_bound().to_string(),
                format!("{:.4}", block.share_variance.to_f64()),
                if first {
                    cost.mu().map_or_else(|_| String::new(), Mu::shown)
                } else {
                    String::new()
                },
            ]);
        }
    }
    table(&rows)
}
