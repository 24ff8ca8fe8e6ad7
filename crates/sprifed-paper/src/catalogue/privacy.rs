//! What the paper claims of its settings, beside what they deliver: computed, not simulated.

use sprifed_privacy::paper::claims;
use sprifed_privacy::{Delta, Mu};

use crate::experiment::{Experiment, ExperimentError, Session, Work};
use crate::label::theorem;
use crate::numbers::shown;
use crate::row::Row;
use crate::verdict::{Evidence, Outcome, Verdict};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "privacy",
    title: "Privacy: claimed against delivered",
    claim: "The settings of the experiments satisfy the (ε, δ) given with them.",
    setting: "Delivered: SPriFed-OMP as the paper ran it, with noise that ignores the bounds 1.392 (features) and 1.05 (response) left \
              by its rescaling, and s + 1 vectors; SPriFed-OMP-GRAD as published has no ε at all.",
    work: Work::Own(measure),
    figures: &[],
    metrics: &["epsilon"],
    judge,
};

fn measure(session: &mut Session<'_>) -> Result<(), ExperimentError> {
    let mut rows = Vec::new();
    for claim in claims() {
        let delta = Delta::try_from(claim.claimed.1)?;
        let epsilon = |mu: Mu| mu.to_approx_dp(delta).epsilon().get();
        let delivered = claim.delivered_zero_out()?;
        let twice = delivered
            .map(|mu| Mu::try_from(2.0 * mu.get()))
            .transpose()?;
        let known = [
            ("claimed", Some(claim.claimed.0)),
            (
                "of the claimed mu",
                claim.epsilon_of_claimed_mu()?.map(|e| e.get()),
            ),
            (
                "of the theorem",
                theorem(&claim).map(|total| total.epsilon().get()),
            ),
            ("delivered, zero-out", delivered.map(epsilon)),
            ("delivered, replace-one", twice.map(epsilon)),
        ];
        for (series, value) in known {
            let Some(value) = value else { continue };
            rows.push(Row {
                axis: "setting".to_owned(),
                metric: "epsilon".to_owned(),
                value,
                delta: Some(claim.claimed.1),
                privacy: "nominal, not a guarantee".to_owned(),
                settings: format!("mu_p={} mu_s={}", claim.shares.0, claim.shares.1),
                ..session.row(claim.place, series)
            });
        }
    }
    session.store.retain(EXPERIMENT.name, |_| false);
    session.store.add(rows)
}

fn judge(rows: &[Row]) -> Verdict {
    let evidence = Evidence(rows);
    let at = |series| evidence.at("section 6, s = 10", series, 0.0, "epsilon");
    let (Some(claimed), Some(zero_out), Some(replace_one)) = (
        at("claimed"),
        at("delivered, zero-out"),
        at("delivered, replace-one"),
    ) else {
        return Verdict::not_run();
    };
    let outcome = if zero_out.value <= claimed.value {
        Outcome::Reproduced
    } else {
        Outcome::NotReproduced
    };
    let epsilon = |row: &Row| shown(row.value, "epsilon");
    Verdict::new(
        outcome,
        format!(
            "The setting for s = 10 claims ε {} and delivers {} under zero-out and {} under the paper's own replace-one. The \
             quoted pairs do not agree with each other either.",
            epsilon(claimed),
            epsilon(zero_out),
            epsilon(replace_one)
        ),
    )
}
