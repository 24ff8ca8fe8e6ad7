//! `sprifed-bench trustees`: CPU time and bytes of one trustee, from shared bits to the opened index.
//!
//! Three evaluations run in turn on one thread, and the time of one is a third of that of all. Sealing
//! of frames, uploads and drawing of noise are not in these figures.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use sprifed_report::table;
use sprifed_trustees::{
    Chain, ChoiceStep, Circuit, Evaluation, Link, Pads, Purpose, SharedPlane, Step, StreamKey,
    TrusteeId, Turn, count,
};

use crate::cpu_clock;
use crate::error::Error;
use crate::output::Output;

/// `sprifed-bench trustees`.
#[derive(Args, Debug)]
pub(crate) struct Trustees {
    /// How often each measurement is repeated; the median counts.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Few clients and candidates, to try the command out: the figures mean nothing.
    #[arg(long)]
    quick: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    clock: &'static str,
    repetitions: u32,
    /// Whether the figures mean anything.
    is_optimised: bool,
    is_quick: bool,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    setting: String,
    cpu_milliseconds: f64,
    cpu_goal_milliseconds: f64,
    megabytes_sent: f64,
    megabytes_goal: f64,
    rounds: u32,
}

struct Setting {
    name: &'static str,
    clients: usize,
    client_bits: u32,
    noise_bits: u32,
    candidates: u32,
    cpu_goal: f64,
    bytes_goal: f64,
}

impl Trustees {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Error> {
        let (clients, candidates) = if self.quick { (8, 500) } else { (400, 100_000) };
        let settings = [
            Setting {
                name: "clients of 7 bits",
                clients,
                client_bits: 7,
                noise_bits: 14,
                candidates,
                cpu_goal: 500.0,
                bytes_goal: 45.0,
            },
            // One client of 40 bits is a sum of 40 bits that is there already.
            Setting {
                name: "sums of 40 bits",
                clients: 1,
                client_bits: 40,
                noise_bits: 24,
                candidates,
                cpu_goal: 40.0,
                bytes_goal: 8.0,
            },
        ];
        let rows = settings.iter().map(|setting| self.row(setting));
        let report = Report {
            clock: cpu_clock::KIND,
            repetitions: self.repetitions,
            is_optimised: !cfg!(debug_assertions),
            is_quick: self.quick,
            rows: rows.collect::<Result<_, _>>()?,
        };
        output.answer(&report, text);
        Ok(())
    }

    fn row(&self, setting: &Setting) -> Result<Row, Error> {
        let widths = vec![setting.client_bits; setting.clients];
        let step = ChoiceStep::new(
            setting.candidates,
            widths,
            setting.noise_bits,
            Link::default(),
        );
        let step = Step::Choice(step.map_err(|error| Error::Trustees(error.to_string()))?);
        let clients: Vec<_> = (0..)
            .map(sprifed_secure_sum::ClientId)
            .take(setting.clients)
            .collect();
        let circuit = step.circuit(&clients);
        let circuit = Arc::new(circuit.map_err(|error| Error::Trustees(error.to_string()))?);
        let cost = count(&circuit);
        let mut figures = Vec::new();
        for _ in 0..self.repetitions {
            figures.push(evaluated(&circuit)?.as_secs_f64() * 1e3 / 3.0);
        }
        Ok(Row {
            setting: format!(
                "{} {}, {} candidates",
                setting.clients, setting.name, setting.candidates
            ),
            cpu_milliseconds: cpu_clock::median(figures),
            cpu_goal_milliseconds: setting.cpu_goal,
            megabytes_sent: cost.bytes as f64 / 1e6,
            megabytes_goal: setting.bytes_goal,
            rounds: cost.rounds,
        })
    }
}

/// CPU time of all three trustees together.
fn evaluated(circuit: &Arc<Circuit>) -> Result<Duration, Error> {
    let keys = [1u8, 2, 3].map(|byte| Chain::new([byte; 32]));
    let mut evaluations = Vec::with_capacity(3);
    for trustee in TrusteeId::ALL {
        let key = |link: TrusteeId| {
            let key = keys.get(link.place()).and_then(|chain| chain.key(0));
            key.map(|key| StreamKey::new(&key, Purpose::Gates, &[0; 32]))
        };
        let (Some(previous), Some(next)) = (key(trustee), key(trustee.next())) else {
            return Err(Error::Trustees("no key".to_owned()));
        };
        let inputs = inputs(circuit);
        let pads = Pads::new(previous, next);
        let evaluation = Evaluation::new(Arc::clone(circuit), trustee, pads, inputs);
        evaluations.push(evaluation.map_err(|error| Error::Trustees(error.to_string()))?);
    }
    let mut total = Duration::ZERO;
    loop {
        let turns: Vec<_> = cpu_clock::clocked(&mut total, || {
            evaluations.iter_mut().map(Evaluation::advance).collect()
        });
        let mut frames: Vec<_> = turns
            .into_iter()
            .filter_map(|turn| match turn {
                Turn::Exchange(frame) => Some(frame),
                Turn::Done => None,
            })
            .collect();
        if frames.len() < 3 {
            return Ok(total);
        }
        // Trustee i receives the frame of trustee i + 1.
        frames.rotate_left(1);
        cpu_clock::clocked(&mut total, || {
            for (evaluation, frame) in evaluations.iter_mut().zip(&frames) {
                evaluation
                    .receive(frame)
                    .map_err(|error| Error::Trustees(error.to_string()))?;
            }
            Ok::<(), Error>(())
        })?;
    }
}

/// Shares of any content: time does not depend on it.
fn inputs(circuit: &Circuit) -> Vec<SharedPlane> {
    let plane = |input: usize| {
        let words = circuit.input_words(input);
        let share = |start: u64| -> Vec<u64> {
            let words = (start..).take(words);
            words
                .map(|word| word.wrapping_mul(0x9e37_79b9_7f4a_7c15))
                .collect()
        };
        SharedPlane {
            own: share(input as u64),
            next: share(!(input as u64) >> 1),
        }
    };
    (0..circuit.n_inputs()).map(plane).collect()
}

fn text(report: &Report) -> String {
    let head = ["setting", "CPU ms", "goal", "MB sent", "goal", "rounds"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(report.rows.iter().map(|row| {
        vec![
            row.setting.clone(),
            format!("{:.1}", row.cpu_milliseconds),
            format!("{:.0}", row.cpu_goal_milliseconds),
            format!("{:.2}", row.megabytes_sent),
            format!("{:.0}", row.megabytes_goal),
            row.rounds.to_string(),
        ]
    }));
    format!(
        "One trustee, one choice ({}, median of {})\n{}",
        report.clock,
        report.repetitions,
        table(&rows)
    )
}
