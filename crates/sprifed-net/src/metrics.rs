//! Counters in the text format of Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::status::{PartyState, PartyStatus, StatusView};

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, amount: usize) {
        let amount = u64::try_from(amount).unwrap_or(u64::MAX);
        self.0.fetch_add(amount, Ordering::Relaxed);
    }
}

/// What the shell counts.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) messages_accepted: Counter,
    pub(crate) messages_refused: Counter,
    pub(crate) messages_unread: Counter,
    pub(crate) message_bytes: Counter,
    pub(crate) notices_sent: Counter,
    pub(crate) notice_bytes: Counter,
    pub(crate) phases_closed: Counter,
    pub(crate) handshakes_failed: Counter,
    pub(crate) strangers: Counter,
    pub(crate) page_connections: Counter,
    pub(crate) page_connections_refused: Counter,
    pub(crate) page_refused: Counter,
}

impl Metrics {
    /// All of them, with what the study itself says.
    /// `connected` parties and trustees are there now.
    pub(crate) fn text(&self, study: &StatusView, connected: (usize, usize)) -> String {
        let counters = [
            (
                "messages_accepted",
                "Messages that the study accepted.",
                &self.messages_accepted,
            ),
            (
                "messages_refused",
                "Messages that the study refused.",
                &self.messages_refused,
            ),
            (
                "messages_unread",
                "Messages too large, too slow or broken off.",
                &self.messages_unread,
            ),
            (
                "message_bytes",
                "Bytes of accepted messages.",
                &self.message_bytes,
            ),
            (
                "notices_sent",
                "Notices handed to parties and trustees.",
                &self.notices_sent,
            ),
            (
                "notice_bytes",
                "Bytes of notices handed to parties and trustees.",
                &self.notice_bytes,
            ),
            (
                "phases_closed",
                "Phases closed since the start.",
                &self.phases_closed,
            ),
            (
                "handshakes_failed",
                "TLS handshakes refused or too slow.",
                &self.handshakes_failed,
            ),
            (
                "strangers",
                "Connections with a certificate outside the roster.",
                &self.strangers,
            ),
            (
                "page_connections",
                "Connections to the page.",
                &self.page_connections,
            ),
            (
                "page_connections_refused",
                "Connections to the page beyond the most at once.",
                &self.page_connections_refused,
            ),
            (
                "page_refused",
                "Requests to the page under another name than its own.",
                &self.page_refused,
            ),
        ];
        let mut text = String::new();
        for (name, meaning, Counter(value)) in counters {
            let value = value.load(Ordering::Relaxed);
            let name = format!("{name}_total");
            metric(
                &mut text,
                &name,
                "counter",
                meaning,
                &[("", value.to_string())],
            );
        }
        let sums = study.progress;
        let gauges = [
            (
                "sums_done",
                "Sums that are complete.",
                sums.done.to_string(),
            ),
            (
                "sums_planned",
                "Sums that the plan allows.",
                sums.planned.to_string(),
            ),
            (
                "epsilon_spent",
                "Epsilon of everything released.",
                study.budget.epsilon_spent.to_string(),
            ),
            (
                "epsilon_planned",
                "Epsilon that the plan allows.",
                study.budget.epsilon_planned.to_string(),
            ),
            (
                "parties_connected",
                "Parties that have a connection now.",
                connected.0.to_string(),
            ),
            (
                "trustees_connected",
                "Trustees that have a connection now.",
                connected.1.to_string(),
            ),
        ];
        for (name, meaning, value) in gauges {
            metric(&mut text, name, "gauge", meaning, &[("", value)]);
        }
        let roles = [
            ("parties", "Parties by state.", &study.parties),
            ("trustees", "Trustees by state.", &study.trustees),
        ];
        for (name, meaning, all) in roles {
            metric(&mut text, name, "gauge", meaning, &by_state(all));
        }
        text
    }
}

/// How many of `all` are in each state.
fn by_state(all: &[PartyStatus]) -> Vec<(&'static str, String)> {
    let count = |state: &PartyState| {
        let number = all.iter().filter(|one| one.state == *state).count();
        (state.name(), number.to_string())
    };
    PartyState::ALL.iter().map(count).collect()
}

/// One metric; each value with its state as a label, unless that is empty.
fn metric(text: &mut String, name: &str, kind: &str, meaning: &str, values: &[(&str, String)]) {
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "# HELP sprifed_{name} {meaning}\n# TYPE sprifed_{name} {kind}"
    );
    for (state, value) in values {
        let _ = match *state {
            "" => writeln!(text, "sprifed_{name} {value}"),
            state => writeln!(text, "sprifed_{name}{{state=\"{state}\"}} {value}"),
        };
    }
}
