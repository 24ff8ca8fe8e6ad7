//! Runs a procedure on scripted integers and writes down everything that it decides.

use sprifed_noise::{PrivateSum, Provenance};
use sprifed_privacy::{
    ApproxDp, Delta, Epsilon, NoiseOrigin, Participation, PrivacyUnit, Relation,
};
use sprifed_query::{
    Answer, ChoosingProcedure, ChoosingStep, PlannedStep, PlannedSum, Procedure, Step,
};
use sprifed_recovery::{CertifiedProcedure, Fit, Intercept, Ready, Setting};

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

/// FNV-1a: tells scripts apart, protects nothing.
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
    }
}

/// Everything that is not public is asked for.
pub(crate) fn unknown(setting: Setting) -> Setting {
    Setting {
        feature_scale: None,
        intercept: Intercept::Estimated,
        ..setting
    }
}

/// Answers every request of `procedure` with `integers`, which is told the step and how many values
/// it has, and every choice with `choose`, which is told the step and how many candidates there are.
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

    /// Takes the model, its noise and the status.
    fn end(&mut self, fit: &Fit) {
        let support = fit.model.support();
        self.discrete
            .extend(support.iter().flat_map(|feature| feature.to_le_bytes()));
        let text = format!(
            "{:?} {:?} {:?}",
            fit.model, fit.noise_std_devs, fit.residual_scale
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
