//! `dropout_collusion`: fractions and decisions exact, reals relative 1e-12.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};
use serde_json::Value;
use sprifed_privacy::{Decision, Participation, RemovableNoise, shortfall_cost};

use crate::vector::{BadVector, Vector, exact};
use crate::verdict::Verdict;

pub(crate) fn judge(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    match vector.group.as_str() {
        "overprovision" => overprovision(vector, verdict),
        "decision" => {
            let decision = participation(vector)?.decide(vector.count("survivors")?)?;
            let words = match decision {
                Decision::Release => "release",
                Decision::Abort => "abort",
            };
            verdict.same("action", words)
        }
        "xnoise" => removable(vector, verdict),
        "shortfall" => {
            let (planned, present) = (vector.count("h")?, vector.count("honest_present")?);
            let actual = shortfall_cost(vector.quantity("mu_planned")?, planned, present)?;
            verdict.relative("mu_actual", actual.get(), 1e-12)
        }
        other => Err(BadVector::UnknownGroup(other.to_owned())),
    }
}

fn participation(vector: &Vector) -> Result<Participation, BadVector> {
    Ok(Participation::new(
        vector.count("n")?,
        vector.count("t_min")?,
        vector.count("c")?,
    )?)
}

fn whole(number: u32) -> BigRational {
    BigRational::from(BigInt::from(number))
}

fn overprovision(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let participation = participation(vector)?;
    let total = vector.exact("sigma2")?;
    if !total.is_positive() {
        return Err(BadVector::Field("sigma2".to_owned()));
    }
    let share = participation.share_variance(&total);
    let all = &share * whole(participation.clients());
    let at_quorum = &share * whole(participation.quorum());
    verdict.exactly("h", &whole(participation.honest()))?;
    verdict.exactly("sigma_c2", &share)?;
    verdict.exactly("variance_all_survive", &all)?;
    verdict.exactly("variance_at_t_min", &at_quorum)?;
    let seen = &share * whole(participation.honest());
    verdict.exactly("adversary_view_variance_at_t_min", &seen)?;
    let overhead = (all / total).to_f64().unwrap_or(f64::NAN).sqrt();
    verdict.relative("std_overhead_all_survive", overhead, 1e-12)
}

fn removable(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let (clients, tolerated) = (vector.count("U")?, vector.count("T")?);
    let dropped = vector.count("dropped")?;
    let total = vector.exact("sigma2")?;
    let noise = RemovableNoise::plan(clients, tolerated, vector.count("c")?, &total)?;
    let key = "component_variances_first";
    verdict.looked_at(key);
    let first = vector.expected.get(key).and_then(Value::as_array);
    for (index, expected) in first.into_iter().flatten().enumerate() {
        if exact(Some(expected)).as_ref() != noise.components().get(index) {
            verdict.complain(format!("{key}[{index}]: expected {expected}"));
        }
    }
    let last = noise
        .components()
        .last()
        .cloned()
        .unwrap_or_else(|| whole(0));
    verdict.exactly("component_variance_last", &last)?;
    verdict.exactly("kept_components", &whole(dropped + 1))?;
    verdict.exactly("removed_components", &whole(tolerated - dropped))?;
    let kept = noise.kept_per_client(dropped as usize);
    verdict.exactly("per_client_variance_after_removal", &kept)?;
    let before = noise.kept_per_client(tolerated as usize);
    verdict.exactly("per_client_variance_before_removal", &before)?;
    verdict.exactly("honest_total_variance", &noise.honest_total(dropped))
}
