//! Certified procedures to compare with: the paper's algorithms and its baselines, with the noise that a budget buys.
//!
//! They are not in the registry of `sprifed-recovery`: no study runs them and `fit` does not offer them. Trials and
//! experiments do.

use sprifed_privacy::{ApproxDp, Relation};
use sprifed_query::PlanError;
use sprifed_recovery::{CertifiedProcedure, Entry, Intercept, Needs, Ready, Setting};
use sprifed_simulate::{Reading, WorldRequest, setting_of, typical_response};

use crate::algorithm::{PaperGradient, PaperOmp, plan_honest_gradient, plan_honest_omp};
use crate::baseline::{Baseline, Descent, DpGcdParameters, DpIht, DpSgdParameters, plan_dp_iht};

#[cfg(test)]
mod tests;

static HONEST_OMP_ENTRY: Entry = Entry {
    name: "honest-omp",
    about: "The paper's SPriFed-OMP with certified noise",
    needs: Needs::Sums,
    version: 1,
    plan: plan_honest_omp,
    begin: |setting| Ok(Ready::sums(PaperOmp::honest(setting))),
};

static HONEST_GRAD_ENTRY: Entry = Entry {
    name: "honest-grad",
    about: "The paper's SPriFed-OMP-GRAD with certified noise",
    needs: Needs::Sums,
    version: 1,
    plan: plan_honest_gradient,
    begin: |setting| Ok(Ready::sums(PaperGradient::honest(setting))),
};

static DP_SGD_ENTRY: Entry = Entry {
    name: "dp-sgd",
    about: "DP-SGD with an L1 penalty and certified noise",
    needs: Needs::Sums,
    version: 2,
    plan: |setting| dp_sgd().plan(setting),
    begin: |setting| Ok(Ready::sums(Descent::new(*setting, dp_sgd()))),
};

static DP_GCD_ENTRY: Entry = Entry {
    name: "dp-gcd",
    about: "Enhanced DP-GCD (the paper's Algorithm 5) with certified noise",
    needs: Needs::Sums,
    version: 2,
    plan: |setting| dp_gcd(setting).plan(setting),
    begin: |setting| Ok(Ready::sums(Descent::new(*setting, dp_gcd(setting)))),
};

static DP_IHT_ENTRY: Entry = Entry {
    name: "dp-iht",
    about: "Noisy iterative hard thresholding with peeling and certified noise",
    needs: Needs::Choices,
    version: 2,
    plan: plan_dp_iht,
    begin: |setting| Ok(Ready::choices(DpIht::new(*setting))),
};

/// The paper's SPriFed-OMP with certified noise.
pub const HONEST_OMP: CertifiedProcedure = CertifiedProcedure::of(&HONEST_OMP_ENTRY);
/// The paper's SPriFed-OMP-GRAD with certified noise.
pub const HONEST_GRAD: CertifiedProcedure = CertifiedProcedure::of(&HONEST_GRAD_ENTRY);
/// DP-SGD with an L1 penalty and certified noise.
pub const DP_SGD: CertifiedProcedure = CertifiedProcedure::of(&DP_SGD_ENTRY);
/// Enhanced DP-GCD with certified noise.
pub const DP_GCD: CertifiedProcedure = CertifiedProcedure::of(&DP_GCD_ENTRY);

/// Noisy iterative hard thresholding with certified noise.
pub const DP_IHT: CertifiedProcedure = CertifiedProcedure::of(&DP_IHT_ENTRY);

/// All of them.
pub const COMPARISONS: [CertifiedProcedure; 5] = [HONEST_OMP, HONEST_GRAD, DP_SGD, DP_GCD, DP_IHT];

const fn dp_sgd() -> Baseline {
    Baseline::DpSgd(DpSgdParameters::certified())
}

const fn dp_gcd(setting: &Setting) -> Baseline {
    Baseline::DpGcd(DpGcdParameters::certified(setting.sparsity))
}

fn is_of_the_paper(procedure: CertifiedProcedure) -> bool {
    [HONEST_OMP, HONEST_GRAD].contains(&procedure)
}

/// Whether `procedure` can estimate an intercept; the paper's algorithms cannot.
#[must_use]
pub fn intercept_of(procedure: CertifiedProcedure) -> Intercept {
    if is_of_the_paper(procedure) {
        Intercept::Absent
    } else {
        Intercept::Estimated
    }
}

/// What `procedure` is planned for in worlds of this kind, on a curator.
///
/// # Why
/// The paper's algorithms pay for their bounds: one standard deviation is what serves them best.
///
/// # Errors
/// When the world is too large.
pub fn certified_setting(
    procedure: CertifiedProcedure,
    world: &WorldRequest,
    budget: ApproxDp,
    relation: Relation,
) -> Result<Setting, PlanError> {
    let setting = setting_of(world, budget, relation)?;
    if world.reading == Reading::Clean && is_of_the_paper(procedure) {
        return Ok(Setting {
            feature_bound: 1.0,
            response_bound: typical_response(world.support),
            ..setting
        });
    }
    Ok(setting)
}
