//! One measured number with everything needed to judge it: a line of the CSV file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sprifed_simulate::Mean;

use crate::cell::PaperSays;
use crate::label::Label;

/// One metric of one cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// The experiment.
    pub experiment: String,
    /// Which part of it.
    pub panel: String,
    /// The contender.
    pub series: String,
    /// What varies.
    pub axis: String,
    /// Its value.
    pub x: f64,
    /// What was measured.
    pub metric: String,
    /// `>` if the value is only known to be larger.
    #[serde(default)]
    pub qualifier: String,
    /// The mean over trials.
    pub value: f64,
    /// Its standard error; absent where nothing is random.
    pub std_error: Option<f64>,
    /// The middle trial.
    pub median: Option<f64>,
    /// A quarter of the trials lie below.
    pub lower_quartile: Option<f64>,
    /// A quarter of the trials lie above.
    pub upper_quartile: Option<f64>,
    /// How many trials; zero for a computed number.
    pub trials: u64,
    /// The same metric for predicting a constant.
    pub null: Option<f64>,
    /// What the paper says.
    pub paper: Option<f64>,
    /// `=` or `>=`.
    pub paper_says: String,
    /// What an independent simulation found.
    pub independent: Option<f64>,
    /// The ε that is claimed.
    pub epsilon_claimed: Option<f64>,
    /// The ε that is delivered under zero-out.
    pub epsilon_zero_out: Option<f64>,
    /// The ε that is delivered under replace-one.
    pub epsilon_replace_one: Option<f64>,
    /// The δ of all three.
    pub delta: Option<f64>,
    /// The privacy label of such a run.
    pub privacy: String,
    /// Everything that decides the numbers.
    pub settings: String,
    /// The seed of the first trial.
    pub seed: u64,
    /// The version of the program that measured it.
    pub commit: String,
}

impl Row {
    /// Whether the paper's number is a bound that its text gives, not a value.
    pub(crate) fn is_bound(&self) -> bool {
        self.paper_says != "="
    }

    /// Fills in what trials came out to.
    #[must_use]
    pub fn with_trials(mut self, values: &[f64]) -> Self {
        let summary = Mean::of(values);
        self.value = summary.mean;
        self.std_error = Some(summary.std_error);
        self.median = Some(summary.median);
        self.lower_quartile = Some(quantile(values, 0.25));
        self.upper_quartile = Some(quantile(values, 0.75));
        self.trials = values.len() as u64;
        self
    }

    /// Fills in what the paper says.
    #[must_use]
    pub fn with_paper(mut self, says: Option<PaperSays>) -> Self {
        let (value, relation) = match says {
            Some(PaperSays::Exactly(value)) => (Some(value), "="),
            Some(PaperSays::AtLeast(value)) => (Some(value), ">="),
            None => (None, ""),
        };
        self.paper = value;
        relation.clone_into(&mut self.paper_says);
        self
    }

    /// Fills in the privacy label.
    #[must_use]
    pub(crate) fn with_label(mut self, label: &Label) -> Self {
        self.epsilon_claimed = label.claimed;
        self.epsilon_zero_out = label.zero_out;
        self.epsilon_replace_one = label.replace_one;
        self.delta = label.delta;
        self.privacy.clone_from(&label.text);
        self
    }

    /// Whether this row and `other` answer the same question.
    #[must_use]
    pub fn is_same_cell(&self, other: &Self) -> bool {
        self.experiment == other.experiment
            && self.panel == other.panel
            && self.series == other.series
            && self.x.total_cmp(&other.x).is_eq()
            && self.metric == other.metric
    }

    /// The spread of one trial, as the standard error implies it.
    #[must_use]
    pub(crate) fn spread(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 trials")]
        let trials = self.trials as f64;
        self.std_error.unwrap_or(0.0) * trials.sqrt()
    }

    /// Whether `other`, a mean of `trials` trials of the same spread, lies within two standard
    /// errors of the difference.
    #[must_use]
    pub(crate) fn agrees_with(&self, other: f64, trials: f64) -> bool {
        let own = self.std_error.unwrap_or(0.0);
        let error = own.hypot(self.spread() / trials.sqrt());
        (self.value - other).abs() <= 2.0 * error
    }
}

/// The value below which this share of `values` lies, interpolated.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 trials")]
    let place = share * sorted.len().saturating_sub(1) as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place between zero and the number of trials"
    )]
    let below = place.floor() as usize;
    let at = |index: usize| sorted.get(index).or(sorted.last()).copied();
    match (at(below), at(below + 1)) {
        (Some(low), Some(high)) => low + (high - low) * (place - place.floor()),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, quantile};

    #[test]
    fn quantiles_are_interpolated() {
        let values = [4.0, 1.0, 2.0, 3.0, 5.0];
        assert!((quantile(&values, 0.25) - 2.0).abs() < 1e-12);
        assert!((quantile(&values, 0.9) - 4.6).abs() < 1e-12);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn a_far_value_does_not_agree() {
        let row = Row::default().with_trials(&[1.0, 2.0, 3.0, 2.0]);
        assert!(row.agrees_with(2.3, 3.0));
        assert!(!row.agrees_with(5.0, 3.0));
    }
}
