//! `sensitivity`: exact L2 sensitivities, relative 1e-12.

use std::num::NonZeroU32;

use sprifed_privacy::{BatchedMessage, Mu, RecordBounds, Relation, Release, ResponseBound, paper};

use crate::vector::{BadVector, Vector};
use crate::verdict::Verdict;

const TOLERANCE: f64 = 1e-12;

pub(crate) fn judge(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    match vector.group.as_str() {
        "Xty" => {
            let features = vector.count("p")?;
            compare(vector, verdict, Release::ResponseCorrelation { features })?;
            let bounds = bounds(vector)?;
            let claims = paper::SensitivityClaims::of(bounds, features);
            verdict.relative("paper_lemma", claims.response_correlation, TOLERANCE)?;
            verdict.relative(
                "paper_algorithm_noise_times_mu",
                claims.noise_times_mu,
                TOLERANCE,
            )
        }
        "XtXj" => {
            let features = vector.count("p")?;
            compare(vector, verdict, Release::FeatureCorrelation { features })?;
            let claims = paper::SensitivityClaims::of(bounds(vector)?, features);
            verdict.relative("paper_lemma", claims.feature_correlation, TOLERANCE)
        }
        "XtXj_unselected" => {
            let unselected = vector.count("p")? - vector.count("l")?;
            compare(
                vector,
                verdict,
                Release::UnselectedFeatureCorrelation { unselected },
            )
        }
        "OLS" => compare(
            vector,
            verdict,
            Release::SupportRow {
                support: vector.count("l")?,
            },
        ),
        "grad" => {
            let unselected = vector.count("p")? - vector.count("l")?;
            let clip = vector.quantity("C")?;
            compare(
                vector,
                verdict,
                Release::ClippedGradient { unselected, clip },
            )
        }
        "batched" => batched(vector, verdict),
        "paper_BC_counterexample" => counterexample(vector, verdict),
        "group" => {
            let rows = NonZeroU32::new(vector.count("rows_per_client")?);
            let rows = rows.ok_or_else(|| BadVector::Field("rows_per_client".to_owned()))?;
            let client: Mu = vector.quantity::<Mu>("record_level_mu")?.for_group(rows);
            verdict.relative("client_level_mu", client.get(), TOLERANCE)
        }
        other => Err(BadVector::UnknownGroup(other.to_owned())),
    }
}

fn bounds(vector: &Vector) -> Result<RecordBounds, BadVector> {
    let response: ResponseBound = match vector.inputs.contains_key("y_M") {
        true => vector.quantity("y_M")?,
        false => ResponseBound::try_from(1.0)?,
    };
    Ok(RecordBounds {
        feature: vector.quantity("X_M")?,
        response,
    })
}

fn compare(vector: &Vector, verdict: &mut Verdict<'_>, release: Release) -> Result<(), BadVector> {
    let bounds = bounds(vector)?;
    verdict.relative(
        "zero_out",
        bounds.sensitivity(release, Relation::ZeroOut).get(),
        TOLERANCE,
    )?;
    verdict.relative(
        "replace_one",
        bounds.sensitivity(release, Relation::ReplaceOne).get(),
        TOLERANCE,
    )
}

fn batched(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let support = vector.count("l")?;
    let message = BatchedMessage {
        unselected: vector.count("p")? - support,
        support,
        unselected_noise: vector.quantity("sh")?,
        response_noise: vector.quantity("sg")?,
        support_noise: vector.quantity("sb")?,
    };
    let bounds = bounds(vector)?;
    verdict.relative(
        "mu_zero_out",
        bounds.batched_cost(message, Relation::ZeroOut)?.get(),
        TOLERANCE,
    )?;
    verdict.relative(
        "mu_replace_one",
        bounds.batched_cost(message, Relation::ReplaceOne)?.get(),
        TOLERANCE,
    )
}

fn counterexample(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let example = paper::all_ones_example(vector.count("s")?, vector.quantity("X_M")?);
    verdict.relative("actual_abs_change", example.change, TOLERANCE)?;
    verdict.relative(
        "paper_bound_2sqrt_s_XM2_alpha_inf",
        example.claimed_bound,
        TOLERANCE,
    )?;
    verdict.relative("ratio", example.change / example.claimed_bound, TOLERANCE)
}
