//! `simulate`: repeated trials on generated data.

use std::time::Instant;

use clap::Args;
use sprifed::keep;
use sprifed_paper::{
    GivenParameters, NamedContender, TrialsAnswer, TrialsError, TrialsRequest, TunedAnswer,
};
use sprifed_privacy::{ApproxDp, Delta, Epsilon, Mu, Relation};
use sprifed_recovery::InferenceMethod;

use crate::account::{parse_epsilon, parse_quantity};
use crate::choices::{ContenderRequest, auto_or_contenders, inferences, relations};
use crate::failure::{Explained, Failure};
use crate::output::Output;
use crate::progress::Progress;
use crate::study_arguments::{BackendArguments, WorldArguments};

/// `simulate`.
#[derive(Args, Debug)]
pub(crate) struct Simulate {
    /// The procedure.
    #[arg(long, value_parser = auto_or_contenders(), default_value = "auto")]
    procedure: ContenderRequest,
    #[command(flatten)]
    backend: BackendArguments,
    /// Of secure sums: the share of clients that leaves each sum, half of them before they upload.
    #[arg(long, default_value_t = 0.0)]
    dropouts: f64,
    #[command(flatten)]
    world: WorldArguments,
    /// By which records the coefficients of the selected features are estimated.
    #[arg(long, value_parser = inferences(), default_value = "selective")]
    inference: InferenceMethod,
    #[command(flatten)]
    baseline: BaselineArguments,
    /// Baselines: look for parameters among this many candidates, for free as in the paper and, with
    /// certified noise, also within the budget. Two rows are reported.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    tune: Option<u32>,
    /// Epsilon of the budget; for certified procedures.
    #[arg(long, value_parser = parse_epsilon, default_value = "5.34", allow_negative_numbers = true)]
    epsilon: Epsilon,
    /// Delta of the budget.
    #[arg(long, value_parser = parse_quantity::<Delta>, default_value = "1e-4", allow_negative_numbers = true)]
    delta: Delta,
    /// Which data sets count as neighbours.
    #[arg(long, value_parser = relations(), default_value = "zero-out")]
    neighbours: Relation,
    /// mu_p of the paper's procedures [default: 0.543 up to 5 active features, 0.4 above].
    #[arg(long, value_parser = parse_quantity::<Mu>, allow_negative_numbers = true)]
    mu_p: Option<Mu>,
    /// mu_s of the paper's procedures.
    #[arg(long, value_parser = parse_quantity::<Mu>, default_value = "0.02", allow_negative_numbers = true)]
    mu_s: Mu,
    /// How many trials.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    trials: u64,
    /// The seed of the first trial; trial k uses seed + k.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Parameters of dp-sgd, dp-gcd and their paper- twins; each has a documented default.
#[derive(Args, Clone, Debug)]
struct BaselineArguments {
    /// Baselines: how many steps.
    #[arg(long)]
    steps: Option<u32>,
    /// Baselines: how far a step goes; 1 is a full step for independent features of unit variance.
    #[arg(long, allow_negative_numbers = true)]
    step_size: Option<f64>,
    /// DP-SGD: the L1 weight, in standard deviations of a step's noise.
    #[arg(long, allow_negative_numbers = true)]
    penalty: Option<f64>,
    /// Certified baselines: the limit on a residual, in units of the response's scale.
    #[arg(long, allow_negative_numbers = true)]
    clip: Option<f64>,
    /// DP-SGD: the sampling rate of mini-batches. Refused, with the reason.
    #[arg(long, allow_negative_numbers = true)]
    batch_rate: Option<f64>,
}

impl Simulate {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let request = self.request()?;
        let progress = Progress::start("trials", self.trials);
        let start = Instant::now();
        if let Some(count) = self.tune {
            let answer = request
                .run_tuned(count, || progress.advance())
                .explained()?;
            progress.finish();
            output.answer(&answer, TunedAnswer::text);
            return Ok(());
        }
        let mut answer = request.run(|| progress.advance()).explained()?;
        progress.finish();
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 trials")]
        let seconds = start.elapsed().as_secs_f64() / self.trials.max(1) as f64;
        answer.simulation.seconds_per_trial = Some(seconds);
        output.answer(&answer, TrialsAnswer::text);
        Ok(())
    }

    /// What is asked, without the command line.
    fn request(&self) -> Result<TrialsRequest, Failure> {
        self.world.check()?;
        let BaselineArguments {
            steps,
            step_size,
            penalty,
            clip,
            batch_rate,
        } = self.baseline;
        Ok(TrialsRequest {
            contender: self.contender()?,
            backend: self.backend.request(),
            dropouts: self.dropouts,
            world: self.world.size(),
            keep: keep(self.world.exactly),
            robust: self.world.robust,
            inference: self.inference,
            parameters: GivenParameters {
                steps,
                step_size,
                penalty,
                clip,
                batch_rate,
            },
            budget: ApproxDp::new(self.epsilon, self.delta),
            relation: self.neighbours,
            per_vector: self.mu_p,
            per_support: self.mu_s,
            trials: self.trials,
            seed: self.seed,
        })
    }

    /// What runs: the contender that was named, or the procedure that is expected to do best.
    fn contender(&self) -> Result<NamedContender, Failure> {
        match self.procedure {
            ContenderRequest::Named(contender) => Ok(contender),
            ContenderRequest::Auto => {
                let budget = ApproxDp::new(self.epsilon, self.delta);
                let backend = self.backend.request();
                let choice = self.world.size().choose(backend, budget, self.neighbours)?;
                Ok(NamedContender::of(choice.procedure))
            }
        }
    }
}

impl<T> Explained<T> for Result<T, TrialsError> {
    fn explained(self) -> Result<T, Failure> {
        self.map_err(|error| {
            let message = error.to_string();
            let (code, message, help) = match error {
                TrialsError::Library(error) => return error.into(),
                TrialsError::NotOnSums { .. } => (
                    "sprifed::simulate::backend",
                    message,
                    "use the backend curator, or a certified procedure without --tune",
                ),
                TrialsError::NotRobust { .. } => (
                    "sprifed::simulate::not-robust",
                    message,
                    "leave --robust out, or choose a certified procedure without --tune",
                ),
                TrialsError::NothingToSplit { .. } => (
                    "sprifed::simulate::nothing-to-split",
                    message,
                    "leave --inference out, or choose a certified procedure without --tune",
                ),
                TrialsError::NothingToTune { name } => (
                    "sprifed::simulate::nothing-to-tune",
                    format!("--tune is given, but {name} has no parameters to look for"),
                    "leave it out, or choose dp-sgd, dp-gcd, paper-dp-sgd or paper-dp-gcd",
                ),
                TrialsError::Parameter(_) => (
                    "sprifed::simulate::no-such-parameter",
                    format!("--{message}"),
                    "leave it out, or choose a baseline that has it",
                ),
            };
            Failure::usage(code, message, help)
        })
    }
}
