//! The targets of the masking protocol, which are in `fuzz/fuzz_targets` because they need nothing of a study.

use sprifed_study::{Order, Report};

use crate::Way;
use crate::world::honest;

macro_rules! targets {
    ($($name:ident: $path:literal),+) => {
        $(
            #[allow(clippy::all, clippy::cast_possible_truncation, missing_debug_implementations, unreachable_pub,
                reason = "a program of its own for coverage-guided fuzzing")]
            #[path = $path]
            mod $name;

            pub(crate) fn $name(bytes: &[u8]) -> Way {
                $name::run(bytes);
                0
            }
        )+
    };
}

targets! {
    client: "../../../fuzz/fuzz_targets/client.rs",
    coordinator: "../../../fuzz/fuzz_targets/coordinator.rs",
    journal: "../../../fuzz/fuzz_targets/journal.rs",
    message: "../../../fuzz/fuzz_targets/message.rs",
    notice: "../../../fuzz/fuzz_targets/notice.rs",
    packing: "../../../fuzz/fuzz_targets/packing.rs"
}

pub(crate) fn messages() -> Vec<(&'static str, Vec<u8>)> {
    let messages = honest()
        .reports
        .iter()
        .filter_map(|bytes| match Report::decode(bytes) {
            Ok(Report::Message(message)) => Some(message.encode()),
            _ => None,
        });
    let names = ["keys", "shares", "upload", "confirmation", "unmask"];
    // One of each phase, which its length identifies here.
    let mut kinds: Vec<Vec<u8>> = Vec::new();
    for message in messages {
        if kinds.iter().all(|known| known.len() != message.len()) {
            kinds.push(message);
        }
    }
    names.into_iter().zip(kinds).collect()
}

pub(crate) fn notices() -> Vec<(&'static str, Vec<u8>)> {
    let notices = honest()
        .orders
        .iter()
        .filter_map(|bytes| match Order::decode(bytes) {
            Ok(Order::Notice(notice)) => Some(notice.encode()),
            _ => None,
        });
    let names = ["directory", "bundles", "survivors", "certificate"];
    let mut kinds: Vec<Vec<u8>> = Vec::new();
    for notice in notices {
        if kinds.iter().all(|known| known.get(..2) != notice.get(..2)) {
            kinds.push(notice);
        }
    }
    names.into_iter().zip(kinds).collect()
}

/// Scripts of operations without a plan.
pub(crate) fn scripts() -> Vec<(&'static str, Vec<u8>)> {
    let names = ["script-0", "script-1", "script-2", "script-3"];
    let script = |(number, name): (u64, &'static str)| {
        let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        };
        (name, (0..400).map(|_| next()).collect())
    };
    (1..).zip(names).map(script).collect()
}
