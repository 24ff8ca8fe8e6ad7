//! `demo`: a whole private study on generated data, in one process and without services.

use std::path::{Path, PathBuf};

use clap::Args;
use sprifed::{DemoAnswer, PartyKey};
use sprifed_report::table;

use crate::entropy::fresh_bits;
use crate::failure::Failure;
use crate::files::{Destination, Overwrite};
use crate::output::Output;
use crate::progress::Progress;

/// `demo`.
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// The folder for the report.
    #[arg(long, default_value = "sprifed-demo")]
    out: PathBuf,
    /// The seed of the generated data. The noise is always secret.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Demo {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let mut progress = None;
        let key = PartyKey::assume_fresh_entropy(fresh_bits()?);
        let mut answer = DemoAnswer::run(&key, self.seed, |sums| {
            let progress = progress.get_or_insert_with(|| Progress::start("sums", sums as u64));
            progress.advance();
        })?;
        progress.iter().for_each(Progress::finish);
        std::fs::create_dir_all(&self.out).map_err(|error| {
            Failure::environment(
                "sprifed::file::unwritable",
                format!("{} cannot be made: {error}", self.out.display()),
                "choose another folder with --out",
            )
        })?;
        let path = self.out.join("report.html");
        Destination::reserve(&path, Overwrite::Forced, &[])?.write(&answer.to_page().to_html())?;
        answer.report = Some(path);
        output.answer(&answer, to_text);
        Ok(())
    }
}

fn to_text(answer: &DemoAnswer) -> String {
    let mut rows = vec![
        [
            "feature",
            "true coefficient",
            "found",
            "noise alone (2 std devs, about 95 %)",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
    for bar in &answer.coefficients {
        let noise = bar
            .noise_std_dev
            .map_or("-".to_owned(), |noise| format!("± {:.3}", 2.0 * noise));
        rows.push(vec![
            bar.name.clone(),
            number(bar.truth),
            number(bar.found),
            noise,
        ]);
    }
    format!(
        "{}\n\n{} clients with {} records of {} features; {} matter.\n\
         found {}; their coefficients beside the true ones:\n\n{}\n\
         test R2 {:.3} (predicting zero: 0); test MSE {:.3}, null model {:.3}\n\
         the report is in {}",
        answer.guarantee.statement,
        answer.clients,
        answer.records,
        answer.features,
        answer.sparsity,
        answer.found_words(),
        table(&rows),
        answer.test_r2,
        answer.test_mse,
        answer.null_mse,
        answer.report.as_deref().unwrap_or(Path::new("")).display(),
    )
}
