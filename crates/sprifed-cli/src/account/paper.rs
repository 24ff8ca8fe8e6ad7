//! `account paper`: what the paper claims of its settings, beside what they deliver.

use serde::Serialize;
use sprifed_privacy::paper::{Claim, NominalCounts, claims};
use sprifed_privacy::{
    Algorithm, Delta, Epsilon, IllegalQuantity, Mu, Reading, Relation, RunShape, shown_to,
};
use sprifed_report::table;

use crate::failure::Failure;
use crate::output::Output;

#[derive(Debug, Serialize)]
struct Row {
    place: &'static str,
    delta: Delta,
    /// What the paper says.
    claimed_epsilon: f64,
    /// What the paper's own μ converts to.
    epsilon_of_claimed_mu: Option<Epsilon>,
    /// The paper's theorem, recomputed. Nominal.
    theorem: Option<Priced>,
    /// This project's reading, noise scaled by the bounds.
    needed_zero_out: Option<Priced>,
    needed_replace_one: Option<Priced>,
    /// The paper's noise on the paper's data, as its pseudocode runs.
    delivered_zero_out: Option<Priced>,
    delivered_replace_one: Option<Priced>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Priced {
    mu: Mu,
    epsilon: Epsilon,
}

#[derive(Debug, Serialize)]
struct Comparison {
    label: &'static str,
    rows: Vec<Row>,
}

pub(crate) fn answer(output: &Output) -> Result<(), Failure> {
    let rows = claims()
        .iter()
        .map(row)
        .collect::<Result<Vec<Row>, IllegalQuantity>>()?;
    let label = "NOMINAL (paper formula, not a DP guarantee)";
    output.answer(&Comparison { label, rows }, to_text);
    Ok(())
}

fn row(claim: &Claim) -> Result<Row, IllegalQuantity> {
    let delta = Delta::try_from(claim.claimed.1)?;
    let priced = |mu: Mu| Priced {
        mu,
        epsilon: mu.to_approx_dp(delta).epsilon(),
    };
    let (per_vector, per_support) = (Mu::try_from(claim.shares.0)?, Mu::try_from(claim.shares.1)?);
    let shape = claim.sparsity.map(|sparsity| RunShape {
        algorithm: Algorithm::Omp,
        features: claim.features,
        sparsity,
        per_vector,
        per_support,
    });
    let theorem = claim
        .sparsity
        .map(|sparsity| {
            NominalCounts {
                sparsity,
                per_vector,
                per_support,
            }
            .theorem()
        })
        .transpose()?;
    let needed = |relation| {
        shape
            .map(|shape| shape.total(Reading::Needed, relation))
            .transpose()
    };
    let delivered = claim.delivered_zero_out()?;
    let twice = delivered
        .map(|mu| Mu::try_from(2.0 * mu.get()))
        .transpose()?;
    Ok(Row {
        place: claim.place,
        delta,
        claimed_epsilon: claim.claimed.0,
        epsilon_of_claimed_mu: claim.epsilon_of_claimed_mu()?,
        theorem: theorem.map(priced),
        needed_zero_out: needed(Relation::ZeroOut)?.map(priced),
        needed_replace_one: needed(Relation::ReplaceOne)?.map(priced),
        delivered_zero_out: delivered.map(priced),
        delivered_replace_one: twice.map(priced),
    })
}

fn to_text(comparison: &Comparison) -> String {
    let heading = [
        "setting",
        "delta",
        "claimed eps",
        "eps of claimed mu",
        "theorem",
        "bounded noise: zero-out / replace-one",
        "delivered: zero-out / replace-one",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for row in &comparison.rows {
        let epsilon = |priced: Option<Priced>| priced.map_or("-".into(), |p| two(p.epsilon));
        rows.push(vec![
            row.place.to_owned(),
            row.delta.shown(),
            row.claimed_epsilon.to_string(),
            row.epsilon_of_claimed_mu.map_or("-".into(), two),
            epsilon(row.theorem),
            format!(
                "{} / {}",
                epsilon(row.needed_zero_out),
                epsilon(row.needed_replace_one)
            ),
            format!(
                "{} / {}",
                epsilon(row.delivered_zero_out),
                epsilon(row.delivered_replace_one)
            ),
        ]);
    }
    format!(
        "{}\n\n{}\nclaimed: what the paper prints. theorem: its formula, recomputed. bounded noise: the noise\n\
         scaled by the public bounds and the last column skipped. delivered: SPriFed-OMP as the paper ran it,\n\
         with noise that ignores the bounds 1.392 (features) and 1.05 (response) left by its rescaling.\n",
        comparison.label,
        table(&rows),
    )
}

fn two(epsilon: Epsilon) -> String {
    shown_to(epsilon.get(), 2)
}
