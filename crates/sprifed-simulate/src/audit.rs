//! An empirical audit: fits two neighbouring tables many times and tests whether they can be
//! distinguished.
//!
//! The claim of a fit comes from its ledger. The audit runs the whole fit on two tables that differ
//! in one privacy unit, takes the released sums as an attacker would, and asks how well the two
//! tables can be distinguished. A lower bound above the claim shows a bug; a lower bound below it
//! shows nothing but that this attack did not succeed.
//!
//! # Why
//! The statistic is the logarithm of the likelihood ratio of everything released, under the noise
//! that the plan states. No test distinguishes the tables better, if the system is as it claims.
//! The claim is a curve: an ε for each δ. Trials are split in halves. The first half chooses a
//! threshold and a point of the curve, the second gives the bound there, by the intervals of
//! Clopper and Pearson. So the choice does not bias the bound.

use std::sync::Arc;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{
    ApproxDp, Delta, LedgerRecord, NoiseOrigin, PrivacyUnit, Relation, Spending,
};
use sprifed_query::{Answer, Curator, Plan, PlanError};
use sprifed_recovery::{
    CertifiedProcedure, ColumnScales, Groups, InferenceMethod, Intercept, Keep, Outcome, Setting,
    Sites,
};
use sprifed_study::{
    Agreed, Agreement, Embedded, EmbeddedTrustees, PartyKey, all_present, split_evenly,
};

use crate::audit::bound::{Attack, Trials};
use crate::audit::observer::Observer;
use crate::audit::table::{Table, TableSource};
use crate::trial::TrialError;

mod bound;
mod observer;
mod table;
#[cfg(test)]
mod tests;

/// What is audited, and how thoroughly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AuditRequest {
    /// The procedure.
    pub procedure: CertifiedProcedure,
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// Which tables are neighbours.
    pub relation: Relation,
    /// The source of the noise: a curator, the parties of an embedded study, or three trustees, to whom each unit is
    /// a client of its own.
    pub origin: NoiseOrigin,
    /// The budget of a fit.
    pub budget: ApproxDp,
    /// How many privacy units a table has.
    pub units: u32,
    /// How many features.
    pub features: u32,
    /// How many of them are chosen.
    pub sparsity: u32,
    /// How often each of the two tables is fitted.
    pub trials: u32,
    /// The probability with which a bound may exceed the truth.
    pub false_alarm: f64,
    /// The seed of all trials.
    pub seed: u64,
    /// Whether an intercept is estimated. Use all that the procedure can do, so that all of it is
    /// audited.
    pub intercept: Intercept,
}

/// A claim and a bound, at one δ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AuditPoint {
    /// δ.
    pub delta: f64,
    /// The ε that the ledger claims there.
    pub claim: f64,
    /// The ε that the trials show, at least.
    pub bound: f64,
}

impl AuditPoint {
    /// Whether the trials contradict the claim.
    #[must_use]
    pub fn is_violated(&self) -> bool {
        self.bound > self.claim
    }
}

/// What an audit found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AuditOutcome {
    /// At the δ of the budget.
    pub at_budget: AuditPoint,
    /// At the δ where the first half of the trials distinguished the tables best.
    pub at_best: AuditPoint,
}

impl AuditOutcome {
    /// Whether the trials contradict the claim at one of the two points.
    #[must_use]
    pub fn is_violated(&self) -> bool {
        self.at_budget.is_violated() || self.at_best.is_violated()
    }
}

/// Where tests plant bugs. The product has the honest one only.
pub(crate) trait Seam: Sync {
    /// Which row each unit of a table holds, if these are there.
    fn rows(&self, is_present: &[bool]) -> Vec<usize> {
        (0..is_present.len()).collect()
    }

    /// Changes what was released; `exact` is it without noise.
    fn release(&self, _answer: &mut Answer, _exact: &[Vec<f64>]) {}

    /// Changes what the ledger says.
    fn charge(&self, _record: &mut LedgerRecord) {}
}

/// The system as it is.
struct Honest;

impl Seam for Honest {}

impl AuditRequest {
    /// Fits both tables as often as requested; calls `advanced` after every fit.
    ///
    /// # Errors
    /// When no plan exists for the request, or a fit does not end.
    pub fn run(&self, advanced: &(dyn Fn() + Sync)) -> Result<AuditOutcome, TrialError> {
        self.run_with(&Honest, advanced)
    }

    fn run_with(
        &self,
        seam: &impl Seam,
        advanced: &(dyn Fn() + Sync),
    ) -> Result<AuditOutcome, TrialError> {
        self.check()?;
        let setting = self.setting();
        let plan = self.procedure.plan(&setting)?;
        let tables = Table::neighbours(self);
        let sources = [0, 1].map(|which: usize| {
            let table = &tables[which];
            TableSource::of(table, seam.rows(table.presence()))
        });
        let runs: Vec<(usize, u32)> = [0, 1]
            .into_iter()
            .flat_map(|which| (0..self.trials).map(move |trial| (which, trial)))
            .collect();
        let ended: Result<Vec<(f64, LedgerRecord)>, TrialError> = runs
            .into_par_iter()
            .map(|(which, trial)| {
                let seed = self.seed.wrapping_mul(1 << 32) + (u64::from(trial) << 1) + which as u64;
                let ended = self.fit(&setting, &plan, &sources, which, seed, seam);
                advanced();
                ended
            })
            .collect();
        let ended = ended?;
        let claim = Claim::of(ended.first().map(|(_, record)| record.clone()), seam)?;
        let statistics: Vec<f64> = ended.iter().map(|(statistic, _)| *statistic).collect();
        let (without, with) = statistics.split_at(self.trials as usize);
        Ok(self.judge(&claim, without, with))
    }

    /// One fit of one table: how much likelier its releases are under the second table.
    fn fit(
        &self,
        setting: &Setting,
        plan: &Plan,
        sources: &[TableSource<'_>; 2],
        which: usize,
        seed: u64,
        seam: &impl Seam,
    ) -> Result<(f64, LedgerRecord), TrialError> {
        let source = &sources[which];
        if self.origin == NoiseOrigin::Trustees {
            return self.fit_by_trustees(setting, plan, sources, which, seed, seam);
        }
        let NoiseOrigin::Shares(participation) = self.origin else {
            let generator = NoiseGenerator::simulated(seed);
            let curator = Curator::open(source.clone(), plan.clone(), generator)?;
            // A curator's rounding is not public. One rounding is as good a guess as another.
            let mut observer = Observer {
                inner: curator,
                plan,
                sources,
                which,
                seam,
                rounding: |_| 0,
                statistic: 0.0,
            };
            self.procedure.run(setting, &mut observer, |_| ())?;
            return Ok((observer.statistic, observer.inner.ledger().record()));
        };
        let key = PartyKey::simulated(seed, 0);
        let units = split_evenly(self.units, participation.clients());
        let agreement =
            Agreement::among_parties(&key, self.procedure, *setting, plan.clone(), units);
        let agreed = Arc::new(Agreed::new(agreement)?);
        let rounding = Arc::clone(&agreed);
        let study = Embedded::over(source, agreed, &key, Box::new(all_present))?;
        let mut observer = Observer {
            inner: study,
            plan,
            sources,
            which,
            seam,
            rounding: move |step| {
                let sum = rounding.sum_number(step, 0).unwrap_or(0);
                rounding.dither_seed(sum)
            },
            statistic: 0.0,
        };
        self.procedure.run_on_sums(setting, &mut observer, |_| ())?;
        Ok((observer.statistic, observer.inner.ledger().record()))
    }

    /// As [`Self::fit`], by three trustees. The statistic of a choice counts the noise of two of them, as the claim
    /// does.
    fn fit_by_trustees(
        &self,
        setting: &Setting,
        plan: &Plan,
        sources: &[TableSource<'_>; 2],
        which: usize,
        seed: u64,
        seam: &impl Seam,
    ) -> Result<(f64, LedgerRecord), TrialError> {
        let key = PartyKey::simulated(seed, 0);
        let (units, source) = (vec![1; self.units as usize], &sources[which]);
        let study =
            EmbeddedTrustees::over(source, plan.clone(), units, &key, Box::new(all_present))?;
        let seeds: Vec<u64> = (0..plan.steps.len())
            .map(|step| study.dither_seed(step))
            .collect();
        let mut observer = Observer {
            inner: study,
            plan,
            sources,
            which,
            seam,
            rounding: |step: usize| seeds.get(step).copied().unwrap_or(0),
            statistic: 0.0,
        };
        self.procedure.run(setting, &mut observer, |_| ())?;
        Ok((observer.statistic, observer.inner.ledger().record()))
    }

    fn judge(&self, claim: &Claim, without: &[f64], with: &[f64]) -> AuditOutcome {
        let trials = Trials::new(without, with, self.false_alarm / 2.0);
        let delta = self.budget.delta().get();
        let at = |attack: Attack| AuditPoint {
            delta: attack.delta,
            claim: claim.at(attack.delta),
            bound: trials.bound(&attack),
        };
        let deltas: Vec<(f64, f64)> = DELTAS
            .iter()
            .map(|delta| (*delta, claim.at(*delta)))
            .collect();
        AuditOutcome {
            at_budget: at(trials.best_attack(&[(delta, claim.at(delta))])),
            at_best: at(trials.best_attack(&deltas)),
        }
    }

    fn check(&self) -> Result<(), PlanError> {
        let refuse = |found: String, required: &str| {
            Err(PlanError::Request {
                found,
                required: required.to_owned(),
            })
        };
        if self.trials < 20 {
            let found = format!("{} trials", self.trials);
            return refuse(found, "at least 20 are required");
        }
        if !(self.false_alarm > 0.0 && self.false_alarm < 0.5) {
            let found = format!("a probability of a false alarm of {}", self.false_alarm);
            return refuse(found, "it must be above 0 and below 0.5");
        }
        if self.units < 4 {
            return refuse(
                format!("{} privacy units", self.units),
                "at least 4 are required",
            );
        }
        Ok(())
    }

    fn setting(&self) -> Setting {
        Setting {
            n_records: self.units,
            n_features: self.features,
            sparsity: self.sparsity,
            choice: Keep::Exactly,
            inference: InferenceMethod::Selective,
            always: 0,
            groups: Groups::NONE,
            sites: Sites::NONE,
            column_scales: ColumnScales::NONE,
            outcome: Outcome::Linear,
            budget: self.budget,
            relation: self.relation,
            unit: self.unit,
            origin: self.origin,
            response_bound: table::RESPONSE_BOUND,
            feature_bound: table::FEATURE_BOUND,
            feature_scale: None,
            intercept: self.intercept,
            robust: false,
        }
    }
}

/// Points of the claimed curve at which few trials can say something.
const DELTAS: [f64; 12] = [
    1e-4, 1e-3, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8,
];

/// What a ledger claims: ε for each δ.
struct Claim {
    spending: Spending,
}

impl Claim {
    fn of(record: Option<LedgerRecord>, seam: &impl Seam) -> Result<Self, TrialError> {
        let mut spending = Spending::default();
        if let Some(mut record) = record {
            seam.charge(&mut record);
            for entry in &record.entries {
                let expense = entry
                    .line
                    .expense(record.relation)
                    .map_err(PlanError::from)?;
                let spent = spending.and_about(entry.line.part(), expense);
                spending = spent.map_err(PlanError::from)?;
            }
        }
        Ok(Self { spending })
    }

    /// The claimed ε; zero if nothing was charged.
    fn at(&self, delta: f64) -> f64 {
        let Ok(delta) = Delta::try_from(delta) else {
            return f64::INFINITY;
        };
        let spent = self.spending.to_approx_dp(delta);
        spent.map_or(0.0, |spent| spent.epsilon().get())
    }
}
