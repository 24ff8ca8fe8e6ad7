//! `sprifed-bench pass`: one private pass over a matrix, step by step, and a whole fit, beside reading the same bytes.

mod timed;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;
use serde::Serialize;
use sprifed::rows_of;
use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{ApproxDp, Delta, Epsilon, Mu, NoiseOrigin, PrivacyUnit, Relation, Rounding};
use sprifed_query::{
    AskedBlock, Contributor, Curator, FeatureSet, Limit, LinearModel, Part, PlannedBlock, Planner,
    Question, RecordSource, Records, ReleasedModel,
};
use sprifed_recovery::{CertifiedProcedure, correlate};
use sprifed_report::table;
use sprifed_simulate::{Certified, TrialError, World, WorldRequest};
use sprifed_tables::{ExtraSamples, SampleTable, TableFile, TextFormat, read_schema, read_table};

use self::timed::Timed;
use crate::error::Error;
use crate::output::Output;

/// `sprifed-bench pass`.
#[derive(Args, Debug)]
pub(crate) struct Pass {
    /// How many records there are.
    #[arg(long, default_value_t = 8000, value_parser = clap::value_parser!(u32).range(8..))]
    records: u32,
    /// How many features a record has.
    #[arg(long, default_value_t = 40_000, value_parser = clap::value_parser!(u32).range(16..))]
    features: u32,
    /// How often each measurement is repeated; the shortest counts.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Measure passes over a table instead, such as genotypes that `cargo run -p sprifed-tables --example cohort` made up.
    #[arg(long, value_name = "FILE", requires = "schema")]
    table: Option<PathBuf>,
    /// The table of phenotypes that is joined to it.
    #[arg(long, value_name = "FILE", requires = "table")]
    phenotypes: Option<PathBuf>,
    /// Its schema.
    #[arg(long, value_name = "FILE.toml", requires = "table")]
    schema: Option<PathBuf>,
}

/// The figures of one run.
#[derive(Debug, Serialize)]
struct Figures {
    records: u32,
    features: u32,
    /// Of the matrix in memory.
    bytes: usize,
    threads: usize,
    rows: Vec<Figure>,
}

/// One measurement.
#[derive(Debug, Serialize)]
struct Figure {
    what: String,
    seconds: f64,
    /// How often the matrix is read from its beginning to its end.
    reads: u32,
    /// The seconds of one reading of the matrix on as many threads.
    read_seconds: f64,
}

impl Figure {
    /// How many times as long as reading the matrix as often.
    fn times_reading(&self) -> f64 {
        self.seconds / (self.read_seconds * f64::from(self.reads))
    }
}

impl Pass {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Error> {
        let figures = match (&self.table, &self.schema) {
            (Some(table), Some(schema)) => self.of_table(table, schema, output)?,
            _ => self.of_matrix(output)?,
        };
        output.answer(&figures, to_text);
        Ok(())
    }

    /// Figures of a generated matrix of numbers.
    fn of_matrix(&self, output: &Output) -> Result<Figures, Error> {
        let request = WorldRequest::clean(self.records as usize, self.features as usize, 10);
        output.note("generating the records");
        let world = World::generate(request, 1);
        let (features, width) = (world.features(), self.features as usize);
        let records =
            Records::each_a_unit(features, world.responses(), width).map_err(TrialError::from)?;
        let read = Reading {
            one_thread: self.shortest(|| sum_of(features)),
            all_threads: self.shortest(|| read_once(features)),
        };
        let mut figures = self.measure(&records, read, size_of_val(features))?;
        let weights = vec![1.0; records.n_records()];
        let seconds = self.shortest(|| correlate(features, &weights, width));
        let products = figure("all threads: X'v", seconds, read.all_threads);
        figures.rows.push(products);
        Ok(figures)
    }

    /// Figures of a table in a file, whose bytes are read in memory for comparison.
    fn of_table(&self, path: &Path, schema: &Path, output: &Output) -> Result<Figures, Error> {
        let phenotypes = self.phenotypes.as_deref().map(|path| SampleTable {
            path,
            sample_column: None,
            extra: ExtraSamples::Refuse,
        });
        let file = TableFile {
            path,
            format: TextFormat::default(),
            phenotypes,
        };
        output.note("reading the table");
        let start = Instant::now();
        let table = read_table(file, &read_schema(schema)?)?;
        let loading = start.elapsed().as_secs_f64();
        let bytes = std::fs::read(path).map_err(|error| Error::Study(error.to_string()))?;
        let words: Vec<f32> = bytes
            .chunks_exact(4)
            .map(|word| f32::from_bits(u32::from_le_bytes([word[0], word[1], word[2], word[3]])))
            .collect();
        let read = Reading {
            one_thread: self.shortest(|| sum_of(&words)),
            all_threads: self.shortest(|| read_once(&words)),
        };
        drop((bytes, words));
        let mut figures = self.measure(&rows_of(&table), read, table.design().n_bytes())?;
        let loaded = figure(
            "one thread: reading the file into rows",
            loading,
            read.one_thread,
        );
        figures.rows.push(loaded);
        Ok(figures)
    }

    /// Passes over `records`, whose matrix has so many bytes, stage by stage, and a whole fit.
    fn measure<S: RecordSource>(
        &self,
        records: &S,
        read: Reading,
        bytes: usize,
    ) -> Result<Figures, Error> {
        let size = Size {
            records: small(records.n_units())?,
            features: small(records.n_features())?,
        };
        let question = size.question();
        let planned = size.planned()?;
        let contributor = Contributor::new(vec![asked(&question, &planned)], 7);
        let one = |what: &str, seconds| figure(what, seconds, read.one_thread);
        let all = |what: &str, seconds| figure(what, seconds, read.all_threads);
        let mut rows = vec![one("one thread: reading", read.one_thread)];
        let n_coordinates = question.coordinates();
        let (mut values, mut integers) = (vec![0.0; n_coordinates], vec![0; n_coordinates]);
        let units = 0..records.n_units();
        let contributed = self.shortest(|| {
            for unit in units.clone() {
                records.visit_unit(unit, &mut |record| {
                    values.fill(0.0);
                    question.add_contribution(record, &mut values);
                });
            }
        });
        rows.push(one("one thread: clipped and scaled", contributed));
        let rounded = self.shortest(|| {
            for unit in units.clone() {
                contributor.contribute(records, unit, &mut values, &mut integers);
            }
        });
        rows.push(one("one thread: and rounded", rounded));
        let whole = self.shortest(|| contributor.sum(records, units.clone()));
        rows.push(one("one thread: and added, a private pass", whole));
        rows.push(all("all threads: reading", read.all_threads));
        let pass = self.shortest(|| contributor.sum_of_all(records));
        rows.push(all("all threads: a private pass", pass));
        rows.push(self.fit(records, size, read)?);
        Ok(Figures {
            records: size.records,
            features: size.features,
            bytes,
            threads: rayon::current_num_threads(),
            rows,
        })
    }

    /// The shortest of several runs, in seconds.
    fn shortest<T>(&self, mut work: impl FnMut() -> T) -> f64 {
        let runs = (0..self.rounds).map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed().as_secs_f64()
        });
        runs.fold(f64::INFINITY, f64::min)
    }

    /// A whole private fit, and how many of its questions are about whole records.
    fn fit<S: RecordSource>(
        &self,
        records: &S,
        size: Size,
        read: Reading,
    ) -> Result<Figure, Error> {
        let budget = ApproxDp::new(Epsilon::try_from(5.34)?, Delta::try_from(1e-4)?);
        let (n_records, n_features) = (size.records as usize, size.features as usize);
        let request = WorldRequest::clean(n_records, n_features, 10);
        let (procedure, relation) = (CertifiedProcedure::GRAD, Relation::ZeroOut);
        let method = Certified::on_curator(procedure, &request, budget, relation)?;
        let mut best: Option<Figure> = None;
        for _ in 0..self.rounds {
            let generator = NoiseGenerator::simulated(1);
            let all = Part::of(records, 0..n_records);
            let curator = Curator::open(all, method.plan.clone(), generator);
            let mut timed = Timed::new(curator.map_err(TrialError::from)?, n_features);
            let start = Instant::now();
            let fit = procedure.run(&method.setting, &mut timed, |_| ());
            let seconds = start.elapsed().as_secs_f64();
            fit.map_err(TrialError::from)?;
            let share = 100.0 * timed.seconds() / seconds;
            let figure = Figure {
                what: format!("all threads: a private fit (grad, s = 10), {share:.0} % in sums"),
                seconds,
                reads: timed.reads(),
                read_seconds: read.all_threads,
            };
            best = best.filter(|best| best.seconds <= seconds).or(Some(figure));
        }
        best.ok_or_else(|| Error::Study("there was no round".to_owned()))
    }
}

/// How long it takes to read the matrix once, in seconds.
#[derive(Clone, Copy)]
struct Reading {
    one_thread: f64,
    all_threads: f64,
}

/// How many records of how many features are measured.
#[derive(Clone, Copy)]
struct Size {
    records: u32,
    features: u32,
}

impl Size {
    /// The gradient of a model with one feature, as `sieve` and `grad` ask for it.
    fn question(self) -> Question {
        let model = LinearModel {
            intercept: 0.1,
            terms: vec![(3, 0.5)],
        };
        Question::RowClippedGradient {
            model: ReleasedModel::from(model),
            features: FeatureSet::except(self.features, &[3]),
            row_norm: Limit::nearest(0.9 * f64::from(self.features).sqrt()),
            residual_limit: Limit::nearest(4.0),
        }
    }

    fn planned(self) -> Result<PlannedBlock, Error> {
        let planner = Planner {
            origin: NoiseOrigin::Curator,
            relation: Relation::ZeroOut,
            unit: PrivacyUnit::Record,
        };
        let size = self.question().coordinates();
        let cost = Mu::try_from(0.3)?;
        Ok(planner.ball("gradient", size, cost, Rounding::Dithered)?)
    }
}

fn small(count: usize) -> Result<u32, Error> {
    u32::try_from(count).map_err(|error| Error::Study(error.to_string()))
}

fn figure(what: &str, seconds: f64, read_seconds: f64) -> Figure {
    let what = what.to_owned();
    Figure {
        what,
        seconds,
        reads: 1,
        read_seconds,
    }
}

const fn asked<'a>(question: &'a Question, planned: &'a PlannedBlock) -> AskedBlock<'a> {
    AskedBlock { question, planned }
}

/// Touches every value once, on all cores: what memory allows.
pub(crate) fn read_once(features: &[f32]) -> f32 {
    features.par_chunks(1 << 18).map(sum_of).sum()
}

/// Touches every value once, on one core.
fn sum_of(values: &[f32]) -> f32 {
    let mut lanes = [0f32; 64];
    for group in values.chunks_exact(64) {
        for (lane, value) in lanes.iter_mut().zip(group) {
            *lane += value;
        }
    }
    lanes.iter().sum()
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53 bytes")]
fn to_text(figures: &Figures) -> String {
    let bytes = figures.bytes as f64;
    let values = f64::from(figures.records) * f64::from(figures.features);
    let mut rows = vec![
        [
            "measured",
            "seconds",
            "reads",
            "GB/s",
            "ns a value",
            "times reading",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for row in &figures.rows {
        let reads = f64::from(row.reads);
        rows.push(vec![
            row.what.clone(),
            format!("{:.4}", row.seconds),
            row.reads.to_string(),
            format!("{:.2}", 1e-9 * bytes * reads / row.seconds),
            format!("{:.2}", 1e9 * row.seconds / (values * reads)),
            format!("{:.2}", row.times_reading()),
        ]);
    }
    let (records, features, threads) = (figures.records, figures.features, figures.threads);
    let megabytes = 1e-6 * bytes;
    format!(
        "{records} records, {features} features, {megabytes:.1} MB in memory, {threads} threads\n{}",
        table(&rows)
    )
}
