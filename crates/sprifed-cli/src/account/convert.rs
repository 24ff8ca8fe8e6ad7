//! `account delta`, `account epsilon` and `account mu`.

use clap::Args;
use sprifed::account::{Currency, MuAnswer};
use sprifed_privacy::{ApproxDp, ClipNorm, Delta, Epsilon, IllegalQuantity, Mu, Rho};

use crate::failure::Failure;
use crate::output::Output;

pub(crate) fn parse_quantity<Q: TryFrom<f64, Error = IllegalQuantity>>(
    text: &str,
) -> Result<Q, String> {
    let number: f64 = text
        .parse()
        .map_err(|_| "not a number; write a decimal such as 0.5 or 1e-6".to_owned())?;
    Q::try_from(number).map_err(|error| error.to_string())
}

/// The epsilon of a budget, which buys nothing at 0.
pub(crate) fn parse_epsilon(text: &str) -> Result<Epsilon, String> {
    match text.parse::<f64>() {
        Ok(0.0) => Err("--epsilon must be greater than 0".to_owned()),
        _ => parse_quantity(text),
    }
}

/// One of the two currencies.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct CurrencyArguments {
    /// mu of Gaussian differential privacy.
    #[arg(long, value_parser = parse_quantity::<Mu>, allow_hyphen_values = true)]
    mu: Option<Mu>,
    /// rho of zero-concentrated differential privacy.
    #[arg(long, value_parser = parse_quantity::<Rho>, allow_hyphen_values = true)]
    rho: Option<Rho>,
}

impl CurrencyArguments {
    fn read(&self) -> Currency {
        match (self.mu, self.rho) {
            (Some(mu), _) => Currency::Gaussian(mu),
            (None, Some(rho)) => Currency::Concentrated(rho),
            (None, None) => unreachable!("the group is required"),
        }
    }
}

/// `account delta`.
#[derive(Args, Debug)]
pub(crate) struct ToDelta {
    #[command(flatten)]
    currency: CurrencyArguments,
    /// The epsilon, zero or more.
    #[arg(long, value_parser = parse_quantity::<Epsilon>, allow_hyphen_values = true)]
    epsilon: Epsilon,
}

impl ToDelta {
    pub(crate) fn answer(&self, output: &Output) -> Result<(), Failure> {
        let answer = self.currency.read().delta_at(self.epsilon);
        output.answer(&answer, |answer| {
            format!(
                "delta = {:e}  (ln delta = {}; delta is rounded up)",
                answer.delta, answer.log_delta
            )
        });
        Ok(())
    }
}

/// `account epsilon`.
#[derive(Args, Debug)]
pub(crate) struct ToEpsilon {
    #[command(flatten)]
    currency: CurrencyArguments,
    /// The delta, strictly between 0 and 1.
    #[arg(long, value_parser = parse_quantity::<Delta>, allow_hyphen_values = true)]
    delta: Delta,
}

impl ToEpsilon {
    pub(crate) fn answer(&self, output: &Output) -> Result<(), Failure> {
        let answer = self.currency.read().epsilon_at(self.delta);
        output.answer(&answer, |answer| {
            format!(
                "epsilon = {} at delta = {} (rounded up)",
                answer.epsilon, answer.delta
            )
        });
        Ok(())
    }
}

/// `account mu`.
#[derive(Args, Debug)]
pub(crate) struct ToMu {
    /// The epsilon, zero or more.
    #[arg(long, value_parser = parse_quantity::<Epsilon>, allow_hyphen_values = true)]
    epsilon: Epsilon,
    /// The delta, strictly between 0 and 1.
    #[arg(long, value_parser = parse_quantity::<Delta>, allow_hyphen_values = true)]
    delta: Delta,
    /// The norm to which contributions are clipped; prints the noise for both relations.
    #[arg(long, value_parser = parse_quantity::<ClipNorm>, allow_hyphen_values = true)]
    sensitivity: Option<ClipNorm>,
}

impl ToMu {
    pub(crate) fn answer(&self, output: &Output) -> Result<(), Failure> {
        let target = ApproxDp::new(self.epsilon, self.delta);
        let answer = MuAnswer::within(target, self.sensitivity)?;
        output.answer(&answer, |answer| {
            let mut text = format!("mu = {} (rounded down)", answer.mu);
            if let Some(rho) = answer.rho {
                text += &format!("\nrho = {rho} (zCDP, rounded down)");
            }
            if let Some(noise) = answer.noise_std_dev {
                text += &format!(
                    "\nnoise std dev = {} (zero-out), {} (replace-one)",
                    noise.zero_out, noise.replace_one
                );
            }
            text
        });
        Ok(())
    }
}
