//! What was asked, made definite: setting, plan, records and guarantee, before anything is spent.

use sprifed_data::{MissingPolicy, PrivacyUnit as DataUnit, Schema, Table, Units};
use sprifed_noise::Provenance;
use sprifed_privacy::{ApproxDp, Delta, IllegalQuantity, NoiseOrigin, PrivacyUnit, Spending};
use sprifed_query::Plan;
use sprifed_recovery::{CertifiedProcedure, Intercept, Setting};

use super::Fit;
use super::guarantee::{Guarantee, Terms};
use super::holdings::{Grouped, Holdings};
use crate::failure::Failure;

/// A fit that can begin.
#[derive(Debug)]
pub(super) struct Study<'a> {
    pub(super) table: &'a Table,
    pub(super) response: String,
    pub(super) missing: MissingPolicy,
    pub(super) procedure: CertifiedProcedure,
    pub(super) setting: Setting,
    pub(super) plan: Plan,
    pub(super) holdings: Holdings,
    pub(super) grouped: Grouped<'a>,
    spending: Spending,
}

impl<'a> Study<'a> {
    /// The study that `request` asks for.
    ///
    /// # Errors
    /// When no such study exists or its plan costs more than the budget.
    pub(super) fn prepare(
        request: &Fit,
        schema: &Schema,
        table: &'a Table,
    ) -> Result<Self, Failure> {
        let holdings = Holdings::of(schema, table, request.clients)?;
        let unit = match table.unit() {
            DataUnit::Client => PrivacyUnit::Client,
            _ => PrivacyUnit::Record,
        };
        // A client contributes the mean over its records, so where clients are the units, they are
        // what a sum counts.
        let n_records = match unit {
            PrivacyUnit::Record => count(table.public_size(), "records")?,
            PrivacyUnit::Client => count(holdings.n_clients as u64, "clients")?,
        };
        let delta = request
            .delta
            .map_or_else(|| recommended_delta(f64::from(n_records)), Ok)?;
        let mapping = table.mapping();
        let setting = Setting {
            n_records,
            n_features: count(table.design().n_features() as u64, "features")?,
            sparsity: request.sparsity,
            budget: ApproxDp::new(request.epsilon, delta),
            relation: request.neighbours.relation(),
            unit,
            origin: request.backend.origin(holdings.n_clients)?,
            response_bound: mapping.response_bound(),
            feature_bound: mapping.feature_bound(),
            feature_scale: mapping
                .features()
                .iter()
                .all(has_public_scale)
                .then_some(1.0),
            intercept: Intercept::Estimated,
        };
        let procedure = request.procedure.procedure();
        refuse_choices(procedure, setting.origin)?;
        let plan = procedure.plan(&setting)?;
        let spending = plan.spending()?;
        require_within_budget(&spending, setting.budget)?;
        Ok(Self {
            table,
            response: schema.response().name().to_owned(),
            missing: schema.missing(),
            procedure,
            setting,
            plan,
            grouped: holdings.group(table, setting.origin),
            holdings,
            spending,
        })
    }

    /// What the study promises if its noise is of this origin.
    pub(super) fn guarantee(&self, provenance: Provenance) -> Result<Guarantee, IllegalQuantity> {
        let terms = Terms {
            delta: self.setting.budget.delta(),
            relation: self.setting.relation,
            unit: self.setting.unit,
            most_records: self.holdings.most_records,
            origin: self.setting.origin,
        };
        Guarantee::of(&self.spending, terms, provenance)
    }

    /// How many privacy units there are.
    pub(super) fn n_units(&self) -> f64 {
        f64::from(self.setting.n_records)
    }
}

/// Whether the schema gave a centre and a scale of its own, so that units are standard ones. The
/// default scale is half the distance of the bounds, computed in the same way.
pub(crate) fn has_public_scale(units: &Units) -> bool {
    let default = units.upper() / 2.0 - units.lower() / 2.0;
    (units.scale() - default).abs() > 1e-12 * default
}

/// Secure sums show what they add up, so they make no choices.
fn refuse_choices(procedure: CertifiedProcedure, origin: NoiseOrigin) -> Result<(), Failure> {
    if procedure != CertifiedProcedure::Argmax || origin == NoiseOrigin::Curator {
        return Ok(());
    }
    Err(Failure::usage(
        "sprifed::fit::needs-choices",
        "argmax needs a backend that never shows scores, but secure sums show every sum".to_owned(),
        "use --procedure grad or sieve, or --backend curator; nothing was spent",
    ))
}

pub(crate) fn recommended_delta(units: f64) -> Result<Delta, IllegalQuantity> {
    Delta::try_from((0.1 / units.max(1.0)).min(1e-6))
}

fn require_within_budget(spending: &Spending, budget: ApproxDp) -> Result<(), Failure> {
    let needed = spending
        .to_approx_dp(budget.delta())
        .map_or(0.0, |total| total.epsilon().get());
    if needed <= budget.epsilon().get() {
        return Ok(());
    }
    let message = format!(
        "the plan costs epsilon = {needed}, but the budget is {} at delta = {}",
        budget.epsilon(),
        budget.delta()
    );
    let help = "raise --epsilon or --delta, or lower --sparsity; nothing was spent";
    Err(Failure::outcome(
        "sprifed::ledger::overdrawn",
        message,
        help,
    ))
}

fn count(found: u64, what: &str) -> Result<u32, Failure> {
    u32::try_from(found).map_err(|_| {
        let message = format!(
            "the table has {found} {what}, but at most {} are possible",
            u32::MAX
        );
        Failure::usage(
            "sprifed::fit::too-large",
            message,
            "use a smaller table; nothing was spent",
        )
    })
}
