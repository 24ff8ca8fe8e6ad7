//! Runs a procedure on scripted integers and writes down everything that it decides.

use proptest::prelude::*;
use sprifed_noise::{PrivateSum, Provenance};
use sprifed_privacy::{
    ApproxDp, Delta, Epsilon, NoiseOrigin, Participation, PrivacyUnit, Relation,
};
use sprifed_query::{
    Answer, ChoosingProcedure, ChoosingStep, FeatureSet, PlannedStep, PlannedSum, Procedure, Step,
};
use sprifed_recovery::{
    CertifiedProcedure, ColumnScales, Fit, Groups, InferenceMethod, Intercept, Keep, Outcome,
    Ready, Setting, Sites,
};

/// What a run decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decisions {
    /// The discrete parts of all requests.
    pub(crate) discrete: Vec<u8>,
    /// Every number of every request and of the fit, in the shortest form that reads back to it.
    pub(crate) numbers: Vec<String>,
    /// How many requests there were.
    pub(crate) requests: usize,
}

impl Decisions {
    /// Two digests: of the discrete parts, and of all numbers.
    pub(crate) fn digests(&self) -> (u64, u64) {
        let numbers = self.numbers.join(" ");
        (fnv(&self.discrete), fnv(numbers.as_bytes()))
    }
}

/// FNV-1a: distinguishes scripts, protects nothing.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// SplitMix64: the integers of a script.
pub(crate) struct Integers(pub(crate) u64);

impl Integers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn within(&mut self, most: i64) -> i64 {
        let span = 2 * most.unsigned_abs() + 1;
        i64::try_from(self.next() % span).unwrap() - most
    }
}

pub(crate) fn participation() -> Participation {
    Participation::new(10, 8, 1).unwrap()
}

/// A setting in which everything is legal, without an intercept and with a public scale.
pub(crate) fn setting() -> Setting {
    Setting {
        n_records: 5000,
        n_features: 60,
        sparsity: 3,
        choice: Keep::Exactly,
        inference: InferenceMethod::Selective,
        always: 0,
        groups: Groups::NONE,
        sites: Sites::NONE,
        column_scales: ColumnScales::NONE,
        outcome: Outcome::Linear,
        budget: ApproxDp::new(
            Epsilon::try_from(3.0).unwrap(),
            Delta::try_from(1e-6).unwrap(),
        ),
        relation: Relation::ZeroOut,
        unit: PrivacyUnit::Record,
        origin: NoiseOrigin::Shares(participation()),
        response_bound: 8.0,
        feature_bound: 4.0,
        feature_scale: Some(1.0),
        intercept: Intercept::Absent,
        robust: false,
    }
}

/// Everything that is not public is queried.
pub(crate) fn unknown(setting: Setting) -> Setting {
    Setting {
        feature_scale: None,
        intercept: Intercept::Estimated,
        ..setting
    }
}

/// Answers every request of `procedure` with `integers`, which gets the step and the number of
/// values, and every choice with `choose`, which gets the step and the number of candidates.
pub(crate) fn decide(
    procedure: CertifiedProcedure,
    setting: &Setting,
    mut integers: impl FnMut(usize, usize) -> Vec<i64>,
    mut choose: impl FnMut(usize, usize) -> usize,
) -> Decisions {
    let plan = procedure.plan(setting).unwrap();
    let mut found = Decisions {
        discrete: Vec::new(),
        numbers: Vec::new(),
        requests: 0,
    };
    let mut answer = |step: usize| {
        let PlannedStep::Sum(planned) = &plan.steps[step] else {
            panic!("{procedure} asked for a sum in step {step}");
        };
        answer_of(planned, |size| integers(step, size))
    };
    let fit = match procedure.begin(setting).unwrap() {
        Ready::Sums(waiting) => {
            let mut next = waiting.start();
            loop {
                match next {
                    Step::Ask(query, waiting) => {
                        assert_eq!(query.step, found.requests, "{procedure}");
                        let PlannedStep::Sum(planned) = &plan.steps[query.step] else {
                            panic!("{procedure} asked for a sum in step {}", query.step);
                        };
                        assert!(planned.admits(&query.questions), "{procedure}: {query:?}");
                        found.take(query.discrete_part(), &query);
                        next = waiting.resume(answer(query.step));
                    }
                    Step::Done(fit) => break fit,
                }
            }
        }
        Ready::Choices(waiting) => {
            let mut next = waiting.start();
            loop {
                match next {
                    ChoosingStep::Ask(query, waiting) => {
                        assert_eq!(query.step, found.requests, "{procedure}");
                        found.take(query.discrete_part(), &query);
                        next = waiting.resume(answer(query.step));
                    }
                    ChoosingStep::Choose(query, waiting) => {
                        assert_eq!(query.step, found.requests, "{procedure}");
                        found.take(query.discrete_part(), &query);
                        let candidates = query.scores.coordinates();
                        next = waiting.chosen(choose(query.step, candidates));
                    }
                    ChoosingStep::Done(fit) => break fit,
                }
            }
        }
    };
    assert_eq!(found.requests, plan.steps.len(), "{procedure}");
    found.end(&fit);
    found
}

fn answer_of(planned: &PlannedSum, integers: impl FnOnce(usize) -> Vec<i64>) -> Answer {
    let plan = planned.to_sum_plan();
    let values = integers(usize::try_from(plan.coordinates()).unwrap());
    let (survivors, simulated) = (9, Provenance::Simulated);
    let sum = PrivateSum::assume_unmasked_from(survivors, participation(), plan, values, simulated);
    Answer::decode(&sum.unwrap(), planned, survivors)
}

impl Decisions {
    fn take(&mut self, discrete: Vec<u8>, query: &impl core::fmt::Debug) {
        self.discrete.extend(discrete);
        self.requests += 1;
        self.numbers.extend(numbers_in(&format!("{query:?}")));
    }

    /// Takes the model, what is known of it and the status.
    fn end(&mut self, fit: &Fit) {
        let support = fit.model.support();
        self.discrete
            .extend(support.iter().flat_map(|feature| feature.to_le_bytes()));
        let text = format!(
            "{:?} {:?} {:?}",
            fit.model, fit.inference, fit.residual_scale
        );
        self.numbers.extend(numbers_in(&text));
        self.numbers.push(format!("{:?}", fit.status));
    }
}

/// The numbers of a text; a text with what is not a finite number is refused.
fn numbers_in(text: &str) -> Vec<String> {
    let words =
        text.split(|letter: char| !(letter.is_ascii_alphanumeric() || "+-.".contains(letter)));
    let words: Vec<&str> = words.collect();
    for word in &words {
        let word = word.trim_start_matches('-');
        assert!(word != "NaN" && word != "inf", "{text}");
    }
    let is_number = |word: &&str| word.parse::<f64>().is_ok();
    // A range is written 0..4: two numbers that the dots join.
    let parts = words.iter().flat_map(|word| word.split(".."));
    parts.filter(is_number).map(str::to_owned).collect()
}

/// What the integers of a script look like.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Script {
    /// Nothing but zeros.
    Zeros,
    /// All values equal: every comparison is a tie.
    Equal,
    /// Values of the same size and alternating signs: ties of absolute values.
    Alternating,
    /// A few values are far above small noise.
    Signal,
    /// Noise far larger than any sum of records.
    Huge,
    /// The largest and smallest integers.
    Extreme,
}

impl Script {
    pub(crate) const ALL: [Self; 6] = [
        Self::Zeros,
        Self::Equal,
        Self::Alternating,
        Self::Signal,
        Self::Huge,
        Self::Extreme,
    ];

    pub(crate) fn integers(self, seed: u64, step: usize, size: usize) -> Vec<i64> {
        let mut draws = Integers(seed.wrapping_mul(1000) + step as u64);
        let value = |index: usize| match self {
            Self::Zeros => 0,
            Self::Equal => 12_345,
            Self::Alternating => [777, -777][index % 2],
            Self::Signal if index % 17 == 3 => 40_000 + draws.within(500),
            Self::Signal => draws.within(500),
            Self::Huge => draws.within(1 << 62),
            Self::Extreme => [i64::MAX, i64::MIN, 0, i64::MIN + 1][(draws.next() % 4) as usize],
        };
        (0..size).map(value).collect()
    }
}

/// Digests of the decisions for two settings, one of which asks for all it can; for the first only, where the
/// procedure has no intercept.
pub(crate) fn decisions(
    procedure: CertifiedProcedure,
    script: Script,
    intercept: Intercept,
    always: u32,
) -> (u64, u64) {
    let run = |setting: &Setting, seed: u64| -> Decisions {
        decide(
            procedure,
            setting,
            |step, size| script.integers(seed, step, size),
            |step, candidates| (step * 7919 + 13) % candidates,
        )
    };
    let mut found = run(&setting(), 1);
    if intercept == Intercept::Estimated {
        let setting = unknown(Setting {
            relation: Relation::ReplaceOne,
            n_records: 2000,
            choice: Keep::Significant,
            always,
            ..setting()
        });
        let second = run(&setting, 2);
        found.discrete.extend(second.discrete);
        found.numbers.extend(second.numbers);
    }
    found.digests()
}

/// Finds what differs from digests that were computed once.
pub(crate) fn differences(
    golden: &[(CertifiedProcedure, [(u64, u64); 6])],
    intercept: impl Fn(CertifiedProcedure) -> Intercept,
    always: u32,
) -> Vec<String> {
    let mut differences = Vec::new();
    for (procedure, expected) in golden {
        for (script, expected) in Script::ALL.into_iter().zip(expected) {
            let found = decisions(*procedure, script, intercept(*procedure), always);
            if found != *expected {
                let (discrete, numbers) = found;
                differences.push(format!(
                    "{procedure}, {script:?}: (0x{discrete:016x}, 0x{numbers:016x}); discrete \
                     part {}",
                    if discrete == expected.0 {
                        "equal"
                    } else {
                        "DIFFERENT"
                    }
                ));
            }
        }
    }
    differences
}

/// A setting and the integers that are released, whatever they are.
#[derive(Debug)]
pub(crate) struct Case {
    pool: Vec<i64>,
    indices: Vec<prop::sample::Index>,
    stride: usize,
    pub(crate) intercept: bool,
    pub(crate) setting: Setting,
}

fn any_integer() -> impl Strategy<Value = i64> {
    prop_oneof![
        Just(0),
        Just(i64::MAX),
        Just(i64::MIN),
        -3i64..=3,
        -100_000i64..=100_000,
        any::<i64>(),
    ]
}

pub(crate) fn any_case() -> impl Strategy<Value = Case> {
    let numbers = (
        prop::collection::vec(any_integer(), 97),
        prop::collection::vec(any::<prop::sample::Index>(), 12),
        1usize..97,
    );
    let sizes = (
        prop_oneof![Just(2u32), 3u32..2000, Just(u32::MAX)],
        2u32..40,
        1u32..6,
    );
    let bounds = (-29i32..=29, -29i32..=29, -29i32..=29);
    let known = (any::<bool>(), any::<bool>());
    let kept = (any::<bool>(), 0u32..4);
    (numbers, sizes, bounds, known, kept).prop_map(
        |(
            (pool, indices, stride),
            (n_records, n_features, sparsity),
            bounds,
            (known_scale, intercept),
            (exactly, always),
        )| Case {
            pool,
            indices,
            stride,
            intercept,
            setting: Setting {
                n_records,
                n_features,
                sparsity: sparsity.min(n_features - 1),
                choice: if exactly {
                    Keep::Exactly
                } else {
                    Keep::Significant
                },
                always,
                response_bound: 10f64.powi(bounds.0),
                feature_bound: 10f64.powi(bounds.1),
                feature_scale: known_scale.then_some(10f64.powi(bounds.2)),
                ..setting()
            },
        },
    )
}

impl Case {
    /// Decides twice, and alike; `most` says whether the procedure can estimate an intercept, and
    /// `covariates` whether it has features in every model, where the plan allows them.
    pub(crate) fn check(&self, procedure: CertifiedProcedure, most: Intercept, covariates: bool) {
        let intercept = if self.intercept {
            most
        } else {
            Intercept::Absent
        };
        let mut setting = Setting {
            intercept,
            ..self.setting
        };
        if !covariates || procedure.plan(&setting).is_err() {
            setting.always = 0;
        }
        let asks_columns =
            intercept == Intercept::Estimated && setting.n_features.is_multiple_of(2);
        if asks_columns && setting.feature_scale.is_none() {
            let columns = FeatureSet::all(setting.n_features);
            setting.column_scales = ColumnScales::new(&columns, setting.feature_bound).unwrap();
        }
        let (pool, indices) = (&self.pool, &self.indices);
        let integer = |step: usize, k: usize| pool[(k * self.stride + step * 31) % pool.len()];
        let run = || {
            decide(
                procedure,
                &setting,
                |step, size| (0..size).map(|k| integer(step, k)).collect(),
                |step, candidates| indices[step % indices.len()].index(candidates),
            )
        };
        assert_eq!(run(), run(), "{procedure}");
    }
}
