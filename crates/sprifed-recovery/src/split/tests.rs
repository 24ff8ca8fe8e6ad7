//! A record of one part changes no answer about the other, the cost is that of the dearer part, and what is reported comes
//! from records that selected nothing.

use proptest::prelude::*;
use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{Participation, Relation};
use sprifed_query::{
    ChoiceBackend, ChoiceQuery, Curator, CuratorError, FeatureSet, Records, SumBackend,
};

use super::*;
use crate::catalogue::CertifiedProcedure;
use crate::column_scales::ColumnScales;
use crate::inference::Inference;
use crate::joint::ROBUST_BLOCK;
use crate::setting::{Intercept, Keep};
use crate::test_support::{SmallWorld, budget, legal_setting, small_world};

const N_RECORDS: usize = 1600;
const SUPPORT: [u32; 3] = [2, 5, 11];

fn split_setting() -> Setting {
    Setting {
        n_records: 1600,
        sparsity: 3,
        inference: InferenceMethod::Split,
        ..legal_setting()
    }
}

fn world(seed: u64) -> SmallWorld {
    small_world(N_RECORDS, 30, &SUPPORT, seed)
}

/// A curator that writes down what it answers.
struct Recording<'a> {
    curator: Curator<Records<'a>>,
    /// The step, and the numbers of its answer.
    answers: Vec<(usize, Vec<f64>)>,
}

impl SumBackend for Recording<'_> {
    type Error = CuratorError;

    fn answer(&mut self, query: &SumQuery) -> Result<Answer, CuratorError> {
        let answer = self.curator.answer(query)?;
        let values = answer.blocks.iter().flat_map(|block| block.values.clone());
        self.answers.push((query.step, values.collect()));
        Ok(answer)
    }
}

impl ChoiceBackend for Recording<'_> {
    fn choose(&mut self, query: &ChoiceQuery) -> Result<usize, CuratorError> {
        let index = self.curator.choose(query)?;
        let index_as_value = f64::from(u32::try_from(index).unwrap());
        self.answers.push((query.step, vec![index_as_value]));
        Ok(index)
    }
}

fn run<'a>(
    procedure: CertifiedProcedure,
    setting: &Setting,
    world: &'a SmallWorld,
    seed: u64,
) -> (Fit, Recording<'a>) {
    let records = Records::each_a_unit(&world.features, &world.responses, 30).unwrap();
    let plan = procedure.plan(setting).unwrap();
    let curator = Curator::open(records, plan, NoiseGenerator::simulated(seed)).unwrap();
    let mut backend = Recording {
        curator,
        answers: Vec::new(),
    };
    let fit = procedure.run(setting, &mut backend, |_| ()).unwrap();
    (fit, backend)
}

/// How many steps are about the records for the selection.
fn selection_steps(procedure: CertifiedProcedure, setting: &Setting) -> usize {
    let plan = procedure.plan(setting).unwrap();
    let of = |part| plan.steps.iter().filter(|step| step.part() == part).count();
    assert_eq!(of(RecordPart::All), 0);
    assert_eq!(of(RecordPart::Estimation), 2);
    of(RecordPart::Selection)
}

fn inference(fit: &Fit) -> &Inference {
    fit.inference.available().unwrap()
}

const PROCEDURES: [CertifiedProcedure; 3] = [
    CertifiedProcedure::ARGMAX,
    CertifiedProcedure::SIEVE,
    CertifiedProcedure::GRAD,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_record_of_one_part_changes_no_answer_about_the_other(
        place in 0..N_RECORDS,
        which in 0..3usize,
        value in prop::num::f32::ANY,
    ) {
        let (procedure, setting) = (PROCEDURES[which], split_setting());
        let (before, mut changed) = (world(7), world(7));
        changed.features[30 * place..30 * place + 30].fill(value);
        changed.responses[place] = value;
        let (fit, one) = run(procedure, &setting, &before, 3);
        let (changed_fit, other) = run(procedure, &setting, &changed, 3);
        let first = selection_steps(procedure, &setting);
        if RecordPart::Estimation.contains(place as u64) {
            // The same noise: what was selected, and the model that predicts, are the same to the last bit.
            prop_assert_eq!(&one.answers[..first], &other.answers[..first]);
            prop_assert_eq!(&fit.model, &changed_fit.model);
            prop_assert_ne!(&one.answers[first..], &other.answers[first..]);
        } else {
            prop_assert_ne!(&one.answers[..first], &other.answers[..first]);
        }
    }
}

#[test]
fn answers_for_the_estimates_depend_on_the_selection_only_by_what_they_are_asked() {
    // All records for the selection are exchanged. Asked the same, the others answer the same.
    let (setting, procedure) = (split_setting(), CertifiedProcedure::ARGMAX);
    let (before, mut changed) = (world(7), world(7));
    for place in (0..N_RECORDS).filter(|place| RecordPart::Selection.contains(*place as u64)) {
        changed.features[30 * place..30 * place + 30].fill(0.5);
        changed.responses[place] = -3.0;
    }
    let step = selection_steps(procedure, &setting);
    let asked = |world: &SmallWorld| {
        let records = Records::each_a_unit(&world.features, &world.responses, 30).unwrap();
        let mut plan = procedure.plan(&setting).unwrap();
        plan.steps.drain(..step);
        let mut curator = Curator::open(records, plan, NoiseGenerator::simulated(3)).unwrap();
        let model = LinearModel {
            intercept: 0.0,
            terms: vec![(2, 1.0)],
        };
        let questions = vec![setting.scale_question(model)];
        curator
            .answer(&SumQuery { step: 0, questions })
            .unwrap()
            .blocks
    };
    assert_eq!(asked(&before), asked(&changed));
}

#[test]
fn both_parts_get_the_whole_budget_and_the_cost_is_that_of_the_dearer() {
    for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
        for epsilon in [0.5, 5.34] {
            for procedure in PROCEDURES {
                let setting = Setting {
                    relation,
                    budget: budget(epsilon, 1e-5),
                    feature_scale: None,
                    choice: Keep::Exactly,
                    ..split_setting()
                };
                let plan = procedure.plan(&setting).unwrap();
                let spending = plan.spending().unwrap();
                let delta = setting.budget.delta();
                let parts = spending
                    .parts()
                    .map(|part| part.to_approx_dp(delta).unwrap());
                let parts: Vec<f64> = parts.map(|cost| cost.epsilon().get()).collect();
                let total = spending.to_approx_dp(delta).unwrap().epsilon().get();
                assert_eq!(parts.len(), 2);
                assert!(
                    parts
                        .iter()
                        .all(|part| (0.9 * epsilon..=epsilon).contains(part))
                );
                assert!((total - parts[0].max(parts[1])).abs() <= 0.0, "{procedure}");
                // The records for the selection pay for what a study of these records alone would ask.
                let alone = procedure
                    .plan(&setting.selecting())
                    .unwrap()
                    .spending()
                    .unwrap();
                let alone = alone.to_approx_dp(delta).unwrap().epsilon().get();
                assert!((parts[0] - alone).abs() <= 0.0, "{procedure}");
            }
        }
    }
}

#[test]
fn the_ledger_of_the_curator_charges_what_the_plan_says() {
    let setting = split_setting();
    for procedure in PROCEDURES {
        let world = world(1);
        let (_, backend) = run(procedure, &setting, &world, 2);
        let (plan, ledger) = (procedure.plan(&setting).unwrap(), backend.curator.ledger());
        assert_eq!(*ledger.spending(), plan.spending().unwrap(), "{procedure}");
        let lines = ledger
            .record()
            .entries
            .into_iter()
            .map(|entry| entry.line.part());
        let planned = plan.steps.iter().map(PlannedStep::part);
        assert!(lines.eq(planned), "{procedure}");
    }
}

#[test]
fn the_estimates_are_of_other_records_than_the_selection() {
    for procedure in PROCEDURES {
        for choice in [Keep::Significant, Keep::Exactly] {
            let setting = Setting {
                choice,
                budget: budget(50.0, 1e-4),
                ..split_setting()
            };
            let mut world = world(4);
            // The response of the records for the estimates has the other sign.
            for place in
                (0..N_RECORDS).filter(|place| RecordPart::Estimation.contains(*place as u64))
            {
                world.responses[place] *= -1.0;
            }
            let (fit, _) = run(procedure, &setting, &world, 5);
            let inference = inference(&fit);
            assert_eq!(
                (inference.records, inference.estimated_by),
                (1600, Some(400))
            );
            assert_eq!(inference.inference, InferenceMethod::Split);
            assert_eq!(inference.kept, 3, "{procedure}");
            for term in &inference.terms {
                let truth = world.coefficient(term.feature);
                // The seed is fixed: within four standard errors of what these records say, and not of what the others do.
                let interval = term.interval.unwrap();
                let error = (interval.high - interval.low) / (2.0 * 1.96);
                let distance = |value: f64| (term.estimate - value).abs() / error;
                assert!(distance(-truth) < 4.0, "{procedure}: {term:?} for {truth}");
                assert!(distance(truth) > 4.0, "{procedure}: {term:?} for {truth}");
                assert!((term.level - 0.95).abs() < 1e-12);
                assert!(term.p_value.is_some());
                let (_, predicting) = fit
                    .model
                    .terms
                    .iter()
                    .find(|(known, _)| *known == term.feature)
                    .unwrap();
                assert!(
                    (predicting - truth).abs() < 0.25,
                    "{procedure}: {predicting} for {truth}"
                );
            }
        }
    }
}

#[test]
fn robust_intervals_are_asked_of_the_records_for_the_estimates_alone() {
    for procedure in PROCEDURES {
        let setting = Setting {
            robust: true,
            choice: Keep::Exactly,
            budget: budget(50.0, 1e-4),
            ..split_setting()
        };
        let plan = procedure.plan(&setting).unwrap();
        let sums = plan.steps.iter().filter_map(|step| match step {
            PlannedStep::Sum(sum) => Some(sum),
            PlannedStep::Choice(_) => None,
        });
        let robust = |sum: &&PlannedSum| {
            let mut blocks = sum.blocks.iter();
            blocks.any(|planned| planned.block.name == ROBUST_BLOCK)
        };
        let parts: Vec<RecordPart> = sums.filter(robust).map(|sum| sum.part).collect();
        assert_eq!(parts, [RecordPart::Estimation], "{procedure}");
        let spent = plan
            .spending()
            .unwrap()
            .to_approx_dp(setting.budget.delta());
        assert!(spent.unwrap().epsilon() <= setting.budget.epsilon());
        let (fit, _) = run(procedure, &setting, &world(6), 7);
        let inference = inference(&fit);
        assert_eq!(inference.estimated_by, Some(400));
        assert!(inference.residual_moment_noise.is_some(), "{procedure}");
        for term in &inference.terms {
            let (interval, truth) = (term.interval.unwrap(), world(6).coefficient(term.feature));
            // The seed is fixed: three intervals, each twice as wide as it is.
            let margin = 0.5 * (interval.high - interval.low);
            assert!(
                (interval.low - margin..interval.high + margin).contains(&truth),
                "{term:?} for {truth}"
            );
        }
    }
}

#[test]
fn a_plan_without_a_split_is_what_it_was() {
    let setting = split_setting();
    let selective = Setting {
        inference: InferenceMethod::Selective,
        ..setting
    };
    for procedure in PROCEDURES {
        let plan = procedure.plan(&selective).unwrap();
        assert!(plan.steps.iter().all(|step| step.part().is_all()));
        assert!(!serde_json::to_string(&plan).unwrap().contains("part"));
        assert!(
            !serde_json::to_string(&selective)
                .unwrap()
                .contains("inference")
        );
        let split = procedure.plan(&setting).unwrap();
        let text = serde_json::to_string(&split).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), split);
    }
}

#[test]
fn features_of_every_model_are_estimated_too() {
    let setting = Setting {
        always: 2,
        intercept: Intercept::Estimated,
        feature_scale: None,
        ..split_setting()
    };
    let world = world(9);
    let (fit, _) = run(CertifiedProcedure::ARGMAX, &setting, &world, 5);
    let features: Vec<u32> = inference(&fit)
        .terms
        .iter()
        .map(|term| term.feature)
        .collect();
    assert_eq!(features[..2], [0, 1]);
    assert!(inference(&fit).intercept.is_some());
}

#[test]
fn with_too_few_records_the_mean_is_asked_of_all() {
    let setting = Setting {
        n_records: 60,
        n_features: 4000,
        choice: Keep::Significant,
        budget: budget(0.5, 1e-6),
        ..split_setting()
    };
    let procedure = CertifiedProcedure::ARGMAX;
    assert!(procedure.seeks_nothing(&setting).unwrap());
    let plan = procedure.plan(&setting).unwrap();
    assert!(plan.steps.iter().all(|step| step.part().is_all()));
    // The records for the selection need as many as all records need without a split.
    let selective = Setting {
        inference: InferenceMethod::Selective,
        ..setting
    };
    let (split, all) = (
        procedure.fewest_records(&setting).unwrap(),
        procedure.fewest_records(&selective).unwrap(),
    );
    assert!(3 * split >= 4 * all - 4, "{split} of {all}");
}

#[test]
fn what_is_not_proved_is_refused_with_what_to_do() {
    let shares = NoiseOrigin::Shares(Participation::new(1600, 1500, 5).unwrap());
    let sites = crate::sites::Sites::new(&[800, 800]).unwrap();
    let legal = Setting {
        intercept: Intercept::Estimated,
        ..split_setting()
    };
    for (setting, says) in [
        (
            Setting {
                unit: PrivacyUnit::Client,
                ..legal
            },
            "unit of privacy",
        ),
        (
            Setting {
                origin: shares,
                ..legal
            },
            "curator",
        ),
        (
            Setting {
                origin: NoiseOrigin::Trustees,
                ..legal
            },
            "curator",
        ),
        (Setting { sites, ..legal }, "site effects"),
        (
            Setting {
                column_scales: ColumnScales::new(&FeatureSet::only(&[1, 2]), 4.0).unwrap(),
                feature_scale: None,
                ..legal
            },
            "private units of columns",
        ),
        (
            Setting {
                n_records: 5,
                ..legal
            },
            "fewer than 2",
        ),
    ] {
        for procedure in PROCEDURES {
            let refused = procedure.plan(&setting).unwrap_err().to_string();
            assert!(
                refused.contains("split") && refused.contains(says),
                "{refused}"
            );
            assert!(procedure.begin(&setting).is_err());
        }
    }
}
