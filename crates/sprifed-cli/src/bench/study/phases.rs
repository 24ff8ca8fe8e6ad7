//! Where the time of a study goes, from the log of its coordinator.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::refuse;
use crate::failure::Failure;

/// Seconds in each kind of phase, each counted from the close of the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(super) struct Phases {
    pub(super) enrolment: f64,
    pub(super) uploads: f64,
    pub(super) confirmations: f64,
    pub(super) unmasking: f64,
    pub(super) receipts: f64,
}

impl Phases {
    /// Seconds of all sums together.
    pub(super) const fn sums(&self) -> f64 {
        self.uploads + self.confirmations + self.unmasking
    }

    fn add(&mut self, closed: &str, seconds: f64) {
        let which = match closed.split(' ').next() {
            Some("enrolment:") => &mut self.enrolment,
            Some("uploads") => &mut self.uploads,
            Some("confirmations") => &mut self.confirmations,
            Some("unmasking") => &mut self.unmasking,
            _ => &mut self.receipts,
        };
        *which += seconds;
    }
}

/// The phases that the log tells of.
pub(super) fn read_phases(log: &Path) -> Result<Phases, Failure> {
    let text = std::fs::read_to_string(log);
    let text = text.map_err(|error| refuse(format!("the log cannot be read: {error}")))?;
    Ok(of_log(&text))
}

fn of_log(text: &str) -> Phases {
    let mut phases = Phases::default();
    let mut last = None;
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let Some(now) = line["timestamp"].as_str().and_then(seconds_of_day) else {
            continue;
        };
        match line["message"].as_str() {
            Some("phase closed") => {
                let since: f64 = last.map_or(0.0, |last: f64| (now - last).rem_euclid(86_400.0));
                phases.add(line["closed"].as_str().unwrap_or_default(), since);
                last = Some(now);
            }
            // The first party is there.
            Some("returned") if last.is_none() => last = Some(now),
            _ => {}
        }
    }
    phases
}

/// Of a time such as `2026-11-15T14:18:38.067077Z`.
fn seconds_of_day(time: &str) -> Option<f64> {
    let (_, time) = time.trim_end_matches('Z').split_once('T')?;
    let mut parts = time.split(':').map(|part| part.parse::<f64>().ok());
    let mut next = || parts.next().flatten();
    Some(next()? * 3600.0 + next()? * 60.0 + next()?)
}

#[cfg(test)]
mod tests {
    use super::of_log;

    #[test]
    fn seconds_are_counted_from_the_close_before_even_over_midnight() {
        let line = |time: &str, message: &str, closed: &str| {
            format!(
                r#"{{"timestamp":"2026-11-15T{time}Z","message":"{message}","closed":"{closed}"}}"#
            )
        };
        let log = [
            line("23:59:58.500", "returned", ""),
            line("23:59:59.500", "returned", ""),
            line(
                "00:00:00.000",
                "phase closed",
                "enrolment: parties publish their keys",
            ),
            "listening on 127.0.0.1:1".to_owned(),
            line("00:00:02.000", "phase closed", "uploads of sum 1"),
            line("00:00:02.500", "phase closed", "confirmations of sum 1"),
            line("00:00:02.750", "phase closed", "unmasking of sum 1"),
            line("00:00:03.750", "phase closed", "uploads of sum 2"),
            line("00:00:05.750", "phase closed", "parties sign the receipt"),
        ];
        let phases = of_log(&log.join("\n"));
        let found = [
            (phases.enrolment, 1.5),
            (phases.uploads, 3.0),
            (phases.confirmations, 0.5),
            (phases.unmasking, 0.25),
            (phases.receipts, 2.0),
        ];
        for (found, expected) in found {
            assert!((found - expected).abs() < 1e-9, "{phases:?}");
        }
        assert!((phases.sums() - 3.75).abs() < 1e-9);
    }
}
