use std::fs;

use sprifed_privacy::{Epsilon, SpentDelta};

use super::*;
use crate::leave::leave;
use crate::ledger::Standing;
use crate::store::SqliteStore;
use crate::test_study::{self, TestParty, entropy};

fn party(name: &str) -> TestParty {
    let agreed = test_study::agreed(Provenance::Cryptographic);
    TestParty::new(name, 0, &agreed)
}

/// Enters the study as the command line does.
fn enter(party: &TestParty, seed: Option<u64>) -> Result<Option<Bound>, PartyError> {
    party.with_application(&party.folder.database(), |application| {
        let admitted = application.apply()?;
        party.folder.begin(&party.invitation())?;
        let mut store = SqliteStore::open(&party.folder, party.agreed.digest())?;
        admitted.enter(&mut store, seed, entropy)
    })
}

/// Why the party takes no part: what a check says first is what a start ends with.
fn refused(party: &TestParty) -> PartyError {
    party.with_application(&party.folder.database(), |application| {
        let looked = application.look().map(|admission| admission.obstacles);
        let applied = application.apply().map(drop).expect_err("refused");
        let looked = match looked {
            Ok(obstacles) => obstacles.into_iter().next().expect("an obstacle"),
            Err(error) => error,
        };
        assert_eq!(looked.to_string(), applied.to_string());
        applied
    })
}

fn admission(party: &TestParty) -> Admission {
    party.with_application(&party.folder.database(), |application| {
        application.look().expect("decided")
    })
}

#[test]
fn a_party_that_is_allowed_enters_once_and_is_known_then() {
    let party = party("admitted");
    let before = admission(&party);
    assert!(before.obstacles.is_empty() && !before.is_known);
    assert_eq!(before.columns.len(), 7);
    assert!(!party.ledger.file().exists(), "a look writes nothing");
    let bound = enter(&party, None).expect("entered");
    assert!(bound.is_some());
    let ledger = party.ledger.open().expect("a ledger");
    let [line] = ledger.lines() else {
        panic!("one line: {:?}", ledger.lines())
    };
    assert_eq!(line.study, party.agreed.digest().to_string());
    assert_eq!(line.standing, Standing::Reserved);
    drop(ledger);
    let secret = fs::read(party.folder.key()).expect("a secret");
    let after = admission(&party);
    assert!(after.is_known && after.obstacles.is_empty() && after.ended.is_none());
    let bound = enter(&party, None).expect("entered before");
    assert!(bound.is_none(), "the table is not hashed again");
    assert_eq!(fs::read(party.folder.key()).expect("a secret"), secret);
    assert_eq!(party.ledger.open().expect("a ledger").lines().len(), 1);
}

#[test]
fn a_seat_or_a_key_that_does_not_fit_is_refused_before_a_ledger_is_made() {
    type Case = (fn(&str) -> String, &'static str);
    let cases: [Case; 3] = [
        (
            |text| text.replace("party-0", "party-9"),
            "sprifed::study::other-seat",
        ),
        (
            |text| text.replace("\"records\":20", "\"records\":19"),
            "sprifed::study::other-seat",
        ),
        (
            |text| text.replace("false", "true"),
            "sprifed::study::rehearsal-key",
        ),
    ];
    for (place, (change, code)) in cases.into_iter().enumerate() {
        let party = party(&format!("seat-{place}"));
        let path = party.party.public_party();
        let text = fs::read_to_string(&path).expect("read");
        assert_ne!(change(&text), text);
        fs::write(&path, change(&text)).expect("written");
        let refused = refused(&party);
        assert_eq!(refused.code(), code, "{refused}");
        assert!(refused.to_coordinator().is_some());
        assert!(!party.ledger.file().exists());
    }
    let other = party("not-invited");
    fs::write(other.party.identity_key(), "ab".repeat(32)).expect("written");
    assert!(matches!(refused(&other), PartyError::NotInvited { .. }));
}

#[test]
fn a_policy_and_a_limit_forbid_and_say_so_to_the_coordinator() {
    let party = party("forbidden");
    let path = party.party.policy();
    let text = fs::read_to_string(&path).expect("read");
    fs::write(
        &path,
        text.replace("smallest-quorum = 3", "smallest-quorum = 5"),
    )
    .expect("written");
    let forbidden = refused(&party);
    assert!(matches!(forbidden, PartyError::Forbidden(_)), "{forbidden}");
    let told = forbidden.to_coordinator().expect("told");
    assert!(told.contains("at least 5"), "{told}");
    fs::write(&path, text).expect("written");
    let limit = Cost {
        epsilon: Epsilon::try_from(1.0).expect("a legal epsilon"),
        delta: SpentDelta::try_from(1e-5).expect("a legal delta"),
    };
    let mut ledger = party.ledger.open().expect("a ledger");
    ledger.set_limit(limit).expect("set");
    drop(ledger);
    let over = refused(&party);
    assert!(matches!(over, PartyError::OverLimit(_)), "{over}");
    assert_eq!(over.exit_code(), 1);
}

#[test]
fn state_that_is_lost_is_missed_and_not_made_again() {
    let party = party("lost");
    enter(&party, None).expect("entered");
    let (state, aside) = (party.folder.database(), party.home.path().join("aside"));
    fs::rename(&state, &aside).expect("moved");
    let lost = refused(&party);
    assert!(
        matches!(&lost, PartyError::StateLost { path } if *path == state),
        "{lost}"
    );
    let told = lost.to_coordinator().expect("told");
    assert!(!told.contains("state.sqlite"), "no path is told: {told}");
    assert!(!state.exists());
    fs::rename(&aside, &state).expect("back");
    fs::rename(party.folder.key(), &aside).expect("moved");
    let lost = enter(&party, None).expect_err("without its secret");
    assert!(matches!(&lost, PartyError::StateLost { path } if *path == party.folder.key()));
    assert!(!party.folder.key().exists());
}

#[test]
fn a_ledger_that_is_lost_or_does_not_know_a_study_is_missed() {
    let party = party("lost-ledger");
    enter(&party, None).expect("entered");
    let ledger = party.ledger.file();
    let head = ledger.with_extension("head");
    fs::remove_file(&ledger).expect("removed");
    let gone = refused(&party);
    assert_eq!(gone.code(), "sprifed::ledger::refused", "{gone}");
    assert!(
        gone.to_coordinator().is_none(),
        "it names paths of this machine"
    );
    // Without the note of its length the folders of the party's studies tell, wherever they are.
    fs::remove_file(&head).expect("removed");
    fs::remove_dir_all(party.folder.path()).expect("removed");
    for home in party.party.homes() {
        let other = StudyFolder::in_home(&home, &Digest([1; 32]));
        fs::create_dir_all(other.path()).expect("a folder");
        fs::write(other.begun(), "").expect("a mark");
        let unknown = refused(&party);
        assert!(
            unknown
                .to_string()
                .contains("has sent something in 1 study"),
            "{unknown}"
        );
        fs::remove_dir_all(other.path()).expect("removed");
    }
}

#[test]
fn a_party_that_has_left_answers_nothing_more() {
    let party = party("left");
    enter(&party, None).expect("entered");
    let departure = leave(&party.party, &party.folder, &party.ledger).expect("left");
    assert_eq!(departure.cost, Cost::NOTHING, "nothing was answered");
    assert!(!party.folder.key().exists());
    let left = refused(&party);
    assert!(left.to_string().contains("has left this study"), "{left}");
    assert!(admission(&party).ended.is_some());
    // Again, nothing changes.
    leave(&party.party, &party.folder, &party.ledger).expect("left before");
}

#[test]
fn a_seed_is_for_rehearsals_only() {
    let protected = party("seed");
    let refused = enter(&protected, Some(1)).expect_err("it protects");
    assert!(matches!(refused, PartyError::SeedGiven), "{refused}");
    let agreed = test_study::agreed(Provenance::Simulated);
    let rehearsal = TestParty::new("no-seed", 0, &agreed);
    let refused = enter(&rehearsal, None).expect_err("no seed");
    assert!(matches!(refused, PartyError::NoSeed), "{refused}");
    let lines = |party: &TestParty| party.ledger.open().expect("a ledger").lines().len();
    assert_eq!([lines(&protected), lines(&rehearsal)], [0, 0]);
    enter(&rehearsal, Some(test_study::SEED)).expect("a rehearsal");
    assert_eq!(lines(&rehearsal), 1);
}
