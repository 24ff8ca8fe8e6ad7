//! `sum_discrete_gaussian`: relative 1e-8, and 1e-6 for the values from the dual lattice.

use core::num::NonZeroU32;

use sprifed_privacy::{
    DiscreteGaussian, Mu, NoiseVariance, ShareSum, poisson_remainder, sandwich_delta,
    smoothing_slack,
};

use crate::vector::{BadVector, Vector};
use crate::verdict::Verdict;

const TOLERANCE: f64 = 1e-8;
const LATTICE_TOLERANCE: f64 = 1e-6;

/// The reference computes ln((1 + K)/(1 − K)) with 60 digits, so a K below 1e-60 is lost there
/// and the expected sum is 0. A sum over up to 10⁴ shares is known to it up to this much.
const REFERENCE_DIGITS: f64 = 1e-56;

pub(crate) fn judge(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    match vector.group.as_str() {
        "maxdiv" | "maxdiv_large" => slack(vector, verdict),
        "t2" => {
            let smoothing = vector.number("r2")?;
            verdict.relative("t2", smoothing_slack(smoothing), TOLERANCE)?;
            verdict.relative("kappa", poisson_remainder(smoothing), TOLERANCE)
        }
        "delta_sum" => delta(vector, verdict),
        other => Err(BadVector::UnknownGroup(other.to_owned())),
    }
}

fn shares(vector: &Vector) -> Result<ShareSum, BadVector> {
    let variance = NoiseVariance::try_from(vector.exact("sigma_c2")?)?;
    let count = NonZeroU32::new(vector.count("m")?);
    let count = count.ok_or_else(|| BadVector::Field("m".to_owned()))?;
    Ok(ShareSum {
        share: DiscreteGaussian::new(variance),
        count,
    })
}

fn slack(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let shares = shares(vector)?;
    let expected = verdict.expected("t1_sequential")?;
    if expected < REFERENCE_DIGITS {
        verdict.not_above("t1_sequential", shares.merging_slack(), REFERENCE_DIGITS);
        verdict.not_below("t1_sequential", shares.merging_slack(), f64::MIN_POSITIVE);
        verdict.reference_is_at_fault("its slack is 0, which only an infinite variance has");
    } else {
        verdict.relative("t1_sequential", shares.merging_slack(), TOLERANCE)?;
    }
    verdict.relative("kls_tau", shares.published_slack(), TOLERANCE)?;
    verdict.relative("kls_half_tau", shares.published_slack() / 2.0, TOLERANCE)?;
    if vector.expected.contains_key("t1_exact") {
        verdict.relative("t1_exact", shares.exact_log_ratio(), LATTICE_TOLERANCE)?;
        verdict.not_above("t1_exact", shares.exact_log_ratio(), shares.merging_slack());
    }
    if vector.expected.contains_key("t1_lattice") {
        verdict.relative("t1_lattice", shares.lattice_bound(), LATTICE_TOLERANCE)?;
    }
    Ok(())
}

/// The exact δ, and the certified one, which may not be below it.
fn delta(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let shares = shares(vector)?;
    let (shift, epsilon) = (vector.count("shift")?, vector.quantity("eps")?);
    let exact = shares.delta_of_shift(shift, epsilon);
    verdict.relative("delta_exact", exact, TOLERANCE)?;
    let total = shares.share.parameter() * f64::from(shares.count.get());
    let smoothing = (total / 4.0).min(3.0);
    let mu = Mu::try_from(f64::from(shift) / (total - smoothing).sqrt())?;
    let slack = shares.merging_slack() + smoothing_slack(smoothing);
    let certified = sandwich_delta(mu, slack, epsilon);
    let least = verdict.expected("delta_exact")? * (1.0 - TOLERANCE);
    verdict.not_below("certified delta", certified, least);
    Ok(())
}
