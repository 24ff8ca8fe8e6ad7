//! `demo`: a whole private study on generated data, in one process and without services.

use std::path::PathBuf;

use clap::Args;
use sprifed::{Backend, DemoAnswer, Secret};
use sprifed_party::{Destination, Overwrite};

use crate::choices::backends;
use crate::entropy::fresh_bits;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;

/// `demo`.
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// The folder for the report.
    #[arg(long, default_value = "sprifed-demo")]
    out: PathBuf,
    /// Who adds up the records and adds the noise.
    #[arg(long, default_value = Backend::SecureSum.text(), value_parser = backends())]
    backend: Backend,
    /// The seed of the generated data. The noise is always secret.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Demo {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let mut progress = None;
        let secret = Secret::assume_fresh_entropy(self.backend, fresh_bits()?);
        let mut answer = DemoAnswer::run(secret, self.seed, |steps| {
            let progress = progress.get_or_insert_with(|| Progress::start("steps", steps as u64));
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
        output.answer(&answer, DemoAnswer::text);
        Ok(())
    }
}
