//! `selection`: p-values and intervals after a selection.

use serde_json::Value;
use sprifed_recovery::selection::conditioned::PooledEstimate;
use sprifed_recovery::selection::{
    ArgmaxSelection, ConditionalLaw, Estimate, GroupPick, GroupScore, Pick, PooledSelection,
    ReportedSelection, Rival, Selection, hull, log_rivals, normal,
};

use crate::vector::{BadVector, Vector, number};
use crate::verdict::Verdict;

/// Of p-values of picks and groups: the program integrates on 1201 points and never goes below 1e-12.
const RELATIVE: f64 = 1e-4;
const ABSOLUTE: f64 = 5e-12;

/// Of the ends of intervals, in standard errors.
const OF_ENDS: f64 = 1e-5;

pub(crate) fn judge(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    match vector.group.as_str() {
        "normal" => {
            let found = normal::log_cumulative(vector.number("x")?);
            verdict.relative("log_cumulative", found, 1e-13)
        }
        "quantile" => {
            let found = normal::upper_quantile(vector.number("tail")?);
            verdict.relative("upper_quantile", found, 1e-13)
        }
        "pick" => judge_pick(vector, verdict),
        "pooled" => judge_pooled(vector, verdict),
        "argmax_interval" => judge_argmax(vector, verdict),
        "group" => judge_group(vector, verdict),
        unknown => Err(BadVector::UnknownGroup(unknown.to_owned())),
    }
}

fn judge_pick(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let (pick, estimate) = (pick_of(vector)?, estimate_of(vector)?);
    let covariance = pick.covariance(estimate.sampling_variance);
    verdict.relative("transfer", pick.transfer(), 1e-12)?;
    verdict.relative("score_std_dev", pick.score_std_dev(), 1e-12)?;
    verdict.relative("covariance", covariance, 1e-12)?;
    near(verdict, pick.p_value(&estimate))
}

fn near(verdict: &mut Verdict<'_>, found: f64) -> Result<(), BadVector> {
    let expected = verdict.expected("p_value")?;
    verdict.require("p_value", found, expected, RELATIVE * expected + ABSOLUTE);
    Ok(())
}

fn judge_pooled(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let (estimate, level) = (estimate_of(vector)?, vector.number("level")?);
    let pooled = PooledEstimate {
        value: vector.number("pooled")?,
        variance: vector.number("pooled_variance")?,
        largest_ratio_left_out: vector.number("largest_ratio")?,
        largest_estimate_left_out: vector.number("largest_estimate")?,
    };
    let selection = PooledSelection::new(&pooled, &estimate);
    let expected = verdict.expected("p_value")?;
    let found = selection.p_value(&estimate);
    verdict.require("p_value", found, expected, 1e-6 * expected + 1e-15);
    judge_ends(&selection, &estimate, level, verdict)?;
    let reported = hull(&selection, &estimate, level);
    let slack = OF_ENDS * estimate.std_error();
    verdict.absolute("hull_low", reported.low, slack)?;
    verdict.absolute("hull_high", reported.high, slack)
}

fn judge_ends(
    selection: &impl ReportedSelection,
    estimate: &Estimate,
    level: f64,
    verdict: &mut Verdict<'_>,
) -> Result<(), BadVector> {
    let std_error = estimate.std_error();
    let found = selection.conditional_interval(estimate, level);
    verdict.absolute("low", found.low, OF_ENDS * std_error)?;
    verdict.absolute("high", found.high, OF_ENDS * std_error)
}

fn judge_argmax(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let (pick, estimate) = (pick_of(vector)?, estimate_of(vector)?);
    let (kept, later) = (numbers(vector, "kept")?, numbers(vector, "later")?);
    let rival = |coefficient: f64| Rival {
        transfer: pick.transfer(),
        coefficient,
        is_picked_later: later.contains(&coefficient),
    };
    let rivals: Vec<Rival> = kept.iter().copied().map(rival).collect();
    let weight = log_rivals(&pick, &rivals, vector.count("most")?);
    verdict.relative("log_rivals", weight, 1e-9)?;
    let selection = ArgmaxSelection::new(&pick, &estimate, weight);
    let at_half = selection.log_weight(estimate.value / 2.0, estimate.value);
    verdict.absolute("log_weight_at_half", at_half, 1e-6)?;
    let law = ConditionalLaw {
        selection: &selection,
        std_error: estimate.std_error(),
    };
    let below = law.shares(0.0, estimate.value).below;
    verdict.absolute("share_below_zero_effect", below, 1e-6)?;
    judge_ends(&selection, &estimate, vector.number("level")?, verdict)
}

fn judge_group(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let pick = GroupPick {
        by: GroupScore::Norm,
        columns: vector.count("columns")?,
        squared_distance: vector.number("squared_distance")?,
        correlation: vector.number("correlation")?,
        score_std_dev: vector.number("score_std_dev")?,
        noise_scale: vector.number("noise_scale")?,
        noise_rate: vector.number("rate")?,
        candidates: vector.number("candidates")?,
    };
    near(verdict, pick.p_value())
}

fn pick_of(vector: &Vector) -> Result<Pick, BadVector> {
    Ok(Pick {
        n_records: vector.number("n")?,
        residual_scale: vector.number("residual_scale")?,
        feature_clip: vector.number("b")?,
        residual_clip: vector.number("q")?,
        feature_variance: vector.number("v")?,
        score_steps: vector.number("steps")?,
        noise_rate: vector.number("rate")?,
        candidates: vector.number("candidates")?,
    })
}

fn estimate_of(vector: &Vector) -> Result<Estimate, BadVector> {
    Ok(Estimate {
        value: vector.number("estimate")?,
        sampling_variance: vector.number("sampling_variance")?,
        variance: vector.number("variance")?,
    })
}

fn numbers(vector: &Vector, key: &str) -> Result<Vec<f64>, BadVector> {
    let list = vector.inputs.get(key).and_then(Value::as_array);
    let read = list.and_then(|list| list.iter().map(|one| number(Some(one))).collect());
    read.ok_or_else(|| BadVector::Field(key.to_owned()))
}
