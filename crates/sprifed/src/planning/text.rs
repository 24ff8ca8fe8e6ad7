//! A plan for people to read.

use sprifed_privacy::{Epsilon, RecordPart, counted, shown_cost, shown_delta};
use sprifed_recovery::Floor;
use sprifed_report::table;

use super::{FloorAnswer, ForecastAnswer, KeptFeatures, PlanAnswer};
use crate::secure_sums::SecureSums;
use crate::shown_numbers::{shown_bytes, shown_seconds, two_digits};
use crate::trustees::TrusteeCosts;

impl PlanAnswer {
    /// What can be found, what it costs, what each step asks for, and the forecast.
    #[must_use]
    pub fn text(&self) -> String {
        let guarantee = &self.guarantee;
        let mut text = floor_text(self);
        text += &format!(
            "{}\n{}{}: ({}, {})-DP for each {} under {}, {} in {}.\n{}\n",
            self.choice.reason(),
            self.column_scales
                .text()
                .map_or_else(String::new, |words| words + "\n"),
            self.procedure,
            shown_cost(guarantee.epsilon.map_or(0.0, Epsilon::get)),
            shown_delta(guarantee.delta.get()),
            guarantee.unit.text(),
            guarantee.neighbours.text(),
            counted(self.integers, "integer", "integers"),
            counted(self.rounds, "round", "rounds"),
            upload_text(self),
        );
        if let Some(categories) = self.categories {
            text += &categories.text(self.procedure);
        }
        text += &split_text(self);
        let heading = [
            "step",
            "asks for",
            "integers",
            "noise / largest contribution",
            "mu or range",
        ];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        for line in &self.steps {
            let noise = line.relative_noise.iter().map(|n| format!("{n:.1}"));
            rows.push(vec![
                (line.step + 1).to_string(),
                line.purpose.clone(),
                line.integers.to_string(),
                noise.collect::<Vec<_>>().join(" | "),
                shown_cost(line.cost),
            ]);
        }
        text += &table(&rows);
        if let Some(cost) = self.robust_mu {
            text += &format!(
                "\nof the last sum, mu = {} is for robust intervals\n",
                shown_cost(cost)
            );
        }
        if let Some(sums) = &self.secure_sums {
            text += &secure_sums_text(sums);
        }
        if let Some(costs) = &self.trustees {
            text += &trustees_text(costs);
        }
        if let Some(forecast) = &self.forecast {
            text += &forecast_text(forecast, self);
        }
        text
    }
}

/// What each client sends; empty where a curator holds the records.
fn upload_text(answer: &PlanAnswer) -> String {
    if answer.secure_sums.is_none() && answer.trustees.is_none() {
        return String::new();
    }
    format!(
        "Each client sends {} integers of {} bits in all: {} bytes.\n",
        answer.integers, answer.bits_per_integer, answer.upload_bytes_per_client
    )
}

/// What two parts of the records mean for the cost; empty if there is one.
fn split_text(answer: &PlanAnswer) -> String {
    if answer.steps.iter().all(|line| line.part.is_all()) {
        return String::new();
    }
    let size = |part: RecordPart| part.size(answer.records as u64);
    format!(
        "Features are chosen by {} of the records, their coefficients estimated by the other {}. A record is in the steps \
         about its part only, so epsilon is that of the dearer part.\n\n",
        size(RecordPart::Selection),
        size(RecordPart::Estimation),
    )
}

fn trustees_text(costs: &TrusteeCosts) -> String {
    let proof = costs.proof.map_or_else(String::new, |proof| {
        format!(
            "between machines the proof of {} gates and the norms of sums add {}, {} and {} of \
             computation for each\n",
            proof.gates,
            shown_bytes(proof.sends_bytes),
            counted(proof.rounds, "round", "rounds"),
            shown_seconds(proof.cpu_seconds),
        )
    });
    format!(
        "\nthree trustees, {}: {}\n\
         each trustee sends {} to the others in {} ({} gates) and holds at most {} of shares\n\
         {}\
         each client sends at most {} in all; the coordinator receives {} and passes them on to each trustee,\n\
         and passes on {} between trustees\n\
         about {:.0} s on the network ({})\n\
         about {:.2} times the records that a trusted curator would need\n\
         (all clients stay; bytes without headers, signatures and transport)\n",
        counted(costs.clients, "client", "clients"),
        costs.trust,
        shown_bytes(costs.trustee.sends_bytes),
        counted(costs.trustee.rounds, "round", "rounds"),
        costs.trustee.gates,
        shown_bytes(costs.trustee.memory_bytes),
        proof,
        shown_bytes(costs.client_sends_bytes),
        shown_bytes(costs.coordinator_receives_bytes),
        shown_bytes(costs.coordinator_relays_bytes),
        costs.network_seconds,
        costs.seconds_are,
        costs.records_per_curator_record,
    )
}

fn secure_sums_text(sums: &SecureSums) -> String {
    let (least, most) = (sums.bits.iter().min(), sums.bits.iter().max());
    let sent = sums.client.sends_bytes as u64;
    let probability = sums.failures.availability.for_each_sum;
    let unopened = if probability > 0.0 {
        format!(
            "a sum of enough clients cannot be opened and must be repeated with a probability of at most {} for each sum",
            shown_delta(probability)
        )
    } else {
        "a sum of enough clients can always be opened and never must be repeated".to_owned()
    };
    format!(
        "\nsecure sums of {} clients: at least {} stay, at most {} collude, so {} honest shares make the noise;\n\
         {} neighbours, {} shares open a secret, {} confirmations; integers of {} to {} bits\n\
         privacy fails with a probability of at most {} in the study, which is contained in delta\n\
         availability: {unopened}; nothing is revealed then, and it is no part of delta\n\
         accuracy: a sum wraps around and is wrong with a probability of at most {} in the study; it reveals nothing more\n\
         each client sends {} in all and computes {:.2} s; the coordinator receives {} and computes \
         {:.1} s\n({})\n",
        sums.clients,
        sums.quorum,
        sums.colluders,
        sums.honest_shares,
        sums.neighbours,
        sums.threshold,
        sums.confirmations,
        least.copied().unwrap_or(0),
        most.copied().unwrap_or(0),
        shown_delta(sums.failures.privacy.in_the_study),
        shown_delta(sums.failures.accuracy.in_the_study),
        shown_bytes(sent),
        sums.client.seconds,
        shown_bytes(u64::from(sums.clients) * sent),
        sums.coordinator.seconds,
        sums.seconds_are,
    )
}

/// Below how many records nothing can be found; first of all if the study has fewer.
fn floor_text(answer: &PlanAnswer) -> String {
    let FloorAnswer {
        choices,
        sums,
        fewest_records,
        is_below,
        thinned,
    } = &answer.floor;
    let mut text = String::new();
    if *is_below {
        text += &format!(
            "Nothing can be found with {} at this epsilon: {} needs at least {fewest_records}.\n{}\n\
             There is no forecast. Raise epsilon, or use more records.\n\n",
            counted(answer.records, "record", "records"),
            answer.procedure,
            match answer.keep {
                KeptFeatures::Significant =>
                    "No feature will be sought: the model will be the mean.",
                KeptFeatures::Exactly =>
                    "Features that are chosen all the same are as good as picked at random.",
            },
        );
    }
    text += "About how many records one feature needs at this epsilon, by its correlation with the outcome:\n";
    let mut rows = vec![vec![String::new()]];
    rows[0].extend(
        sums.iter()
            .map(|floor| format!("correlation {}", floor.correlation)),
    );
    let line = |name: &str, floors: &[Floor]| {
        let records = floors.iter().map(|floor| floor.records.to_string());
        core::iter::once(name.to_owned())
            .chain(records)
            .collect::<Vec<_>>()
    };
    if let Some(choices) = choices {
        rows.push(line("by choices (argmax)", choices));
    }
    rows.push(line("by sums (sieve, grad)", sums));
    text += &table(&rows);
    if let (Some(thinned), Some(half)) = (thinned, sums.get(1)) {
        text += &format!(
            "Sums need fewer records if features are left out by public knowledge: with every {}th of the features \
             ({}), about {} instead of {} for correlation {}.\nFeatures without a kept neighbour are lost. Choices gain little.\n",
            thinned.every, thinned.features, thinned.records, half.records, half.correlation,
        );
    }
    text + "\n"
}

/// What simulated studies found.
fn forecast_text(forecast: &ForecastAnswer, answer: &PlanAnswer) -> String {
    let heading = [
        "R2 of the best model",
        "procedure",
        "true features kept",
        "false among kept",
        "width of 95 % intervals",
        "R2 on new records",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for row in &forecast.rows {
        let share = row.recovered_share;
        rows.push(vec![
            row.population_r2.to_string(),
            row.procedure.to_owned(),
            format!("{:.2} (se {:.2})", share.mean, share.std_error),
            format!("{:.2}", row.false_share.mean),
            row.width
                .map_or_else(|| "-".to_owned(), |width| format!("{:.2}", width.mean)),
            two_digits(row.test_r2.median),
        ]);
    }
    let needed = match forecast.records_for_90_percent {
        Some(records) => format!(
            "To find 90 % on average, {} needs about {records} records on such data.\n",
            answer.procedure
        ),
        None if forecast.tried.is_empty() => {
            "State the R2 of the best model to learn how many records 90 % need.\n".to_owned()
        }
        None => "More records than were tried are needed to find 90 %.\n".to_owned(),
    };
    format!(
        "\nForecast for n = {}, {} simulated studies a row; predicting the mean has R2 0. Your data may differ.\n\
         Assumed: {}.\n\n{}{needed}One study takes {:.2} s here, records in memory.\n",
        answer.records,
        forecast.trials,
        forecast.assumes,
        table(&rows),
        forecast.seconds_per_study.unwrap_or(f64::NAN),
    )
}
