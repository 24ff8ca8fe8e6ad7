//! Scores of predicted risks of an event, beside that of the null model.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_query::FollowUp;

#[cfg(test)]
mod tests;

/// How well risks order the times of events.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SurvivalFitness {
    /// The share of the scored records with an event before the horizon.
    pub events: f64,
    /// Of pairs of which one is known to have its event first, how often that one has the larger risk; equal risks counted
    /// as half. That of the null model is a half. `None` if there is no such pair.
    pub concordance: Option<f64>,
    /// How many such pairs there are.
    pub pairs: f64,
}

/// Counts by rank, with sums of all ranks below one.
struct Counts(Vec<f64>);

impl Counts {
    fn add(&mut self, rank: usize) {
        let mut place = rank + 1;
        while let Some(count) = self.0.get_mut(place) {
            *count += 1.0;
            place += place & place.wrapping_neg();
        }
    }

    /// How many have a rank below this one.
    fn below(&self, rank: usize) -> f64 {
        let (mut place, mut sum) = (rank, 0.0);
        while place > 0 {
            sum += self.0.get(place).copied().unwrap_or(0.0);
            place -= place & place.wrapping_neg();
        }
        sum
    }
}

impl SurvivalFitness {
    /// Of pairs of a risk and a response, which a [`FollowUp`] reads.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "counts of records are far below 2^53, and responses are stored in f32"
    )]
    pub(super) fn of(pairs: &[(f64, f64)]) -> Self {
        let mut risks: Vec<f64> = pairs.iter().map(|(risk, _)| *risk).collect();
        risks.sort_by(f64::total_cmp);
        risks.dedup_by(|left, right| left.total_cmp(right).is_eq());
        let rank = |risk: f64| risks.partition_point(|one| one.total_cmp(&risk).is_lt());
        let mut records: Vec<(FollowUp, usize)> = pairs
            .iter()
            .map(|(risk, response)| (FollowUp::of(*response as f32), rank(*risk)))
            .collect();
        records.sort_by(|left, right| right.0.time.total_cmp(&left.0.time));
        // Records that are followed longer than those of the present time.
        let mut later = Counts(vec![0.0; risks.len() + 1]);
        let (mut known, mut wins, mut compared) = (0.0, 0.0, 0.0);
        for group in records.chunk_by(|left, right| left.0.time.total_cmp(&right.0.time).is_eq()) {
            // A record that is censored at the time of an event has its own event after it.
            for (_, rank) in group.iter().filter(|(one, _)| !one.is_event) {
                later.add(*rank);
                known += 1.0;
            }
            for (_, rank) in group.iter().filter(|(one, _)| one.is_event) {
                let below = later.below(*rank);
                let equal = later.below(rank + 1) - below;
                wins += below + equal / 2.0;
                compared += known;
            }
            for (_, rank) in group.iter().filter(|(one, _)| one.is_event) {
                later.add(*rank);
                known += 1.0;
            }
        }
        let events = records.iter().filter(|(one, _)| one.is_event).count();
        Self {
            events: events as f64 / pairs.len() as f64,
            concordance: (compared > 0.0).then(|| wins / compared),
            pairs: compared,
        }
    }

    pub(super) fn text(&self) -> String {
        let concordance = self
            .concordance
            .map_or("undefined".to_owned(), |number| format!("{number:.4}"));
        format!(
            "concordance {concordance} beside 0.5 of the null model, {:.1} % events",
            100.0 * self.events
        )
    }
}
