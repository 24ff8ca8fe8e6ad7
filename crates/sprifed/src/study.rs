//! What was asked, made definite: setting, plan, records and guarantee, before anything is spent.

use sprifed_noise::Provenance;
use sprifed_party::{DataSet, LedgerPlace, LocalFit, StoreError};
use sprifed_privacy::{
    ApproxDp, Cost, CostKind, Delta, Epsilon, IllegalQuantity, PrivacyUnit, Relation, Spending,
    counted, shown_to,
};
use sprifed_query::{Plan, PlanError};
use sprifed_recovery::{
    CertifiedProcedure, ColumnScales, Groups, InferenceMethod, Intercept, Keep, MOST_SITES,
    Setting, Sites,
};
use sprifed_schema::{MissingPolicy, Schema, SiteColumn};
use sprifed_study::outcome_of;
use sprifed_tables::Outline;

use crate::backend::{Backend, BackendRequest};
use crate::column_choice::{ColumnScalesChoice, ColumnScalesRequest};
use crate::error::Error;
use crate::guarantee::{Guarantee, Terms};
use crate::holdings::{Grouping, Holdings};
use crate::model::Response;
use crate::procedure_choice::{ProcedureChoice, ProcedureRequest, Stated};

/// What was asked of a fit.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// How many features are sought at most, those that are always in the model not counted.
    pub sparsity: u32,
    /// Which of them are kept.
    pub keep: Keep,
    /// Whether intervals and p-values allow for errors of unequal variance, at a share of the budget.
    pub robust: bool,
    /// By which records features are chosen, and by which their coefficients are estimated.
    pub inference: InferenceMethod,
    /// The privacy budget.
    pub epsilon: Epsilon,
    /// The delta of the budget; the smaller of 1e-6 and 1/(10 n) by default.
    pub delta: Option<Delta>,
    /// How features are found.
    pub procedure: ProcedureRequest,
    /// What is stated about the data, for the choice of a procedure.
    pub stated: Stated,
    /// Whether columns are standardised by private means and scales.
    pub column_scales: ColumnScalesRequest,
    /// Which data sets the guarantee makes indistinguishable.
    pub neighbours: Relation,
    /// Who answers.
    pub backend: BackendRequest,
    /// Over how many clients the records are split, in consecutive blocks; one record each by
    /// default, or as the labels of the schema's client column say.
    pub clients: Option<usize>,
}

/// A fit that can begin.
#[derive(Debug)]
pub struct Study<'a> {
    pub(crate) table: Outline<'a>,
    pub(crate) response: Response,
    pub(crate) missing: MissingPolicy,
    pub(crate) site_names: Vec<String>,
    backend: Backend,
    /// How features are found.
    pub procedure: CertifiedProcedure,
    /// Why it is this procedure.
    pub choice: ProcedureChoice,
    /// Whether columns are standardised, and why.
    pub columns: ColumnScalesChoice,
    /// What the procedure is planned for.
    pub setting: Setting,
    /// Everything that will be asked, with its noise.
    pub plan: Plan,
    /// Who holds which rows.
    pub holdings: Holdings,
    pub(crate) grouping: Grouping,
    spending: Spending,
    delta_is_given: bool,
}

impl<'a> Study<'a> {
    /// The study that `request` asks for.
    ///
    /// # Errors
    /// When no such study exists or its plan costs more than the budget.
    pub fn prepare(request: &Request, schema: &Schema, table: Outline<'a>) -> Result<Self, Error> {
        if schema.has_site_effects() && schema.sites().is_none() {
            return Err(Error::SitesNotNamed);
        }
        let holdings = Holdings::of(schema, table, request.clients)?;
        let unit = table.unit;
        // A client contributes the mean over its records, so where clients are the units, they are
        // what a sum counts.
        let n_records = match unit {
            PrivacyUnit::Record => count(table.public_size, "records")?,
            PrivacyUnit::Client => count(holdings.n_clients as u64, "clients")?,
        };
        let delta = request
            .delta
            .map_or_else(|| recommended_delta(f64::from(n_records)), Ok)?;
        let mapping = table.mapping;
        let setting = Setting {
            n_records,
            n_features: count(mapping.n_features() as u64, "features")?,
            sparsity: request.sparsity,
            choice: request.keep,
            inference: request.inference,
            always: count(mapping.covariates().n_features() as u64, "features")?,
            groups: Groups::of(mapping.categories())?,
            sites: sites_of(schema),
            outcome: outcome_of(schema.response()),
            budget: ApproxDp::new(request.epsilon, delta),
            relation: request.neighbours,
            unit,
            origin: request.backend.origin(holdings.n_clients)?,
            response_bound: mapping.response_bound(),
            feature_bound: mapping.feature_bound(),
            feature_scale: mapping.has_public_scales().then_some(1.0),
            column_scales: ColumnScales::NONE,
            intercept: Intercept::Estimated,
            robust: request.robust,
        };
        let columns = request.column_scales.choose_for(&setting, mapping)?;
        let setting = Setting {
            column_scales: columns.scales,
            ..setting
        };
        refuse_split_clients(&setting, &holdings)?;
        let backend = request.backend.backend;
        let can_run = |needs| backend.answers(needs);
        let choice = request
            .procedure
            .choose(&setting, request.stated, can_run)?;
        let procedure = choice.procedure;
        if !backend.answers(procedure.needs()) {
            return Err(Error::NeedsChoices { procedure, backend });
        }
        let columns = columns.unless(procedure.seeks_nothing(&setting)?);
        let setting = Setting {
            column_scales: columns.scales,
            ..setting
        };
        let plan = procedure.plan(&setting)?;
        let spending = plan.spending()?;
        require_within_budget(&spending, setting.budget)?;
        Ok(Self {
            table,
            response: Response::of(schema.response()),
            missing: schema.missing(),
            site_names: schema
                .sites()
                .map_or_else(Vec::new, |sites| sites.sites().to_vec()),
            backend,
            procedure,
            choice,
            columns,
            setting,
            plan,
            grouping: holdings.group(setting.origin),
            holdings,
            spending,
            delta_is_given: request.delta.is_some(),
        })
    }

    /// What the study promises if its noise is of this origin.
    ///
    /// # Errors
    /// When a cost is not a number that can be written down.
    pub fn guarantee(&self, provenance: Provenance) -> Result<Guarantee, IllegalQuantity> {
        let terms = Terms {
            delta: self.setting.budget.delta(),
            relation: self.setting.relation,
            unit: self.setting.unit,
            most_records: Some(self.holdings.most_records),
            origin: self.setting.origin,
        };
        let guarantee = Guarantee::of(&self.spending, terms, provenance)?;
        Ok(guarantee.answered_by(self.backend))
    }

    /// The most that the study can cost: ε at the δ of its budget.
    #[must_use]
    pub fn most(&self) -> Cost {
        let most = self.spending.to_approx_dp(self.setting.budget.delta());
        most.map_or(Cost::NOTHING, Cost::from)
    }

    /// Sets aside the most that the study can cost in the ledger of `place`; when this returns, it is on the disk.
    ///
    /// # Errors
    /// When a limit would be passed, or the ledger cannot be written.
    pub fn reserve(
        &self,
        place: &LedgerPlace,
        provenance: Provenance,
        data: DataSet,
    ) -> Result<LocalFit, StoreError> {
        let features = counted(self.setting.sparsity, "feature", "features");
        let title = format!("fit by {} with {features}", self.procedure);
        let (kind, protection) = (self.cost_kind(), provenance.into());
        LocalFit::reserve(place, &title, kind, protection, self.most(), data)
    }

    /// What its costs are about.
    #[must_use]
    pub const fn cost_kind(&self) -> CostKind {
        CostKind {
            unit: self.setting.unit,
            neighbours: self.setting.relation,
        }
    }

    /// How many features are candidates: all but those that are always in the model.
    #[must_use]
    pub fn n_candidates(&self) -> usize {
        self.table.mapping.n_features() - self.table.mapping.covariates().n_features()
    }

    /// What a person should know about the delta.
    #[must_use]
    pub fn delta_note(&self) -> Option<String> {
        if self.delta_is_given {
            return self.delta_warning();
        }
        let delta = self.plan.budget.delta();
        Some(format!(
            "delta was not given: {:e}, the smaller of 1e-6 and 1/(10 n)",
            delta.get()
        ))
    }

    /// Says so if the delta leaves room for revealing a record.
    #[must_use]
    pub fn delta_warning(&self) -> Option<String> {
        let product = self.plan.budget.delta().get() * f64::from(self.setting.n_records);
        (product > 0.1).then(|| {
            format!(
                "delta times the number of {}s is {}; at most 0.1 is recommended",
                self.plan.unit.text(),
                shown_to(product, 2)
            )
        })
    }
}

/// Which features are kept, as commands ask for it.
#[must_use]
pub const fn keep(exactly: bool) -> Keep {
    match exactly {
        true => Keep::Exactly,
        false => Keep::Significant,
    }
}

/// Refuses to split records of which one client has several.
///
/// # Why
/// Records of one client resemble each other. In different parts they would let the selection say something about the
/// estimates.
fn refuse_split_clients(setting: &Setting, holdings: &Holdings) -> Result<(), PlanError> {
    if setting.inference.is_selective() || holdings.most_records == 1 {
        return Ok(());
    }
    Err(PlanError::Request {
        found: format!(
            "the inference \"split\" and clients with up to {}",
            counted(holdings.most_records, "record", "records")
        ),
        required: "it is built for clients with one record each: use \"selective\"".to_owned(),
    })
}

/// The sites of one table that have an intercept of their own.
pub(crate) fn sites_of(schema: &Schema) -> Sites {
    const { assert!(SiteColumn::MOST == MOST_SITES) };
    let sites = schema.sites().map(|sites| Sites::new(sites.records()));
    // A schema with more of them is not read.
    sites.and_then(Result::ok).unwrap_or(Sites::NONE)
}

/// The delta of a study that was given none: the smaller of 1e-6 and 1/(10 n).
///
/// # Errors
/// Never for a number of units that exists.
pub fn recommended_delta(units: f64) -> Result<Delta, IllegalQuantity> {
    Delta::try_from((0.1 / units.max(1.0)).min(1e-6))
}

fn require_within_budget(spending: &Spending, budget: ApproxDp) -> Result<(), Error> {
    let needed = spending
        .to_approx_dp(budget.delta())
        .map_or(0.0, |total| total.epsilon().get());
    if needed <= budget.epsilon().get() {
        return Ok(());
    }
    Err(Error::Overdrawn { needed, budget })
}

fn count(found: u64, what: &'static str) -> Result<u32, Error> {
    u32::try_from(found).map_err(|_| Error::TooLarge { found, what })
}
