//! A lying coordinator against a real party.
//!
//! The coordinator has everything: its key, the orders of an honest study, all that parties say, and a second machine
//! to compute what the party would believe. What must hold whatever it does: the party does not panic; it reads no
//! record before the charge for it was handed out; what it refuses changes nothing; and it masks one vector for
//! each sum. A twin that receives only what the party accepted must do the same as the party.

mod liar;

use std::collections::BTreeMap;
use std::sync::Arc;

use sprifed_secure_sum::Phase;
use sprifed_study::{Digest, JournalLine, OrderRefused, PartyEffect, Report, StudyParty};

use crate::Way;
use crate::world::{Records, Watch, agreed, party as resumed};

pub(crate) use liar::seeds;

/// Plays what `bytes` say: how many phases go well, and what the coordinator does then.
pub(crate) fn party(bytes: &[u8]) -> Way {
    liar::play(bytes)
}

/// The party under attack, its disk, and its twin.
struct Victim {
    party: StudyParty<Records>,
    twin: StudyParty<Records>,
    watches: [Arc<Watch>; 2],
    journal: Vec<JournalLine>,
    /// By sum.
    uploads: BTreeMap<u32, Vec<u8>>,
    signed: Option<Digest>,
    /// What it sent and the coordinator has not taken yet.
    sent: Vec<Vec<u8>>,
}

/// All that the outside can see of a party's state.
#[derive(Debug, PartialEq)]
struct Facts {
    ledger: sprifed_privacy::LedgerRecord,
    transcript: Digest,
    is_over: bool,
    unanswered: Option<u32>,
}

fn facts(party: &StudyParty<Records>) -> Facts {
    Facts {
        ledger: party.ledger().record(),
        transcript: party.transcript().head(),
        is_over: party.is_over(),
        unanswered: party.unanswered(),
    }
}

impl Victim {
    const ID: u32 = 0;

    fn new() -> Self {
        let watches = [(); 2].map(|()| Arc::new(Watch::default()));
        let [party, twin] = [0, 1].map(|one: usize| resumed(Self::ID, &watches[one], &[]));
        let mut victim = Self {
            party,
            twin,
            watches,
            journal: Vec::new(),
            uploads: BTreeMap::new(),
            signed: None,
            sent: Vec::new(),
        };
        victim.drain(usize::MAX);
        victim
    }

    /// Gives an order, and carries out at most `most` effects of it. Says how it was taken.
    fn tell(&mut self, order: &[u8], most: usize) -> Result<(), OrderRefused> {
        let before = facts(&self.party);
        let n_reads = self.watches[0].n_reads();
        let taken = self.party.receive(order);
        assert_eq!(
            self.watches[0].n_reads(),
            n_reads,
            "receiving reads no record"
        );
        match &taken {
            Ok(()) => {
                self.twin.receive(order).expect("the twin is its equal");
                self.drain(most);
            }
            Err(refused) => {
                assert_eq!(
                    facts(&self.party),
                    before,
                    "refused ({refused}), but changed"
                );
                self.drain_refusal();
            }
        }
        taken
    }

    /// A refused order may make the party say that it is out, and nothing else.
    fn drain_refusal(&mut self) {
        while let Some(effect) = self.party.poll() {
            let PartyEffect::Send(report) = effect else {
                panic!("a refused order has the effect {effect:?}");
            };
            assert!(matches!(report, Report::Declined { .. }), "{report:?}");
            self.sent.push(report.encode());
        }
    }

    fn drain(&mut self, most: usize) {
        for _ in 0..most {
            let effect = self.party.poll();
            assert_eq!(
                effect,
                self.twin.poll(),
                "the same orders, the same effects"
            );
            match effect {
                None => return,
                Some(PartyEffect::Persist(line)) => self.persist(line),
                Some(PartyEffect::Forget { lines, .. }) => {
                    for (place, line) in lines {
                        self.journal[usize::try_from(place).unwrap()] = line;
                    }
                }
                Some(PartyEffect::Send(report)) => {
                    let bytes = report.encode();
                    self.check_sent(&bytes);
                    self.sent.push(bytes);
                }
                Some(PartyEffect::Ended(kept)) => {
                    let receipt = &kept.study.receipt;
                    assert_eq!(receipt.transcript, self.party.transcript().head());
                    assert_eq!(kept.statement.ledger, self.party.ledger().record());
                    let (stated, charged) = (receipt.ledger.spent, kept.statement.ledger.spent);
                    assert!(stated >= charged, "signed {stated:?}, charged {charged:?}");
                }
            }
        }
    }

    fn persist(&mut self, line: JournalLine) {
        let is_charged = |journal: &[JournalLine], sum: u32| {
            let charge = |line: &&JournalLine| matches!(line, JournalLine::Charged { sum: of, .. } if *of == sum);
            journal.iter().filter(charge).count()
        };
        match &line {
            JournalLine::Charged { sum, .. } => {
                assert_eq!(
                    is_charged(&self.journal, *sum),
                    0,
                    "sum {sum} is charged twice"
                );
                self.set_open(true);
            }
            JournalLine::Uploaded { sum, .. } => {
                assert_eq!(
                    is_charged(&self.journal, *sum),
                    1,
                    "sum {sum} is not charged"
                );
                self.set_open(false);
            }
            JournalLine::Ended { receipt } => {
                let before = self.signed.replace(*receipt);
                assert!(before.is_none(), "two receipts are signed");
            }
            _ => {}
        }
        self.journal.push(line);
        let charged = (0..agreed().n_sums()).map(|sum| is_charged(&self.journal, sum));
        let n_entries = self.party.ledger().record().entries.len();
        assert!(n_entries >= charged.sum(), "the ledger knows every charge");
    }

    fn check_sent(&mut self, bytes: &[u8]) {
        match Report::decode(bytes).expect("its own report") {
            Report::Message(message) if message.phase == Phase::Upload => {
                let is_kept = self.journal.iter().any(
                    |line| matches!(line, JournalLine::Uploaded { sum, .. } if *sum == message.sum),
                );
                assert!(is_kept, "an upload leaves before it is stored");
                let before = self.uploads.insert(message.sum, bytes.to_vec());
                let is_same = before.is_none_or(|before| before == bytes);
                assert!(is_same, "two vectors are masked for sum {}", message.sum);
            }
            Report::Declined { .. } => self.set_open(false),
            _ => {}
        }
    }

    fn set_open(&self, is_open: bool) {
        self.watches
            .iter()
            .for_each(|watch| watch.set_open(is_open));
    }

    /// The process ends, whatever was under way, and starts again with its journal.
    fn restart(&mut self) {
        self.sent.clear();
        self.set_open(false);
        let [party, twin] =
            [0, 1].map(|one: usize| resumed(Self::ID, &self.watches[one], &self.journal));
        (self.party, self.twin) = (party, twin);
        if let Some(sum) = self.party.unanswered() {
            let is_charge = |line: &JournalLine| matches!(line, JournalLine::Charged { sum: of, .. } if *of == sum);
            assert!(self.journal.iter().any(is_charge));
            // Charged before and not answered: when asked again, the party may read records for it.
            self.set_open(true);
        }
        self.drain(usize::MAX);
    }
}
