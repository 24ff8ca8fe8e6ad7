//! `account delta`, `account epsilon` and `account mu`.

use clap::Args;
use serde_json::json;
use sprifed_privacy::{ApproxDp, Delta, Epsilon, IllegalQuantity, Mu, Relation, Rho};

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

/// One of the two currencies.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct Currency {
    /// mu of Gaussian differential privacy.
    #[arg(long, value_parser = parse_quantity::<Mu>, allow_hyphen_values = true)]
    mu: Option<Mu>,
    /// rho of zero-concentrated differential privacy.
    #[arg(long, value_parser = parse_quantity::<Rho>, allow_hyphen_values = true)]
    rho: Option<Rho>,
}

/// `account delta`.
#[derive(Args, Debug)]
pub(crate) struct ToDelta {
    #[command(flatten)]
    currency: Currency,
    /// The epsilon, zero or more.
    #[arg(long, value_parser = parse_quantity::<Epsilon>, allow_hyphen_values = true)]
    epsilon: Epsilon,
}

impl ToDelta {
    pub(crate) fn answer(&self, output: &Output) -> Result<(), Failure> {
        let log_delta = match (self.currency.mu, self.currency.rho) {
            (Some(mu), _) => mu.log_delta(self.epsilon),
            (None, Some(rho)) => rho.log_delta(self.epsilon),
            (None, None) => unreachable!("the group is required"),
        };
        // Towards the weaker claim, also where a double can not hold so small a number.
        let delta = (log_delta.exp() * (1.0 + 1e-12)).clamp(f64::MIN_POSITIVE, 1.0);
        let answer = json!({
            "mu": self.currency.mu, "rho": self.currency.rho, "epsilon": self.epsilon,
            "delta": delta, "log_delta": log_delta, "rounded": "up",
        });
        output.answer(&answer, |_| {
            format!("delta = {delta:e}  (ln delta = {log_delta}; delta is rounded up)")
        });
        Ok(())
    }
}

/// `account epsilon`.
#[derive(Args, Debug)]
pub(crate) struct ToEpsilon {
    #[command(flatten)]
    currency: Currency,
    /// The delta, strictly between 0 and 1.
    #[arg(long, value_parser = parse_quantity::<Delta>, allow_hyphen_values = true)]
    delta: Delta,
}

impl ToEpsilon {
    pub(crate) fn answer(&self, output: &Output) -> Result<(), Failure> {
        let guarantee = match (self.currency.mu, self.currency.rho) {
            (Some(mu), _) => mu.to_approx_dp(self.delta),
            (None, Some(rho)) => rho.to_approx_dp(self.delta),
            (None, None) => unreachable!("the group is required"),
        };
        let answer = json!({
            "mu": self.currency.mu, "rho": self.currency.rho, "delta": self.delta,
            "epsilon": guarantee.epsilon(), "rounded": "up",
        });
        output.answer(&answer, |_| {
            format!(
                "epsilon = {} at delta = {} (rounded up)",
                guarantee.epsilon(),
                self.delta
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
    #[arg(long, value_parser = parse_quantity::<sprifed_privacy::ClipNorm>, allow_hyphen_values = true)]
    sensitivity: Option<sprifed_privacy::ClipNorm>,
}

impl ToMu {
    pub(crate) fn answer(&self, output: &Output) -> Result<(), Failure> {
        let target = ApproxDp::new(self.epsilon, self.delta);
        let mu = Mu::largest_within(target)?;
        let rho = (self.epsilon.get() > 0.0)
            .then(|| Rho::largest_within(target))
            .transpose()?;
        let noise = self
            .sensitivity
            .map(|clip| -> Result<_, IllegalQuantity> {
                let zero_out = clip.sum_sensitivity(Relation::ZeroOut).noise_for(mu)?;
                let replace_one = clip.sum_sensitivity(Relation::ReplaceOne).noise_for(mu)?;
                Ok((zero_out, replace_one))
            })
            .transpose()?;
        let answer = json!({
            "epsilon": self.epsilon, "delta": self.delta, "mu": mu, "rho": rho, "rounded": "down",
            "noise_std_dev": noise.map(|(zero_out, replace_one)| {
                json!({ "zero-out": zero_out, "replace-one": replace_one })
            }),
        });
        output.answer(&answer, |_| {
            let mut text = format!("mu = {mu} (rounded down)");
            if let Some(rho) = rho {
                text += &format!("\nrho = {rho} (zCDP, rounded down)");
            }
            if let Some((zero_out, replace_one)) = noise {
                text += &format!(
                    "\nnoise std dev = {zero_out} (zero-out), {replace_one} (replace-one)"
                );
            }
            text
        });
        Ok(())
    }
}
