//! A journal read back from a store that may be damaged, and a client that resumes from it.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use arbitrary::{Arbitrary, Unstructured};
use sprifed_secure_sum::*;

#[path = "../../crates/sprifed-secure-sum/tests/it/world.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod world;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let Ok(entries) = <Vec<Vec<u8>>>::arbitrary_take_rest(Unstructured::new(bytes)) else {
        return;
    };
    static STUDY: OnceLock<(Arc<Study>, Vec<IdentityKey>)> = OnceLock::new();
    let (study, identities) =
        STUDY.get_or_init(|| world::study(world::participation(3, 3, 0), 2, 16, 1));
    let mut journal = Vec::new();
    for bytes in &entries {
        if let Ok(entry) = JournalEntry::decode(bytes) {
            assert_eq!(entry.encode(), *bytes, "one encoding for each entry");
            journal.push(entry);
        }
    }
    let mut known = BTreeMap::new();
    let contradicts = journal.iter().any(|entry| {
        let (key, value) = match entry {
            JournalEntry::Confirmed { sum, digest } => ((*sum, true), *digest),
            JournalEntry::Uploaded { sum, context } => ((*sum, false), *context),
            JournalEntry::Published { .. } => return false,
        };
        known
            .insert(key, value)
            .is_some_and(|before| before != value)
    });
    let identity = identities[0].clone();
    let client = Client::resume(
        Arc::clone(study),
        ClientId(0),
        identity,
        world::seed(0),
        &journal,
    );
    // What was published may be anything, and is then refused.
    let published = |entry: &JournalEntry| matches!(entry, JournalEntry::Published { .. });
    if !journal.iter().any(published) {
        assert_eq!(client.is_none(), contradicts);
    }
}
