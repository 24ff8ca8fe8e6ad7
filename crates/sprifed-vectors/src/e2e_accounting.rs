//! `e2e_accounting`: whole plans. Integers exact, μ relative 1e-9, slack relative 1e-6, ε within
//! 1e-7 and never below expected − 1e-9.

use num_bigint::BigInt;
use num_rational::BigRational;
use serde_json::Value;
use sprifed_privacy::{
    Participation, Relation, RunPlan, RunRequest, SumCost, SumPlan, parse_exact,
};

use crate::vector::{BadVector, Vector, exact, number};
use crate::verdict::Verdict;

pub(crate) fn judge(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    if vector.group != "plan" {
        return Err(BadVector::UnknownGroup(vector.group.clone()));
    }
    let relation = match vector.text("adjacency")? {
        "zero_out" => Relation::ZeroOut,
        "replace_one" => Relation::ReplaceOne,
        _ => return Err(BadVector::Field("adjacency".to_owned())),
    };
    let plan = request(vector, relation)?.plan()?;
    let whole = |number: u64| BigRational::from(BigInt::from(number));
    verdict.exactly("rounds", &whole(plan.sums.len() as u64))?;
    verdict.exactly("total_coordinates", &whole(plan.coordinates))?;
    verdict.exactly("modulus_bits", &whole(u64::from(plan.modulus.bits)))?;
    verdict.relative("mu_total", plan.total.mu()?.get(), 1e-9)?;
    verdict.relative("slack_D", plan.total.slack(), 1e-6)?;
    let epsilon = plan
        .total
        .to_approx_dp(vector.quantity("delta")?)
        .epsilon()
        .get();
    let expected = verdict.expected("eps_certified")?;
    verdict.require("eps_certified", epsilon, expected, 1e-7);
    verdict.not_below("eps_certified", epsilon, expected - 1e-9);
    compare_rounds(vector, verdict, &plan, relation)
}

fn request(vector: &Vector, relation: Relation) -> Result<RunRequest, BadVector> {
    let (clients, honest) = (vector.count("n")?, vector.count("h")?);
    Ok(RunRequest {
        algorithm: vector.algorithm()?,
        features: vector.count("p")?,
        sparsity: vector.count("s")?,
        per_vector: vector.exact("mu_p")?,
        per_support: vector.exact("mu_s")?,
        participation: Participation::new(clients, honest, 0)?,
        relation,
        records_per_client: 1,
    })
}

fn compare_rounds(
    vector: &Vector,
    verdict: &mut Verdict<'_>,
    plan: &RunPlan,
    relation: Relation,
) -> Result<(), BadVector> {
    verdict.looked_at("first_rounds");
    verdict.looked_at("last_round");
    let first = vector
        .expected
        .get("first_rounds")
        .and_then(Value::as_array);
    let last = vector.expected.get("last_round");
    let mut sums = plan.sums.iter().zip(&plan.costs);
    for (round, (sum, cost)) in first.into_iter().flatten().zip(sums.clone()) {
        compare_round(verdict, round, sum, *cost, relation)?;
    }
    if let (Some(round), Some((sum, cost))) = (last, sums.next_back()) {
        compare_round(verdict, round, sum, *cost, relation)?;
    }
    Ok(())
}

fn compare_round(
    verdict: &mut Verdict<'_>,
    round: &Value,
    sum: &SumPlan,
    cost: SumCost,
    relation: Relation,
) -> Result<(), BadVector> {
    let bad = || BadVector::Field("blocks".to_owned());
    let expected_mu = number(round.get("mu")).ok_or_else(bad)?;
    verdict.require(
        "mu of a round",
        cost.mu()?.get(),
        expected_mu,
        1e-9 * expected_mu,
    );
    let blocks = round
        .get("blocks")
        .and_then(Value::as_array)
        .ok_or_else(bad)?;
    if blocks.len() != sum.blocks.len() {
        verdict.complain(format!(
            "{} blocks found, {} expected",
            sum.blocks.len(),
            blocks.len()
        ));
    }
    for (expected, block) in blocks.iter().zip(&sum.blocks) {
        let moved = block.squared_sensitivity(relation).ok_or_else(bad)?;
        let variance = parse_exact(&block.share_variance.to_string())?;
        let found = [
            ("dims", BigRational::from(BigInt::from(block.coordinates))),
            (
                "B",
                BigRational::from(BigInt::from(block.bounds.coordinate_bound())),
            ),
            ("sigma_c2", variance),
            ("delta_int_sq", BigRational::from(BigInt::from(moved))),
        ];
        if expected.get("block").and_then(Value::as_str) != Some(block.name.as_str()) {
            verdict.complain(format!("found block {:?}, expected {expected}", block.name));
        }
        for (key, found) in found {
            if exact(expected.get(key)).as_ref() != Some(&found) {
                verdict.complain(format!(
                    "{}.{key}: found {found}, expected {expected}",
                    block.name
                ));
            }
        }
    }
    Ok(())
}
