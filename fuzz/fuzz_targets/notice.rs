//! Bytes that claim to be a notice of the coordinator.

use sprifed_secure_sum::Notice;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    if let Ok(notice) = Notice::decode(bytes) {
        assert_eq!(notice.encode(), bytes, "one encoding for each notice");
        let set = match &notice {
            Notice::Bundles { sharers, .. } => sharers,
            Notice::Survivors { survivors, .. } => survivors.as_ref(),
            Notice::Directory { .. }
            | Notice::Ciphertexts { .. }
            | Notice::Certificate { .. } => return,
        };
        assert!(set.is_subset(set));
        assert!(set.len() <= set.n_clients());
        if set.n_clients() < 1 << 16 {
            assert_eq!(set.iter().count(), set.len() as usize);
        }
    }
}
