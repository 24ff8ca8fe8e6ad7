//! `simulate --tune`: a baseline whose parameters are looked for, for free and within the budget.

use serde_json::{Value, json};
use sprifed_fit::certified_guarantee;
use sprifed_paper::{AnyMethod, Tuned, candidates, tune_charged, tune_for_free};
use sprifed_privacy::ApproxDp;
use sprifed_privacy::NoiseOrigin;
use sprifed_simulate::{Summary, TrialOutcome, World};

use super::Simulate;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;

impl Simulate {
    /// Tunes in every trial anew and reports both rows.
    pub(super) fn run_tuned(
        &self,
        method: &AnyMethod,
        count: u32,
        output: &Output,
    ) -> Result<(), Failure> {
        let request = self.world.request()?;
        let budget = ApproxDp::new(self.epsilon, self.delta);
        let relation = self.neighbours.relation();
        let (AnyMethod::Baseline { baseline, .. } | AnyMethod::PaperBaseline { baseline, .. }) =
            method
        else {
            return Err(Failure::usage(
                "sprifed::simulate::nothing-to-tune",
                format!(
                    "--tune is given, but {} has no parameters to look for",
                    self.procedure.name
                ),
                "leave it out, or choose dp-sgd, dp-gcd, paper-dp-sgd or paper-dp-gcd",
            ));
        };
        let tried = candidates(*baseline, request.sparsity, count);
        let per_vector = self.per_vector()?;
        let (mut free, mut charged): (Vec<TrialOutcome>, Vec<TrialOutcome>) = Default::default();
        let mut guarantee = Value::Null;
        if let AnyMethod::Baseline { setting, .. } = method {
            let spending = Tuned::plan(setting, &tried)?.spending()?;
            guarantee = certified_guarantee(&spending, NoiseOrigin::Curator, self.delta, relation);
        }
        let progress = Progress::start("trials", self.trials);
        for trial in 0..self.trials {
            let seed = self.seed.wrapping_add(trial);
            let world = World::generate(request, seed);
            let row = if let AnyMethod::Baseline { .. } = method {
                charged.push(tune_charged(&tried, &world, budget, relation, seed)?.outcome);
                let certified =
                    |baseline| AnyMethod::baseline(baseline, &request, budget, relation);
                tune_for_free(&tried, certified, &world, seed)?
            } else {
                let published =
                    |baseline| AnyMethod::paper_baseline(baseline, &request, per_vector, self.mu_s);
                tune_for_free(&tried, published, &world, seed)?
            };
            free.push(row.outcome);
            progress.advance();
        }
        progress.finish();
        let mut answer = json!({
            "procedure": self.procedure.name, "records": request.records,
            "features": request.features, "sparsity": request.sparsity,
            "trials": self.trials, "seed": self.seed, "candidates": count,
            "free": row_of(&free, request.sparsity),
            "charged": null,
        });
        answer["free"]["statement"] = json!(FREE);
        if !charged.is_empty() {
            answer["charged"] = row_of(&charged, request.sparsity);
            answer["charged"]["guarantee"] = guarantee;
        }
        output.answer(&answer, |answer| to_text(answer, request.sparsity));
        Ok(())
    }
}

const FREE: &str = "NOT PRIVATE at the stated budget: every candidate spent all of it, and the best \
                    was chosen by its test error";

fn row_of(outcomes: &[TrialOutcome], sparsity: usize) -> Value {
    let summary = Summary::of(outcomes, sparsity);
    json!({
        "recovered": summary.recovered, "recovered_share": summary.recovered_share,
        "test_mse": summary.test_mse, "test_r2": summary.test_r2, "null_mse": summary.null_mse,
    })
}

fn to_text(answer: &Value, sparsity: usize) -> String {
    let number = |row: &Value, of: &str, what: &str| row[of][what].as_f64().unwrap_or(f64::NAN);
    let line = |name: &str| {
        let row = &answer[name];
        if row.is_null() {
            return format!("{name:<9} none: the paper's noise has no guarantee to charge against");
        }
        let guarantee = row["guarantee"]["statement"].as_str();
        format!(
            "{name:<9} recovered {:.2} of {sparsity} (share {:.3}, standard error {:.3}); median test \
             MSE {:.4}, predicting zero {:.4}\n          {}",
            number(row, "recovered", "mean"),
            number(row, "recovered_share", "mean"),
            number(row, "recovered_share", "std_error"),
            number(row, "test_mse", "median"),
            row["null_mse"].as_f64().unwrap_or(f64::NAN),
            guarantee
                .or(row["statement"].as_str())
                .unwrap_or_default()
                .replace('\n', "\n          "),
        )
    };
    format!(
        "{} candidates in each of {} trials\n\n{}\n{}",
        answer["candidates"],
        answer["trials"],
        line("free"),
        line("charged")
    )
}
