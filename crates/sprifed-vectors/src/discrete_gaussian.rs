//! `discrete_gaussian`: relative 1e-9, and the certified bound never below the exact δ.

use num_traits::ToPrimitive;
use sprifed_privacy::{
    DiscreteGaussian, Epsilon, Mu, NoiseVariance, sandwich_delta, smoothing_slack,
};

use crate::vector::{BadVector, Vector};
use crate::verdict::Verdict;

const TOLERANCE: f64 = 1e-9;

pub(crate) fn judge(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let law = DiscreteGaussian::new(NoiseVariance::try_from(vector.exact("sigma2")?)?);
    match vector.group.as_str() {
        "pmf" => {
            let x = vector.exact("x")?.to_integer().to_i64();
            let x = x.ok_or_else(|| BadVector::Field("x".to_owned()))?;
            verdict.relative("pmf", law.mass(x), TOLERANCE)?;
            verdict.relative("tail_gt_x", law.tail(x), TOLERANCE)
        }
        "moments" => {
            verdict.relative("variance", law.variance(), TOLERANCE)?;
            verdict.relative("normaliser", law.normaliser(), TOLERANCE)
        }
        "delta1d" => {
            let (shift, epsilon) = (vector.count("sensitivity")?, vector.quantity("eps")?);
            verdict.relative("delta", law.delta_of_shift(shift, epsilon), TOLERANCE)?;
            sandwich(law, (1, shift), epsilon, verdict)
        }
        "renyi1d" => renyi(law, vector, verdict),
        "box" => {
            let (dimension, bound) = (vector.count("d")?, vector.count("B")?);
            let epsilon = vector.quantity("eps")?;
            let found = law.delta_of_box_shift(dimension, bound, epsilon);
            verdict.relative("delta", found, TOLERANCE)?;
            sandwich(law, (dimension, bound), epsilon, verdict)
        }
        other => Err(BadVector::UnknownGroup(other.to_owned())),
    }
}

/// The bound that the accountant charges must cover the exact δ.
fn sandwich(
    law: DiscreteGaussian,
    (dimension, bound): (u32, u32),
    epsilon: Epsilon,
    verdict: &mut Verdict<'_>,
) -> Result<(), BadVector> {
    let exact = verdict.expected("delta")?;
    let smoothing = (law.parameter() / 4.0).min(3.0);
    let squared_move = f64::from(dimension) * f64::from(bound) * f64::from(bound);
    let mu = Mu::try_from((squared_move / (law.parameter() - smoothing)).sqrt())?;
    let slack = f64::from(dimension) * smoothing_slack(smoothing);
    let certified = sandwich_delta(mu, slack, epsilon);
    verdict.not_below("certified delta", certified, exact * (1.0 - TOLERANCE));
    Ok(())
}

/// The exact divergence, or, where the reference cut it off, the part that it added up.
///
/// The reference adds up |x| ≤ ⌊√(340 σ²)⌋ + 4 only, and the terms of a high order peak beyond.
/// There the expected number is not the divergence: for σ² = 25, a shift of 10 and order 32 it is
/// 31.5, where every whole order has exactly α Δ²/2σ² = 64. Such a vector still tests the masses:
/// the same partial sum must agree, and the divergence must be above it.
fn renyi(
    law: DiscreteGaussian,
    vector: &Vector,
    verdict: &mut Verdict<'_>,
) -> Result<(), BadVector> {
    let (shift, order) = (vector.count("sensitivity")?, vector.number("alpha")?);
    let found = law.renyi_of_shift(shift, order);
    let expected = verdict.expected("renyi")?;
    if (found - expected).abs() <= TOLERANCE * expected {
        return Ok(());
    }
    verdict.reference_is_at_fault("its divergence leaves out a tail that matters");
    let cut = ((340.0 * law.parameter()).sqrt().floor() + 4.0)
        .to_i64()
        .unwrap_or(i64::MAX);
    let partial = partial_renyi((cut, i64::from(shift)), order, |x| law.log_mass(x));
    verdict.not_below("renyi", found, expected);
    verdict.relative("renyi", partial, TOLERANCE)
}

/// ln Σ P(x)^α P(x + Δ)^(1−α) / (α − 1) over the x for which both are within ±`cut`.
pub(crate) fn partial_renyi(
    (cut, shift): (i64, i64),
    order: f64,
    log_mass: impl Fn(i64) -> f64,
) -> f64 {
    let exponents: Vec<f64> = (-cut..=cut - shift)
        .map(|x| order * log_mass(x) - (order - 1.0) * log_mass(x + shift))
        .collect();
    let largest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = exponents
        .iter()
        .map(|exponent| (exponent - largest).exp())
        .sum();
    (largest + sum.ln()) / (order - 1.0)
}
