use sprifed_noise::DrawnNoise;
use sprifed_query::{AskedBlock, Contributor, Part, RecordSource, SumBackend, SumQuery};
use sprifed_recovery::{CertifiedProcedure, Ready};
use sprifed_secure_sum::{ClientId, Phase};

use super::*;
use crate::agreement::tests::{TestStudy, agreed};
use crate::test_world::TestWorld;

fn open<'a>(
    study: &Arc<Agreed>,
    world: &'a TestWorld,
    attendance: Box<Attendance<'a>>,
) -> Embedded<'a, Part<'a, TestWorld>> {
    let key = PartyKey::simulated(5, 0);
    Embedded::over(world, Arc::clone(study), &key, attendance).expect("a study")
}

fn first_query(study: &Agreed) -> SumQuery {
    let agreement = study.agreement();
    let ready = agreement
        .procedure
        .begin(&agreement.setting)
        .expect("a procedure");
    let Ready::Sums(procedure) = ready else {
        panic!("not a procedure of sums")
    };
    match sprifed_query::Procedure::start(procedure) {
        sprifed_query::Step::Ask(query, _) => query,
        sprifed_query::Step::Done(_) => panic!("no question"),
    }
}

/// The exact integer sum of a party's noise for one sum, drawn again from its key.
fn noise_of(study: &Agreed, party: ClientId, sum: u32) -> Vec<i64> {
    let planned = study
        .step_of(sum)
        .and_then(|(step, _)| study.step(step))
        .expect("a step");
    let plan = &study.agreement().plan;
    let mut ledger = Ledger::open(study.ceiling(), plan.relation, plan.unit);
    let permit = ledger
        .spend("again", study.purchase(planned))
        .expect("a permit");
    let key = PartyKey::simulated(5, 0).of_party(party.0);
    let transcript = Transcript::begin(study.digest()).head();
    let noise = DrawnNoise::draw(
        permit,
        &mut key.noise(study, sum, &transcript).expect("kept"),
    )
    .expect("noise");
    let nothing = sprifed_noise::BoundedSum::zero(planned.to_sum_plan());
    noise
        .release(nothing)
        .expect("noise alone")
        .values()
        .to_vec()
}

/// The sum of a curator that holds all records, before noise.
fn exact(
    study: &Agreed,
    world: &TestWorld,
    query: &SumQuery,
    sum: u32,
    units: Vec<usize>,
) -> Vec<i64> {
    let planned = study.step(query.step).expect("a step");
    let blocks = query.questions.iter().zip(&planned.blocks);
    let blocks = blocks
        .map(|(question, planned)| AskedBlock { question, planned })
        .collect();
    let contributor = Contributor::new(blocks, study.dither_seed(sum));
    let size = usize::try_from(planned.to_sum_plan().coordinates()).unwrap();
    let (mut values, mut integers) = (vec![0.0; size], vec![0; size]);
    let mut total = vec![0i64; size];
    for unit in units {
        contributor.contribute(world, unit, &mut values, &mut integers);
        total
            .iter_mut()
            .zip(&integers)
            .for_each(|(total, value)| *total += i64::from(*value));
    }
    total
}

fn difference(values: &[i64], noise: &[Vec<i64>]) -> Vec<i64> {
    let mut rest = values.to_vec();
    for one in noise {
        rest.iter_mut()
            .zip(one)
            .for_each(|(rest, noise)| *rest -= noise);
    }
    rest
}

#[test]
fn without_its_noise_a_sum_is_bit_equal_to_the_curators() {
    for (parties, units) in [(3, 7), (20, 1), (100, 1)] {
        let study = agreed(TestStudy {
            parties,
            units,
            ..TestStudy::default()
        });
        let world = TestWorld::new((parties * units) as usize, 30);
        let mut embedded = open(&study, &world, Box::new(all_present));
        let query = first_query(&study);
        let sum = embedded.add_up(0, &query).expect("a sum");
        let noise: Vec<_> = (0..parties)
            .map(|id| noise_of(&study, ClientId(id), 0))
            .collect();
        let everything = exact(&study, &world, &query, 0, (0..world.n_units()).collect());
        assert_ne!(sum.values(), everything, "there is noise");
        assert_eq!(difference(sum.values(), &noise), everything);
    }
}

#[test]
fn a_party_that_drops_out_is_not_in_the_sum_and_returns_later() {
    let study = agreed(TestStudy {
        parties: 20,
        quorum: 14,
        ..TestStudy::default()
    });
    let world = TestWorld::new(20, 30);
    let absent = |phase: Phase, sum: u32, id: ClientId| match (phase, id.0) {
        (Phase::Upload, 3 | 4) => sum != 0,
        (Phase::Confirm, 5) | (Phase::Unmask, 6) => sum != 0,
        (Phase::Keys, 7) | (Phase::Agree | Phase::Shares, 8) => false,
        _ => true,
    };
    let mut embedded = open(&study, &world, Box::new(absent));
    let query = first_query(&study);
    let sum = embedded.add_up(0, &query).expect("a sum");
    let present: Vec<u32> = sum.survivors().iter().map(|id| id.0).collect();
    assert!([3, 4, 7, 8].iter().all(|gone| !present.contains(gone)));
    assert_eq!(present.len(), 16);
    let noise: Vec<_> = present
        .iter()
        .map(|id| noise_of(&study, ClientId(*id), 0))
        .collect();
    let units = present.iter().map(|id| *id as usize).collect();
    assert_eq!(
        difference(sum.values(), &noise),
        exact(&study, &world, &query, 0, units)
    );
    let next = SumQuery { step: 1, ..query };
    if study
        .step(1)
        .is_some_and(|planned| planned.admits(&next.questions))
    {
        let sum = embedded.add_up(1, &next).expect("a second sum");
        assert_eq!(sum.survivors().len(), 18);
    }
}

#[test]
fn too_many_dropouts_end_the_run_and_name_the_step() {
    let study = agreed(TestStudy {
        parties: 10,
        quorum: 8,
        ..TestStudy::default()
    });
    let world = TestWorld::new(10, 30);
    let leaving = |phase: Phase, _: u32, id: ClientId| phase != Phase::Upload || id.0 < 7;
    let mut embedded = open(&study, &world, Box::new(leaving));
    let ended = embedded.answer(&first_query(&study));
    let reason = Abandoned::QuorumLost {
        found: 7,
        required: 8,
    };
    assert_eq!(ended, Err(EmbeddedError::Abandoned { step: 0, reason }));
}

#[test]
fn a_whole_fit_finds_the_features_and_every_ledger_says_the_same() {
    let study = agreed(TestStudy {
        parties: 40,
        units: 10,
        features: 60,
        ..TestStudy::default()
    });
    let world = TestWorld::new(400, 60);
    let mut embedded = open(&study, &world, Box::new(all_present));
    let setting = study.agreement().setting;
    let fit = CertifiedProcedure::SIEVE
        .run_on_sums(&setting, &mut embedded, |_| ())
        .expect("a fit");
    let mut support = fit.model.support();
    support.sort_unstable();
    assert_eq!(support, TestWorld::SUPPORT);
    assert_eq!(fit.provenance, Some(Provenance::Simulated));
    let spent = embedded.ledger().spent().expect("something was spent");
    assert!(spent.epsilon() <= study.agreement().plan.budget.epsilon());
    for party in embedded.parties() {
        assert_eq!(party.ledger().spent(), Some(spent));
    }
}

#[test]
fn a_procedure_that_needs_choices_is_refused() {
    let study = agreed(TestStudy::default());
    let world = TestWorld::new(3, 30);
    let mut embedded = open(&study, &world, Box::new(all_present));
    let setting = study.agreement().setting;
    let refused = CertifiedProcedure::ARGMAX.run_on_sums(&setting, &mut embedded, |_| ());
    let refusal = refused.expect_err("refused").to_string();
    assert!(refusal.contains("grad or sieve"), "{refusal}");
    assert_eq!(embedded.ledger().spent(), None);
}

#[test]
fn two_parties_study_together_and_each_adds_the_whole_noise() {
    let units = 150;
    let study = agreed(TestStudy {
        parties: 2,
        units,
        ..TestStudy::default()
    });
    assert_eq!(study.participation().map(|p| p.honest()), Some(1));
    let curator = study.step(0).expect("a step").to_sum_plan();
    let relation = study.agreement().plan.relation;
    // One share alone pays for the whole cost, as a curator's noise would.
    assert_eq!(
        curator.cost(study.agreement().plan.origin, relation),
        curator.cost(sprifed_privacy::NoiseOrigin::Curator, relation)
    );
    let world = TestWorld::new(2 * units as usize, 30);
    let agreement = study.agreement();
    let mut embedded = open(&study, &world, Box::new(all_present));
    let fit = agreement
        .procedure
        .run_on_sums(&agreement.setting, &mut embedded, |_| {})
        .expect("a fit");
    let mut found: Vec<u32> = fit.model.terms.iter().map(|(term, _)| *term).collect();
    found.sort_unstable();
    assert_eq!(found, TestWorld::SUPPORT);
}

#[test]
fn without_one_of_two_parties_there_is_no_sum() {
    let study = agreed(TestStudy {
        parties: 2,
        units: 20,
        ..TestStudy::default()
    });
    let world = TestWorld::new(40, 30);
    let attendance =
        |phase: Phase, _: u32, party: ClientId| phase != Phase::Upload || party != ClientId(1);
    let mut embedded = open(&study, &world, Box::new(attendance));
    let query = first_query(&study);
    let ended = embedded.answer(&query);
    assert!(
        matches!(
            ended,
            Err(EmbeddedError::Abandoned {
                reason: Abandoned::QuorumLost {
                    found: 1,
                    required: 2
                },
                ..
            })
        ),
        "{ended:?}"
    );
}
