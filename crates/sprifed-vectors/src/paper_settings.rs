//! `paper_settings`: μ relative 1e-10, ε within 1e-8.

use sprifed_privacy::{ApproxDp, Delta, Epsilon, Mu, Reading, Relation, RunShape, paper};

use crate::vector::{BadVector, Vector, number};
use crate::verdict::Verdict;

pub(crate) fn judge(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    match vector.group.as_str() {
        group if group.starts_with("totals:") => totals(vector, verdict),
        "claims" => claims(vector, verdict),
        "rescale" => rescale(verdict),
        other => Err(BadVector::UnknownGroup(other.to_owned())),
    }
}

fn totals(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    use Relation::{ReplaceOne, ZeroOut};
    let shape = RunShape {
        algorithm: vector.algorithm()?,
        features: vector.count("p")?,
        sparsity: vector.count("s")?,
        per_vector: vector.quantity("mu_p")?,
        per_support: vector.quantity("mu_s")?,
    };
    let total = match vector.text("count_mode")? {
        "theorem" => shape.total(Reading::Theorem, ZeroOut),
        "theorem_replace_one" => shape.total(Reading::Theorem, ReplaceOne),
        "product" => shape.total(Reading::Needed, ZeroOut),
        "product_replace_one_upper" => shape.total(Reading::Needed, ReplaceOne),
        "product_replace_one_exact" => shape.exact_replace_one(),
        "s_iterations_full" => shape.total(Reading::AllCoordinates, ZeroOut),
        "s_iterations_full_replace_one_upper" => shape.total(Reading::AllCoordinates, ReplaceOne),
        "literal_le_loop" => shape.total(Reading::LiteralLoop, ZeroOut),
        "literal_le_loop_replace_one_upper" => shape.total(Reading::LiteralLoop, ReplaceOne),
        other => return Err(BadVector::UnknownGroup(other.to_owned())),
    }?;
    verdict.relative("mu_total", total.get(), 1e-10)?;
    verdict.absolute(
        "eps",
        total
            .to_approx_dp(vector.quantity("delta")?)
            .epsilon()
            .get(),
        1e-8,
    )
}

fn claims(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let bad = || BadVector::Field("claimed".to_owned());
    let claimed = vector.inputs.get("claimed").ok_or_else(bad)?;
    let delta = Delta::try_from(number(claimed.get("delta")).ok_or_else(bad)?)?;
    let epsilon = Epsilon::try_from(number(claimed.get("eps")).ok_or_else(bad)?)?;
    let matching = Mu::largest_within(ApproxDp::new(epsilon, delta))?;
    verdict.relative("mu_matching_claimed_eps_delta", matching.get(), 1e-10)?;
    if let Some(gdp) = number(claimed.get("gdp")) {
        let gdp = Mu::try_from(gdp)?;
        let recomputed = gdp.to_approx_dp(delta).epsilon().get();
        verdict.absolute("eps_from_claimed_gdp", recomputed, 1e-8)?;
        let key = "delta_at_claimed_eps_from_claimed_gdp";
        verdict.relative(key, gdp.log_delta(epsilon).exp(), 1e-9)?;
    }
    let counts = vector.inputs.contains_key("s");
    if counts {
        let setting = paper::NominalCounts {
            sparsity: vector.count("s")?,
            per_vector: vector.quantity("mu_p")?,
            per_support: vector.quantity("mu_s")?,
        };
        for (name, total) in [
            ("theorem", setting.theorem()),
            ("s_plus_1_mu_p_only", setting.vectors_only(1)),
            ("s_plus_1", setting.with_extra_vectors(1)),
            ("s_plus_2", setting.with_extra_vectors(2)),
        ] {
            let total = total?;
            verdict.relative(&format!("mu_{name}"), total.get(), 1e-10)?;
            let epsilon = total.to_approx_dp(delta).epsilon().get();
            verdict.absolute(&format!("eps_{name}"), epsilon, 1e-8)?;
        }
    }
    Ok(())
}

fn rescale(verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let clipped = paper::ClippedNormal::at_one();
    verdict.relative("clipped_variance", clipped.variance, 1e-10)?;
    verdict.relative("X_M", clipped.rescaled_bound(), 1e-10)?;
    verdict.relative("X_M_squared", clipped.rescaled_bound().powi(2), 1e-10)?;
    verdict.looked_at("meaning");
    Ok(())
}
