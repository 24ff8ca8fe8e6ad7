//! Bytes on the wire between a coordinator and a party.

use sprifed_study::{Order, Report};

use crate::world::honest;
use crate::{Way, way};

/// Bytes that claim to be an order.
pub(crate) fn order(bytes: &[u8]) -> Way {
    let read = Order::decode(bytes);
    if let Ok(order) = &read {
        assert_eq!(order.encode(), bytes, "one encoding for each order");
    }
    kind_or_error(read)
}

/// Bytes that claim to be a report.
pub(crate) fn report(bytes: &[u8]) -> Way {
    let read = Report::decode(bytes);
    if let Ok(report) = &read {
        // A reason is cut and cleaned, so its encoding may be another one; the second time it stays.
        let again = Report::decode(&report.encode());
        assert_eq!(
            again.as_ref(),
            Ok(report),
            "what is read is what was written"
        );
    }
    kind_or_error(read)
}

/// What kind of message it is, or why it is none.
fn kind_or_error<T>(read: Result<T, sprifed_study::Unreadable>) -> Way {
    match read {
        Ok(message) => {
            use std::hash::{DefaultHasher, Hash as _, Hasher as _};
            let mut hasher = DefaultHasher::new();
            core::mem::discriminant(&message).hash(&mut hasher);
            hasher.finish()
        }
        Err(error) => way(&error),
    }
}

pub(crate) fn orders() -> Vec<(&'static str, Vec<u8>)> {
    kinds(&honest().orders, ["notice", "ask", "ended", "released"])
}

pub(crate) fn reports() -> Vec<(&'static str, Vec<u8>)> {
    let mut all = kinds(
        &honest().reports,
        ["message", "declined", "countersigned", ""],
    );
    if all.iter().all(|(name, _)| *name != "declined") {
        all.push(("declined", declined()));
    }
    all
}

/// The first message of each kind, which is its second byte.
fn kinds(all: &[Vec<u8>], names: [&'static str; 4]) -> Vec<(&'static str, Vec<u8>)> {
    let first = |(kind, name)| {
        let found = all.iter().find(|bytes| bytes.get(1) == Some(&kind))?;
        Some((name, found.clone()))
    };
    (1..).zip(names).filter_map(first).collect()
}

fn declined() -> Vec<u8> {
    let own = crate::world::key().of_party(0).identity();
    let me = sprifed_secure_sum::ClientId(0);
    Report::declined(&own, crate::world::agreed(), me, "not today").encode()
}
