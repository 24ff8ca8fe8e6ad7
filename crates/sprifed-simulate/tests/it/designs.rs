//! Whole fits of generated tables of several designs, and what their kept features, intervals and p-values come to.

#![expect(clippy::print_stderr, reason = "a long test says what it measured")]

use std::sync::atomic::{AtomicU64, Ordering};

use rand_core::Rng;
use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{NoiseOrigin, PrivacyUnit, Relation};
use sprifed_query::{Curator, Records};
use sprifed_recovery::test_support::budget;
use sprifed_recovery::{
    CertifiedProcedure, ColumnScales, Groups, InferenceMethod, Intercept, Keep, Outcome, Role,
    Setting, Sites, SquareMatrix,
};

/// How features are distributed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Design {
    /// Independent standard normal ones.
    Normal,
    /// Neighbours are correlated, and the correlation falls by this factor from place to place.
    Autoregressive(f64),
    /// Ones in a tenth of the records and zeros, in standard units.
    Rare,
    /// Independent normal ones with standard deviations from 0.4 to 2.5.
    Unequal,
    /// Copies of an allele whose share is between 0.08 and 0.45, independent, in standard units.
    Genotypes,
    /// Any two have this correlation.
    EquallyCorrelated(f64),
}

/// How the errors of the response are distributed; their variance is the same.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Errors {
    Normal,
    /// Student's t with five degrees of freedom.
    HeavyTailed,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) procedure: CertifiedProcedure,
    pub(crate) design: Design,
    pub(crate) n_records: u32,
    pub(crate) errors: Errors,
    /// So many of the first features are in every model. Independent features only.
    pub(crate) covariates: u32,
    /// The share of the response's variance that they explain.
    pub(crate) covariates_r2: f64,
    /// Other features with an effect: five, or none.
    pub(crate) active: usize,
    /// The share of the response's variance that they and the covariates explain.
    pub(crate) r2: f64,
    pub(crate) sparsity: u32,
    pub(crate) choice: Keep,
    pub(crate) inference: InferenceMethod,
    pub(crate) epsilon: f64,
    pub(crate) trials: u64,
}

const N_FEATURES: usize = 2500;

pub(crate) const CASE: Case = Case {
    procedure: CertifiedProcedure::ARGMAX,
    design: Design::Normal,
    n_records: 600,
    errors: Errors::Normal,
    covariates: 0,
    covariates_r2: 0.0,
    active: 5,
    r2: 0.5,
    sparsity: 10,
    choice: Keep::Significant,
    inference: InferenceMethod::Selective,
    epsilon: 5.34,
    trials: 60,
};

/// What the trials of a case came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) trials: f64,
    /// Trials in which anything was kept.
    pub(crate) any: f64,
    active: f64,
    found: f64,
    kept: f64,
    false_share: f64,
    pub(crate) intervals: f64,
    covered: f64,
    pub(crate) false_terms: f64,
    /// False terms with a p-value below 0.05.
    pub(crate) false_small: f64,
    /// Intervals of features that are in every model.
    pub(crate) always_intervals: f64,
    always_covered: f64,
}

struct Numbers(NoiseGenerator);

impl Numbers {
    fn uniform(&mut self) -> f64 {
        (f64::from(self.0.next_u32()) + 0.5) / f64::from(u32::MAX)
    }

    fn normal(&mut self) -> f64 {
        let (radius, turn) = (self.uniform(), self.uniform());
        (-2.0 * radius.ln()).sqrt() * (2.0 * core::f64::consts::PI * turn).cos()
    }
}

struct Table {
    features: Vec<f32>,
    responses: Vec<f32>,
    /// Features with an effect, without those of every model.
    active: Vec<(u32, f64)>,
    /// Those of every model.
    covariates: Vec<(u32, f64)>,
}

impl Errors {
    fn draw(self, numbers: &mut Numbers) -> f64 {
        let normal = numbers.normal();
        match self {
            Self::Normal => normal,
            Self::HeavyTailed => {
                let squares: f64 = (0..5).map(|_| numbers.normal().powi(2)).sum();
                // The variance of Student's t is 5/3.
                normal / (squares / 5.0).sqrt() * 0.6f64.sqrt()
            }
        }
    }
}

impl Design {
    fn row(self, numbers: &mut Numbers) -> Vec<f64> {
        let mut before = numbers.normal();
        (0..N_FEATURES)
            .map(|place| match self {
                Self::Normal => numbers.normal(),
                Self::Autoregressive(factor) => {
                    before = factor * before + (1.0 - factor * factor).sqrt() * numbers.normal();
                    before
                }
                Self::Rare => {
                    let one = if numbers.uniform() < 0.1 { 1.0 } else { 0.0 };
                    (one - 0.1) / 0.3
                }
                Self::Unequal => deviation(place) * numbers.normal(),
                Self::Genotypes => {
                    let share = allele_share(place);
                    let copy = |numbers: &mut Numbers| {
                        if numbers.uniform() < share { 1.0 } else { 0.0 }
                    };
                    let copies = copy(numbers) + copy(numbers);
                    (copies - 2.0 * share) / (2.0 * share * (1.0 - share)).sqrt()
                }
                Self::EquallyCorrelated(correlation) => {
                    correlation.sqrt() * before + (1.0 - correlation).sqrt() * numbers.normal()
                }
            })
            .collect()
    }

    /// The covariance of two features.
    fn covariance(self, one: u32, other: u32) -> f64 {
        match self {
            Self::Autoregressive(factor) => {
                factor.powi(i32::try_from(one.abs_diff(other)).unwrap())
            }
            Self::Unequal if one == other => deviation(one as usize).powi(2),
            _ if one == other => 1.0,
            Self::EquallyCorrelated(correlation) => correlation,
            _ => 0.0,
        }
    }
}

/// From 0.4 to 2.5, in steps that repeat.
fn deviation(place: usize) -> f64 {
    0.4 * 6.25f64.powf(f64::from(u32::try_from(place % 11).unwrap()) / 10.0)
}

/// From 0.08 to 0.45, in steps that repeat.
fn allele_share(place: usize) -> f64 {
    0.08 + 0.37 * f64::from(u32::try_from(place % 38).unwrap()) / 37.0
}

impl Case {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "records are of single precision"
    )]
    fn table(&self, seed: u64) -> Table {
        let mut numbers = Numbers(NoiseGenerator::simulated(seed));
        let mut active: Vec<(u32, f64)> = Vec::new();
        while active.len() < self.active {
            let place = numbers.0.next_u32() % u32::try_from(N_FEATURES).unwrap();
            if place >= self.covariates && active.iter().all(|(known, _)| *known != place) {
                active.push((place, 2.0 + numbers.normal()));
            }
        }
        let signal: f64 = active
            .iter()
            .flat_map(|one| active.iter().map(move |other| (one, other)))
            .map(|(one, other)| one.1 * other.1 * self.design.covariance(one.0, other.0))
            .sum();
        let whole = signal / (self.r2 - self.covariates_r2);
        let error = if self.active == 0 {
            1.0
        } else {
            (whole * (1.0 - self.r2)).sqrt()
        };
        let of_covariates = whole * self.covariates_r2 / f64::from(self.covariates.max(1));
        let covariates = (0..self.covariates).map(|place| (place, of_covariates.sqrt()));
        let mut table = Table {
            features: Vec::new(),
            responses: Vec::new(),
            active,
            covariates: covariates.collect(),
        };
        for _ in 0..self.n_records {
            let row = self.design.row(&mut numbers);
            let terms = table.active.iter().chain(&table.covariates);
            let mean: f64 = terms
                .map(|(place, value)| value * row[*place as usize])
                .sum();
            let response = mean + error * self.errors.draw(&mut numbers);
            table.responses.push(response as f32);
            table.features.extend(row.iter().map(|value| *value as f32));
        }
        table
    }

    fn setting(&self) -> Setting {
        Setting {
            n_records: self.n_records,
            n_features: u32::try_from(N_FEATURES).unwrap(),
            sparsity: self.sparsity,
            choice: self.choice,
            inference: self.inference,
            always: self.covariates,
            groups: Groups::NONE,
            sites: Sites::NONE,
            column_scales: ColumnScales::NONE,
            outcome: Outcome::Linear,
            budget: budget(self.epsilon, 1e-4),
            relation: Relation::ZeroOut,
            unit: PrivacyUnit::Record,
            origin: NoiseOrigin::Curator,
            response_bound: 64.0,
            feature_bound: 12.0,
            feature_scale: Some(1.0),
            intercept: Intercept::Estimated,
            robust: false,
        }
    }

    fn trial(&self, setting: &Setting, seed: u64) -> Tally {
        let table = self.table(seed);
        let records = Records::each_a_unit(&table.features, &table.responses, N_FEATURES).unwrap();
        let plan = self.procedure.plan(setting).unwrap();
        let generator = NoiseGenerator::simulated(seed ^ 0xABCD);
        let mut curator = Curator::open(records, plan, generator).unwrap();
        let fit = self.procedure.run(setting, &mut curator, |_| ()).unwrap();
        let report = fit.inference.available().unwrap();
        let kept: Vec<u32> = report.terms.iter().map(|term| term.feature).collect();
        let terms: Vec<(u32, f64)> = [&table.active[..], &table.covariates].concat();
        let targets = self.projection(&terms, &kept);
        let mut tally = Tally {
            trials: 1.0,
            active: f64::from(u32::try_from(self.active).unwrap()),
            ..Tally::default()
        };
        for (term, target) in report.terms.iter().zip(targets) {
            let is_covered = term
                .interval
                .map(|interval| interval.low <= target && target <= interval.high);
            assert_eq!(term.role == Role::Always, term.feature < self.covariates);
            if let (Role::Always, Some(is_covered)) = (term.role, is_covered) {
                tally.always_intervals += 1.0;
                tally.always_covered += f64::from(u8::from(is_covered));
            }
            if term.role == Role::Always {
                continue;
            }
            tally.kept += 1.0;
            if table.active.iter().any(|(known, _)| *known == term.feature) {
                tally.found += 1.0;
            }
            if target.abs() < 1e-9 {
                tally.false_terms += 1.0;
                tally.false_small += f64::from(u8::from(term.p_value.is_some_and(|p| p < 0.05)));
            }
            if let Some(is_covered) = is_covered {
                tally.intervals += 1.0;
                tally.covered += f64::from(u8::from(is_covered));
            }
        }
        tally.any = f64::from(u8::from(tally.kept > 0.0));
        tally.false_share = tally.false_terms / tally.kept.max(1.0);
        tally
    }

    /// The coefficients of the best linear prediction by `kept`, in the population.
    fn projection(&self, terms: &[(u32, f64)], kept: &[u32]) -> Vec<f64> {
        let gram = SquareMatrix::from_fn(kept.len(), |row, column| {
            self.design.covariance(kept[row], kept[column])
        });
        let cross: Vec<f64> = kept
            .iter()
            .map(|feature| {
                let terms = terms.iter();
                terms
                    .map(|(place, value)| value * self.design.covariance(*place, *feature))
                    .sum()
            })
            .collect();
        gram.inverse().unwrap().times(&cross)
    }

    /// All trials, on as many threads as there are processors.
    pub(crate) fn run(&self, first_seed: u64) -> Tally {
        let setting = self.setting();
        let next = AtomicU64::new(0);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let worker = || {
            let mut tally = Tally::default();
            loop {
                let trial = next.fetch_add(1, Ordering::Relaxed);
                if trial >= self.trials {
                    return tally;
                }
                tally = tally.and(self.trial(&setting, first_seed + trial));
            }
        };
        let tally = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
            let tallies = workers.into_iter().map(|worker| worker.join().unwrap());
            tallies.fold(Tally::default(), Tally::and)
        });
        eprintln!("{self:?}\n  {tally:?}\n  {}", tally.text());
        tally
    }
}

impl Tally {
    fn and(self, other: Self) -> Self {
        Self {
            trials: self.trials + other.trials,
            any: self.any + other.any,
            active: self.active + other.active,
            found: self.found + other.found,
            kept: self.kept + other.kept,
            false_share: self.false_share + other.false_share,
            intervals: self.intervals + other.intervals,
            covered: self.covered + other.covered,
            false_terms: self.false_terms + other.false_terms,
            false_small: self.false_small + other.false_small,
            always_intervals: self.always_intervals + other.always_intervals,
            always_covered: self.always_covered + other.always_covered,
        }
    }

    pub(crate) fn recall(&self) -> f64 {
        self.found / self.active
    }

    pub(crate) fn coverage(&self) -> f64 {
        self.covered / self.intervals
    }

    /// Of the features that are in every model.
    pub(crate) fn always_coverage(&self) -> f64 {
        self.always_covered / self.always_intervals
    }

    pub(crate) fn false_share(&self) -> f64 {
        self.false_share / self.trials
    }

    pub(crate) fn text(&self) -> String {
        format!(
            "recall {:.3}, false share {:.3}, coverage {:.3} of {}, P(p<.05 | false) {:.3} of {}, anything kept in {:.3}, \
             always in the model: coverage {:.3} of {}",
            self.recall(),
            self.false_share(),
            self.coverage(),
            self.intervals,
            self.false_small / self.false_terms,
            self.false_terms,
            self.any / self.trials,
            self.always_coverage(),
            self.always_intervals,
        )
    }
}
