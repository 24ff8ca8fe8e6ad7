//! `exponential_mechanism`: relative 1e-9; compositions between their lower and upper bounds.

use serde_json::Value;
use sprifed_privacy::{GeometricNoise, Mu, RangeBound, Rho, SelectionRate, compose_selections};

use crate::vector::{BadVector, Vector, number};
use crate::verdict::Verdict;

const TOLERANCE: f64 = 1e-9;

pub(crate) fn judge(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    match vector.group.as_str() {
        "zcdp" => {
            let range: RangeBound = vector.quantity("eps_em")?;
            verdict.relative("rho_hoeffding", range.to_rho()?.get(), TOLERANCE)?;
            verdict.relative("rho_tight", range.tight_rho(), TOLERANCE)?;
            verdict.relative("rho_pure_dp_generic", range.to_pure_rho()?.get(), TOLERANCE)?;
            verdict.relative("gdp_mu_from_pure_dp", range.to_pure_mu()?.get(), TOLERANCE)
        }
        "profile" => {
            let (range, epsilon): (RangeBound, _) =
                (vector.quantity("eps_em")?, vector.quantity("eps")?);
            verdict.relative("delta_bounded_range", range.delta(epsilon), TOLERANCE)?;
            verdict.relative("delta_pure_dp_rr", range.pure_delta(epsilon), TOLERANCE)
        }
        "composition" => composition(vector, verdict),
        "select_em" => {
            let (rate, utilities) = (rate(vector)?, utilities(vector)?);
            compare(verdict, vector, "em", &rate.exponential(&utilities))?;
            let floored = rate.floor_gumbel(&utilities);
            compare(verdict, vector, "grid_gumbel_floor_ties_low", &floored)
        }
        "select_rnm" => {
            let noise = match vector.inputs.get("two_sided").and_then(Value::as_bool) {
                Some(true) => GeometricNoise::TwoSided,
                Some(false) => GeometricNoise::OneSided,
                None => return Err(BadVector::Field("two_sided".to_owned())),
            };
            let found = rate(vector)?.noisy_maximum(&utilities(vector)?, noise);
            compare(verdict, vector, "probs", &found)
        }
        other => Err(BadVector::UnknownGroup(other.to_owned())),
    }
}

/// At or above what an attack achieves, and at most 1e-3 above the better of two other sound
/// accountants.
fn composition(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let (count, range): (u32, RangeBound) = (vector.count("k")?, vector.quantity("eps_em")?);
    let mu = vector.number("mu_gauss")?;
    let mu = if mu > 0.0 {
        Some(Mu::try_from(mu)?)
    } else {
        None
    };
    let delta = vector.quantity("delta")?;
    let selections = f64::from(count) * range.to_rho()?.get();
    let rho = Rho::try_from(selections + mu.map_or(0.0, |mu| mu.to_rho().get()))?;
    verdict.relative("rho_total", rho.get(), TOLERANCE)?;
    let concentrated = rho.to_approx_dp(delta).epsilon().get();
    verdict.absolute("eps_zcdp", concentrated, 1e-6)?;
    let found = compose_selections(&[(range, count)], mu, delta)
        .epsilon()
        .get();
    if let Some(attack) = vector.info("eps_adaptive_lower_bound") {
        verdict.not_below("eps", found, attack - 1e-6);
    }
    let others = vector
        .info("eps_logistic_pld_upper")
        .unwrap_or(f64::INFINITY);
    let expected = verdict.expected("eps_zcdp")?;
    verdict.not_above("eps", found, others.min(expected) + 1e-3);
    Ok(())
}

fn rate(vector: &Vector) -> Result<SelectionRate, BadVector> {
    vector.quantity("lam")
}

fn utilities(vector: &Vector) -> Result<Vec<i64>, BadVector> {
    let list = vector.inputs.get("utilities").and_then(Value::as_array);
    let list = list.and_then(|list| list.iter().map(Value::as_i64).collect());
    list.ok_or_else(|| BadVector::Field("utilities".to_owned()))
}

fn compare(
    verdict: &mut Verdict<'_>,
    vector: &Vector,
    key: &str,
    found: &[f64],
) -> Result<(), BadVector> {
    verdict.looked_at(key);
    let expected = vector.expected.get(key).and_then(Value::as_array);
    let expected: Option<Vec<f64>> =
        expected.and_then(|list| list.iter().map(|value| number(Some(value))).collect());
    let expected = expected.ok_or_else(|| BadVector::Field(key.to_owned()))?;
    if expected.len() != found.len() {
        verdict.complain(format!(
            "{key}: found {}, expected {}",
            found.len(),
            expected.len()
        ));
    }
    for (&found, &expected) in found.iter().zip(&expected) {
        verdict.require(key, found, expected, TOLERANCE * expected);
    }
    Ok(())
}
