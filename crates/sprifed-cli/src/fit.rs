//! `fit`: a private sparse fit of a local table.
//!
//! The order of things is the point: everything that can be wrong with the command, the schema, the
//! table or the place of the output is found before the ledger is opened, so a refusal spends
//! nothing.

mod release;
mod report;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use clap::Args;
use sprifed::{
    Error, Evaluation, FitReport, Model, Request, Score, Secret, Study, require_columns,
};
use sprifed_privacy::{Delta, Epsilon, Relation};
use sprifed_recovery::CertifiedProcedure;
use sprifed_schema::Schema;
use sprifed_tables::{DataError, LoadCounts, Table, read_schema, read_table};

use crate::account::parse_quantity;
use crate::choices::{procedures, relations, table_help};
use crate::entropy::fresh_bits;
use crate::failure::Failure;
use crate::files::{Destination, is_same_file};
use crate::ledger::{LedgerArguments, refuse_accounted};
use crate::model::receipts_at;
use crate::output::Output;
use crate::study_arguments::BackendArguments;

use self::report::to_text;

/// `fit`.
#[derive(Args, Debug)]
pub(crate) struct Fit {
    #[arg(help = table_help())]
    data: PathBuf,
    /// The public bounds, in TOML; `sprifed schema draft DATA` writes a first one.
    #[arg(long, value_name = "FILE.toml")]
    schema: Option<PathBuf>,
    /// The column to be explained [default: the response of the schema, with which it must agree].
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// How many features are chosen.
    #[arg(long)]
    sparsity: u32,
    /// The privacy budget.
    #[arg(long, value_parser = parse_quantity::<Epsilon>, allow_hyphen_values = true)]
    epsilon: Epsilon,
    /// The delta of the budget [default: the smaller of 1e-6 and 1/(10 n)].
    #[arg(long, value_parser = parse_quantity::<Delta>, allow_hyphen_values = true)]
    delta: Option<Delta>,
    /// How features are found.
    #[arg(long, value_parser = procedures(), default_value = "grad")]
    procedure: CertifiedProcedure,
    /// Which data sets the guarantee makes indistinguishable.
    #[arg(long, value_parser = relations(), default_value = "zero-out")]
    neighbours: Relation,
    #[command(flatten)]
    backend: BackendArguments,
    #[command(flatten)]
    ledger: LedgerArguments,
    /// Over how many clients the records are split, in consecutive blocks [default: one record
    /// each, or the client column of the schema]. A curator holds them all nevertheless; with secure sums each
    /// of them masks and adds noise on its own.
    #[arg(long)]
    clients: Option<usize>,
    /// Where the model goes.
    #[arg(long, value_name = "FILE.json", default_value = "model.json")]
    out: PathBuf,
    /// Also write a page about the fit, as one HTML file.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Replace the model at --out; its receipts are carried over. A page at --report is replaced too.
    #[arg(long)]
    force: bool,
    /// Score the model on this table too. No noise is added to the score: it is a statistic of
    /// this table, which the guarantee does not cover.
    #[arg(long, value_name = "FILE", conflicts_with = "score_not_private")]
    evaluate: Option<PathBuf>,
    /// Score the model on DATA itself. NOT PRIVATE: this releases a statistic of DATA without noise.
    #[arg(long)]
    score_not_private: bool,
    /// NOT PRIVATE: take the noise from this seed, for tests; every output is stamped.
    #[arg(long, value_name = "SEED")]
    simulate_noise: Option<u64>,
}

impl Fit {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let schema = self.read_schema()?;
        self.refuse_hidden_score()?;
        let inputs = [
            Some(&self.data),
            self.schema.as_ref(),
            self.evaluate.as_ref(),
        ];
        let mut taken: Vec<&Path> = inputs.into_iter().flatten().map(PathBuf::as_path).collect();
        let place = Destination::reserve(&self.out, self.force.into(), &taken)?;
        taken.push(&self.out);
        let page = self.report.as_deref();
        let page = page.map(|path| Destination::reserve(path, self.force.into(), &taken));
        let page = page.transpose()?;
        let earlier_receipts = receipts_at(place.path())?;
        let table = read_table(&self.data, &schema)?;
        self.check_evaluation(&schema, &table)?;
        let study = Study::prepare(&self.request(), &schema, table.outline())?;
        let delta_note = study.delta_note();
        let backend = self.backend.backend;
        let secret = match self.simulate_noise {
            Some(seed) => Secret::simulated(backend, seed),
            None => Secret::assume_fresh_entropy(backend, fresh_bits()?),
        };
        let entry = self
            .ledger
            .reserve(&study, secret.provenance(), &self.data, output)?;
        let model = release::release(&study, &table, secret, place, earlier_receipts, entry)?;
        note_counts(table.counts(), output);
        let (evaluation, unscored) = match self.evaluate(&model) {
            Ok(evaluation) => (evaluation, None),
            Err(error) => (None, Some(Failure::from(error))),
        };
        let report = FitReport {
            evaluation,
            delta_note,
            model,
            path: self.out.clone(),
            page: self.report.clone(),
        };
        let shown = page.map(|page| write_page(page, &report.to_page().to_html()));
        output.answer(&report.answer(), |_| to_text(&report));
        shown.transpose()?;
        match unscored {
            None => Ok(()),
            Some(failure) => Err(failure.with_help(
                "the model was written and its budget IS SPENT; only the score failed: mend the \
                 table and use `sprifed predict MODEL DATA --score COLUMN`",
            )),
        }
    }

    /// What is asked, without the command line.
    fn request(&self) -> Request {
        Request {
            sparsity: self.sparsity,
            epsilon: self.epsilon,
            delta: self.delta,
            procedure: self.procedure,
            neighbours: self.neighbours,
            backend: self.backend.request(),
            clients: self.clients,
        }
    }

    fn read_schema(&self) -> Result<Schema, Failure> {
        let path = self.schema.as_ref().ok_or(Error::NoSchema)?;
        let schema = read_schema(path)?;
        if let Some(target) = &self.target {
            schema.require_target(target).map_err(DataError::from)?;
        }
        Ok(schema)
    }

    /// A score on the training records must be asked for by the name that says what it is, and no score is made of
    /// records that a ledger accounts for.
    fn refuse_hidden_score(&self) -> Result<(), Failure> {
        let Some(path) = &self.evaluate else {
            return Ok(());
        };
        if !is_same_file(path, &self.data) {
            let help = "evaluate on other records; nothing was spent";
            return refuse_accounted(path, "--evaluate", help);
        }
        let message = "--evaluate names the table that is fitted; a score on it is a release without \
                       noise, which the guarantee does not cover";
        let help = "evaluate on other records, or say --score-not-private; nothing was spent";
        Err(Failure::usage(
            "sprifed::fit::score-on-data",
            message.to_owned(),
            help,
        ))
    }

    /// Refuses, before anything is spent, a table that the model could not be scored on.
    fn check_evaluation(&self, schema: &Schema, table: &Table) -> Result<(), Failure> {
        let Some(path) = &self.evaluate else {
            return Ok(());
        };
        let response = schema.response().name().to_owned();
        let names: Vec<String> = table
            .design()
            .names()
            .iter()
            .cloned()
            .chain([response])
            .collect();
        Ok(require_columns(path, &names)?)
    }

    fn evaluate(&self, model: &Model) -> Result<Option<Evaluation>, Error> {
        let (path, on_training_records) = match (&self.evaluate, self.score_not_private) {
            (Some(path), _) => (path, false),
            (None, true) => (&self.data, true),
            (None, false) => return Ok(None),
        };
        let score = Score::of_table(model, path, &model.response.name)?;
        Ok(Some(Evaluation {
            path: path.clone(),
            on_training_records,
            score,
        }))
    }
}

/// Writes the page about a fit whose model is written.
fn write_page(page: Destination, html: &str) -> Result<(), Failure> {
    page.write(html).map_err(|failure| {
        failure.with_help("the model was written and its budget IS SPENT; only the page is missing")
    })
}

/// Tells only the holder of the table what happened to its records on their way in.
pub(crate) fn note_counts(counts: &LoadCounts, output: &Output) {
    let parts = [
        (
            counts.clipped_values,
            "values outside their bounds were moved to the nearest bound",
        ),
        (
            counts.missing_values,
            "missing values became the middle of their bounds",
        ),
        (
            counts.dropped_without_response,
            "records without response contributed nothing",
        ),
        (
            counts.over_cap,
            "records beyond the cap of their client were not used",
        ),
    ];
    let said: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if !said.is_empty() {
        output.note(&format!(
            "note for the holder of the table, not covered by the guarantee: {}",
            said.join("; ")
        ));
    }
}
