//! `fit`: a private sparse fit of a local table.
//!
//! The order of things is the point: everything that can be wrong with the command, the schema, the
//! table or the place of the output is found before the ledger is opened, so a refusal spends
//! nothing.

mod release;
mod report;
#[cfg(test)]
#[path = "../tests/unit/page.rs"]
mod tests;

use std::path::{Path, PathBuf};

use clap::Args;
use sprifed::{
    Error, Evaluation, FitReport, Model, ProcedureRequest, Request, ScoredTable, Secret, Study,
    counts_words, keep, require_columns, site_words,
};
use sprifed_noise::Provenance;
use sprifed_party::{Destination, is_same_file};
use sprifed_privacy::Relation;
use sprifed_recovery::InferenceMethod;
use sprifed_schema::Schema;
use sprifed_tables::{DataError, LoadCounts, Table, read_schema, read_table};

use crate::choices::{inferences, procedures, relations, table_help};
use crate::entropy::fresh_bits;
use crate::failure::Failure;
use crate::ledger::{LedgerArguments, refuse_accounted};
use crate::model::receipts_at;
use crate::output::Output;
use crate::study_arguments::{BackendArguments, StatedArguments, WantedArguments};
use crate::table_arguments::{ColumnArguments, TableArguments};

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
    #[command(flatten)]
    wanted: WantedArguments,
    /// By which records the coefficients of the selected features are estimated.
    #[arg(long, value_parser = inferences(), default_value = "selective")]
    inference: InferenceMethod,
    /// How features are found.
    #[arg(long, value_parser = procedures(), default_value = "auto")]
    procedure: ProcedureRequest,
    #[command(flatten)]
    stated: StatedArguments,
    /// Which data sets the guarantee makes indistinguishable.
    #[arg(long, value_parser = relations(), default_value = "zero-out")]
    neighbours: Relation,
    #[command(flatten)]
    reading: TableArguments,
    #[command(flatten)]
    columns: ColumnArguments,
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
    /// Also write the reported features as a table, separated by tabs: of a genetic marker chromosome, position and alleles;
    /// estimate, standard error, interval and p-value.
    #[arg(long, value_name = "FILE.tsv")]
    effects: Option<PathBuf>,
    /// Replace the model at --out; its receipts are carried over. Files at --report and --effects are replaced too.
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

/// What is said of a fit that no ledger knows.
const UNCOUNTED: &str =
    "\nNo ledger counts this fit, so no later one adds its cost: pass --ledger FOLDER for that.";

/// Whether a model that was written may be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reliance {
    /// Features were kept, and nothing warns of the model.
    Yes,
    /// It is only the mean, or its coefficients must not be interpreted.
    No,
}

impl Fit {
    pub(crate) fn run(&self, output: &Output) -> Result<Reliance, Failure> {
        let schema = self.read_schema()?;
        self.refuse_hidden_score()?;
        let inputs = [
            Some(self.data.as_path()),
            self.schema.as_deref(),
            self.evaluate.as_deref(),
            self.reading.phenotypes(),
        ];
        let mut taken: Vec<&Path> = inputs.into_iter().flatten().collect();
        let place = Destination::reserve(&self.out, self.force.into(), &taken)?;
        taken.push(&self.out);
        let page = self.reserve(self.report.as_deref(), &taken)?;
        taken.extend(self.report.as_deref());
        let effects = self.reserve(self.effects.as_deref(), &taken)?;
        let earlier_receipts = receipts_at(place.path())?;
        let file = self.reading.table(&self.data);
        let table = read_table(file, &schema)?;
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
            .reserve(&study, secret.provenance(), file, output)?;
        let is_uncounted = secret.provenance() == Provenance::Cryptographic && !entry.is_counted();
        let sites = table.sites(&schema);
        let model = release::release(&study, &table, secret, place, earlier_receipts, entry)?;
        note_counts(table.counts(), output);
        if let Some(words) = site_words(&sites) {
            note_for_holder(&words, output);
        }
        let (evaluation, unscored) = match self.evaluate(&model) {
            Ok(evaluation) => (evaluation, None),
            Err(error) => (None, Some(Failure::from(error))),
        };
        let mut report = FitReport {
            evaluation,
            delta_note,
            model,
            path: self.out.clone(),
            page: self.report.clone(),
            effects: self.effects.clone(),
        };
        let shown = page.map(|page| write_addition(page, &report.to_page().to_html(), "page"));
        let shown = shown.transpose();
        report.page = report.page.filter(|_| shown.is_ok());
        let table = report.model.effects_table();
        let listed = effects.map(|effects| write_addition(effects, &table, "table of effects"));
        let listed = listed.transpose();
        report.effects = report.effects.filter(|_| listed.is_ok());
        output.answer(&report.answer(), |_| {
            let (text, columns) = (to_text(&report), study.columns.text());
            let columns = columns.map_or_else(String::new, |words| format!("\n{words}"));
            let uncounted = if is_uncounted { UNCOUNTED } else { "" };
            format!(
                "{}\n{}{columns}{uncounted}",
                text.trim_end(),
                study.choice.reason()
            )
        });
        shown?;
        listed?;
        match unscored {
            None if report.model.is_reliable() => Ok(Reliance::Yes),
            None => Ok(Reliance::No),
            Some(failure) => Err(failure.with_help(
                "the model was written and its budget IS SPENT; only the score failed: correct the \
                 table and use `sprifed predict MODEL DATA --score COLUMN`",
            )),
        }
    }

    /// What is asked, without the command line.
    fn request(&self) -> Request {
        Request {
            sparsity: self.wanted.sparsity,
            keep: keep(self.wanted.exactly),
            robust: self.wanted.robust,
            inference: self.inference,
            epsilon: self.wanted.epsilon,
            delta: self.wanted.delta,
            procedure: self.procedure,
            stated: self.stated.stated(),
            column_scales: self.wanted.column_scales,
            neighbours: self.neighbours,
            backend: self.backend.request(),
            clients: self.clients,
        }
    }

    /// The place of a further file, if one was asked for.
    fn reserve(
        &self,
        path: Option<&Path>,
        taken: &[&Path],
    ) -> Result<Option<Destination>, Failure> {
        let place = path.map(|path| Destination::reserve(path, self.force.into(), taken));
        Ok(place.transpose()?)
    }

    fn read_schema(&self) -> Result<Schema, Failure> {
        let path = self.schema.as_ref().ok_or(Error::NoSchema)?;
        let schema = read_schema(path)?;
        if let Some(target) = &self.target {
            schema.require_target(target).map_err(DataError::from)?;
        }
        Ok(self.columns.apply(schema).map_err(DataError::from)?)
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
        let columns = table.mapping().columns().iter();
        let names = columns.map(|column| column.name.clone());
        let names: Vec<String> = names.chain([response]).collect();
        Ok(require_columns(self.reading.table(path), &names)?)
    }

    fn evaluate(&self, model: &Model) -> Result<Option<Evaluation>, Error> {
        let (path, on_training_records) = match (&self.evaluate, self.score_not_private) {
            (Some(path), _) => (path, false),
            (None, true) => (&self.data, true),
            (None, false) => return Ok(None),
        };
        let scored = ScoredTable::of(model, self.reading.table(path), &model.response.name)?;
        Ok(Some(Evaluation {
            path: path.clone(),
            on_training_records,
            scored,
        }))
    }
}

/// Writes a further file about a fit whose model is written.
fn write_addition(place: Destination, text: &str, name: &str) -> Result<(), Failure> {
    place.write(text).map_err(|error| {
        Failure::from(error).with_help(&format!(
            "the model was written and its budget IS SPENT; only the {name} is missing"
        ))
    })
}

/// Tells only the holder of the table what happened to its records on their way in.
pub(crate) fn note_counts(counts: &LoadCounts, output: &Output) {
    if let Some(words) = counts_words(counts) {
        note_for_holder(&words, output);
    }
}

fn note_for_holder(words: &str, output: &Output) {
    output.note(&format!(
        "note for the holder of the table, not covered by the guarantee: {words}"
    ));
}
