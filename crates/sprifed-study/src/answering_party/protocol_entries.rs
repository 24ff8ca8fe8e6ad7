//! The part of a party's journal that its masks need.

use std::collections::BTreeMap;

use sprifed_secure_sum::JournalEntry;

use super::JournalLine;

/// What the masking protocol must still know. The context of an upload is the transcript of its charge.
pub(super) fn protocol_entries(journal: &[JournalLine]) -> Vec<JournalEntry> {
    let mut contexts = BTreeMap::new();
    let mut entries = Vec::new();
    for line in journal {
        match line {
            JournalLine::Charged { sum, transcript } => {
                contexts.insert(*sum, transcript.0);
            }
            JournalLine::Uploaded { sum, .. } => {
                let context = contexts.get(sum).copied().unwrap_or_default();
                entries.push(JournalEntry::Uploaded { sum: *sum, context });
            }
            JournalLine::Confirmed { sum, digest } => entries.push(JournalEntry::Confirmed {
                sum: *sum,
                digest: digest.0,
            }),
            JournalLine::Published { told, message } => entries.push(JournalEntry::Published {
                told: told.0,
                message: message.clone(),
            }),
            JournalLine::Ended { .. } | JournalLine::Left | JournalLine::Carried { .. } => {}
        }
    }
    entries
}
