//! A lying coordinator against one party.

use std::sync::atomic::{AtomicUsize, Ordering};

use sprifed_query::{Record, RecordSource};
use sprifed_recovery::CertifiedProcedure;

use super::*;
use crate::agreement::tests::{TestStudy, agreed};
use crate::coordinator::StudyCoordinator;
use crate::record_store::Unopened;
use crate::test_line::{Line, SOFTWARE};
use crate::test_world::TestWorld;

/// Records that count how often one of them is read.
#[derive(Clone, Debug)]
struct Watched<'a> {
    world: &'a TestWorld,
    reads: &'a AtomicUsize,
}

impl RecordSource for Watched<'_> {
    fn n_features(&self) -> usize {
        self.world.n_features()
    }

    fn n_units(&self) -> usize {
        40
    }

    fn visit_unit(&self, unit: usize, visit: &mut dyn FnMut(Record<'_>)) {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.world.visit_unit(unit, visit);
    }
}

/// Closed records that count how often they are opened; without records that fails.
#[derive(Debug)]
struct Closed<'a> {
    records: Option<Watched<'a>>,
    tries: &'a AtomicUsize,
}

impl<'a> RecordStore for Closed<'a> {
    type Records = Watched<'a>;

    fn opened(&self) -> Option<&Watched<'a>> {
        None
    }

    fn open(&self) -> Result<&Watched<'a>, Unopened> {
        self.tries.fetch_add(1, Ordering::SeqCst);
        self.records.as_ref().ok_or(Unopened)
    }
}

fn study() -> Arc<Agreed> {
    agreed(TestStudy {
        parties: 5,
        quorum: 4,
        units: 40,
        repeats: 1,
        ..TestStudy::default()
    })
}

/// Party 0 on its own, with the study of `line` around it.
struct Alone<R> {
    party: StudyParty<R>,
    journal: Vec<JournalLine>,
    sent: Vec<Vec<u8>>,
}

impl<R: RecordStore> Alone<R> {
    fn join(study: &Arc<Agreed>, records: R, journal: &[JournalLine]) -> Self {
        let key = PartyKey::simulated(5, 0).of_party(0);
        let (agreed, identity) = (Arc::clone(study), key.identity());
        let party = StudyParty::join(
            agreed,
            ClientId(0),
            identity,
            key,
            records,
            journal,
            SOFTWARE,
        );
        let mut alone = Self {
            party: party.expect("invited"),
            journal: journal.to_vec(),
            sent: Vec::new(),
        };
        alone.drain();
        alone
    }

    fn drain(&mut self) {
        while let Some(effect) = self.party.poll() {
            match effect {
                PartyEffect::Persist(line) => self.journal.push(line),
                PartyEffect::Send(report) => self.sent.push(report.encode()),
                PartyEffect::Forget { .. } | PartyEffect::Ended(_) => {}
            }
        }
    }

    fn tell(&mut self, order: &[u8]) -> Result<(), OrderRefused> {
        let told = self.party.receive(order);
        self.drain();
        told
    }

    fn uploads(&self) -> Vec<&Vec<u8>> {
        let is_upload = |sent: &&Vec<u8>| match Report::decode(sent) {
            Ok(Report::Message(message)) => message.phase == sprifed_secure_sum::Phase::Upload,
            _ => false,
        };
        self.sent.iter().filter(is_upload).collect()
    }
}

/// Everything that an honest coordinator told party 0 in a whole study.
fn orders_of_a_study(study: &Arc<Agreed>, world: &TestWorld) -> (Vec<Order>, StudyCoordinator) {
    let mut line = Line::new(study, world);
    line.run(|_, _| ());
    let orders = line.told.iter().filter(|(to, _)| *to == ClientId(0));
    let orders = orders.map(|(_, bytes)| Order::decode(bytes).expect("an order"));
    (orders.collect(), line.coordinator)
}

fn asks(orders: &[Order]) -> Vec<usize> {
    let places = orders.iter().enumerate();
    let asks = places.filter(|(_, order)| matches!(order, Order::Ask { .. }));
    asks.map(|(place, _)| place).collect()
}

#[test]
fn records_are_read_only_after_the_charge_for_them_was_persisted() {
    let (study, world) = (study(), TestWorld::new(200, 30));
    let (orders, _) = orders_of_a_study(&study, &world);
    let reads = AtomicUsize::new(0);
    let watched = Watched {
        world: &world,
        reads: &reads,
    };
    let mut alone = Alone::join(&study, watched, &[]);
    let mut n_charged = 0;
    for order in &orders {
        let before = reads.load(Ordering::SeqCst);
        alone.party.receive(&order.encode()).expect("as it was");
        assert_eq!(
            reads.load(Ordering::SeqCst),
            before,
            "read while it was told"
        );
        while let Some(effect) = alone.party.poll() {
            match effect {
                PartyEffect::Persist(JournalLine::Charged { .. }) => {
                    n_charged += 1;
                    assert_eq!(
                        reads.load(Ordering::SeqCst),
                        before,
                        "read before the charge"
                    );
                }
                PartyEffect::Persist(JournalLine::Uploaded { .. }) => {
                    assert!(
                        reads.load(Ordering::SeqCst) > before,
                        "an answer is of records"
                    );
                }
                _ => {}
            }
        }
    }
    assert_eq!(n_charged, study.n_steps());
}

#[test]
fn records_are_opened_for_a_charged_sum_and_for_nothing_else() {
    let (study, world) = (study(), TestWorld::new(200, 30));
    let (orders, _) = orders_of_a_study(&study, &world);
    let (reads, tries) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let records = Some(Watched {
        world: &world,
        reads: &reads,
    });
    let closed = Closed {
        records,
        tries: &tries,
    };
    let mut alone = Alone::join(&study, closed, &[]);
    for order in &orders {
        let before = tries.load(Ordering::SeqCst);
        let is_ask = matches!(order, Order::Ask { .. });
        if let Order::Ask { sum, question, .. } = *order {
            let transcript = Digest([9; 32]);
            let lie = Order::Ask {
                sum,
                transcript,
                question,
            };
            alone.tell(&lie.encode()).expect_err("another transcript");
            assert_eq!(tries.load(Ordering::SeqCst), before, "{lie:?}");
        }
        alone.party.receive(&order.encode()).expect("as it was");
        while let Some(effect) = alone.party.poll() {
            if matches!(effect, PartyEffect::Persist(JournalLine::Charged { .. })) {
                assert_eq!(tries.load(Ordering::SeqCst), before, "before the charge");
            }
        }
        let opened = tries.load(Ordering::SeqCst) - before;
        assert_eq!(opened, usize::from(is_ask), "{order:?}");
    }
}

#[test]
fn records_that_cannot_be_used_leave_the_charge_and_the_same_words() {
    let (study, world, wide) = (study(), TestWorld::new(200, 30), TestWorld::new(200, 31));
    let (orders, _) = orders_of_a_study(&study, &world);
    let ask = asks(&orders)[0];
    let (reads, tries) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let reads = &reads;
    for records in [
        None,
        Some(Watched {
            world: &wide,
            reads,
        }),
    ] {
        let closed = Closed {
            records,
            tries: &tries,
        };
        let mut alone = Alone::join(&study, closed, &[]);
        for order in &orders[..=ask] {
            alone.tell(&order.encode()).expect("as it was");
        }
        let last = Report::decode(alone.sent.last().expect("a report"));
        let Ok(Report::Declined { reason, .. }) = last else {
            panic!("{last:?}");
        };
        assert_eq!(reason, Unopened.to_string());
        let last = alone.journal.last();
        assert!(
            matches!(last, Some(JournalLine::Charged { sum: 0, .. })),
            "{last:?}"
        );
        assert!(alone.party.ledger().spent().is_some());
        assert!(alone.uploads().is_empty());
    }
    assert_eq!(reads.load(Ordering::SeqCst), 0);
}

#[test]
fn a_coordinator_that_lies_about_transcript_or_question_gets_nothing_and_nothing_is_charged() {
    let (study, world) = (study(), TestWorld::new(200, 30));
    let (orders, _) = orders_of_a_study(&study, &world);
    let second = asks(&orders)[1];
    let Order::Ask {
        sum,
        transcript,
        question,
    } = orders[second]
    else {
        panic!("not an ask");
    };
    let other = Digest([9; 32]);
    let lies = [
        Order::Ask {
            sum,
            transcript: other,
            question,
        },
        Order::Ask {
            sum,
            transcript,
            question: other,
        },
        // The question of the step before, the one after, and a repetition of what was released.
        Order::Ask {
            sum: sum - 1,
            transcript,
            question,
        },
        Order::Ask {
            sum: sum + 1,
            transcript,
            question,
        },
        Order::Ask {
            sum: u32::MAX,
            transcript,
            question,
        },
    ];
    for lie in lies {
        let reads = AtomicUsize::new(0);
        let watched = Watched {
            world: &world,
            reads: &reads,
        };
        let mut alone = Alone::join(&study, watched, &[]);
        for order in &orders[..second] {
            alone.tell(&order.encode()).expect("as it was");
        }
        let (spent, before) = (alone.party.ledger().spent(), reads.load(Ordering::SeqCst));
        let (journal, uploads) = (alone.journal.clone(), alone.uploads().len());
        assert!(alone.tell(&lie.encode()).is_err(), "{lie:?}");
        assert_eq!(alone.party.ledger().spent(), spent, "{lie:?}");
        assert_eq!(reads.load(Ordering::SeqCst), before, "{lie:?}");
        assert_eq!(
            (alone.journal.clone(), alone.uploads().len()),
            (journal, uploads)
        );
    }
}

#[test]
fn a_party_that_is_shown_other_sums_answers_under_other_masks_and_the_sum_leaves_it_out() {
    let (study, world) = (study(), TestWorld::new(200, 30));
    let mut line = Line::new(&study, &world);
    line.lie = Some(Box::new(move |to, bytes| {
        if let Ok(Order::Released(mut released)) = Order::decode(&bytes)
            && to == ClientId(3)
            && released.sum == 0
        {
            released.values[0] += 1;
            return Order::Released(released).encode();
        }
        bytes
    }));
    line.run(|_, _| ());
    let receipt = &line.receipt().receipt;
    assert!(receipt.fit.is_some(), "{}", receipt.ending);
    for record in &receipt.sums[1..] {
        let crate::receipt::Outcome::Unmasked { survivors, .. } = &record.outcome else {
            panic!("abandoned");
        };
        assert!(
            !survivors.contains(&3),
            "it does not answer after another transcript"
        );
    }
    assert!(
        !line.receipts.contains_key(&3),
        "it signs no receipt of another transcript"
    );
    line.receipt().verify().expect("a good receipt");
}

#[test]
fn a_party_whose_journal_was_put_back_sends_the_same_bytes_or_says_nothing_under_the_same_masks() {
    let (study, world) = (study(), TestWorld::new(200, 30));
    let (orders, _) = orders_of_a_study(&study, &world);
    let places = asks(&orders);
    let reads = AtomicUsize::new(0);
    let watched = || Watched {
        world: &world,
        reads: &reads,
    };
    let mut first = Alone::join(&study, watched(), &[]);
    for order in &orders[..=places[1]] {
        first.tell(&order.encode()).expect("as it was");
    }
    // The whole folder is put back to before the first sum: told the same, it says the same.
    let mut again = Alone::join(&study, watched(), &[]);
    for order in &orders[..=places[1]] {
        again.tell(&order.encode()).expect("as it was");
    }
    assert_eq!(first.uploads(), again.uploads());
    // Shown other sums, it answers the second sum under other masks and with other noise.
    let mut other = Alone::join(&study, watched(), &[]);
    for order in &orders[..places[1]] {
        let mut order = order.clone();
        if let Order::Released(released) = &mut order {
            released.values[0] ^= 1;
        }
        other.tell(&order.encode()).expect("it cannot know");
    }
    let Order::Ask { sum, .. } = orders[places[1]] else {
        panic!("not an ask");
    };
    let order = Order::Ask {
        sum,
        transcript: other.party.transcript().head(),
        question: other.party.derivation.question().expect("a question"),
    };
    other
        .tell(&order.encode())
        .expect("a sum of another transcript");
    let packed = |alone: &Alone<Watched<'_>>| {
        let Ok(Report::Message(message)) = Report::decode(alone.uploads()[1]) else {
            panic!("not a message");
        };
        message.body
    };
    let (one, two) = (packed(&first), packed(&other));
    let tail = |body: &[u8]| body[body.len() - 200..].to_vec();
    let same = tail(&one)
        .iter()
        .zip(tail(&two))
        .filter(|(a, b)| **a == *b)
        .count();
    assert!(same < 20, "{same} of 200 bytes of two masked vectors agree");
    // A journal that knows of the first transcript refuses the second one.
    let mut known = Alone::join(&study, watched(), &first.journal);
    let refused = orders[..places[1]].iter().find_map(|order| {
        let mut order = order.clone();
        if let Order::Released(released) = &mut order {
            released.values[0] ^= 1;
        }
        let told = known.tell(&order.encode());
        told.err().filter(|_| matches!(order, Order::Released(_)))
    });
    let refused = refused.expect("refused");
    assert!(refused.is_final(), "{refused}");
}

#[test]
fn a_receipt_with_another_model_or_transcript_is_not_signed() {
    let (study, world) = (study(), TestWorld::new(200, 30));
    let (orders, coordinator) = orders_of_a_study(&study, &world);
    let reads = AtomicUsize::new(0);
    let watched = || Watched {
        world: &world,
        reads: &reads,
    };
    let honest = coordinator.receipt().expect("a receipt").receipt.clone();
    let identity = PartyKey::simulated(6, 0).identity();
    let mut other_model = honest.clone();
    other_model.fit.as_mut().expect("a model").model.terms[0].1 += 1e-9;
    let mut no_model = honest.clone();
    no_model.fit = None;
    let mut other_transcript = honest.clone();
    other_transcript.transcript = Digest([1; 32]);
    for (receipt, is_good) in [
        (honest, true),
        (other_model, false),
        (no_model, false),
        (other_transcript, false),
    ] {
        let mut alone = Alone::join(&study, watched(), &[]);
        for order in orders
            .iter()
            .filter(|order| !matches!(order, Order::Ended { .. }))
        {
            alone.tell(&order.encode()).expect("as it was");
        }
        let receipt = receipt.sign(&identity).to_json();
        let told = alone.tell(&Order::Ended { receipt }.encode());
        assert_eq!(told.is_ok(), is_good, "{told:?}");
        assert_eq!(alone.party.is_over(), is_good);
        assert!(is_good || told.is_err_and(|refused| refused.is_final()));
    }
}

#[test]
fn a_charge_without_an_answer_is_told_and_answered_without_a_second_charge() {
    let (study, world) = (study(), TestWorld::new(200, 30));
    let (orders, _) = orders_of_a_study(&study, &world);
    let place = asks(&orders)[0];
    let reads = AtomicUsize::new(0);
    let watched = || Watched {
        world: &world,
        reads: &reads,
    };
    let mut whole = Alone::join(&study, watched(), &[]);
    for order in &orders[..=place] {
        whole.tell(&order.encode()).expect("as it was");
    }
    // The process ends right after the charge was stored.
    let is_charge = |line: &JournalLine| matches!(line, JournalLine::Charged { .. });
    let charged = whole.journal.iter().position(is_charge).expect("a charge");
    let mut again = Alone::join(&study, watched(), &whole.journal[..=charged]);
    assert_eq!(again.party.unanswered(), Some(0));
    let spent = again.party.ledger().spent();
    assert!(spent.is_some());
    for order in &orders[..=place] {
        again.tell(&order.encode()).expect("as it was");
    }
    assert_eq!(again.party.ledger().spent(), spent, "one sum, one charge");
    assert_eq!(again.uploads(), whole.uploads());
}

#[test]
fn another_version_of_the_procedure_is_refused() {
    let mut agreement = crate::agreement::tests::agreement(TestStudy::default());
    agreement.procedure_version += 1;
    let refused = Agreed::new(agreement).expect_err("another version");
    assert!(refused.to_string().contains("version"), "{refused}");
    assert_eq!(CertifiedProcedure::SIEVE.version(), 3);
}
