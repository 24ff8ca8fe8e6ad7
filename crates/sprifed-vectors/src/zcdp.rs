//! `zcdp_to_approxdp`.

use sprifed_privacy::Rho;

use crate::vector::{BadVector, Vector};
use crate::verdict::Verdict;

/// ε within 1e-7·(1 + ε) and never below; ln δ within 1e-8·max(1, |ln δ|).
pub(crate) fn judge(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let rho: Rho = vector.quantity("rho")?;
    verdict.looked_at("alpha_opt");
    match vector.group.as_str() {
        "eps" => {
            let found = rho.to_approx_dp(vector.quantity("delta")?).epsilon().get();
            let expected = verdict.expected("eps")?;
            verdict.require("eps", found, expected, 1e-7 * (1.0 + expected));
            verdict.not_below("eps", found, expected - 1e-12);
        }
        "delta" => {
            let found = rho.log_delta(vector.quantity("eps")?);
            let expected = verdict.expected("log_delta")?;
            verdict.require("log_delta", found, expected, 1e-8 * expected.abs().max(1.0));
        }
        other => return Err(BadVector::UnknownGroup(other.to_owned())),
    }
    Ok(())
}
