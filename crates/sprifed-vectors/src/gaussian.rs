//! Gaussian differential privacy: `gdp_to_delta`, `gdp_delta_to_eps`, `gdp_calibrate_mu`,
//! `gaussian_composition`.

use std::num::NonZeroU32;

use serde_json::Value;
use sprifed_privacy::{ApproxDp, Mu};

use crate::vector::{BadVector, Vector, exact, number};
use crate::verdict::Verdict;

/// ln δ within 1e-11·max(1, |ln δ|); δ itself where it is a double.
pub(crate) fn judge_delta(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let known = [
        "delta>=1e-20",
        "1e-300<=delta<1e-20",
        "targeted",
        "log-only",
    ];
    if !known.contains(&vector.group.as_str()) {
        return Err(BadVector::UnknownGroup(vector.group.clone()));
    }
    let log_delta = vector
        .quantity::<Mu>("mu")?
        .log_delta(vector.quantity("eps")?);
    let expected = verdict.expected("log_delta")?;
    verdict.require(
        "log_delta",
        log_delta,
        expected,
        1e-11 * expected.abs().max(1.0),
    );
    if vector.group == "log-only" {
        verdict.looked_at("delta");
    } else {
        verdict.relative("delta", log_delta.exp(), 1e-11 * expected.abs().max(1.0))?;
    }
    Ok(())
}

/// |ε − expected| ≤ 1e-9 + 1e-10·expected, and never below expected − 1e-12.
pub(crate) fn judge_epsilon(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    if !["zero", "positive"].contains(&vector.group.as_str()) {
        return Err(BadVector::UnknownGroup(vector.group.clone()));
    }
    let guarantee = vector
        .quantity::<Mu>("mu")?
        .to_approx_dp(vector.quantity("delta")?);
    let found = guarantee.epsilon().get();
    let expected = verdict.expected("eps")?;
    verdict.require("eps", found, expected, 1e-9 + 1e-10 * expected);
    verdict.not_below("eps", found, expected - 1e-12);
    Ok(())
}

/// μ within a relative 1e-9, and never above expected·(1 + 1e-12).
pub(crate) fn judge_calibration(
    vector: &Vector,
    verdict: &mut Verdict<'_>,
) -> Result<(), BadVector> {
    if !["eps0", "pos"].contains(&vector.group.as_str()) {
        return Err(BadVector::UnknownGroup(vector.group.clone()));
    }
    let target = ApproxDp::new(vector.quantity("eps")?, vector.quantity("delta")?);
    let found = Mu::largest_within(target)?.get();
    let expected = verdict.expected("mu")?;
    if vector.group == "eps0" && contradicts_itself(expected, target.delta().get()) {
        return judge_by_definition(found, target.delta().get(), verdict);
    }
    verdict.require("mu", found, expected, 1e-9 * expected);
    verdict.not_above("mu", found, expected * (1.0 + 1e-12));
    verdict.relative("sigma_over_sensitivity", 1.0 / found, 1e-9)
}

/// Whether an expected μ at ε = 0 does not give its own δ back to the 1e-12 that the rule allows.
///
/// The reference subtracts two numbers near one half with 60 digits; at δ = 1e-100 its first digit
/// is wrong. Only for a μ so small that δ = μ/√(2π) is exact in doubles.
fn contradicts_itself(expected: f64, delta: f64) -> bool {
    let reached = expected / (2.0 * std::f64::consts::PI).sqrt();
    expected < 1e-7 && (reached / delta - 1.0).abs() > 1e-12
}

/// δ(0; μ) = erf(μ/√8), which is μ/√(2π) to a relative μ²/24 for small μ.
fn judge_by_definition(mu: f64, delta: f64, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let reached = mu / (2.0 * std::f64::consts::PI).sqrt();
    verdict.require("delta of mu", reached, delta, 1e-9 * delta);
    verdict.not_above("delta of mu", reached, delta);
    verdict.looked_at("sigma_over_sensitivity");
    verdict.reference_is_at_fault("its mu does not give its delta back: digits were lost");
    Ok(())
}

/// μ within a relative 1e-12, ε within 1e-9, ln δ within a relative 1e-10.
pub(crate) fn judge_composition(
    vector: &Vector,
    verdict: &mut Verdict<'_>,
) -> Result<(), BadVector> {
    let total = compose(vector)?;
    verdict.relative("mu_total", total.get(), 1e-12)?;
    match vector.group.as_str() {
        "eps" => {
            let guarantee = total.to_approx_dp(vector.quantity("delta")?);
            verdict.absolute("eps", guarantee.epsilon().get(), 1e-9)
        }
        "delta" => {
            let log_delta = total.log_delta(vector.quantity("eps")?);
            let expected = verdict.expected("log_delta")?;
            verdict.require("log_delta", log_delta, expected, 1e-10 * expected.abs());
            verdict.relative("delta", log_delta.exp(), 1e-10 * expected.abs().max(1.0))
        }
        other => Err(BadVector::UnknownGroup(other.to_owned())),
    }
}

fn compose(vector: &Vector) -> Result<Mu, BadVector> {
    let bad = || BadVector::Field("parts".to_owned());
    let parts = vector
        .inputs
        .get("parts")
        .and_then(Value::as_array)
        .ok_or_else(bad)?;
    let mut total: Option<Mu> = None;
    for part in parts {
        let mu = Mu::try_from(number(part.get("mu")).ok_or_else(bad)?)?;
        let count = exact(part.get("count")).ok_or_else(bad)?.to_integer();
        let count = u32::try_from(count)
            .ok()
            .and_then(NonZeroU32::new)
            .ok_or_else(bad)?;
        let repeated = mu.repeated(count);
        total = Some(total.map_or(repeated, |before| before.compose(repeated)));
    }
    total.ok_or_else(bad)
}
