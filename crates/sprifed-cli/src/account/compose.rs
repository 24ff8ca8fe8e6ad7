//! `account compose`: several releases together, by every route there is.

use std::num::NonZeroU32;

use clap::Args;
use serde_json::json;
use sprifed_privacy::{Delta, IllegalQuantity, Mu, RangeBound, Rho, compose_selections};

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
        let gaussian = self.gaussian();
        let ranges: Vec<_> = self
            .range
            .iter()
            .map(|range| (range.quantity, range.count.get()))
            .collect();
        if self.mu.is_empty() && self.range.is_empty() {
            return Err(Failure::usage(
                "sprifed::account::nothing-to-compose",
                "no release was given, but at least one --mu or --range is required".to_owned(),
                "for example: sprifed account compose --mu 0.4x10 --delta 1e-6",
            ));
        }
        let rho = self.rho(gaussian)?;
        let guarantee = match gaussian {
            Some(mu) if ranges.is_empty() => mu.to_approx_dp(self.delta),
            _ => compose_selections(&ranges, gaussian, self.delta),
        };
        let concentrated = rho.to_approx_dp(self.delta);
        let answer = json!({
            "mu": gaussian, "rho": rho, "delta": self.delta, "epsilon": guarantee.epsilon(),
            "epsilon_by_zcdp": concentrated.epsilon(), "rounded": "up",
        });
        output.answer(&answer, |_| {
            let mut text = format!(
                "epsilon = {} at delta = {}",
                guarantee.epsilon(),
                self.delta
            );
            text += " (rounded up; the smallest of the sound routes)";
            if let Some(mu) = gaussian {
                text += &format!("\nmu of the Gaussian releases = {mu}");
            }
            text + &format!(
                "\nby zCDP alone: rho = {rho}, epsilon = {}",
                concentrated.epsilon()
            )
        });
        Ok(())
    }

    fn gaussian(&self) -> Option<Mu> {
        let repeated = self.mu.iter().map(|mu| mu.quantity.repeated(mu.count));
        repeated.reduce(Mu::compose)
    }

    fn rho(&self, gaussian: Option<Mu>) -> Result<Rho, IllegalQuantity> {
        let mut total = gaussian.map_or(0.0, |mu| mu.to_rho().get());
        for range in &self.range {
            total += f64::from(range.count.get()) * range.quantity.to_rho()?.get();
        }
        Rho::try_from(total)
    }
}
