//! `account compose`: several releases together, by every route there is.

use std::num::NonZeroU32;

use clap::Args;
use sprifed::account::ComposeAnswer;
use sprifed_privacy::{Delta, IllegalQuantity, Mu, RangeBound};

use crate::account::convert::parse_quantity;
use crate::failure::Failure;
use crate::output::Output;

/// A cost and how often it is spent: `0.4x10`.
#[derive(Clone, Copy, Debug)]
struct Repeated<Q> {
    quantity: Q,
    count: NonZeroU32,
}

fn parse_repeated<Q: TryFrom<f64, Error = IllegalQuantity>>(
    text: &str,
) -> Result<Repeated<Q>, String> {
    let (number, count) = text.split_once('x').unwrap_or((text, "1"));
    let count = count
        .parse::<NonZeroU32>()
        .ok()
        .filter(|count| count.get() <= 1_000_000);
    let count = count.ok_or("the count after x must be between 1 and 1000000, as in 0.4x10")?;
    Ok(Repeated {
        quantity: parse_quantity(number)?,
        count,
    })
}

/// `account compose`.
#[derive(Args, Debug)]
pub(crate) struct Releases {
    /// A Gaussian release, optionally repeated: 0.4 or 0.4x10.
    #[arg(long, value_parser = parse_repeated::<Mu>, allow_hyphen_values = true)]
    mu: Vec<Repeated<Mu>>,
    /// A selection by the exponential mechanism of this range, optionally repeated.
    #[arg(long, value_parser = parse_repeated::<RangeBound>, allow_hyphen_values = true)]
    range: Vec<Repeated<RangeBound>>,
    /// The delta, strictly between 0 and 1.
    #[arg(long, value_parser = parse_quantity::<Delta>, allow_hyphen_values = true)]
    delta: Delta,
}

impl Releases {
    pub(crate) fn answer(&self, output: &Output) -> Result<(), Failure> {
        let pair = |mu: &Repeated<Mu>| (mu.quantity, mu.count);
        let gaussian: Vec<_> = self.mu.iter().map(pair).collect();
        let range = |range: &Repeated<RangeBound>| (range.quantity, range.count);
        let selections: Vec<_> = self.range.iter().map(range).collect();
        let answer = ComposeAnswer::of(&gaussian, &selections, self.delta)?;
        let answer = answer.ok_or_else(|| {
            Failure::usage(
                "sprifed::account::nothing-to-compose",
                "no release was given, but at least one --mu or --range is required".to_owned(),
                "for example: sprifed account compose --mu 0.4x10 --delta 1e-6",
            )
        })?;
        output.answer(&answer, |answer| {
            let mut text = format!("epsilon = {} at delta = {}", answer.epsilon, answer.delta);
            text += " (rounded up; the smallest of the sound routes)";
            if let Some(mu) = answer.mu {
                text += &format!("\nmu of the Gaussian releases = {mu}");
            }
            text + &format!(
                "\nby zCDP alone: rho = {}, epsilon = {}",
                answer.rho, answer.epsilon_by_zcdp
            )
        });
        Ok(())
    }
}
