//! `rounding_modulus`: integers exact, reals relative 1e-12.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{FromPrimitive, ToPrimitive};
use serde_json::Value;
use sprifed_privacy::{
    Modulus, SumSize, accepted_squared_norm, conditional_rounding_bound, round_to_box,
};

use crate::vector::{BadVector, Vector, exact};
use crate::verdict::Verdict;

pub(crate) fn judge(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    match vector.group.as_str() {
        "cond" => conditional(vector, verdict),
        "modulus" => modulus(vector, verdict),
        "modsum" => modular_sum(vector, verdict),
        "boxround" => {
            let (value, limit) = (vector.number("value")?, vector.number("bound")?);
            let bound = u64::from(vector.count("B")?);
            let integer = round_to_box(value, limit, bound, vector.number("u")?);
            verdict.exactly("integer", &BigRational::from(BigInt::from(integer)))
        }
        other => Err(BadVector::UnknownGroup(other.to_owned())),
    }
}

fn conditional(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let (clip, coordinates) = (vector.number("scaled_l2_clip")?, vector.count("d")?);
    let log_repeat = log_probability(vector.text("beta")?)?;
    let bound = conditional_rounding_bound(clip, coordinates, log_repeat);
    verdict.relative("bound_sq", bound, 1e-12)?;
    let integer = accepted_squared_norm(clip, coordinates, log_repeat);
    verdict.exactly(
        "integer_bound_sq",
        &BigRational::from(BigInt::from(integer)),
    )?;
    verdict.relative("inflation_of_l2", bound.sqrt() / clip, 1e-12)
}

fn modulus(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let shares = vector.count("n")?;
    let plan = SumSize {
        largest_sum: u128::from(shares) * u128::from(vector.count("B")?),
        shares,
        share_variance: vector.number("sigma_c2")?,
        coordinates: u64::from(vector.count("d")?) * u64::from(vector.count("rounds")?),
        log_wrap_probability: log_probability(vector.text("wrap_prob")?)?,
    }
    .plan()?;
    let whole = |number: u64| BigRational::from_u64(number).unwrap_or_default();
    verdict.exactly("noise_bound", &whole(plan.noise_bound))?;
    verdict.exactly("min_modulus", &whole(plan.least))?;
    verdict.exactly("bits", &whole(u64::from(plan.bits)))
}

fn modular_sum(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let field = |key: &str| BadVector::Field(key.to_owned());
    let modulus = vector.exact("modulus")?.to_integer().to_u64();
    let modulus = Modulus::new(modulus.ok_or_else(|| field("modulus"))?)?;
    let integers = vector.inputs.get("client_ints").and_then(Value::as_array);
    let integers: Option<Vec<i64>> = integers
        .ok_or_else(|| field("client_ints"))?
        .iter()
        .map(|integer| exact(Some(integer))?.to_integer().to_i64())
        .collect();
    let integers = integers.ok_or_else(|| field("client_ints"))?;
    let encoded: Vec<u64> = integers
        .iter()
        .map(|integer| modulus.encode(*integer))
        .collect();
    verdict.looked_at("encoded");
    let words: Vec<Value> = encoded
        .iter()
        .map(|code| Value::String(code.to_string()))
        .collect();
    if vector.expected.get("encoded") != Some(&Value::Array(words)) {
        verdict.complain(format!("encoded: found {encoded:?}"));
    }
    let aggregate = encoded.iter().fold(0, |sum, code| modulus.add(sum, *code));
    let decoded = modulus.decode(aggregate);
    verdict.same("aggregate", aggregate)?;
    verdict.same("decoded", decoded)?;
    verdict.same("wraps", integers.iter().sum::<i64>() != decoded)
}

/// ln of a probability written `1e-6`, `2^-40`, `exp(-1/2)` or `0`.
fn log_probability(text: &str) -> Result<f64, BadVector> {
    let bad = || BadVector::Field(text.to_owned());
    if let Some(exponent) = text.strip_prefix("2^") {
        return Ok(exponent.parse::<f64>().map_err(|_| bad())? * std::f64::consts::LN_2);
    }
    if let Some(exponent) = text
        .strip_prefix("exp(")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return sprifed_privacy::parse_exact(exponent)?
            .to_f64()
            .ok_or_else(bad);
    }
    Ok(text.parse::<f64>().map_err(|_| bad())?.ln())
}
