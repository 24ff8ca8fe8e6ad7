use super::*;
use crate::book::Stage;
use crate::build::group_sizes::Link;
use crate::dealt_noise::PaidFor;
use crate::deviation::SignedFinding;
use crate::embedded::Embedded;
use crate::restarted::Restarted;
use crate::step::{ChoiceStep, SumStep};
use crate::unopened::{AllUnopened, unopened_signature};

mod deviations;
mod norms;
mod register;

const NOISE: [[i64; 5]; 3] = [[1, 0, 3, 2, 0], [0, 2, 1, 1, 3], [3, 3, 0, 0, 1]];
const SENT: [[i64; 5]; 3] = [[-3, 1, 0, 2, 1], [-4, 3, 0, 1, -1], [-2, 2, 1, -1, 0]];

fn choice() -> Arc<Step> {
    let step = ChoiceStep::new(5, vec![3; 3], 2, Link::default());
    Arc::new(Step::Choice(step.expect("legal")))
}

/// What an opening share is worth to the previous trustee.
type Mail = VecDeque<(TrusteeId, TrusteeId, Vec<u8>)>;

/// Three trustees in one attempt, with their journals and the messages on the way.
struct World {
    parties: Embedded,
    step: Arc<Step>,
    id: AttemptId,
    attempts: Vec<Option<Attempt>>,
    journals: [Vec<JournalLine>; 3],
    mail: Mail,
    endings: [Option<Ending>; 3],
    unopened: BTreeMap<TrusteeId, [u8; 64]>,
    openings: [bool; 3],
    findings: Vec<SignedFinding>,
    effects: usize,
    /// Everything that was sent.
    said: Vec<(TrusteeId, TrusteeId, Vec<u8>)>,
    sent: Vec<Vec<i64>>,
    noise: [Vec<i64>; 3],
}

impl World {
    fn new(step: Arc<Step>) -> Self {
        Self::of(
            step,
            &SENT.each_ref().map(<[i64; 5]>::as_slice),
            NOISE.each_ref().map(<[i64; 5]>::as_slice),
        )
    }

    /// Trustees and as many clients as send something.
    fn of(step: Arc<Step>, sent: &[&[i64]], noise: [&[i64]; 3]) -> Self {
        let clients = u32::try_from(sent.len()).expect("few");
        let parties = Embedded::new([5; 32], [6; 32], clients).expect("legal");
        let mut world = Self {
            id: parties.attempt(0),
            parties,
            step,
            attempts: Vec::new(),
            journals: [const { Vec::new() }; 3],
            mail: VecDeque::new(),
            endings: [const { None }; 3],
            unopened: BTreeMap::new(),
            openings: [false; 3],
            findings: Vec::new(),
            effects: 0,
            said: Vec::new(),
            sent: sent.iter().map(|numbers| numbers.to_vec()).collect(),
            noise: noise.map(<[i64]>::to_vec),
        };
        world.begin(0, None);
        world
    }

    /// Starts an attempt: charge, noise, uploads, lists.
    fn begin(&mut self, number: u32, proof: Option<&AllUnopened>) {
        self.id = self.parties.attempt(number);
        let proves = proof.is_some_and(|proof| proof.holds(&self.parties.identities()));
        self.attempts.clear();
        for ((trustee, journal), noise) in TrusteeId::ALL
            .iter()
            .zip(&mut self.journals)
            .zip(&self.noise)
        {
            let mut book = Book::from_stored(journal).expect("a journal");
            let line = book.charge(self.id.step, number, proves).expect("next");
            book.enter(&line).expect("next");
            journal.push(line);
            let setting = self.parties.setting(self.id, &self.step, *trustee);
            let paid_for = match &*self.step {
                Step::Choice(_) => PaidFor::Choice,
                Step::Sum(_) => PaidFor::Sum,
            };
            let noise = DealtNoise::scripted(paid_for, noise);
            let mut attempt = Attempt::new(setting, book, noise).expect("charged");
            for (client, numbers) in (0..).map(ClientId).zip(&self.sent) {
                let upload = self.parties.upload(self.id, &self.step, client, numbers);
                let bytes = upload.expect("fits").encode();
                assert_eq!(attempt.receive_upload(&bytes), Ok(client));
            }
            attempt.close_uploads().expect("open");
            self.attempts.push(Some(attempt));
        }
        self.mail.clear();
        self.unopened.clear();
        self.endings = [const { None }; 3];
        self.openings = [false; 3];
    }

    fn carry_out(&mut self, from: TrusteeId, effect: Effect) {
        self.effects += 1;
        match effect {
            Effect::Persist(line) => self.journals[from.place()].push(line),
            Effect::SendPeer(to, bytes) => {
                let message = Message::decode(&bytes).expect("own");
                if matches!(&message.body, Body::Frame(frame) if frame.content == crate::message::Content::Opening)
                {
                    self.openings[from.place()] = true;
                }
                self.said.push((from, to, bytes.clone()));
                self.mail.push_back((from, to, bytes));
            }
            Effect::SendCoordinator(bytes) => {
                if let Ok((id, signature)) = unopened_signature(&bytes) {
                    assert_eq!(id, self.id);
                    self.unopened.insert(from, signature);
                }
                self.findings.extend(SignedFinding::decode(&bytes));
            }
            Effect::Ended(ending) => self.endings[from.place()] = Some(ending),
        }
    }

    /// Runs until nothing moves; the trustee `victim` crashes before effect number `at` of all.
    fn run(&mut self, crash: Option<(TrusteeId, usize)>) {
        loop {
            let mut moved = false;
            for trustee in TrusteeId::ALL {
                while let Some(attempt) = self.attempts[trustee.place()].as_mut() {
                    if crash.is_some_and(|(victim, at)| victim == trustee && self.effects >= at) {
                        self.attempts[trustee.place()] = None;
                        self.restart(trustee);
                        break;
                    }
                    let Some(effect) = attempt.poll() else { break };
                    self.carry_out(trustee, effect);
                    moved = true;
                }
            }
            if let Some((from, to, bytes)) = self.mail.pop_front() {
                moved = true;
                if let Some(attempt) = &mut self.attempts[to.place()] {
                    let _ = attempt.receive(from, &bytes);
                }
            }
            if !moved {
                return;
            }
        }
    }

    fn restart(&mut self, trustee: TrusteeId) {
        let mut book = Book::from_stored(&self.journals[trustee.place()]).expect("a journal");
        let identity = self.parties.setting(self.id, &self.step, trustee).identity;
        let mut lines = self.journals[trustee.place()].iter().rev();
        let said = lines.find_map(|line| match line {
            JournalLine::Opened(report) => Some(&**report),
            _ => None,
        });
        let restarted = Restarted::new(&mut book, self.id, (trustee, &identity), said);
        let restarted = restarted.expect("the last");
        for effect in restarted.effects {
            self.carry_out(trustee, effect);
        }
    }

    fn proof(&self) -> Option<AllUnopened> {
        let all: Vec<_> = self.unopened.values().copied().collect();
        let signatures = ThreeSignatures(Box::new(all.try_into().ok()?));
        let proof = AllUnopened {
            attempt: self.id,
            signatures,
        };
        assert!(proof.holds(&self.parties.identities()));
        Some(proof)
    }

    fn outputs(&self) -> Vec<&Output> {
        let opened = |ending: &Option<Ending>| matches!(ending, Some(Ending::Opened { .. }));
        let endings = self.endings.iter().filter(|ending| opened(ending));
        endings
            .map(|ending| match ending {
                Some(Ending::Opened { output, .. }) => output,
                _ => unreachable!("filtered"),
            })
            .collect()
    }
}

#[test]
fn three_trustees_agree_on_the_plain_choice() {
    let mut world = World::new(choice());
    world.run(None);
    // Sums -9, 6, 1, 2, 0 give scores 8, 6, 1, 2, 0; with noise 12, 11, 5, 5, 4.
    assert_eq!(world.outputs(), vec![&Output::Index(0); 3]);
    for journal in &world.journals {
        assert_eq!(Book::from_stored(journal).expect("a journal").charges(), 1);
        assert_eq!(journal.len(), 5);
    }
}

#[test]
fn a_sum_is_opened_with_the_noise_of_all_three() {
    let step = SumStep::new(5, vec![3; 3], 6).expect("legal");
    let mut world = World::new(Arc::new(Step::Sum(step)));
    world.run(None);
    let expected = Output::Sums(vec![-9 + 4, 6 + 5, 1 + 4, 2 + 3, 4]);
    assert_eq!(world.outputs(), vec![&expected; 3]);
}

/// A crash of one trustee before any effect of the whole run: the outcome is the same index, or the
/// attempt ends; it is carried on the old charge only if no opening share left.
#[test]
fn a_crash_anywhere_ends_the_attempt_or_changes_nothing_and_never_opens_twice_on_one_charge() {
    let mut whole = World::new(choice());
    whole.run(None);
    let all = whole.effects;
    let (mut carried, mut spent) = (0, 0);
    for victim in TrusteeId::ALL {
        for at in 0..all {
            let mut world = World::new(choice());
            world.run(Some((victim, at)));
            for output in world.outputs() {
                assert_eq!(output, &Output::Index(0), "{victim} at {at}");
            }
            let Some(proof) = world.proof() else {
                spent += 1;
                continue;
            };
            assert_eq!(world.openings, [false; 3], "{victim} at {at}");
            carried += 1;
            world.begin(1, Some(&proof));
            world.run(None);
            assert_eq!(world.outputs(), vec![&Output::Index(0); 3]);
            for journal in &world.journals {
                let book = Book::from_stored(journal).expect("a journal");
                assert_eq!(
                    (book.charges(), book.last()),
                    (1, Some((0, 1, Stage::Opened)))
                );
            }
        }
    }
    assert!(
        carried > 50 && spent > 3,
        "{carried} carried, {spent} spent of {all} effects"
    );
}

/// Crashes that leave no proof: the next attempt is charged again.
#[test]
fn without_three_signatures_the_next_attempt_is_charged_again() {
    let mut world = World::new(choice());
    world.run(Some((TrusteeId::ALL[0], 40)));
    let proof = world.proof().expect("nothing was opened");
    let mut forged = proof.clone();
    forged.signatures.0[1] = forged.signatures.0[0];
    assert!(!forged.holds(&world.parties.identities()));
    let mut other = proof;
    other.attempt.attempt = 7;
    assert!(!other.holds(&world.parties.identities()));
    world.begin(1, Some(&forged));
    world.run(None);
    assert_eq!(world.outputs().len(), 3);
    for journal in &world.journals {
        assert_eq!(Book::from_stored(journal).expect("a journal").charges(), 2);
    }
}

#[test]
fn reordered_and_repeated_messages_change_nothing_and_dropped_ones_only_delay() {
    for seed in 0..40usize {
        let step = match seed % 4 {
            0 => Arc::new(Step::clone(&choice()).proved_in_batches(30)),
            _ => choice(),
        };
        let mut world = World::new(step);
        let mut count = seed;
        loop {
            for trustee in TrusteeId::ALL {
                while let Some(effect) = world.attempts[trustee.place()]
                    .as_mut()
                    .and_then(Attempt::poll)
                {
                    world.carry_out(trustee, effect);
                }
            }
            if world.mail.is_empty() {
                break;
            }
            count = count
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let place = (count >> 33) % world.mail.len();
            let (from, to, bytes) = world.mail.remove(place).expect("there");
            let attempt = world.attempts[to.place()].as_mut().expect("alive");
            let first = attempt.receive(from, &bytes);
            assert!(
                matches!(
                    first,
                    Ok(()) | Err(Refused::OutOfTurn { .. } | Refused::Ended)
                ),
                "{first:?}"
            );
            if matches!(first, Err(Refused::OutOfTurn { .. })) {
                // Too early for what this trustee knows: the relay sends it again.
                world.mail.push_back((from, to, bytes.clone()));
            }
            let before = attempt.effects.len();
            if first.is_ok() {
                assert!(attempt.receive(from, &bytes).is_err(), "a repetition");
                assert_eq!(attempt.effects.len(), before);
            }
        }
        assert_eq!(world.outputs(), vec![&Output::Index(0); 3], "order {seed}");
    }
}

#[test]
fn a_changed_bit_in_any_message_is_refused() {
    let mut world = World::new(choice());
    let mut seen = 0;
    loop {
        for trustee in TrusteeId::ALL {
            while let Some(effect) = world.attempts[trustee.place()]
                .as_mut()
                .and_then(Attempt::poll)
            {
                world.carry_out(trustee, effect);
            }
        }
        let Some((from, to, bytes)) = world.mail.pop_front() else {
            break;
        };
        let attempt = world.attempts[to.place()].as_mut().expect("alive");
        let is_signature = matches!(
            Message::decode(&bytes).expect("own").body,
            Body::Set(_) | Body::Outcome(_)
        );
        for place in (0..bytes.len()).step_by(37) {
            let mut changed = bytes.clone();
            changed[place] ^= 1 << (place % 8);
            // A signature that comes before its digest is known is looked at later.
            if !is_signature {
                assert!(attempt.receive(from, &changed).is_err(), "byte {place}");
                seen += 1;
            }
        }
        assert!(matches!(
            attempt.receive(from, &bytes),
            Ok(()) | Err(Refused::Ended)
        ));
    }
    assert!(seen > 100);
    assert_eq!(world.outputs().len(), 3);
}
