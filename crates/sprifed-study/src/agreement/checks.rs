//! What an agreement must be before anything is computed from it.

use sprifed_privacy::{
    ApproxDp, Epsilon, Gates, LedgerLine, NoiseOrigin, Participation, PrivacyUnit, Spending,
    SumPurchase,
};
use sprifed_query::{Plan, PlannedStep};
use sprifed_recovery::{Groups, Outcome, Setting};
use sprifed_schema::{DataTerms, Response};

use super::trustees::{TrusteeEntry, check_entries};
use super::{Agreement, IllegalAgreement};

/// What the schema asks for must be what the procedure does: a party must not agree to a model that it does not get.
pub(super) fn check_data(data: &DataTerms, setting: &Setting) -> Result<(), IllegalAgreement> {
    let outcome = outcome_of(data.schema().response());
    if outcome != setting.outcome {
        return Err(IllegalAgreement::Contradiction {
            what: "the outcome",
            found: setting.outcome.name().to_owned(),
            required: format!("{}, as the schema says", outcome.name()),
        });
    }
    let always = data.mapping().covariates().n_features();
    if always != setting.always as usize {
        return Err(IllegalAgreement::Contradiction {
            what: "the number of features that are always in the model",
            found: setting.always.to_string(),
            required: format!("{always}, as the schema says"),
        });
    }
    let groups = Groups::of(data.mapping().categories());
    if groups.as_ref() != Ok(&setting.groups) {
        return contradiction(
            "the list of categories that are picked as one",
            format!("{:?}", setting.groups),
            match groups {
                Ok(groups) => format!("{groups:?}, as the schema says,"),
                Err(error) => error.to_string(),
            },
        );
    }
    check_columns(data, setting)
}

/// What a procedure takes the response of a schema to be.
#[must_use]
pub const fn outcome_of(response: &Response) -> Outcome {
    match (response.levels(), response.event_time()) {
        (Some(_), _) => Outcome::Binary,
        (None, Some(_)) => Outcome::Survival,
        (None, None) => Outcome::Linear,
    }
}

/// Private scales are of the columns that the schema leaves without public ones, or of none.
fn check_columns(data: &DataTerms, setting: &Setting) -> Result<(), IllegalAgreement> {
    let scales = &setting.column_scales;
    let found: Vec<u32> = scales.columns().iter().collect();
    let (required, bound) = data.mapping().columns_without_scales();
    if scales.is_empty() || (found == required && scales.bound().to_bits() == bound.to_bits()) {
        return Ok(());
    }
    contradiction(
        "the list of columns with private scales",
        format!("{} within {}", found.len(), scales.bound()),
        format!(
            "none, or the {} without public scales within {bound}",
            required.len()
        ),
    )
}

/// Where the schema asks for site effects, each party is a site, with the records that it may contribute.
pub(super) fn check_sites(agreement: &Agreement) -> Result<(), IllegalAgreement> {
    let Some(data) = &agreement.data else {
        return Ok(());
    };
    let units = agreement.parties.iter().map(|party| party.units);
    let required = match data.schema().has_site_effects() {
        true => units.collect(),
        false => Vec::new(),
    };
    let found = agreement.setting.sites.records();
    match found == required {
        true => Ok(()),
        false => contradiction(
            "the list of sites with intercepts of their own",
            format!("{found:?}"),
            format!("{required:?}, as the schema and the parties say,"),
        ),
    }
}

/// What the number of clients, the units and the terms of the procedure must be in every study.
fn check_terms(agreement: &Agreement) -> Result<(), IllegalAgreement> {
    let Agreement {
        plan,
        setting,
        parties,
        ..
    } = agreement;
    let terms = (
        setting.origin,
        setting.relation,
        setting.unit,
        setting.budget,
    );
    if terms != (plan.origin, plan.relation, plan.unit, plan.budget) {
        return contradiction(
            "what the procedure is planned for",
            format!("{terms:?}"),
            "what the plan says".to_owned(),
        );
    }
    if plan.unit == PrivacyUnit::Client && parties.iter().any(|party| party.units != 1) {
        return contradiction(
            "the number of privacy units of a party",
            "more or less than one".to_owned(),
            "one, as each client is protected as a whole,".to_owned(),
        );
    }
    if let Some(empty) = parties.iter().find(|party| party.units == 0) {
        return contradiction(
            "the number of privacy units of a party",
            format!("zero for {:?}", empty.name),
            "at least one".to_owned(),
        );
    }
    Ok(())
}

/// Whose noise protects the records: shares of the parties, or of three trustees.
pub(super) enum Protection {
    Shares(Participation),
    Trustees(Box<[TrusteeEntry; 3]>, Gates),
}

/// Checks everything that does not need a computation for each step.
pub(super) fn protection_of(agreement: &Agreement) -> Result<Protection, IllegalAgreement> {
    let n_parties = agreement.parties.len();
    if agreement.gates.is_some() && agreement.trustees.is_none() {
        return contradiction(
            "what is said of the proof of gates",
            "there".to_owned(),
            "nothing, as the study has no trustees,".to_owned(),
        );
    }
    let protection = match (agreement.plan.origin, &agreement.trustees) {
        (NoiseOrigin::Curator, _) => {
            return Err(IllegalAgreement::Origin {
                found: "a trusted curator".to_owned(),
            });
        }
        (NoiseOrigin::Shares(_), Some(_)) => {
            return contradiction(
                "the list of trustees",
                "there".to_owned(),
                "none, as the noise comes from the parties,".to_owned(),
            );
        }
        (NoiseOrigin::Trustees, None) => {
            return contradiction(
                "the list of trustees",
                "missing".to_owned(),
                "three of them, as the noise comes from trustees,".to_owned(),
            );
        }
        (NoiseOrigin::Shares(participation), None) => {
            if participation.clients() as usize != n_parties {
                return contradiction(
                    "the number of parties",
                    n_parties.to_string(),
                    participation.clients().to_string(),
                );
            }
            if participation.colluders() == 0 {
                return contradiction(
                    "the number of colluders",
                    "0".to_owned(),
                    "at least 1, as every party knows its own share of the noise,".to_owned(),
                );
            }
            Protection::Shares(participation)
        }
        (NoiseOrigin::Trustees, Some(trustees)) => {
            if n_parties == 0 {
                return contradiction(
                    "the number of parties",
                    "0".to_owned(),
                    "at least 1".to_owned(),
                );
            }
            let Some(gates) = agreement.gates else {
                return contradiction(
                    "what is said of the proof of gates",
                    "missing".to_owned(),
                    "`proved` or `unproved`, as the study has trustees,".to_owned(),
                );
            };
            check_entries(trustees)?;
            Protection::Trustees(Box::new(trustees.clone()), gates)
        }
    };
    check_terms(agreement)?;
    Ok(protection)
}

fn contradiction<T>(
    what: &'static str,
    found: String,
    required: String,
) -> Result<T, IllegalAgreement> {
    Err(IllegalAgreement::Contradiction {
        what,
        found,
        required,
    })
}

/// Refuses a grid that holds no integers, and choices that no party of the study can make.
pub(super) fn check_steps(plan: &Plan) -> Result<(), IllegalAgreement> {
    for (step, planned) in plan.steps.iter().enumerate() {
        let blocks = match planned {
            PlannedStep::Sum(sum) => sum.blocks.clone(),
            PlannedStep::Choice(choice) if plan.origin == NoiseOrigin::Trustees => {
                vec![choice.score_block()]
            }
            PlannedStep::Choice(_) => return Err(IllegalAgreement::Choice { step }),
        };
        if let Some(block) = blocks.iter().find(|block| !block.has_legal_grid()) {
            return contradiction(
                "the number of integers for one unit of a block",
                block.steps.to_string(),
                "a number from 1 to 4194304".to_owned(),
            );
        }
    }
    Ok(())
}

/// What the ledger is charged for a step.
pub(super) fn line_of(plan: &Plan, planned: &PlannedStep) -> LedgerLine {
    match planned {
        PlannedStep::Sum(sum) => LedgerLine::Sum(SumPurchase {
            plan: sum.to_sum_plan(),
            origin: plan.origin,
            unit: plan.unit,
        }),
        PlannedStep::Choice(choice) => LedgerLine::Selection(choice.purchase),
    }
}

/// The cost of the plan with all allowed repetitions of its dearest sum, and of its dearest choice as well.
///
/// Which steps are repeated is decided between answers, and a choice and a sum add up differently. Both together
/// cover every such decision: docs/proofs/composition.md#9-studies-that-end-early.
pub(super) fn ceiling_of(agreement: &Agreement) -> Result<ApproxDp, IllegalAgreement> {
    let (plan, delta) = (&agreement.plan, agreement.plan.budget.delta());
    // The protocol's own failure is part of δ: what is left must pay for the noise.
    plan.origin.noise_delta(delta)?;
    let epsilon = |spending: &Spending| {
        let total = spending.to_approx_dp(delta);
        total.map_or(0.0, |total| total.epsilon().get())
    };
    let planned = epsilon(&plan.spending()?);
    let budget = plan.budget.epsilon().get();
    if planned > budget {
        return Err(IllegalAgreement::Contradiction {
            what: "epsilon of the plan",
            found: planned.to_string(),
            required: format!("at most the budget of {budget}"),
        });
    }
    if agreement.repeats == 0 {
        return Ok(plan.budget);
    }
    let mut spending = plan.spending()?;
    for is_choice in [false, true] {
        let mut dearest = None;
        for step in &plan.steps {
            if matches!(step, PlannedStep::Choice(_)) != is_choice {
                continue;
            }
            let expense = line_of(plan, step).expense(plan.relation)?;
            let cost = epsilon(&plan.spending()?.and(expense)?);
            if dearest.is_none_or(|(most, _)| cost > most) {
                dearest = Some((cost, expense));
            }
        }
        if let Some((_, expense)) = dearest {
            for _ in 0..agreement.repeats {
                spending = spending.and(expense)?;
            }
        }
    }
    let total = epsilon(&spending);
    // The order of additions must not decide whether the last charge fits.
    let ceiling = Epsilon::try_from((total * (1.0 + 1e-9)).max(budget))?;
    Ok(ApproxDp::new(ceiling, delta))
}
