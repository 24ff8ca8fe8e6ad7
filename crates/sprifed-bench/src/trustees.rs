//! `sprifed-bench trustees`: what one choice costs three trustees, beside SPU.
//!
//! | work | what is measured |
//! |---|---|
//! | gates | from shared bits to the opening, one trustee: a third of three evaluations on one thread |
//! | trustee | all that one trustee does: uploads are checked and opened, noise is drawn and dealt, frames are sealed |
//! | proof | what proving all gates adds, one trustee: a third of the difference of two whole choices |
//! | whole | a whole choice, all clients and trustees together |

mod evaluation;
mod setting;
mod spu;
mod whole_step;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use sprifed_report::table;
use sprifed_trustees::{CircuitCost, Step, count, count_proof};

use self::evaluation::evaluated;
use self::setting::Setting;
use self::spu::Spu;
use self::whole_step::{drawing, uploads, whole_step};
use crate::cpu_clock;
use crate::error::Error;
use crate::noise::half_share_nanoseconds;
use crate::output::Output;

/// `sprifed-bench trustees`.
#[derive(Args, Debug)]
pub(crate) struct Trustees {
    /// A Python with the package spu 0.9.5, to be measured in the same run.
    #[arg(long, value_name = "PYTHON")]
    python: Option<PathBuf>,
    /// How often gates are measured; the median counts. Proofs and whole choices are measured once.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// The most clients of the rows that show the growth, with 1,000 candidates: a hundredth, a tenth and all of them.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    growth_to: u32,
    /// Leave out the proofs and the whole choices that they are measured by.
    #[arg(long)]
    without_proofs: bool,
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
    /// The processes that waited for a processor in the last minute, before and after, where the system tells it.
    load: [Option<f64>; 2],
    rows: Vec<Row>,
    /// One draw of a trustee's share of the noise of a choice, at rate 1/128.
    noise: Noise,
    spu: Option<Spu>,
    /// Why SPU was not measured.
    spu_missing: Option<String>,
}

#[derive(Debug, Serialize)]
struct Noise {
    nanoseconds_per_draw: f64,
    goal_nanoseconds: f64,
    is_within_goal: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    setting: String,
    /// `gates`, `trustee`, `proof` or `whole`.
    work: &'static str,
    cpu_milliseconds: f64,
    cpu_goal_milliseconds: Option<f64>,
    /// For each number that a client sends.
    nanoseconds_per_number: f64,
    /// By one trustee.
    megabytes_sent: Option<f64>,
    megabytes_goal: Option<f64>,
    rounds: Option<u32>,
    is_within_goal: Option<bool>,
}

/// At most so many milliseconds and megabytes.
type Goal = Option<(f64, f64)>;

impl Trustees {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Error> {
        let before = load();
        let (clients, candidates) = if self.quick { (8, 500) } else { (400, 100_000) };
        let many = Setting {
            clients,
            client_bits: 7,
            inverse_rate: 128,
            candidates,
        };
        // One client of 40 bits is a sum of 40 bits that is there already.
        let sums = Setting {
            clients: 1,
            client_bits: 40,
            inverse_rate: 1 << 14,
            candidates,
        };
        let mut rows = self.rows(&many, Some((500.0, 45.0)), !self.without_proofs)?;
        rows.extend(self.rows(&sums, Some((40.0, 8.0)), !self.without_proofs)?);
        let most = if self.quick { 100 } else { self.growth_to };
        for clients in [most / 100, most / 10, most] {
            let setting = Setting {
                clients,
                candidates: if self.quick { 50 } else { 1_000 },
                ..many
            };
            rows.extend(self.rows(&setting, None, false)?);
            rows.push(whole(&setting)?);
        }
        let nanoseconds_per_draw = half_share_nanoseconds(self.repetitions)?;
        let spu = spu::measure(self.python.as_deref(), candidates);
        let (spu, spu_missing) = match spu {
            Ok(spu) => (Some(spu), None),
            Err(reason) => (None, Some(reason)),
        };
        let report = Report {
            clock: cpu_clock::KIND,
            repetitions: self.repetitions,
            is_optimised: !cfg!(debug_assertions),
            is_quick: self.quick,
            load: [before, load()],
            rows,
            noise: Noise {
                nanoseconds_per_draw,
                goal_nanoseconds: 200.0,
                is_within_goal: nanoseconds_per_draw <= 200.0,
            },
            spu,
            spu_missing,
        };
        output.answer(&report, text);
        Ok(())
    }

    /// The gates of one trustee, all that it does, and what proofs of its gates add.
    fn rows(&self, setting: &Setting, goal: Goal, with_proof: bool) -> Result<Vec<Row>, Error> {
        let step = setting.step()?;
        let circuit = setting.circuit(&step)?;
        let gates = count(&circuit);
        let mut figures = Vec::new();
        for _ in 0..self.repetitions {
            figures.push(evaluated(&circuit)?.as_secs_f64() * 1e3 / 3.0);
        }
        let milliseconds = cpu_clock::median(figures);
        let mut rows = vec![Row {
            rounds: Some(gates.rounds),
            ..with_bytes(setting, "gates", (milliseconds, gates.bytes), goal)
        }];
        if with_proof {
            let cost = count_proof(&circuit);
            drop(circuit);
            let proved = whole_step(setting, step.clone().proved())?;
            let plain = whole_step(setting, step.clone())?;
            rows.push(trustee(setting, &step, (gates, plain), goal)?);
            let milliseconds = proved.saturating_sub(plain).as_secs_f64() * 1e3 / 3.0;
            rows.push(Row {
                megabytes_sent: Some(cost.bytes as f64 / 1e6),
                rounds: Some(cost.rounds),
                ..row(setting, "proof", milliseconds)
            });
        }
        Ok(rows)
    }
}

/// All that one trustee does in a whole choice that took `plain`, where gates are not proved.
fn trustee(
    setting: &Setting,
    step: &Step,
    (gates, plain): (CircuitCost, Duration),
    goal: Goal,
) -> Result<Row, Error> {
    let of_three = plain.saturating_sub(uploads(setting, step)?);
    let milliseconds = (of_three.as_secs_f64() / 3.0 + drawing(setting)?.as_secs_f64()) * 1e3;
    let dealt = u64::from(step.noise_bits()) * u64::from(step.lanes().div_ceil(64)) * 8;
    // The goal of an argmax is that of its gates: what it adds up is there already.
    let goal = goal.filter(|_| setting.clients > 1);
    Ok(Row {
        // The deal, the layers and the opening.
        rounds: Some(gates.rounds + 2),
        ..with_bytes(
            setting,
            "trustee",
            (milliseconds, gates.bytes + dealt),
            goal,
        )
    })
}

fn with_bytes(
    setting: &Setting,
    work: &'static str,
    (milliseconds, bytes): (f64, u64),
    goal: Goal,
) -> Row {
    let megabytes = bytes as f64 / 1e6;
    Row {
        cpu_goal_milliseconds: goal.map(|(milliseconds, _)| milliseconds),
        megabytes_sent: Some(megabytes),
        megabytes_goal: goal.map(|(_, megabytes)| megabytes),
        is_within_goal: goal.map(|goal| milliseconds <= goal.0 && megabytes <= goal.1),
        ..row(setting, work, milliseconds)
    }
}

fn whole(setting: &Setting) -> Result<Row, Error> {
    let time = whole_step(setting, setting.step()?)?;
    Ok(row(setting, "whole", time.as_secs_f64() * 1e3))
}

fn row(setting: &Setting, work: &'static str, milliseconds: f64) -> Row {
    let numbers = f64::from(setting.clients) * f64::from(setting.candidates);
    Row {
        setting: setting.name(),
        work,
        cpu_milliseconds: milliseconds,
        cpu_goal_milliseconds: None,
        nanoseconds_per_number: milliseconds * 1e6 / numbers,
        megabytes_sent: None,
        megabytes_goal: None,
        rounds: None,
        is_within_goal: None,
    }
}

/// The load of the last minute, where the system tells it in a file.
fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

fn text(report: &Report) -> String {
    let head = [
        "setting",
        "work",
        "CPU ms",
        "goal",
        "ns per number",
        "MB sent",
        "goal",
        "rounds",
        "within goal",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let number = |value: Option<f64>, digits: usize| {
        value.map_or_else(String::new, |value| format!("{value:.digits$}"))
    };
    rows.extend(report.rows.iter().map(|row| {
        let verdict = row.is_within_goal.map(yes_or_no);
        vec![
            row.setting.clone(),
            row.work.to_owned(),
            number(Some(row.cpu_milliseconds), 1),
            number(row.cpu_goal_milliseconds, 0),
            number(Some(row.nanoseconds_per_number), 2),
            number(row.megabytes_sent, 2),
            number(row.megabytes_goal, 0),
            row.rounds
                .map_or_else(String::new, |rounds| rounds.to_string()),
            verdict.unwrap_or_default().to_owned(),
        ]
    }));
    let mut text = format!(
        "{}; gates: median of {}; load of the machine: {} before, {} after\n{}",
        report.clock,
        report.repetitions,
        number(report.load[0], 2),
        number(report.load[1], 2),
        table(&rows)
    );
    text += "gates: one trustee, from shared bits to the opening; trustee: all that one trustee does without proofs; proof: what proving them adds for one trustee;\n\
             whole: all clients and trustees together\n";
    let noise = &report.noise;
    text += &format!(
        "half share of Euler noise, rate 1/128: {:.0} ns a draw (goal {:.0}, within goal: {})\n",
        noise.nanoseconds_per_draw,
        noise.goal_nanoseconds,
        yes_or_no(noise.is_within_goal)
    );
    text += &match (&report.spu, &report.spu_missing) {
        (Some(spu), _) => spu.text(),
        (None, reason) => format!(
            "\nSPU WAS NOT MEASURED: {}.\nThe figures above are ours only. To compare: pip install spu==0.9.5 into a virtual \
             environment and give its Python as --python.\n",
            reason.as_deref().unwrap_or("no reason is known")
        ),
    };
    if report.is_quick {
        text += "--quick: a trial of the command, its figures mean nothing\n";
    }
    if !report.is_optimised {
        text += "this build is not optimised, so the figures mean nothing: use --release\n";
    }
    text
}

const fn yes_or_no(is_within: bool) -> &'static str {
    if is_within { "yes" } else { "no" }
}
