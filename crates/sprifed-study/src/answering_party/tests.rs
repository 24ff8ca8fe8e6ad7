use sprifed_query::Part;

use super::*;
use crate::agreement::tests::{TestStudy, agreed};
use crate::test_world::TestWorld;

fn key() -> PartyKey {
    PartyKey::simulated(5, 0).of_party(0)
}

fn join<'a>(
    study: &Arc<Agreed>,
    world: &'a TestWorld,
    journal: &[JournalLine],
) -> Result<AnsweringParty<Part<'a, TestWorld>>, Declined> {
    let records = Part::of(world, 0..1);
    let (study, id) = (Arc::clone(study), ClientId(0));
    AnsweringParty::join(study, id, key().identity(), key(), records, journal)
}

#[test]
fn strangers_and_wrong_records_are_declined() {
    let study = agreed(TestStudy::default());
    let world = TestWorld::new(3, 30);
    let as_other = |id: u32, records: Part<'_, TestWorld>| {
        let study = Arc::clone(&study);
        AnsweringParty::join(study, ClientId(id), key().identity(), key(), records, &[]).map(drop)
    };
    let not_invited = |party| Err(Declined::NotInvited { party });
    assert_eq!(
        as_other(1, Part::of(&world, 0..1)),
        not_invited(ClientId(1))
    );
    assert_eq!(
        as_other(9, Part::of(&world, 0..1)),
        not_invited(ClientId(9))
    );
    let many = Declined::TooManyUnits {
        found: 2,
        required: 1,
    };
    assert_eq!(as_other(0, Part::of(&world, 0..2)), Err(many));
    let wide = TestWorld::new(3, 31);
    let other = Declined::OtherFeatures {
        found: 31,
        required: 30,
    };
    assert_eq!(as_other(0, Part::of(&wide, 0..1)), Err(other));
}

#[test]
fn a_charge_of_before_the_restart_still_counts() {
    let study = agreed(TestStudy::default());
    let world = TestWorld::new(3, 30);
    let fresh = join(&study, &world, &[]).expect("invited");
    assert_eq!(fresh.ledger().spent(), None);
    let charged = |sum| JournalLine::Charged {
        sum,
        transcript: *study.digest(),
    };
    let journal = [charged(0)];
    let again = join(&study, &world, &journal).expect("invited");
    assert!(again.ledger().spent().is_some());
    let unknown = join(&study, &world, &[charged(999)]);
    assert!(matches!(
        unknown,
        Err(Declined::NotPlanned { sum: 999, .. })
    ));
}

#[test]
fn a_party_that_left_answers_nothing_more_and_stays_charged() {
    let study = agreed(TestStudy::default());
    let world = TestWorld::new(3, 30);
    let line = JournalLine::Charged {
        sum: 0,
        transcript: *study.digest(),
    };
    let left = [line.clone(), JournalLine::Left];
    assert!(matches!(
        join(&study, &world, &left),
        Err(Declined::HasLeft)
    ));
    let charged = charged_by(&study, &left).expect("of this study").spent();
    let before = charged_by(&study, &[line]).expect("of this study");
    assert!(charged.is_some() && charged == before.spent());
    let nothing = charged_by(&study, &[JournalLine::Left]).expect("of this study");
    assert_eq!(nothing.spent(), None);
}
