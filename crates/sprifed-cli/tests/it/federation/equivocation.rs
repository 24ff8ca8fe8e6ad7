//! A coordinator that leads two groups of parties along two transcripts, with a whole coordinator for each.

use std::sync::{Arc, Mutex};

use sprifed_secure_sum::ClientId;
use sprifed_study::{CoordinatorEffect, Order, Outcome, Released, StudyCoordinator, StudyPhase};

use super::hostile::small;
use super::lying_coordinator::{
    Lie, Sends, all_end, charged, check_charges, open, said, serve, start_all, upload,
};
use super::stage::Stage;

/// The second study: it hears what the first one hears, but sum 0 ends with other integers in it.
struct Fork {
    other: Arc<Mutex<StudyCoordinator>>,
    /// Who is shown the second transcript.
    group: Vec<u32>,
    /// Who is shown the second one after the first.
    both: Vec<u32>,
    is_forked: bool,
    queued: Sends,
}

impl Fork {
    fn is_setup(&self) -> bool {
        let phase = self.other.lock().unwrap().phase();
        !matches!(
            phase,
            StudyPhase::Sum { .. } | StudyPhase::Receipts | StudyPhase::Ended
        )
    }

    /// Puts other integers in the place of those of sum 0.
    fn fork(&mut self, mut released: Released) {
        released.values[0] ^= 1;
        // A checkpoint is the number of a sum, a mark that it was opened, whose vectors are in it, and the integers.
        let checkpoint = (0u32, 0u32, released.survivors, released.values);
        let checkpoint = postcard::to_allocvec(&checkpoint).unwrap();
        self.drain();
        self.is_forked = true;
        self.other.lock().unwrap().restore(1, &checkpoint).unwrap();
        self.drain();
    }

    /// Keeps what the second coordinator wants sent. Its receipt is not shown.
    fn drain(&mut self) {
        let mut other = self.other.lock().unwrap();
        while let Some(effect) = other.poll() {
            if let CoordinatorEffect::Send(to, bytes) = effect
                && self.is_forked
                && !matches!(Order::decode(&bytes), Ok(Order::Ended { .. }))
            {
                self.queued.push((to.0, bytes.to_vec()));
            }
        }
    }

    /// Takes what is queued for `parties`.
    fn take(&mut self, parties: &[u32]) -> Sends {
        let is_meant = |send: &mut (u32, Vec<u8>)| parties.contains(&send.0);
        self.queued.extract_if(.., is_meant).collect()
    }
}

impl Lie for Fork {
    fn tell(&mut self, party: u32, order: &[u8]) -> Vec<Vec<u8>> {
        let decoded = Order::decode(order).unwrap();
        // At the end each party is shown the receipt of the first transcript.
        let is_end = matches!(decoded, Order::Ended { .. });
        if let (Order::Released(released), false) = (decoded, self.is_forked) {
            self.fork(released);
        }
        if self.is_forked && self.group.contains(&party) && !is_end {
            return self
                .take(&[party])
                .into_iter()
                .map(|(_, bytes)| bytes)
                .collect();
        }
        vec![order.to_vec()]
    }

    fn hear(&mut self, party: u32, message: &[u8]) -> Sends {
        if !self.is_forked && !self.is_setup() {
            return Vec::new();
        }
        {
            let mut other = self.other.lock().unwrap();
            let taken = other.receive(ClientId(party), message);
            let is_of_group = self.group.contains(&party);
            assert!(
                !self.is_forked || is_of_group || taken.is_err(),
                "party {party}"
            );
            let waits = other.waits_for();
            if self.is_forked && !waits.iter().any(|id| self.group.contains(&id.0)) {
                other.close_phase();
            }
        }
        self.drain();
        let mut sends = self.take(&self.group.clone());
        if self.is_forked && self.both.contains(&party) && upload(message).is_some() {
            sends.extend(self.take(&[party]));
        }
        sends
    }

    fn closed(&mut self) -> Sends {
        if !self.is_forked && self.is_setup() {
            self.other.lock().unwrap().close_phase();
        }
        Vec::new()
    }

    fn waits_for(&self, party: u32) -> bool {
        let is_lost = self.group.contains(&party) || self.both.contains(&party);
        let is_shown = !self.queued.iter().any(|(to, _)| *to == party);
        !(self.is_forked && is_lost && is_shown)
    }
}

/// Runs a study with two transcripts; gives how many sums after sum 0 each of the two coordinators opened.
fn equivocate(name: &str, group: &[u32], both: &[u32], codes: &[i32]) -> (usize, usize) {
    let stage = Stage::new(name, small(5, 4));
    let other = Arc::new(Mutex::new(open(&stage)));
    let lie = Fork {
        other: Arc::clone(&other),
        group: group.to_vec(),
        both: both.to_vec(),
        is_forked: false,
        queued: Vec::new(),
    };
    let serving = serve(&stage, lie);
    all_end(&stage, start_all(&stage), codes);
    check_charges(&stage, &serving);
    for party in group {
        let said = said(&stage, *party);
        assert!(said.contains("as this party was shown"), "{said}");
        assert_eq!(
            charged(&stage, *party),
            [0, 1],
            "it answered the second study"
        );
        assert_eq!(serving.book.lock().unwrap().signatures(*party), 0);
    }
    for party in both {
        let said = said(&stage, *party);
        assert!(said.contains("shows two transcripts"), "{said}");
        assert_eq!(serving.book.lock().unwrap().signatures(*party), 0);
    }
    serving.finish();
    let receipt = stage.receipt();
    let sums = receipt["receipt"]["sums"].as_array().unwrap().iter();
    let opened = sums.filter(|sum| sum["sum"] != 0 && !sum["outcome"]["unmasked"].is_null());
    let other = other.lock().unwrap();
    let sums = other.history().iter();
    let is_opened = |outcome: &Outcome| matches!(outcome, Outcome::Unmasked { .. });
    let others = sums.filter(|sum| sum.sum != 0 && is_opened(&sum.outcome));
    (opened.count(), others.count())
}

#[test]
fn of_two_transcripts_only_that_of_the_majority_goes_on() {
    let (opened, others) = equivocate("majority", &[4], &[], &[0, 0, 0, 0, 1]);
    assert!(opened > 0, "the majority's study went on");
    assert_eq!(others, 0, "a sum was opened in both");
}

#[test]
fn two_groups_without_a_quorum_open_nothing() {
    assert_eq!(equivocate("two-groups", &[3, 4], &[], &[1; 5]), (0, 0));
}

#[test]
fn a_party_that_is_shown_both_transcripts_goes_on_with_neither() {
    assert_eq!(equivocate("shown-both", &[4], &[3], &[1; 5]), (0, 0));
}
