//! All orders of crashes, lost messages and hostile orders for three trustees, on the real [`Book`].

use std::collections::BTreeSet;

use super::*;
use crate::attempt_id::AttemptId;
use crate::deviation::Deviation;
use crate::set::Counted;
use crate::step::Output;
use crate::trustee_id::TrusteeId;

/// Two are enough: a charge is carried from one attempt to the next.
const ATTEMPTS: u32 = 2;

/// What is on the disks and on the way. An opening share that left is never taken back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct World {
    trustees: [Trustee; 3],
    /// For each attempt, whose opening share left.
    opened: [[bool; 3]; ATTEMPTS as usize],
    /// For each attempt, who signed that it is unopened.
    unopened: [[bool; 3]; ATTEMPTS as usize],
    /// For each attempt, who signed a list and a set.
    listed: [[bool; 3]; ATTEMPTS as usize],
    signed: [[bool; 3]; ATTEMPTS as usize],
    /// For each attempt, who signed that all proofs were accepted.
    checked: [[bool; 3]; ATTEMPTS as usize],
    /// For each attempt, for which of two proofs of a deviating prover the first trustee showed its challenges.
    challenged: [[bool; 2]; ATTEMPTS as usize],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Trustee {
    book: Book,
    /// Whether it has been running since the attempt began: a crash forgets everything else.
    runs: bool,
    /// Whether this process has shown challenges of the attempt.
    has_challenged: bool,
    /// Whether it said that the charge of the attempt is spent, without an outcome.
    says_spent: bool,
}

/// How a planted mistake changes the rules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rules {
    AsBuilt,
    /// An opening share leaves before its line is stored.
    OpeningBeforeLine,
    /// The next attempt is carried with two signatures.
    TwoSignatures,
    /// A trustee that was restarted goes on with the attempt, and has forgotten what it received.
    Replay,
    /// Two signatures that proofs were accepted are enough.
    TwoChecked,
    /// A trustee that was restarted says nothing of the outcome that it stored.
    ForgottenOutcome,
}

fn charged(step: u32, attempt: u32) -> JournalLine {
    JournalLine::Charged {
        step,
        attempt,
        charge: Charge::New,
    }
}

fn opened(step: u32, attempt: u32) -> JournalLine {
    JournalLine::Opened(Box::new(OutcomeReport {
        attempt: AttemptId {
            study: [1; 32],
            step,
            attempt,
            transcript: [2; 32],
        },
        trustee: TrusteeId::ALL[0],
        set: [3; 32],
        clients: Counted::default(),
        output: Output::Index(0),
        signature: [4; 64],
    }))
}

fn enter(world: &World, who: usize, line: JournalLine) -> Option<World> {
    let mut next = *world;
    next.trustees[who].book.enter(&line).ok()?;
    Some(next)
}

/// Every world that one event leads to.
fn successors(world: &World, rules: Rules) -> Vec<World> {
    let digest = [0; 32];
    let mut found = Vec::new();
    for who in 0..3 {
        let trustee = world.trustees[who];
        let next_attempt = match trustee.book.last() {
            None => 0,
            Some((_, attempt, _)) => attempt + 1,
        };
        // The coordinator may order the next attempt whenever it likes, with a proof or without.
        for with_proof in [false, true] {
            let proof = match trustee.book.last() {
                Some((_, attempt, _)) if with_proof => {
                    let signed = world.unopened[attempt as usize]
                        .iter()
                        .filter(|one| **one)
                        .count();
                    signed >= if rules == Rules::TwoSignatures { 2 } else { 3 }
                }
                _ => false,
            };
            if next_attempt >= ATTEMPTS || proof != with_proof {
                continue;
            }
            if let Ok(line) = trustee.book.charge(0, next_attempt, proof)
                && let Some(mut next) = enter(world, who, line)
            {
                next.trustees[who].runs = true;
                next.trustees[who].has_challenged = false;
                next.trustees[who].says_spent = false;
                found.push(next);
            }
        }
        let Some((_, attempt, stage)) = trustee.book.last() else {
            continue;
        };
        let number = attempt as usize;
        if trustee.runs {
            let all = |flags: [[bool; 3]; ATTEMPTS as usize]| flags[number] == [true; 3];
            match stage {
                // A list or signature that is lost is one that its readers do not act on, so it is
                // enough to look at worlds in which it left at once.
                Stage::Charged => {
                    let line = JournalLine::ListSent { digest };
                    if let Some(mut next) = enter(world, who, line) {
                        next.listed[number][who] = true;
                        found.push(next);
                    }
                }
                Stage::Listed if all(world.listed) => {
                    let line = JournalLine::SetSigned { digest };
                    if let Some(mut next) = enter(world, who, line) {
                        next.signed[number][who] = true;
                        found.push(next);
                    }
                }
                Stage::Signed if all(world.signed) => {
                    found.extend(prove(world, who, number));
                    let checked = world.checked[number].iter().filter(|one| **one).count();
                    let required = if rules == Rules::TwoChecked { 2 } else { 3 };
                    if checked >= required {
                        found.extend(enter(world, who, JournalLine::Opening));
                        if rules == Rules::OpeningBeforeLine {
                            let mut early = *world;
                            early.opened[number][who] = true;
                            found.push(early);
                        }
                    }
                }
                Stage::Opening => {
                    let mut sent = *world;
                    sent.opened[number][who] = true;
                    found.push(sent);
                    if world.opened[number][(who + 1) % 3] {
                        found.extend(enter(world, who, opened(0, attempt)));
                    }
                }
                _ => {}
            }
            // A crash, at any moment.
            let mut crashed = *world;
            crashed.trustees[who].runs = rules == Rules::Replay;
            crashed.trustees[who].has_challenged = false;
            // What it says when it is there again, and the same if it stays and takes nothing more of this attempt.
            crashed.trustees[who].says_spent = match stage {
                Stage::Opening => rules != Rules::Replay,
                Stage::Opened => rules == Rules::ForgottenOutcome,
                _ => false,
            };
            found.push(crashed);
        }
        // By order, after a crash, or because a peer did.
        if trustee.book.may_give_up()
            && let Some(mut given_up) = enter(world, who, JournalLine::GivenUp)
        {
            given_up.trustees[who].runs = false;
            given_up.trustees[who].has_challenged = false;
            found.push(given_up);
        }
        if stage == Stage::GivenUp {
            let mut signed = *world;
            signed.unopened[number][who] = true;
            found.push(signed);
        }
    }
    found
}

/// What happens while gates are proved. The second trustee deviates: it may send either of two proofs, and the first one,
/// which verifies, answers one of them with its challenges. A verifier may refuse, and others end with it.
fn prove(world: &World, who: usize, number: usize) -> Vec<World> {
    let mut found = Vec::new();
    let mut checked = *world;
    checked.checked[number][who] = true;
    if who > 0 {
        found.push(checked);
        return found;
    }
    if world.trustees[who].has_challenged {
        found.push(checked);
        let finding = Finding {
            deviation: Deviation::Proof {
                prover: TrusteeId::ALL[1],
            },
            by: TrusteeId::ALL[0],
        };
        // It refuses before it signs that it accepted, or a peer does.
        if !world.checked[number][who] {
            let refused = enter(world, who, JournalLine::Refused { finding });
            found.extend(refused.map(|mut refused| {
                refused.trustees[who].runs = false;
                refused.trustees[who].has_challenged = false;
                refused
            }));
        }
        return found;
    }
    for proof in 0..2 {
        let mut shown = *world;
        shown.challenged[number][proof] = true;
        shown.trustees[who].has_challenged = true;
        found.push(shown);
    }
    found
}

/// Whether a verifier showed challenges for two proofs of one batch, or something was opened that a trustee had not checked.
fn is_opened_unchecked(world: &World) -> bool {
    let two = world.challenged.contains(&[true; 2]);
    let mut attempts = world.opened.iter().zip(&world.checked);
    two || attempts.any(|(opened, checked)| opened.contains(&true) && *checked != [true; 3])
}

/// Whether a trustee signed an outcome and said that there is none.
fn is_taken_back(world: &World) -> bool {
    let mut trustees = world.trustees.iter().enumerate();
    trustees.any(|(who, trustee)| match trustee.book.last() {
        Some((_, attempt, Stage::Opened)) => {
            trustee.says_spent || world.unopened[attempt as usize][who]
        }
        _ => false,
    })
}

/// Whether more attempts were opened than a trustee has paid for.
fn opens_more_than_was_paid(world: &World) -> bool {
    let opened = world
        .opened
        .iter()
        .filter(|shares| shares.contains(&true))
        .count();
    let paid = world
        .trustees
        .iter()
        .map(|trustee| trustee.book.charges() as usize);
    opened > paid.min().unwrap_or(0)
}

/// Looks at every world that can be reached: how many, and whether one opens more than was paid.
fn explore(rules: Rules) -> (usize, bool) {
    let mut seen = BTreeSet::from([World::default()]);
    let mut left = vec![World::default()];
    while let Some(world) = left.pop() {
        if opens_more_than_was_paid(&world) || is_opened_unchecked(&world) || is_taken_back(&world)
        {
            return (seen.len(), true);
        }
        for next in successors(&world, rules) {
            if seen.insert(next) {
                left.push(next);
            }
        }
    }
    (seen.len(), false)
}

#[test]
fn no_order_of_crashes_opens_twice_on_a_charge_or_what_is_unchecked_shows_two_challenges_or_takes_an_outcome_back()
 {
    let (worlds, is_broken) = explore(Rules::AsBuilt);
    assert!(worlds > 10_000, "{worlds}");
    assert!(!is_broken);
}

#[test]
fn the_search_finds_planted_mistakes() {
    assert!(explore(Rules::OpeningBeforeLine).1);
    assert!(explore(Rules::TwoSignatures).1);
    assert!(explore(Rules::Replay).1);
    assert!(explore(Rules::TwoChecked).1);
    assert!(explore(Rules::ForgottenOutcome).1);
}

#[test]
fn lines_come_in_order_and_survive_their_bytes() {
    let digest = [7; 32];
    let lines = [
        JournalLine::Charged {
            step: 0,
            attempt: 0,
            charge: Charge::New,
        },
        JournalLine::ListSent { digest },
        JournalLine::SetSigned { digest },
        JournalLine::Opening,
        opened(0, 0),
        JournalLine::Charged {
            step: 1,
            attempt: 0,
            charge: Charge::New,
        },
        JournalLine::GivenUp,
        JournalLine::Charged {
            step: 1,
            attempt: 1,
            charge: Charge::Carried,
        },
    ];
    let book = Book::from_stored(&lines).expect("in order");
    assert_eq!(
        (book.charges(), book.last()),
        (2, Some((1, 1, Stage::Charged)))
    );
    for line in &lines {
        assert_eq!(JournalLine::decode(&line.encode()).as_ref(), Ok(line));
        let mut longer = line.encode();
        longer.push(0);
        assert!(JournalLine::decode(&longer).is_err());
    }
    // An earlier attempt, an earlier step, a step before the last was over, and a false carry.
    assert!(book.charge(1, 1, true).is_err() && book.charge(1, 0, false).is_err());
    assert!(book.charge(0, 5, false).is_err());
    assert!(book.charge(2, 0, false).is_err());
    let mut copy = book;
    let carried = JournalLine::Charged {
        step: 1,
        attempt: 2,
        charge: Charge::Carried,
    };
    assert_eq!(
        copy.enter(&carried),
        Err(OutOfOrder::Attempt {
            step: 1,
            attempt: 2
        })
    );
    assert_eq!(copy, book);
}

/// An outcome may get its third signature only after its signer was told to begin another attempt: the step is over then,
/// however far that other attempt came. Without an outcome of its own a trustee goes to no other step.
#[test]
fn a_step_that_was_opened_may_be_left_from_another_attempt_at_it() {
    let digest = [7; 32];
    let run = |attempt| {
        [
            JournalLine::ListSent { digest },
            JournalLine::SetSigned { digest },
            JournalLine::Opening,
            opened(0, attempt),
        ]
    };
    let first: Vec<_> = [charged(0, 0)].into_iter().chain(run(0)).collect();
    let second: Vec<_> = [charged(0, 1)].into_iter().chain(run(1)).collect();
    for (many, given_up) in (1..=second.len()).flat_map(|many| [(many, false), (many, true)]) {
        let after = |lines: &[JournalLine]| {
            let mut book = Book::from_stored(lines).expect("in order");
            if given_up && book.may_give_up() {
                book.enter(&JournalLine::GivenUp).expect("may be given up");
            }
            book
        };
        let book = after(&[&first, &second[..many]].concat());
        let next = book.charge(1, 0, true).expect("the step is over");
        assert_eq!(next, charged(1, 0), "it costs again");
        let mut moved = book;
        moved.enter(&next).expect("the step is over");
        assert_eq!(moved.charges(), 3);
        // Nothing of the step that it left, and nothing of a later one before this one is opened.
        assert!(moved.charge(0, 2, true).is_err());
        assert!(moved.charge(2, 0, true).is_err());
        // The same without the first outcome.
        let book = after(&[&first[..4], &second[..many]].concat());
        assert_eq!(book.charge(1, 0, true).is_ok(), many == second.len());
    }
    let mut book = Book::from_stored(&first[..4]).expect("in order");
    assert!(book.enter(&opened(0, 1)).is_err(), "of another attempt");
}

/// A refusal ends the study at every stage that is not over, for good.
#[test]
fn nothing_follows_a_refusal() {
    let [prover, by, _] = TrusteeId::ALL;
    let digest = [7; 32];
    let lines = [
        charged(0, 0),
        JournalLine::ListSent { digest },
        JournalLine::SetSigned { digest },
        JournalLine::Opening,
        opened(0, 0),
    ];
    for deviation in [
        Deviation::Proof { prover },
        Deviation::Opening { receiver: by },
    ] {
        let finding = Finding { deviation, by };
        let refused = JournalLine::Refused { finding };
        assert_eq!(
            JournalLine::decode(&refused.encode()).as_ref(),
            Ok(&refused)
        );
        assert!(Book::default().enter(&refused).is_err(), "no attempt");
        for many in 1..=lines.len() {
            let mut book = Book::from_stored(&lines[..many]).expect("in order");
            book.enter(&refused).expect("may come now");
            let ended = Err(OutOfOrder::Ended { finding });
            for line in lines.iter().chain([&refused, &JournalLine::GivenUp]) {
                assert_eq!(book.enter(line), ended);
            }
            assert_eq!(book.charge(1, 0, true), Err(OutOfOrder::Ended { finding }));
            assert!(!book.may_give_up());
        }
    }
    let mut unknown = JournalLine::Refused {
        finding: Finding {
            deviation: Deviation::Proof { prover },
            by,
        },
    }
    .encode();
    *unknown.last_mut().expect("bytes") = 3;
    assert!(JournalLine::decode(&unknown).is_err(), "a fourth trustee");
}
