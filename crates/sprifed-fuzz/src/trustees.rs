//! What trustees read: uploads of clients, messages of peers, reports and their own journal.

use std::sync::Arc;

use sprifed_noise::{DrawnShare, NoiseGenerator};
use sprifed_privacy::test_support::{generous_ledger, small_choice_of_trustees};
use sprifed_privacy::{SelectionPurchase, Trustee};
use sprifed_secure_sum::ClientId;
use sprifed_trustees::{
    Attempt, Book, Charge, ChoiceStep, Counted, DealtNoise, Effect, Embedded, JournalLine, Link,
    Message, OutcomeReport, Output, Step, TrusteeId, Upload,
};

use crate::{Way, way};

/// Asserts that what is read is written as it was.
macro_rules! decoder {
    ($name:ident, $type:ty) => {
        pub(crate) fn $name(bytes: &[u8]) -> Way {
            let read = <$type>::decode(bytes);
            if let Ok(value) = &read {
                assert_eq!(value.encode(), bytes, "one encoding for each");
            }
            way(&read.map(|_| ()))
        }
    };
}

decoder!(upload, Upload);
decoder!(message, Message);
decoder!(report, OutcomeReport);
decoder!(line, JournalLine);

type Seeds = Vec<(&'static str, Vec<u8>)>;

fn world() -> (Embedded, Arc<Step>) {
    let parties = Embedded::new([1; 32], [2; 32], 2).expect("few clients");
    let step = ChoiceStep::new(3, vec![2; 2], 7, Link::default()).expect("a small step");
    (parties, Arc::new(Step::Choice(step)))
}

pub(crate) fn uploads() -> Seeds {
    let (parties, step) = world();
    let upload = parties.upload(parties.attempt(0), &step, ClientId(1), &[1, -2, 0]);
    vec![("upload", upload.expect("fits").encode())]
}

/// A share of noise that was paid for.
fn noise(trustee: TrusteeId) -> DealtNoise {
    let purchase = SelectionPurchase {
        candidates: 3,
        noise_rate: (1, 1),
        score_bound: 1,
        ..small_choice_of_trustees()
    };
    let permit = generous_ledger().spend("a choice", purchase);
    let trustee = Trustee::ALL.get(trustee.place()).copied();
    let mut generator = NoiseGenerator::simulated(1);
    let share = DrawnShare::for_choice(
        permit.expect("little"),
        trustee.expect("one of three"),
        &mut generator,
    );
    share.expect("a legal rate").into()
}

pub(crate) fn messages() -> Seeds {
    let (parties, step) = world();
    let id = parties.attempt(0);
    let mut attempts: Vec<_> = TrusteeId::ALL
        .iter()
        .map(|trustee| {
            let mut book = Book::default();
            let line = book.charge(0, 0, false).expect("the first");
            book.enter(&line).expect("the first");
            let noise = noise(*trustee);
            let setting = parties.setting(id, &step, *trustee);
            let mut attempt = Attempt::new(setting, book, noise).expect("charged");
            attempt.close_uploads().expect("open");
            attempt
        })
        .collect();
    let mut seen = Vec::new();
    // Lists, signatures, deals, layers, openings and outcomes, in the order of an honest run.
    loop {
        let mut mail = Vec::new();
        for (from, attempt) in TrusteeId::ALL.iter().zip(&mut attempts) {
            while let Some(effect) = attempt.poll() {
                if let Effect::SendPeer(to, bytes) = effect {
                    mail.push((*from, to, bytes));
                }
            }
        }
        if mail.is_empty() {
            break;
        }
        for (from, to, bytes) in mail {
            if let Some(attempt) = attempts.get_mut(to.place()) {
                // What comes after the end is refused.
                let _ = attempt.receive(from, &bytes);
            }
            seen.push(bytes);
        }
    }
    let names = ["list", "set", "deal", "layer"];
    let mut kinds: Vec<Vec<u8>> = Vec::new();
    for bytes in seen {
        if kinds.iter().all(|known| known.len() != bytes.len()) {
            kinds.push(bytes);
        }
    }
    names.into_iter().zip(kinds).collect()
}

fn an_outcome(output: Output) -> OutcomeReport {
    let (parties, _) = world();
    OutcomeReport {
        attempt: parties.attempt(0),
        trustee: TrusteeId::ALL[2],
        set: [3; 32],
        clients: Counted {
            inside: vec![ClientId(0), ClientId(2)],
            outside: vec![ClientId(1)],
        },
        output,
        signature: [4; 64],
    }
}

pub(crate) fn reports() -> Seeds {
    vec![
        ("index", an_outcome(Output::Index(7)).encode()),
        ("sums", an_outcome(Output::Sums(vec![-1, 2])).encode()),
    ]
}

pub(crate) fn lines() -> Seeds {
    let charged = JournalLine::Charged {
        step: 1,
        attempt: 2,
        charge: Charge::Carried,
    };
    vec![
        ("charged", charged.encode()),
        ("set", JournalLine::SetSigned { digest: [1; 32] }.encode()),
        ("opening", JournalLine::Opening.encode()),
        (
            "opened",
            JournalLine::Opened(Box::new(an_outcome(Output::Index(7)))).encode(),
        ),
    ]
}
