//! What the coordinator does, read from bytes.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use sprifed_secure_sum::ClientId;
use sprifed_study::{
    CoordinatorEffect, Derivation, Digest, Order, PartyEffect, Receipt, Released, StudyCoordinator,
    StudyParty,
};

use super::Victim;
use crate::Way;
use crate::world::{PARTIES, Records, Watch, agreed, coordinator, honest, party, signed};

/// The largest number of lies in one study.
const MOST_LIES: usize = 24;

/// Reads numbers from bytes; after their end there are zeros.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// One of `choices`; the first byte chooses.
    fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        let number = usize::from(self.next()) | usize::from(self.next()) << 8;
        choices.get(number % choices.len().max(1))
    }
}

/// The coordinator, the party under attack, and two parties that follow the protocol.
struct Play {
    coordinator: StudyCoordinator,
    victim: Victim,
    others: Vec<StudyParty<Records>>,
    /// Orders for the victim that were not delivered.
    waiting: Vec<Vec<u8>>,
    /// Every order that was ever made, for any party.
    past: Vec<Vec<u8>>,
    ways: BTreeSet<(u8, Way)>,
}

pub(super) fn play(bytes: &[u8]) -> Way {
    let mut script = Script(bytes);
    let open = Arc::new(Watch::default());
    open.set_open(true);
    let mut play = Play {
        coordinator: coordinator(),
        victim: Victim::new(),
        others: (1..PARTIES).map(|id| party(id, &open, &[])).collect(),
        waiting: Vec::new(),
        past: honest().orders.clone(),
        ways: BTreeSet::new(),
    };
    for _ in 0..script.next() % 24 {
        play.go_on();
    }
    for _ in 0..MOST_LIES {
        if script.0.is_empty() {
            break;
        }
        play.lie(&mut script);
    }
    crate::way(&play.ways)
        ^ play
            .ways
            .iter()
            .fold(0, |all, (lie, way)| all ^ way.rotate_left(u32::from(*lie)))
}

impl Play {
    /// One honest phase: everything is delivered, and the phase is closed.
    fn go_on(&mut self) {
        for _ in 0..40 {
            if !self.exchange() {
                break;
            }
            for order in std::mem::take(&mut self.waiting) {
                let _ = self.victim.tell(&order, usize::MAX);
            }
        }
        self.coordinator.close_phase();
        self.exchange();
    }

    /// Carries everything but the orders for the victim. Says whether there was anything.
    fn exchange(&mut self) -> bool {
        let mut reports: Vec<(u32, Vec<u8>)> = Vec::new();
        reports.extend(self.victim.sent.drain(..).map(|bytes| (Victim::ID, bytes)));
        for (id, party) in (1..).zip(&mut self.others) {
            while let Some(effect) = party.poll() {
                if let PartyEffect::Send(report) = effect {
                    reports.push((id, report.encode()));
                }
            }
        }
        let mut is_any = !reports.is_empty();
        for (id, bytes) in reports {
            // What the victim says after a lie may be refused.
            let _ = self.coordinator.receive(ClientId(id), &bytes);
        }
        while let Some(effect) = self.coordinator.poll() {
            let CoordinatorEffect::Send(to, bytes) = effect else {
                continue;
            };
            is_any = true;
            let bytes = bytes.to_vec();
            self.past.push(bytes.clone());
            match to.0 {
                Victim::ID => self.waiting.push(bytes),
                other => {
                    let party = self.others.get_mut(other as usize - 1);
                    let _ = party.map(|party| party.receive(&bytes));
                }
            }
        }
        is_any
    }

    fn lie(&mut self, script: &mut Script<'_>) {
        let lie = script.next() % 14;
        let mut most = usize::MAX;
        let order = match lie {
            0 => return self.go_on(),
            1 => {
                self.exchange();
                if self.waiting.is_empty() {
                    return;
                }
                self.waiting.remove(0)
            }
            2 => {
                if self.waiting.is_empty() {
                    return;
                }
                let place = usize::from(script.next()) % self.waiting.len();
                self.waiting.remove(place)
            }
            3 => return drop(self.waiting.pop()),
            4 => return self.victim.restart(),
            5 => script.pick(&self.past).cloned().unwrap_or_default(),
            6 => {
                let mut order = script.pick(&self.past).cloned().unwrap_or_default();
                let place = script
                    .pick(&order)
                    .map(|_| ())
                    .map_or(0, |()| script.next());
                let length = order.len().max(1);
                if let Some(byte) = order.get_mut(usize::from(place) * 7 % length) {
                    *byte ^= 1 << (script.next() % 8);
                }
                order
            }
            7 => {
                let [one, other] =
                    [(); 2].map(|()| script.pick(&self.past).cloned().unwrap_or_default());
                let cut = usize::from(script.next()) % one.len().max(1);
                let other = other.get(cut..).unwrap_or_default();
                [&one[..cut], other].concat()
            }
            8 => self.released(script),
            9 | 10 => self.ask(script),
            11 => ended(script),
            12 => {
                let length = usize::from(script.next()) % (script.0.len() + 1);
                let (raw, rest) = script.0.split_at(length);
                script.0 = rest;
                raw.to_vec()
            }
            // Killed after some effects of the next order.
            _ => {
                most = usize::from(script.next() % 5);
                self.exchange();
                if self.waiting.is_empty() {
                    self.ask(script)
                } else {
                    self.waiting.remove(0)
                }
            }
        };
        let taken = self.victim.tell(&order, most);
        let kind = order.get(1).copied().unwrap_or_default();
        self.ways.insert((lie * 8 + kind % 8, crate::way(&taken)));
        if most != usize::MAX {
            self.victim.restart();
        }
    }

    /// The question that the victim expects next, which a coordinator can compute too.
    fn derived(&self) -> Derivation {
        let mut derivation = Derivation::begin(Arc::clone(agreed())).unwrap();
        for released in self.victim.party.transcript().released() {
            derivation.take(released.clone()).unwrap();
        }
        derivation
    }

    /// A sum that was never made, or was made of other numbers.
    fn released(&self, script: &mut Script<'_>) -> Vec<u8> {
        let step = u32::try_from(self.victim.party.transcript().released().len()).unwrap();
        let sum = match script.next() {
            other @ 200.. => u32::from(other) % (agreed().n_sums() + 2),
            again @ 150..200 => {
                step + u32::from(again % 2) * u32::try_from(agreed().n_steps()).unwrap()
            }
            _ => step,
        };
        let shape = agreed().study().unwrap().sum(sum);
        let coordinates = shape.map_or(3, |shape| shape.coordinates() as usize);
        let coordinates = match script.next() {
            other @ 230.. => usize::from(other - 230),
            _ => coordinates,
        };
        let survivors = match script.next() {
            mask @ 200.. => (0..8).filter(|id| mask >> id & 1 == 1).collect(),
            _ => (0..PARTIES).collect(),
        };
        let bits = shape.map_or(32, |shape| shape.bits().min(63));
        let numbers = [
            0,
            1,
            -1,
            (1 << (bits - 1)) - 1,
            -(1 << (bits - 1)),
            i64::MAX,
            i64::MIN,
            1 << (bits / 2),
        ];
        let (one, other) = (script.next(), script.next());
        let value = |place: usize| {
            let choice = if place % 3 == usize::from(other % 3) {
                other / 3
            } else {
                one
            };
            numbers[usize::from(choice) % numbers.len()]
        };
        let values = (0..coordinates).map(value).collect();
        Order::Released(Released {
            trustees: None,
            outside: Vec::new(),
            sum,
            survivors,
            values,
        })
        .encode()
    }

    fn ask(&self, script: &mut Script<'_>) -> Vec<u8> {
        let step = self.victim.party.transcript().released().len();
        let steps = agreed().n_steps();
        let sum = match script.next() {
            other @ 220.. => usize::from(other) % (2 * steps + 2),
            again @ 110..220 => step + usize::from(again % 2) * steps,
            _ => step,
        };
        let transcript = match script.next() {
            other @ 230.. => Digest([other; 32]),
            _ => self.victim.party.transcript().head(),
        };
        let question = match script.next() {
            other @ 230.. => Digest([other; 32]),
            _ => self.derived().question().unwrap_or(Digest([0; 32])),
        };
        let sum = u32::try_from(sum).unwrap();
        Order::Ask {
            sum,
            transcript,
            question,
        }
        .encode()
    }
}

/// The receipt of an honest study with some changes, and the right signature.
fn ended(script: &mut Script<'_>) -> Vec<u8> {
    let mut document = serde_json::to_value(&honest().receipt.receipt).unwrap();
    let changes: [(&str, Value); 8] = [
        ("", Value::Null),
        ("/ending", "cancelled by the coordinator".into()),
        ("/fit", Value::Null),
        ("/ledger/spent", 0.5.into()),
        ("/ledger/entries", Value::Array(Vec::new())),
        ("/sums", Value::Array(Vec::new())),
        ("/transcript", "00".repeat(32).into()),
        ("/software", "another".into()),
    ];
    for _ in 0..script.next() % 4 {
        let Some((path, value)) = script.pick(&changes) else {
            break;
        };
        if let Some(place) = document.pointer_mut(path).filter(|_| !path.is_empty()) {
            *place = value.clone();
        }
    }
    let Ok(receipt) = serde_json::from_value::<Receipt>(document) else {
        return Vec::new();
    };
    let receipt = signed(receipt).to_json();
    Order::Ended { receipt }.encode()
}

/// Honest studies that are disturbed at every phase, by every lie.
pub(crate) fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("honest", vec![23, 0, 0, 0, 0, 0]),
        ("next-orders", [&[0][..], &[0, 0], &[1; 20]].concat()),
        ("asked-early", vec![0, 9, 0, 0, 0, 9, 0, 0, 0]),
        (
            "asked-twice",
            vec![2, 1, 1, 1, 1, 9, 0, 0, 0, 9, 0, 0, 0, 0, 0],
        ),
        (
            "other-sums",
            vec![
                2, 8, 0, 0, 0, 1, 0, 9, 0, 0, 0, 8, 0, 0, 0, 2, 1, 9, 0, 0, 0,
            ],
        ),
        (
            "huge-sums",
            vec![
                2, 8, 0, 0, 0, 3, 12, 9, 0, 0, 0, 8, 0, 0, 0, 4, 9, 9, 0, 0, 0,
            ],
        ),
        (
            "killed",
            vec![
                2, 13, 1, 0, 0, 0, 9, 0, 0, 0, 13, 2, 0, 0, 0, 0, 13, 0, 0, 0, 0, 0, 0,
            ],
        ),
        ("restarted", vec![3, 4, 1, 1, 1, 4, 0, 4, 0, 0]),
        ("replayed", vec![5, 5, 3, 0, 5, 9, 0, 5, 20, 0, 0, 5, 1, 0]),
        (
            "flipped",
            vec![4, 6, 9, 0, 1, 0, 3, 2, 6, 30, 0, 1, 0, 1, 5, 0],
        ),
        ("receipt-early", vec![4, 11, 1, 2, 0, 11, 0, 0, 0]),
        (
            "receipt-changed",
            vec![23, 11, 1, 3, 0, 11, 1, 5, 0, 11, 1, 6, 0, 11, 0],
        ),
    ]
}
