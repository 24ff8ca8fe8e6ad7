//! The answer of a demo for people to read.

use std::path::Path;

use sprifed_report::{four, interval_words, p_value_words, percent_words, table};

use super::DemoAnswer;
use crate::coefficients::absent;

impl DemoAnswer {
    /// The guarantee, the estimates beside the true coefficients, and the scores.
    #[must_use]
    pub fn text(&self) -> String {
        demo_text(self)
    }
}

fn demo_text(answer: &DemoAnswer) -> String {
    let mut rows = vec![
        [
            "feature",
            "true coefficient",
            "estimate",
            "95 % interval",
            "p-value",
            "variance due to privacy",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    let number = |value: Option<f64>| value.map_or_else(absent, four);
    for bar in &answer.coefficients {
        rows.push(vec![
            bar.name.clone(),
            number(bar.truth),
            number(bar.found),
            interval_words(bar.interval, bar.found.is_some()),
            bar.p_value.map_or_else(absent, p_value_words),
            bar.privacy_share.map_or_else(absent, percent_words),
        ]);
    }
    format!(
        "{}\n\n{} clients with {} records of {} features; {} matter.\n\
         {} features kept, {} true ones among them; estimates beside true coefficients:\n\n{}\n\
         test R2 {:.3} (predicting zero: 0); test MSE {:.3}, null model {:.3}\n\
         the report is in {}",
        answer.guarantee.statement,
        answer.clients,
        answer.records,
        answer.features,
        answer.support,
        answer.kept_words(),
        answer.found_words(),
        table(&rows),
        answer.test_r2,
        answer.test_mse,
        answer.null_mse,
        answer.report.as_deref().unwrap_or(Path::new("")).display(),
    )
}
