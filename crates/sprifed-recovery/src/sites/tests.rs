//! Site effects against a backend that adds no noise.

use sprifed_query::{
    ChoiceBackend, ChoiceQuery, Constant, PlannedStep, Question, SumBackend, SumQuery,
};

use super::*;
use crate::catalogue::CertifiedProcedure;
use crate::fit::Fit;
use crate::pooled::tests::{Exact, Never};
use crate::test_support::{SmallWorld, legal_setting, small_world};

const SIZES: [u32; 3] = [300, 200, 100];
/// With these sizes their mean is zero.
const EFFECTS: [f64; 3] = [1.0, -1.2, -0.6];
const N_FEATURES: usize = 30;

/// Sums and choices without noise; some parties may be absent from all sums but the first ones.
struct Parties {
    exact: Exact,
    choices: Vec<ChoiceQuery>,
    absent: Vec<u32>,
    from_step: usize,
}

impl SumBackend for Parties {
    type Error = Never;

    fn answer(&mut self, query: &SumQuery) -> Result<Answer, Never> {
        let answer = self.exact.answer(query)?;
        let is_absent = query.step >= self.from_step;
        Ok(Answer {
            absent: if is_absent {
                self.absent.clone()
            } else {
                Vec::new()
            },
            ..answer
        })
    }
}

impl ChoiceBackend for Parties {
    fn choose(&mut self, query: &ChoiceQuery) -> Result<usize, Never> {
        self.choices.push(query.clone());
        let scores = self.exact.sum(&query.scores);
        let places = scores.iter().enumerate();
        let best = places.max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()));
        Ok(best.map_or(0, |(index, _)| index))
    }
}

fn setting(always: u32) -> Setting {
    Setting {
        n_records: SIZES.iter().sum(),
        n_features: u32::try_from(N_FEATURES).unwrap(),
        sparsity: 2,
        always,
        sites: Sites::new(&SIZES).unwrap(),
        intercept: Intercept::Estimated,
        feature_scale: Some(1.0 / 3f64.sqrt()),
        ..legal_setting()
    }
}

/// Which site a record is of.
fn site_of(record: usize) -> usize {
    let ends = SIZES.iter().scan(0, |end, size| {
        *end += *size as usize;
        Some(*end)
    });
    ends.take_while(|end| record >= *end).count()
}

/// Records whose sites have effects, with their indicators behind the features.
#[expect(
    clippy::cast_possible_truncation,
    reason = "records are of single precision"
)]
fn world(support: &[u32]) -> (SmallWorld, Vec<f32>, Vec<f32>) {
    let world = small_world(600, N_FEATURES, support, 5);
    let (mut features, mut responses) = (Vec::new(), Vec::new());
    let rows = world.features.chunks(N_FEATURES).zip(&world.responses);
    for (record, (row, response)) in rows.enumerate() {
        let site = site_of(record);
        features.extend(row);
        features.extend((0..SIZES.len()).map(|one| if one == site { 1.0 } else { 0.0 }));
        responses.push(response + 3.0 + EFFECTS[site] as f32);
    }
    (world, features, responses)
}

/// The intercepts of sites without their mean, by least squares as `asked` weighs the records: those with large variables
/// or residuals count less.
fn effects_as(asked: &Question, features: &[f32], responses: &[f32]) -> [f64; 3] {
    let Question::SecondMoment {
        support,
        model,
        scales,
        norm,
        ..
    } = asked
    else {
        panic!("{asked:?}");
    };
    let width = N_FEATURES + SIZES.len();
    let size = SIZES.len() + support.len();
    let mut gram = SquareMatrix::zeros(size);
    let mut cross = vec![0.0; size];
    for (row, response) in features.chunks(width).zip(responses) {
        let values = support
            .iter()
            .map(|feature| f64::from(row[feature as usize]));
        let sites = row[N_FEATURES..].iter().copied().map(f64::from);
        let variables: Vec<f64> = sites.chain(values).collect();
        let residual = (f64::from(*response) - model.as_model().intercept) / scales.residual.get();
        let features = variables[SIZES.len()..].iter();
        let squares = features.map(|value| (value / scales.feature.get()).powi(2));
        let squared_norm = 1.0 + squares.sum::<f64>() + residual.powi(2);
        let weight = 1.0 / squared_norm.max(norm.get().powi(2));
        for (one, variable) in variables.iter().enumerate() {
            cross[one] += weight * variable * f64::from(*response);
            for (other, factor) in variables.iter().enumerate() {
                gram[(one, other)] += weight * variable * factor;
            }
        }
    }
    let solution = gram.inverse().unwrap().times(&cross);
    let weighted = SIZES
        .iter()
        .zip(&solution)
        .map(|(size, effect)| f64::from(*size) * effect);
    let mean = weighted.sum::<f64>() / f64::from(SIZES.iter().sum::<u32>());
    [0, 1, 2].map(|site| solution[site] - mean)
}

/// The question by which sites were estimated first.
fn first_of_sites(parties: &Parties) -> &Question {
    let mut questions = parties
        .exact
        .queries
        .iter()
        .flat_map(|query| &query.questions);
    let of_sites = |question: &&Question| {
        matches!(
            question,
            Question::SecondMoment {
                constant: Constant::Sites { .. },
                ..
            }
        )
    };
    questions.find(of_sites).expect("a question about sites")
}

fn fit(procedure: CertifiedProcedure, setting: &Setting, parties: &mut Parties) -> Fit {
    procedure.run(setting, parties, |_| ()).unwrap()
}

fn all_there(features: &[f32], responses: &[f32]) -> Parties {
    Parties {
        exact: Exact::new(features, responses),
        choices: Vec::new(),
        absent: Vec::new(),
        from_step: 0,
    }
}

#[test]
fn sites_have_their_own_intercepts_whose_mean_is_that_of_the_model() {
    let (world, features, responses) = world(&[0, 1, 3, 17]);
    for procedure in CertifiedProcedure::all() {
        let mut parties = all_there(&features, &responses);
        let fit = fit(procedure, &setting(2), &mut parties);
        // The sieve and GRAD ask about sites once, while the other features are still in the residual.
        let expected = if procedure == CertifiedProcedure::ARGMAX {
            EFFECTS
        } else {
            effects_as(first_of_sites(&parties), &features, &responses)
        };
        assert_eq!(fit.sites.len(), SIZES.len(), "{procedure}");
        for (found, expected) in fit.sites.iter().zip(expected) {
            assert!(
                (found - expected).abs() < 0.05,
                "{procedure}: {:?} {expected:?}",
                fit.sites
            );
        }
        let sizes = SIZES.iter().map(|size| f64::from(*size));
        let mean: f64 = sizes
            .zip(&fit.sites)
            .map(|(size, effect)| size * effect)
            .sum();
        assert!(mean.abs() < 1e-9, "{procedure}: {mean}");
        assert!(
            (fit.model.intercept - 3.0).abs() < 0.05,
            "{procedure}: {fit:?}"
        );
        assert!(fit.model.terms.iter().all(|(feature, _)| *feature < 30));
        world.assert_found(&fit, 0.1);
    }
}

#[test]
fn every_request_fits_the_step_that_was_planned_for_it() {
    let (_, features, responses) = world(&[0, 1, 3, 17]);
    for procedure in CertifiedProcedure::all() {
        for always in [0, 2] {
            for feature_scale in [None, Some(1.0)] {
                let setting = Setting {
                    feature_scale,
                    ..setting(always)
                };
                let plan = procedure.plan(&setting).unwrap();
                let mut parties = all_there(&features, &responses);
                let _ = fit(procedure, &setting, &mut parties);
                let (mut sums, mut choices) =
                    (parties.exact.queries.iter(), parties.choices.iter());
                for (place, step) in plan.steps.iter().enumerate() {
                    match step {
                        PlannedStep::Sum(sum) => {
                            let query = sums.next().unwrap();
                            assert_eq!(query.step, place);
                            assert!(sum.admits(&query.questions), "{procedure}: step {place}");
                            let mut questions = query.questions.iter();
                            assert!(questions.all(|question| question.fits(setting.n_columns())));
                        }
                        PlannedStep::Choice(_) => {
                            let scores = &choices.next().unwrap().scores;
                            assert!(scores.fits(setting.n_columns()));
                            // Sites are never candidates.
                            assert_eq!(
                                scores.coordinates(),
                                30 - always as usize - choices_before(&plan.steps[..place])
                            );
                        }
                    }
                }
                assert!(sums.next().is_none() && choices.next().is_none());
            }
        }
    }
}

fn choices_before(steps: &[PlannedStep]) -> usize {
    let choices = steps
        .iter()
        .filter(|step| matches!(step, PlannedStep::Choice(_)));
    choices.count()
}

#[test]
fn the_last_question_is_not_about_sites() {
    let (_, features, responses) = world(&[3, 17]);
    for procedure in CertifiedProcedure::all() {
        let mut parties = all_there(&features, &responses);
        let _ = fit(procedure, &setting(0), &mut parties);
        let constants: Vec<Constant> = parties
            .exact
            .queries
            .iter()
            .flat_map(|query| &query.questions)
            .filter_map(|question| match question {
                Question::SecondMoment { constant, .. }
                | Question::SupportUpdate { constant, .. } => Some(*constant),
                _ => None,
            })
            .collect();
        let sites = Constant::Sites {
            first: 30,
            count: 3,
        };
        assert_eq!(constants.first(), Some(&sites), "{procedure}");
        assert_eq!(constants.last(), Some(&Constant::One), "{procedure}");
        let n_sites = constants.iter().filter(|one| **one == sites).count();
        let expected = if procedure == CertifiedProcedure::ARGMAX {
            3
        } else {
            1
        };
        assert_eq!(n_sites, expected, "{procedure}");
    }
}

#[test]
fn a_party_that_is_absent_is_left_out_of_the_solve() {
    let (_, features, responses) = world(&[3, 17]);
    for procedure in CertifiedProcedure::all() {
        // Absent from the first joint question on: nothing is ever known of its mean.
        let mut parties = Parties {
            absent: vec![1],
            ..all_there(&features, &responses)
        };
        let never = fit(procedure, &setting(0), &mut parties);
        assert!(
            never.sites[1].abs() < 1e-12,
            "{procedure}: {:?}",
            never.sites
        );
        assert!(never.sites[0] > never.sites[2] + 1.0, "{procedure}");
        // Absent later: it keeps what was found.
        let mut parties = Parties {
            absent: vec![1],
            from_step: 4,
            ..all_there(&features, &responses)
        };
        let later = fit(procedure, &setting(0), &mut parties);
        assert!(later.sites[1] < -0.7, "{procedure}: {:?}", later.sites);
    }
}

#[test]
fn noise_cannot_make_a_site_more_than_its_records_or_less_than_half_of_them() {
    let effects = SiteEffects::new(&setting(0));
    let mut gram = SquareMatrix::from_fn(4, |_, _| 1000.0);
    gram[(1, 1)] = -5.0;
    gram[(2, 2)] = 70.0;
    effects.restrict(&mut gram);
    for (place, expected) in [300.0, 100.0, 70.0, 1000.0].into_iter().enumerate() {
        assert_eq!(
            gram[(place, place)].to_bits(),
            f64::to_bits(expected),
            "{place}"
        );
    }
    assert_eq!(gram[(0, 1)].to_bits(), 0f64.to_bits());
    assert_eq!(gram[(2, 1)].to_bits(), 0f64.to_bits());
    assert_eq!(gram[(3, 1)].to_bits(), f64::to_bits(1000.0));
}

#[test]
fn sites_that_cannot_have_intercepts_are_refused_before_the_first_question() {
    let with = |records: &[u32]| Setting {
        sites: Sites::new(records).unwrap(),
        ..setting(0)
    };
    let by_client = Setting {
        unit: PrivacyUnit::Client,
        ..setting(0)
    };
    let without_intercept = Setting {
        intercept: Intercept::Absent,
        ..setting(0)
    };
    for (setting, words) in [
        (by_client, "clients as the unit of privacy"),
        (without_intercept, "without an intercept"),
        (with(&[300, 285, 14]), "a site with 14 records"),
        (with(&[600]), "1 sites"),
        (with(&[300, 301]), "601 records of 600"),
    ] {
        for procedure in CertifiedProcedure::all() {
            let refused = procedure.plan(&setting).unwrap_err().to_string();
            assert!(refused.contains(words), "{refused}");
        }
    }
    assert!(with(&[300, 285, 15]).check().is_ok());
    let refused = Sites::new(&[20; MOST_SITES + 1]).unwrap_err();
    assert!(refused.to_string().contains("at most 40"), "{refused}");
}

#[test]
fn a_setting_without_sites_is_written_as_before_and_one_with_them_is_read_back() {
    let text = serde_json::to_string(&legal_setting()).unwrap();
    assert!(!text.contains("sites"), "{text}");
    let text = serde_json::to_string(&setting(0)).unwrap();
    assert!(text.contains("\"sites\":[300,200,100]"), "{text}");
    assert_eq!(serde_json::from_str::<Setting>(&text).unwrap(), setting(0));
    let many = text.replace("[300,200,100]", &format!("{:?}", vec![20; 41]));
    assert!(serde_json::from_str::<Setting>(&many).is_err());
}

#[test]
fn the_noise_of_the_first_question_does_not_grow_with_the_number_of_sites() {
    let norm = |sites: &[u32]| {
        let setting = Setting {
            sites: Sites::new(sites).unwrap(),
            ..setting(2)
        };
        let scales = Scales {
            feature: Limit::nearest(1.0),
            residual: Limit::nearest(1.0),
        };
        match setting.first_joint_question(LinearModel::default(), scales) {
            Question::SecondMoment { norm, .. } => norm.get(),
            _ => panic!("second moments are asked"),
        }
    };
    assert_eq!(norm(&[300, 300]).to_bits(), norm(&[20; 30]).to_bits());
    assert_eq!(norm(&[300, 300]).to_bits(), norm(&[]).to_bits());
}
