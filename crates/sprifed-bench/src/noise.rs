//! `sprifed-bench noise`: the integer samplers, with ChaCha20 as the generator of all.

mod contestants;
#[cfg(feature = "peers")]
mod peers;

use clap::Args;
use num_rational::Ratio;
use serde::Serialize;
use sprifed_noise::NoiseParameterError;
use sprifed_report::table;

use crate::error::Error;
use crate::noise::contestants::{euler_half, floor_gumbel, gaussian, skellam};
use crate::output::Output;
use crate::stopwatch::{Contestant, race};

/// `sprifed-bench noise`.
#[derive(Args, Debug)]
pub(crate) struct Noise {
    /// How many turns each sampler gets; the fastest counts.
    #[arg(long, default_value_t = 9)]
    rounds: u32,
}

#[derive(Debug, Serialize)]
struct Report {
    rounds: u32,
    /// Whether other crates were measured too.
    has_peers: bool,
    /// Whether the figures mean anything.
    is_optimised: bool,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    law: String,
    sampler: &'static str,
    nanoseconds_per_draw: f64,
    draws_per_second: f64,
    /// Compared with our bulk draws of the same law.
    times_ours: f64,
    /// Only our own samplers have goals.
    goal_nanoseconds: Option<f64>,
    is_within_goal: Option<bool>,
}

/// Samplers of one law, ours first.
struct Race {
    law: String,
    goal_nanoseconds: Option<f64>,
    n_ours: usize,
    contestants: Vec<Contestant>,
}

impl Noise {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Error> {
        let mut rows = Vec::new();
        for race in races()? {
            rows.extend(race.run(self.rounds));
        }
        let report = Report {
            rounds: self.rounds,
            has_peers: cfg!(feature = "peers"),
            is_optimised: !cfg!(debug_assertions),
            rows,
        };
        output.answer(&report, to_text);
        Ok(())
    }
}

/// Nanoseconds per draw, in bulk, of a half share of Euler noise at rate 1/128.
pub(crate) fn half_share_nanoseconds(rounds: u32) -> Result<f64, NoiseParameterError> {
    let mut contestants = euler_half(Ratio::new(1, 128))?;
    let times = race(&mut contestants, rounds);
    Ok(times.first().copied().unwrap_or(f64::NAN))
}

fn races() -> Result<Vec<Race>, NoiseParameterError> {
    let mut races = Vec::new();
    for std_dev in [5u32, 25, 100, 1_000, 100_000] {
        #[cfg_attr(
            not(feature = "peers"),
            expect(unused_mut, reason = "the others are added to it")
        )]
        let mut contestants = gaussian(std_dev)?;
        let n_ours = contestants.len();
        #[cfg(feature = "peers")]
        contestants.extend(peers::gaussian(std_dev));
        races.push(Race {
            law: format!("discrete Gaussian, std dev {std_dev}"),
            goal_nanoseconds: Some(if std_dev <= 100 { 50.0 } else { 500.0 }),
            n_ours,
            contestants,
        });
    }
    for std_dev in [5u32, 25, 100, 1_000] {
        let contestants = skellam(std_dev)?;
        races.push(Race {
            law: format!("Skellam, std dev {std_dev}"),
            goal_nanoseconds: None,
            n_ours: contestants.len(),
            contestants,
        });
    }
    for inverse_rate in [100u32, 1_000, 10_000] {
        let contestants = floor_gumbel(Ratio::new(1, inverse_rate.into()))?;
        races.push(Race {
            law: format!("floor-Gumbel, rate 1/{inverse_rate}"),
            goal_nanoseconds: Some(300.0),
            n_ours: contestants.len(),
            contestants,
        });
    }
    for inverse_rate in [64u32, 128, 512, 2_048] {
        let contestants = euler_half(Ratio::new(1, inverse_rate.into()))?;
        races.push(Race {
            law: format!("half share of Euler noise, rate 1/{inverse_rate}"),
            goal_nanoseconds: (inverse_rate == 128).then_some(200.0),
            n_ours: contestants.len(),
            contestants,
        });
    }
    Ok(races)
}

impl Race {
    fn run(mut self, n_rounds: u32) -> Vec<Row> {
        let times = race(&mut self.contestants, n_rounds);
        let ours = times.first().copied().unwrap_or(f64::NAN);
        let rows = self.contestants.iter().zip(&times).enumerate();
        rows.map(|(place, (contestant, &nanoseconds))| {
            let goal_nanoseconds = self.goal_nanoseconds.filter(|_| place < self.n_ours);
            Row {
                law: self.law.clone(),
                sampler: contestant.name,
                nanoseconds_per_draw: nanoseconds,
                draws_per_second: 1e9 / nanoseconds,
                times_ours: nanoseconds / ours,
                goal_nanoseconds,
                is_within_goal: goal_nanoseconds.map(|goal| nanoseconds <= goal),
            }
        })
        .collect()
    }
}

fn to_text(report: &Report) -> String {
    let heading = [
        "law",
        "sampler",
        "ns per draw",
        "draws per second",
        "times ours",
        "goal",
        "within goal",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(report.rows.iter().map(|row| {
        let goal = row.goal_nanoseconds.map(|goal| format!("{goal} ns"));
        let is_within = row
            .is_within_goal
            .map(|is_within| if is_within { "yes" } else { "no" });
        vec![
            row.law.clone(),
            row.sampler.to_owned(),
            format!("{:.1}", row.nanoseconds_per_draw),
            format!("{:.2e}", row.draws_per_second),
            format!("{:.1}", row.times_ours),
            goal.unwrap_or_default(),
            is_within.unwrap_or_default().to_owned(),
        ]
    }));
    let mut text = table(&rows);
    text += &format!(
        "the fastest of {} turns each, with ChaCha20\n",
        report.rounds
    );
    if !report.has_peers {
        text +=
            "to measure other crates too: cargo run --release --features peers -- bench noise\n";
    }
    if !report.is_optimised {
        text += "this build is not optimised, so the figures mean nothing: use --release\n";
    }
    text
}
