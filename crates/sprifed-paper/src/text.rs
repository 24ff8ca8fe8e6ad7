//! Answers for people to read.

use sprifed::{KeptFeatures, Seeking};
use sprifed_privacy::{counted, shown_cost, shown_delta, shown_to};
use sprifed_report::table;

use crate::audit::{AuditAnswer, AuditedPoint};
use crate::run_plan::RunPlanAnswer;
use crate::trials::{AnyGuarantee, Priced, TrialsAnswer, TunedAnswer, TunedSummary};

impl AuditAnswer {
    /// The verdict, what was audited, and the bounds beside the claims.
    #[must_use]
    pub fn text(&self) -> String {
        audit_text(self)
    }
}

impl RunPlanAnswer {
    /// The guarantee, the sizes, and the first and last sums.
    #[must_use]
    pub fn text(&self) -> String {
        run_plan_text(self)
    }
}

impl TrialsAnswer {
    /// What the trials promised and found.
    #[must_use]
    pub fn text(&self) -> String {
        trials_text(self)
    }
}

impl TunedAnswer {
    /// What the trials found with a search that is free, and with one that is charged.
    #[must_use]
    pub fn text(&self) -> String {
        tuned_text(self)
    }
}

/// A delta for people: a decimal fraction, unless it is very small.
fn delta_words(delta: f64) -> String {
    if delta < 1e-3 {
        shown_delta(delta)
    } else {
        shown_cost(delta)
    }
}

/// A lower bound for people: four decimals, rounded down.
fn shown_bound(bound: f64) -> String {
    ((bound * 1e4).floor() / 1e4).to_string()
}

fn audit_text(answer: &AuditAnswer) -> String {
    let row = |point: &AuditedPoint| {
        vec![
            delta_words(point.delta),
            shown_cost(point.claimed_epsilon),
            shown_bound(point.least_epsilon),
        ]
    };
    let heading = ["delta", "claimed epsilon", "epsilon at least"];
    let rows = [
        heading.map(str::to_owned).to_vec(),
        row(&answer.at_budget),
        row(&answer.at_best),
    ];
    format!(
        "Verdict   {}\nAudited   {}, {} unit, {}, backend {}\nTrials    {} fits of each of two \
         neighbouring tables\nLevel     {}: a correct system passes with at least this \
         probability\n\n{}\nThe first row is the budget's delta, the second the delta at which the \
         tables are told apart best.\nA bound below its claim proves nothing; one above its claim \
         shows a bug.",
        answer.verdict.text(),
        answer.procedure,
        answer.unit.text(),
        answer.neighbours.text(),
        answer.backend.text(),
        answer.trials,
        answer.level,
        table(&rows),
    )
}

fn run_plan_text(plan: &RunPlanAnswer) -> String {
    let (guarantee, participation) = (&plan.guarantee, plan.participation);
    format!(
        "{}.\n\n\
         {} sums, {} integers, {} bits each (modulus at least {}); {} bytes uploaded by each client\n\
         {} clients, {} must stay, {} may collude: {} honest noise shares are certain\n\
         mu = {}, slack = {}\n\n{}",
        guarantee.statement,
        plan.rounds,
        plan.coordinates,
        plan.modulus.bits,
        plan.modulus.least,
        plan.upload_bytes,
        participation.clients(),
        participation.quorum(),
        participation.colluders(),
        plan.honest,
        guarantee.mu.get(),
        shown_cost(guarantee.slack),
        sums_table(plan)
    )
}

/// The first sums and the last; those between are like them.
fn sums_table(plan: &RunPlanAnswer) -> String {
    let heading = [
        "sum",
        "block",
        "integers",
        "bound",
        "share variance",
        "mu of the sum",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    let last = plan.sums.len() - 1;
    for (index, sum) in plan.sums.iter().enumerate() {
        if index > 2 && index < last {
            if index == 3 {
                rows.push(vec!["…".to_owned()]);
            }
            continue;
        }
        for (position, block) in sum.blocks.iter().enumerate() {
            let on_first = |text: String| if position == 0 { text } else { String::new() };
            rows.push(vec![
                on_first((index + 1).to_string()),
                block.block.clone(),
                block.coordinates.to_string(),
                block.bound.to_string(),
                format!("{:.4}", block.share_variance.to_f64()),
                on_first(sum.mu.shown()),
            ]);
        }
    }
    table(&rows)
}

fn trials_text(answer: &TrialsAnswer) -> String {
    let trials = &answer.simulation;
    let statement = match &trials.guarantee {
        AnyGuarantee::Certified(guarantee) => guarantee.statement.clone(),
        AnyGuarantee::None(guarantee) => guarantee.statement.to_owned(),
        AnyGuarantee::Nominal(guarantee) => {
            let delivered = guarantee.delivered.as_ref();
            format!(
                "{}: claimed epsilon {}; delivered {} (zero-out), {} (replace-one), at delta {}",
                guarantee.label,
                shown_to(guarantee.claimed.epsilon.get(), 2),
                epsilon_of(delivered.and_then(|delivered| delivered.zero_out)),
                epsilon_of(delivered.and_then(|delivered| delivered.replace_one)),
                guarantee.claimed.delta,
            )
        }
    };
    let intervals = match (&trials.coverage, &trials.width) {
        (Some(coverage), Some(width)) => format!(
            "{:.3} of those of kept features cover (standard error {:.3}); mean width {:.3}",
            coverage.mean, coverage.std_error, width.mean
        ),
        _ => "none were reported".to_owned(),
    };
    let odds = match (&trials.deviance_share, &trials.auc) {
        (Some(deviance), Some(auc)) => format!(
            "odds        share of the explainable deviance {:.3} (standard error {:.3}); AUC {:.3}\n",
            deviance.mean, deviance.std_error, auc.mean
        ),
        _ => String::new(),
    };
    let times = match (&trials.deviance_share, &trials.concordance) {
        (Some(deviance), Some(concordance)) => format!(
            "times       share of the explainable deviance {:.3} (standard error {:.3}); concordance {:.3}\n",
            deviance.mean, deviance.std_error, concordance.mean
        ),
        _ => String::new(),
    };
    let too_few = too_few_text(answer);
    let theorem = answer.theorem;
    let theorem = theorem.map_or_else(String::new, |words| format!("\n{words}"));
    format!(
        "procedure {}\n{statement}\n\n\
         {too_few}recovered   {:.2} of {} on average (share {:.3}, standard error {:.3})\n\
         kept        {:.2} of at most {} on average; share of false ones {:.3} (standard error {:.3})\n\
         intervals   {intervals}\n\
         test MSE    mean {:.4}, median {:.4}; predicting zero: {:.4}\n\
         test R2     mean {:.3}, median {:.3}; predicting zero: 0\n\
         {odds}{times}{} of n = {}, p = {}; {:.2} s each{theorem}",
        trials.procedure,
        trials.recovered.mean,
        counted(trials.support, "true feature", "true features"),
        trials.recovered_share.mean,
        trials.recovered_share.std_error,
        trials.kept.mean,
        counted(trials.sparsity, "feature", "features"),
        trials.false_share.mean,
        trials.false_share.std_error,
        trials.test_mse.mean,
        trials.test_mse.median,
        trials.null_mse,
        trials.test_r2.mean,
        trials.test_r2.median,
        counted(trials.trials, "trial", "trials"),
        trials.records,
        trials.features,
        trials.seconds_per_trial.unwrap_or(f64::NAN),
    )
}

/// Why nothing, or nothing of worth, is kept, if the records are too few to seek features.
fn too_few_text(answer: &TrialsAnswer) -> String {
    let trials = &answer.simulation;
    let below = trials
        .seeking
        .filter(|seeking| (trials.records as u64) < seeking.fewest_records);
    let Some(Seeking {
        keep,
        fewest_records,
    }) = below
    else {
        return String::new();
    };
    let instead = match keep {
        KeptFeatures::Significant => "no feature is sought, and each model is the mean",
        KeptFeatures::Exactly => {
            "features are as good as picked at random, without intervals and p-values"
        }
    };
    format!(
        "too few     {} needs at least {fewest_records} records at this budget: {instead}\n",
        trials.procedure
    )
}

fn epsilon_of(priced: Option<Priced>) -> String {
    priced.map_or("none".to_owned(), |priced| {
        shown_to(priced.epsilon.get(), 2)
    })
}

fn tuned_text(answer: &TunedAnswer) -> String {
    let line = |name: &str, row: Option<&TunedSummary>| {
        let Some(row) = row else {
            return format!("{name:<9} none: the paper's noise has no guarantee to charge against");
        };
        let promised = row.guarantee.as_ref();
        let promised = promised.map(|guarantee| guarantee.statement.as_str());
        format!(
            "{name:<9} recovered {:.2} of {} (share {:.3}, standard error {:.3}); median test \
             MSE {:.4}, predicting zero {:.4}\n          {}",
            row.recovered.mean,
            answer.sparsity,
            row.recovered_share.mean,
            row.recovered_share.std_error,
            row.test_mse.median,
            row.null_mse,
            promised
                .or(row.statement)
                .unwrap_or_default()
                .replace('\n', "\n          "),
        )
    };
    format!(
        "{} in each of {}\n\n{}\n{}",
        counted(answer.candidates, "candidate", "candidates"),
        counted(answer.trials, "trial", "trials"),
        line("free", Some(&answer.free)),
        line("charged", answer.charged.as_ref())
    )
}
