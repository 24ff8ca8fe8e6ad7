//! Parties against a coordinator that lies in its orders: they never fail by a panic, never answer what they were not
//! charged for, and never sign what they did not compute.

use std::sync::Arc;

use sprifed_secure_sum::ClientId;
use sprifed_study::{
    Agreed, Derivation, Order, Receipt, Released, Signature, SignedReceipt, charged_by,
};

use super::ledger::status;
use super::lying_coordinator::{
    Changed, Lie, Sends, agreed, all_end, charged, check_charges, journal, key_at, open, said,
    serve, start_all, upload,
};
use super::stage::{Kind, Stage};

pub(crate) fn small(parties: u32, quorum: u32) -> Kind {
    Kind {
        parties,
        quorum,
        records: 60,
        stay: 30,
        ..Kind::default()
    }
}

/// Bytes that are no order, among them questions as they were sent before parties derived them.
fn garbage(order: &[u8], seed: u64) -> Vec<Vec<u8>> {
    let mut state = seed;
    let mut noise = |n_bytes: usize| -> Vec<u8> {
        let mut byte = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99);
            state.to_le_bytes()[6]
        };
        (0..n_bytes).map(|_| byte()).collect()
    };
    // That of a good order: one of another version is refused before it is read.
    let version = order[0];
    let mut all = vec![Vec::new(), vec![version], order[..order.len() / 2].to_vec()];
    for kind in 0..7 {
        all.push(vec![version, kind]);
        // An ask has 68 bytes; one of another transcript is the end.
        for n_bytes in [3, 67, 69, 300] {
            all.push([vec![version, kind], noise(n_bytes)].concat());
        }
    }
    // Many more entries than there are bytes, twice.
    all.push([vec![version, 4, 0], vec![0xff; 9]].concat());
    all.push([vec![version, 1, 1, 3], vec![0xff; 40]].concat());
    let old = [
        vec![1, 2],
        0u32.to_le_bytes().to_vec(),
        vec![0, 1, 2, 3],
        noise(90),
    ]
    .concat();
    all.extend([old.clone(), [vec![3], old[1..].to_vec()].concat()]);
    all.push([vec![1], order[1..].to_vec()].concat());
    all
}

/// Leads each party along a transcript of its own, of sums that no record could have.
struct Extremes {
    agreed: Arc<Agreed>,
    derived: Vec<Option<Derivation>>,
    n_orders: u64,
}

impl Extremes {
    fn values(&self, party: u32, sum: u32) -> Vec<i64> {
        let shape = self.agreed.study().unwrap().sum(sum).unwrap();
        let most = 1_i64 << (shape.bits() - 1);
        let mut state = u64::from(sum) + 5;
        let value = |place: u32| match party {
            0 => most,
            1 => -most,
            2 if place.is_multiple_of(2) => most,
            2 => -most,
            3 => 0,
            4 if place == 0 => most,
            4 => 1,
            _ => {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(7);
                (state.cast_signed() >> 8) % most
            }
        };
        (0..shape.coordinates()).map(value).collect()
    }

    fn ask(&self, party: u32) -> Vec<Order> {
        let derived = self.derived[party as usize].as_ref().unwrap();
        let (transcript, question) = (derived.transcript().head(), derived.question().unwrap());
        let sum = u32::try_from(derived.transcript().released().len()).unwrap();
        let ask = |sum| Order::Ask {
            sum,
            transcript,
            question,
        };
        let mut orders: Vec<Order> = [sum + 1, sum.wrapping_sub(1), 1 << 20, u32::MAX]
            .map(ask)
            .into();
        orders.push(ask(sum));
        orders
    }

    /// Sums that cannot follow, then one that can.
    fn release(&self, party: u32, sum: u32) -> Vec<Released> {
        let good = Released {
            trustees: None,
            outside: Vec::new(),
            sum,
            survivors: (0..self.agreed.roster().n_clients()).collect(),
            values: self.values(party, sum),
        };
        let mut all = Vec::new();
        let bits = self.agreed.study().unwrap().sum(sum).unwrap().bits();
        for value in [
            i64::MAX,
            i64::MIN,
            (1 << (bits - 1)) + 1,
            -(1 << (bits - 1)) - 1,
        ] {
            let mut beyond = good.clone();
            beyond.values[0] = value;
            all.push(beyond);
        }
        for survivors in [
            vec![],
            vec![0, 0, 0, 0, 0],
            vec![0, 1, 2, 3, 4, 6],
            vec![u32::MAX; 9],
        ] {
            let good = good.clone();
            all.push(Released { survivors, ..good });
        }
        // A sum that was released before is another matter: with other numbers it is the end.
        for sum in [sum + 1, 1 << 20, u32::MAX] {
            let good = good.clone();
            all.push(Released { sum, ..good });
        }
        let mut longer = good.clone();
        longer.values.push(0);
        let values = Vec::new();
        all.extend([
            longer,
            Released {
                trustees: None,
                values,
                ..good.clone()
            },
            good,
        ]);
        all
    }
}

impl Lie for Extremes {
    fn tell(&mut self, party: u32, order: &[u8]) -> Vec<Vec<u8>> {
        self.n_orders += 1;
        let mut told = garbage(order, self.n_orders);
        match Order::decode(order).unwrap() {
            // From here on the party's answers call for the next order.
            Order::Ask { .. } if self.derived[party as usize].is_none() => {
                let begun = Derivation::begin(Arc::clone(&self.agreed)).unwrap();
                self.derived[party as usize] = Some(begun);
                told.extend(self.ask(party).iter().map(Order::encode));
                told
            }
            _ if self.derived[party as usize].is_some() => Vec::new(),
            _ => {
                told.push(order.to_vec());
                told
            }
        }
    }

    fn hear(&mut self, party: u32, message: &[u8]) -> Sends {
        let Some((sum, _)) = upload(message) else {
            return Vec::new();
        };
        let released = self.release(party, sum);
        let mut last = released.last().unwrap().clone();
        let derived = self.derived[party as usize].as_mut().unwrap();
        derived.take(last.clone()).unwrap();
        let goes_on = derived.question().is_some();
        let mut orders: Vec<Order> = released.into_iter().map(Order::Released).collect();
        if goes_on {
            orders.extend(self.ask(party));
        } else {
            // Two transcripts: there is nothing to wait for.
            last.values[0] ^= 1;
            orders.push(Order::Released(last));
        }
        let mut sends = garbage(&orders[0].encode(), u64::from(sum) + 1);
        sends.extend(orders.iter().map(Order::encode));
        sends.into_iter().map(|bytes| (party, bytes)).collect()
    }
}

#[test]
fn no_order_makes_a_party_panic_or_answer_what_it_was_not_charged() {
    let stage = Stage::new("crash-oracle", small(6, 4).secret());
    let agreed = agreed(&stage);
    let lie = Extremes {
        agreed: Arc::clone(&agreed),
        derived: (0..6).map(|_| None).collect(),
        n_orders: 0,
    };
    let serving = serve(&stage, lie);
    all_end(&stage, start_all(&stage), &[1; 6]);
    check_charges(&stage, &serving);
    for party in 0..6 {
        let said = said(&stage, party);
        assert_eq!(charged(&stage, party).len(), agreed.n_steps(), "{said}");
        for words in [
            // The order's own version, not that of a notice in it.
            "\"reason\":\"the message is of version 1, but version 3 is required\"",
            "which does not exist",
            "in size is required",
            "shows two transcripts",
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
        let spent = charged_by(&agreed, &journal(&stage, party))
            .unwrap()
            .spent();
        let (ledger, _) = status(stage.party(party));
        let found = ledger["studies"][0]["epsilon_spent"].as_f64().unwrap();
        assert!(
            (found - spent.unwrap().epsilon().get()).abs() < 1e-9,
            "{ledger}"
        );
    }
}

#[test]
fn a_coordinator_does_not_choose_the_question() {
    let stage = Stage::new("other-question", small(3, 3));
    let serving = serve(
        &stage,
        Changed(|party, order: Order| match order {
            Order::Ask {
                sum,
                transcript,
                mut question,
            } => {
                question.0[party as usize] ^= 1;
                let lie = Order::Ask {
                    sum,
                    transcript,
                    question,
                };
                vec![lie.encode()]
            }
            other => vec![other.encode()],
        }),
    );
    all_end(&stage, start_all(&stage), &[1; 3]);
    check_charges(&stage, &serving);
    let mut coordinator = open(&stage);
    for party in 0..3 {
        assert_eq!(charged(&stage, party), [0; 0]);
        assert!(said(&stage, party).contains("nothing was charged"));
        let book = serving.book.lock().unwrap();
        let (_, last) = book
            .received
            .iter()
            .rfind(|(from, _)| *from == party)
            .unwrap();
        let id = ClientId(party);
        coordinator.receive(id, last).expect("a signed refusal");
        assert_eq!(coordinator.declined().last().unwrap().0, id);
    }
}

/// Shows parties 4 and 5 other integers of sum 0, and waits for them no longer. Party 4 is asked nothing more.
#[derive(Default)]
struct WrongSums {
    has_lied: bool,
}

impl Lie for WrongSums {
    fn tell(&mut self, party: u32, order: &[u8]) -> Vec<Vec<u8>> {
        match Order::decode(order) {
            Ok(Order::Released(mut released)) if party > 3 && released.sum == 0 => {
                self.has_lied = true;
                released.values[0] += 1;
                vec![Order::Released(released).encode()]
            }
            Ok(Order::Ask { sum, .. }) if party == 4 && sum > 0 => Vec::new(),
            _ => vec![order.to_vec()],
        }
    }

    fn waits_for(&self, party: u32) -> bool {
        party < 4 || !self.has_lied
    }
}

#[test]
fn a_party_that_was_shown_other_sums_answers_and_signs_nothing_and_keeps_its_charges() {
    let stage = Stage::new("wrong-sums", small(6, 4));
    let serving = serve(&stage, WrongSums::default());
    all_end(&stage, start_all(&stage), &[0, 0, 0, 0, 1, 1]);
    check_charges(&stage, &serving);
    for (party, words) in [
        (4, "as this party was shown"),
        (5, "the sums shown to this party have the digest"),
    ] {
        let said = said(&stage, party);
        assert!(said.contains(words), "{said}");
        assert_eq!(charged(&stage, party), [0], "it answers sum 0 only");
        let (ledger, _) = status(stage.party(party));
        assert_eq!(ledger["studies"][0]["settled"], false, "{ledger}");
    }
    let signatures: Vec<usize> = (0..6)
        .map(|party| serving.book.lock().unwrap().signatures(party))
        .collect();
    assert_eq!(signatures, [1, 1, 1, 1, 0, 0]);
    serving.finish();
    let survivors = &stage.receipt()["receipt"]["sums"][1]["outcome"]["unmasked"]["survivors"];
    assert_eq!(*survivors, serde_json::json!([0, 1, 2, 3]));
}

#[test]
fn a_receipt_with_another_model_is_signed_by_no_party() {
    let stage = Stage::new("other-model", small(4, 4));
    let key = key_at(&stage.study().join("coordinator.key"));
    let serving = serve(
        &stage,
        Changed(move |party, order| {
            let Order::Ended { receipt } = order else {
                return vec![order.encode()];
            };
            let receipt: SignedReceipt = serde_json::from_slice(&receipt).unwrap();
            let mut receipt: Receipt = receipt.receipt;
            let fit = receipt.fit.as_mut().unwrap();
            match party {
                0 => fit.model.terms[0].1 += 1e-9,
                1 => drop(fit.model.terms.pop()),
                2 => fit.model.terms[0].0 ^= 1,
                _ => receipt.transcript.0[0] ^= 1,
            }
            let signature = key.sign_statement("receipt", &receipt.digest().0);
            let lie = SignedReceipt {
                receipt,
                coordinator: Signature(signature),
                parties: Vec::new(),
                trustees: Vec::new(),
            };
            let receipt = lie.to_json();
            vec![Order::Ended { receipt }.encode()]
        }),
    );
    all_end(&stage, start_all(&stage), &[1; 4]);
    check_charges(&stage, &serving);
    for party in 0..4 {
        assert_eq!(serving.book.lock().unwrap().signatures(party), 0);
        let words = match party {
            3 => "as this party was shown",
            _ => "this party does not sign it",
        };
        let said = said(&stage, party);
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn repeated_orders_change_nothing_and_charge_nothing() {
    let stage = Stage::new("repeated", small(3, 3));
    let mut known: Vec<Vec<Vec<u8>>> = vec![Vec::new(); 3];
    let serving = serve(
        &stage,
        Changed(move |party: u32, order: Order| {
            // Everything of before, then the order twice.
            let known = &mut known[party as usize];
            let mut told = known.clone();
            known.push(order.encode());
            told.extend([order.encode(), order.encode()]);
            told
        }),
    );
    all_end(&stage, start_all(&stage), &[0; 3]);
    check_charges(&stage, &serving);
    serving.finish();
    stage.check_result();
    stage.check_charged_as_stated(0..3);
}
