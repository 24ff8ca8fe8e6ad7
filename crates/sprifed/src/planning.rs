//! What a study will ask, cost and probably find, before any record is touched.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::{
    ApproxDp, Delta, Epsilon, LOG_WRAP_PROBABILITY, Mu, NoiseOrigin, PrivacyUnit, RecordPart,
    Relation, Spending, SumCost, SumPlan, SumSize,
};
use sprifed_query::{FeatureSet, LARGEST_HAZARD, Plan, PlannedStep};
use sprifed_recovery::{
    CertifiedProcedure, ColumnScales, Groups, InferenceMethod, Intercept, Keep, Needs, Outcome,
    ROBUST_BLOCK, Setting, Sites,
};
use sprifed_schema::{Coding, Schema, Units};
use sprifed_simulate::{
    Absence, Certified, Unexplained, WorldRequest, compare, forecast_records, setting_of,
};
use sprifed_study::outcome_of;

pub use self::categories::PlannedCategories;
use self::categories::groups_of;
use self::forecast::assumptions;
pub use self::forecast::{FloorAnswer, ForecastAnswer, ForecastRow, Thinned};
use crate::backend::BackendRequest;
use crate::column_choice::{ColumnScalesChoice, ColumnScalesRequest};
use crate::error::Error;
use crate::guarantee::Mode;
use crate::procedure_choice::{ProcedureChoice, ProcedureRequest};
use crate::secure_sums::SecureSums;
use crate::study::{recommended_delta, sites_of};
use crate::trustees::TrusteeCosts;
use crate::world::WorldSize;

mod categories;
mod forecast;
mod text;

/// A study to be planned.
#[derive(Clone, Copy, Debug)]
pub struct PlanRequest {
    /// How features are to be found.
    pub procedure: ProcedureRequest,
    /// Who adds up.
    pub backend: BackendRequest,
    /// The size of the study, and what is assumed of its data.
    pub world: WorldSize,
    /// Which of the chosen features are kept.
    pub keep: Keep,
    /// Whether intervals and p-values allow for errors of unequal variance, at a share of the budget.
    pub robust: bool,
    /// By which records features are chosen, and by which their coefficients are estimated.
    pub inference: InferenceMethod,
    /// What the public schema says.
    pub schema: SchemaFacts,
    /// Epsilon of the budget.
    pub epsilon: Epsilon,
    /// Delta of the budget; the smaller of 1e-6 and 1/(10 n) by default.
    pub delta: Option<Delta>,
    /// Whether columns are standardised by private means and scales.
    pub column_scales: ColumnScalesRequest,
    /// Which data sets count as neighbours.
    pub neighbours: Relation,
}

/// What a plan takes from the public schema.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SchemaFacts {
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// Whether every feature has a public scale of its own; the scale of a row is asked for otherwise.
    pub has_scales: bool,
    /// How many features are always in the model, of the columns that the schema names.
    pub always: u32,
    /// The categories among the candidates that the schema names, as if they were the first ones: a plan depends on how many
    /// levels they have, not on their places.
    pub groups: Groups,
    /// The sites of one table that have an intercept of their own.
    pub sites: Sites,
    /// How many features are known to need no private scale: they have a public one, or are zeros and ones.
    pub scaled: u32,
    /// The largest size of a feature without a public scale, in bounded units.
    pub bound: f64,
    /// What the response is.
    pub outcome: Outcome,
}

impl SchemaFacts {
    /// Without a schema: records are protected, and features have public scales.
    pub const NONE: Self = Self {
        unit: PrivacyUnit::Record,
        has_scales: true,
        always: 0,
        groups: Groups::NONE,
        sites: Sites::NONE,
        scaled: u32::MAX,
        bound: 0.0,
        outcome: Outcome::Linear,
    };

    /// What `schema` says.
    #[must_use]
    pub fn of(schema: &Schema) -> Self {
        let named = schema
            .named_features()
            .filter_map(|name| schema.units_of(name));
        // A name that no table has gives the units of all features without a table.
        let all = named.chain(schema.units_of(""));
        let unscaled = all.filter(|units| !units.has_public_scale());
        let bounds: Vec<f64> = unscaled.map(Units::bound).collect();
        let codings = schema
            .named_features()
            .filter_map(|name| schema.coding_of(name));
        let scaled: usize = codings
            .map(|coding| match coding {
                Coding::Number(number) if !number.units().has_public_scale() => coding.width() - 1,
                Coding::Number(_) | Coding::Levels(_) => coding.width(),
            })
            .sum();
        Self {
            unit: schema.unit(),
            has_scales: bounds.is_empty(),
            scaled: u32::try_from(scaled).unwrap_or(u32::MAX),
            bound: bounds.into_iter().fold(0.0, f64::max),
            always: u32::try_from(schema.n_always()).unwrap_or(u32::MAX),
            groups: groups_of(schema),
            sites: sites_of(schema),
            outcome: outcome_of(schema.response()),
        }
    }

    /// How many features `schema` has, if it names them all: a category has one for each level but its reference.
    #[must_use]
    pub fn n_features(schema: &Schema) -> Option<usize> {
        let named = schema.named_features();
        let widths = named.filter_map(|name| schema.coding_of(name).map(Coding::width));
        (!schema.has_default_bounds()).then(|| widths.sum())
    }
}

/// A study that can be afforded.
#[derive(Clone, Debug)]
pub struct Planned {
    request: PlanRequest,
    choice: ProcedureChoice,
    floor: FloorAnswer,
    budget: ApproxDp,
    data: WorldRequest,
    columns: ColumnScalesChoice,
    setting: Setting,
    plan: Plan,
    spending: Spending,
}

/// What a study will ask and cost, and what simulation says of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanAnswer {
    /// How features are found.
    pub procedure: CertifiedProcedure,
    /// Why it is this procedure, and what each is expected to find.
    pub choice: ProcedureChoice,
    /// Whether columns are standardised by private means and scales, and why.
    pub column_scales: ColumnScalesChoice,
    /// About how many records one feature needs at this budget.
    pub floor: FloorAnswer,
    /// n: how many records.
    pub records: usize,
    /// How many clients hold them.
    pub clients: usize,
    /// p: how many features.
    pub features: usize,
    /// s: how many of them are sought at most.
    pub sparsity: usize,
    /// Which of them are kept: those that are significant, or exactly as many as are sought.
    pub keep: KeptFeatures,
    /// By which records features are chosen, and by which their coefficients are estimated.
    pub inference: InferenceMethod,
    /// How many features are always in the model, by the schema.
    pub always: u32,
    /// The categories among the candidates that the schema names and wants picked together; absent if there are none with
    /// more than one column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<PlannedCategories>,
    /// What robust intervals cost, as mu: a block of the last sum, contained in the cost of that. Absent without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub robust_mu: Option<f64>,
    /// What the study promises.
    pub guarantee: PlannedGuarantee,
    /// How many sums and choices.
    pub rounds: usize,
    /// How many integers each client sends in all.
    pub integers: u64,
    /// Bits of an integer on the wire; with trustees, of the widest.
    pub bits_per_integer: u64,
    /// Bytes that each client sends, without masks' keys and transport.
    pub upload_bytes_per_client: u64,
    /// Every sum and choice.
    pub steps: Vec<StepLine>,
    /// What secure sums need of each party; absent with a curator.
    pub secure_sums: Option<SecureSums>,
    /// What three trustees need of each role; absent with other backends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trustees: Option<TrusteeCosts>,
    /// What simulation says; absent if none was asked for, or if nothing can be found.
    pub forecast: Option<ForecastAnswer>,
}

/// Which of the features that were sought are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeptFeatures {
    /// Those that are significant after the selection.
    Significant,
    /// All of them.
    Exactly,
}

impl From<Keep> for KeptFeatures {
    fn from(keep: Keep) -> Self {
        match keep {
            Keep::Significant => Self::Significant,
            Keep::Exactly => Self::Exactly,
        }
    }
}

/// What a planned study promises with secret noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlannedGuarantee {
    /// Always `certified`.
    pub mode: Mode,
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// Which data sets are neighbours.
    pub neighbours: Relation,
    /// ε at δ; absent if nothing is asked.
    pub epsilon: Option<Epsilon>,
    /// δ.
    pub delta: Delta,
    /// μ of the sums.
    pub mu: Option<Mu>,
    /// How likely the protocol of secure sums fails, contained in δ.
    pub protocol_failure: f64,
}

/// One sum or choice of the plan, in words and numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StepLine {
    /// Its place.
    pub step: usize,
    /// What it is for.
    pub purpose: String,
    /// `sum` or `choice`.
    pub kind: &'static str,
    /// The records that it is about: a record costs what the steps about its part cost.
    pub part: RecordPart,
    /// How many integers each client sends.
    pub integers: u64,
    /// The standard deviation of the noise of each block, in units of the largest contribution.
    pub relative_noise: Vec<f64>,
    /// The share of the budget, as mu of a sum or range of a choice.
    pub cost: f64,
}

impl PlanRequest {
    /// The plan of this study.
    ///
    /// # Errors
    /// When there is none, or it costs more than the budget.
    pub fn plan(self) -> Result<Planned, Error> {
        let data = self.world.request()?;
        let units = match self.schema.unit {
            PrivacyUnit::Record => self.world.records,
            PrivacyUnit::Client => self.world.clients(),
        };
        // Where clients are the units, each counts as one record.
        let data = WorldRequest {
            records: units,
            ..data
        };
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 records")]
        let delta = self
            .delta
            .map_or_else(|| recommended_delta(units as f64), Ok)?;
        let budget = ApproxDp::new(self.epsilon, delta);
        let setting = Setting {
            origin: self.backend.origin(self.world.clients())?,
            ..self.setting(&data, budget)?
        };
        let columns = self.columns(&setting)?;
        let setting = Setting {
            column_scales: columns.scales,
            ..setting
        };
        let backend = self.backend.backend;
        let stated = self.world.stated();
        let choice = self
            .procedure
            .choose(&setting, stated, |needs| backend.answers(needs))?;
        let procedure = choice.procedure;
        if !backend.answers(procedure.needs()) {
            return Err(Error::NeedsChoices { procedure, backend });
        }
        let makes_choices = backend.answers(Needs::Choices);
        let floor = FloorAnswer::of(&setting, procedure, makes_choices)?;
        let columns = columns.unless(procedure.seeks_nothing(&setting)?);
        let plan = procedure.plan(&setting)?;
        let spending = plan.spending()?;
        let cost = spending.to_approx_dp(budget.delta());
        if cost.is_some_and(|cost| cost.epsilon() > budget.epsilon()) {
            return Err(Error::OverBudget {
                epsilon: budget.epsilon(),
            });
        }
        Ok(Planned {
            request: self,
            choice,
            floor,
            budget,
            data,
            columns,
            setting,
            plan,
            spending,
        })
    }

    /// Whether columns are standardised. Their places do not matter to a plan, so those without public scales count as
    /// the first ones.
    fn columns(&self, setting: &Setting) -> Result<ColumnScalesChoice, Error> {
        let columns = match self.schema.has_scales {
            true => 0,
            false => setting.n_features.saturating_sub(self.schema.scaled),
        };
        let columns = FeatureSet::all(columns);
        Ok(self
            .column_scales
            .choose(setting, &columns, self.schema.bound)?)
    }

    /// What a fit is planned for on a curator, in worlds of this kind.
    fn setting(&self, data: &WorldRequest, budget: ApproxDp) -> Result<Setting, Error> {
        let setting = setting_of(data, budget, self.neighbours)?;
        // Eight standard deviations of the response, of which the model explains a part.
        let response_bound = match (self.schema.outcome, data.unexplained) {
            (Outcome::Binary, _) => 1.0,
            (Outcome::Survival, _) => LARGEST_HAZARD,
            (Outcome::Linear, Unexplained::PopulationR2(share)) => {
                setting.response_bound / share.sqrt()
            }
            (Outcome::Linear, Unexplained::ErrorStdDev(_)) => setting.response_bound,
        };
        Ok(Setting {
            unit: self.schema.unit,
            feature_scale: self.schema.has_scales.then_some(1.0),
            intercept: Intercept::Estimated,
            choice: self.keep,
            robust: self.robust,
            inference: self.inference,
            always: self.schema.always,
            groups: self.schema.groups,
            sites: self.schema.sites,
            outcome: self.schema.outcome,
            response_bound,
            ..setting
        })
    }
}

impl Planned {
    /// The procedure, and why it is this one.
    #[must_use]
    pub const fn choice(&self) -> &ProcedureChoice {
        &self.choice
    }

    /// What simulation says of the study; none if it has too few records for any feature. `watch` hears of every trial and
    /// may end it there.
    ///
    /// # Errors
    /// When a trial fails, or `watch` ended it.
    pub fn forecast(
        &self,
        trials: u64,
        mut watch: impl FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Option<ForecastAnswer>, Error> {
        if self.floor.is_below || trials == 0 {
            return Ok(None);
        }
        // A curator adds what all clients together would; who masks what changes nothing else.
        let budget = effective(self.budget, self.plan.origin)?;
        let backend = self.request.backend.backend;
        let stated = self.request.world.stated();
        let mut rows = Vec::new();
        for population_r2 in stated.levels() {
            let Some(world) = self.request.schema.explaining(population_r2, self.data) else {
                continue;
            };
            let setting = simulated(self.request.setting(&world, budget)?);
            let able = CertifiedProcedure::all().filter(|one| backend.answers(one.needs()));
            let methods = able.map(|one| Certified::planned(one, setting, Absence::NONE));
            let methods = methods.collect::<Result<Vec<_>, _>>()?;
            let compared = compare(&methods, world, trials, &mut watch)?.into_iter();
            rows.extend(compared.map(|row| ForecastRow::of(population_r2, row)));
        }
        let mut answer = ForecastAnswer {
            assumes: assumptions(&self.request.schema, stated, self.data.support),
            rows,
            records_for_90_percent: None,
            tried: Vec::new(),
            trials,
            seconds_per_study: None,
        };
        let world = stated
            .population_r2
            .and_then(|r2| self.request.schema.explaining(r2, self.data));
        if let Some(world) = world {
            let setting = simulated(self.request.setting(&world, budget)?);
            let procedure = self.choice.procedure;
            let search = forecast_records(procedure, setting, world, trials, &mut watch)?;
            answer.records_for_90_percent = search.records_for_90_percent;
            answer.tried = search.tried;
        }
        Ok(Some(answer))
    }

    /// The plan and, if there is one, the forecast.
    ///
    /// # Errors
    /// When the plan's integers do not fit any modulus, or the parties could not agree on the study.
    pub fn answer(&self, forecast: Option<ForecastAnswer>) -> Result<PlanAnswer, Error> {
        let Self {
            request,
            choice,
            floor,
            budget,
            data,
            columns,
            plan,
            spending,
            setting,
        } = self;
        let delta = budget.delta();
        let clients = u32::try_from(request.world.clients()).unwrap_or(u32::MAX);
        let needs = choice.procedure.needs();
        let trustees = TrusteeCosts::of(setting, plan, clients, needs)?;
        let (bits, upload_bytes_per_client) = match &trustees {
            Some(costs) => (u64::from(costs.most_bits), costs.client_sends_bytes),
            None => {
                let bits = bits_per_integer(plan, data)?;
                (bits, (plan.coordinates() * bits).div_ceil(8))
            }
        };
        Ok(PlanAnswer {
            procedure: choice.procedure,
            choice: choice.clone(),
            column_scales: columns.clone(),
            floor: floor.clone(),
            records: request.world.records,
            clients: request.world.clients(),
            features: data.features,
            sparsity: data.sparsity,
            keep: request.keep.into(),
            inference: request.inference,
            always: setting.always,
            categories: PlannedCategories::of(setting, choice.procedure),
            robust_mu: robust_mu(plan)?,
            guarantee: PlannedGuarantee {
                mode: Mode::Certified,
                unit: plan.unit,
                neighbours: plan.relation,
                epsilon: spending.to_approx_dp(delta).map(ApproxDp::epsilon),
                delta,
                mu: spending.sums().and_then(|sums| sums.mu().ok()),
                protocol_failure: spending.sums().map_or(0.0, SumCost::failure),
            },
            rounds: plan.steps.len(),
            integers: plan.coordinates(),
            bits_per_integer: bits,
            upload_bytes_per_client,
            steps: lines(plan)?,
            secure_sums: SecureSums::of(choice.procedure, setting, plan)?,
            trustees,
            forecast,
        })
    }
}

/// The setting of a simulated study, in which every unit is one record, all features are candidates, and features are
/// made in standard units.
const fn simulated(setting: Setting) -> Setting {
    Setting {
        unit: PrivacyUnit::Record,
        always: 0,
        groups: Groups::NONE,
        sites: Sites::NONE,
        column_scales: ColumnScales::NONE,
        ..setting
    }
}

/// The budget with which a curator would add as much noise as all clients together.
///
/// Noise is made for the honest shares that are certain, but every party that stays adds one.
fn effective(budget: ApproxDp, origin: NoiseOrigin) -> Result<ApproxDp, Error> {
    if origin == NoiseOrigin::Curator {
        return Ok(budget);
    }
    let surplus = f64::from(origin.most_shares()) / f64::from(origin.certain_shares());
    let mu = Mu::try_from(Mu::largest_within(budget)?.get() / surplus.sqrt())?;
    Ok(mu.to_approx_dp(budget.delta()))
}

/// The cost of the block for robust intervals, as μ, if `plan` has one.
fn robust_mu(plan: &Plan) -> Result<Option<f64>, Error> {
    let sums = plan.steps.iter().filter_map(|step| match step {
        PlannedStep::Sum(sum) => Some(sum),
        PlannedStep::Choice(_) => None,
    });
    let mut blocks = sums.flat_map(|sum| &sum.blocks);
    let Some(robust) = blocks.find(|planned| planned.block.name == ROBUST_BLOCK) else {
        return Ok(None);
    };
    let alone = SumPlan {
        part: RecordPart::All,
        blocks: vec![robust.block.clone()],
    };
    let cost = alone.cost(plan.origin, plan.relation)?;
    Ok(Some(cost.mu()?.get()))
}

/// Every step of `plan`.
fn lines(plan: &Plan) -> Result<Vec<StepLine>, Error> {
    let line = |(step, planned): (usize, &PlannedStep)| match planned {
        PlannedStep::Sum(sum) => {
            let cost = sum.to_sum_plan().cost(plan.origin, plan.relation)?;
            let noise = sum.blocks.iter().map(|planned| {
                let variance = planned.block.share_variance.to_f64();
                (variance * f64::from(plan.origin.most_shares())).sqrt() / planned.steps
            });
            Ok(StepLine {
                step,
                purpose: sum.purpose.clone(),
                kind: "sum",
                part: planned.part(),
                integers: sum.to_sum_plan().coordinates(),
                relative_noise: noise.collect(),
                cost: cost.mu()?.get(),
            })
        }
        PlannedStep::Choice(choice) => {
            let (numerator, denominator) = choice.purchase.noise_rate;
            let rate = f64::from(numerator) / f64::from(denominator);
            let moves = f64::from(plan.relation.sum_moves_by() * choice.purchase.score_bound);
            Ok(StepLine {
                step,
                purpose: choice.purpose.clone(),
                kind: "choice",
                part: planned.part(),
                integers: u64::from(choice.purchase.candidates),
                // The standard deviation of a Gumbel variable is π/√6 times its scale.
                relative_noise: vec![1.2825 / rate / f64::from(choice.purchase.score_bound)],
                cost: choice.purchase.law.range(rate, moves),
            })
        }
    };
    plan.steps.iter().enumerate().map(line).collect()
}

/// Bits of an integer on the wire if every record's client added its share of the noise.
fn bits_per_integer(plan: &Plan, request: &WorldRequest) -> Result<u64, Error> {
    // A curator's noise is planned in one piece; clients would share it.
    let records = u32::try_from(request.records).unwrap_or(u32::MAX);
    let (clients, pieces) = match plan.origin {
        NoiseOrigin::Curator => (records, records),
        NoiseOrigin::Shares(participation) => (participation.clients(), 1),
        NoiseOrigin::Trustees => (NoiseOrigin::Trustees.most_shares(), 1),
    };
    let mut widest = 1;
    for step in &plan.steps {
        let PlannedStep::Sum(sum) = step else {
            continue;
        };
        for planned in &sum.blocks {
            let size = SumSize {
                largest_sum: u128::from(records)
                    * u128::from(planned.block.bounds.coordinate_bound()),
                shares: clients,
                share_variance: planned.block.share_variance.to_f64() / f64::from(pieces),
                coordinates: plan.coordinates(),
                log_wrap_probability: LOG_WRAP_PROBABILITY,
            };
            widest = widest.max(size.plan()?.bits);
        }
    }
    Ok(u64::from(widest))
}
