//! Whole fits on neighbouring tables: whatever one privacy unit holds, no sum and no score moves by
//! more than its plan is charged for, with the dither fixed and public.
//!
//! A table is read as a fit reads it, a procedure asks its real questions about it, and every
//! question is then put to neighbours of the table as well. Beyond the certified distance the tests
//! look at every other unit: its integers must be the same to the last one.

mod tables;

use std::ops::Range;

use sprifed_noise::NoiseGenerator;
use sprifed_party::PartyRecords;
use sprifed_privacy::{Epsilon, IntegerBounds, NoiseOrigin, PrivacyUnit, Relation};
use sprifed_query::{
    Answer, AskedBlock, ChoiceBackend, ChoiceQuery, Contributor, Curator, Part, Plan, PlannedBlock,
    PlannedStep, Question, RecordSource, SumBackend, SumQuery,
};
use sprifed_recovery::{CertifiedProcedure, InferenceMethod, Keep, Needs, Setting};
use sprifed_schema::{DataTerms, Schema};
use sprifed_secure_sum::ClientId;
use sprifed_study::{Agreed, Agreement, Embedded, EmbeddedTrustees, PartyKey, all_present};
use sprifed_tables::{Table, read_csv};

use self::tables::{Neighbour, Rows};
use crate::backend::{Backend, BackendRequest};
use crate::column_choice::ColumnScalesRequest;
use crate::procedure_choice::Stated;
use crate::run::rows_of;
use crate::study::{Request, Study};

/// What a procedure asked, and what it was told.
enum Asked {
    Sum(SumQuery, Answer),
    Choice(ChoiceQuery),
}

/// A backend that remembers.
struct Remembering<B> {
    backend: B,
    asked: Vec<Asked>,
}

impl<B: SumBackend> SumBackend for Remembering<B> {
    type Error = B::Error;

    fn answer(&mut self, query: &SumQuery) -> Result<Answer, B::Error> {
        let answer = self.backend.answer(query)?;
        self.asked.push(Asked::Sum(query.clone(), answer.clone()));
        Ok(answer)
    }
}

impl<B: ChoiceBackend> ChoiceBackend for Remembering<B> {
    fn choose(&mut self, query: &ChoiceQuery) -> Result<usize, B::Error> {
        self.asked.push(Asked::Choice(query.clone()));
        self.backend.choose(query)
    }
}

/// One procedure, planned for one kind of table and one relation.
struct Fit {
    procedure: CertifiedProcedure,
    setting: Setting,
    plan: Plan,
    backend: Backend,
    schema: Schema,
    /// What the parties agree on, where clients are parties.
    agreement: Option<Agreement>,
}

const SEED: u64 = 5;

/// The schema of the agreements, which no table here is read by.
const SCHEMA: &str =
    "[response]\nname = \"agreed\"\nlower = 0\nupper = 1\n[features]\nlower = 0\nupper = 1\n";

impl Fit {
    fn request(relation: Relation, backend: Backend, unit: PrivacyUnit) -> Request {
        let by_blocks = unit == PrivacyUnit::Record && backend != Backend::Curator;
        Request {
            sparsity: 2,
            keep: Keep::Exactly,
            // One block more is asked: where it can be, it is attacked too.
            robust: unit == PrivacyUnit::Record,
            inference: InferenceMethod::Selective,
            epsilon: Epsilon::try_from(0.5).unwrap(),
            delta: None,
            procedure: CertifiedProcedure::GRAD.into(),
            stated: Stated::NOTHING,
            column_scales: ColumnScalesRequest::Never,
            neighbours: relation,
            backend: BackendRequest {
                backend,
                quorum: None,
                colluders: None,
            },
            clients: by_blocks.then_some(8),
        }
    }

    /// The fit, or nothing where the procedure asks what the backend does not answer.
    fn of(
        procedure: CertifiedProcedure,
        relation: Relation,
        backend: Backend,
        schema: &Schema,
        table: &Table,
    ) -> Option<Self> {
        if procedure.needs() == Needs::Choices && backend == Backend::SecureSum {
            return None;
        }
        let unit = schema.unit();
        let request = Self::request(relation, backend, unit);
        let study = Study::prepare(&request, schema, table.outline()).unwrap();
        let setting = study.setting;
        let plan = procedure.plan(&setting).unwrap();
        let agreement = (backend == Backend::SecureSum).then(|| {
            let holdings = &study.holdings;
            let units = vec![holdings.most_units(); holdings.n_clients];
            let key = PartyKey::simulated(SEED, 0);
            let plan = plan.clone();
            let mut agreement = Agreement::among_parties(&key, procedure, setting, plan, units);
            let features = table.design().names().to_vec();
            // Between parties each party is a site, which these clients are not.
            agreement.data = schema
                .sites()
                .is_none()
                .then(|| DataTerms::new(SCHEMA.to_owned(), features).unwrap());
            agreement
        });
        Some(Self {
            procedure,
            setting,
            plan,
            backend,
            schema: schema.clone(),
            agreement,
        })
    }

    fn study<'a>(&self, table: &'a Table) -> Study<'a> {
        let request = Self::request(self.setting.relation, self.backend, self.setting.unit);
        Study::prepare(&request, &self.schema, table.outline()).unwrap()
    }

    /// The real questions about `table`, from a real run.
    fn questions(&self, table: &Table) -> Vec<Asked> {
        let (study, rows) = (self.study(table), rows_of(table));
        let grouped = study.grouping.of(&rows);
        let asked = Vec::new();
        if self.backend == Backend::Trustees {
            let parts = study.grouping.parties().iter();
            let parts = parts
                .map(|units| Part::of(&grouped, units.clone()))
                .collect();
            let units = vec![study.holdings.most_units(); study.holdings.n_clients];
            let (plan, key) = (self.plan.clone(), PartyKey::simulated(SEED, 0));
            let backend =
                EmbeddedTrustees::open(parts, plan, units, &key, Box::new(all_present)).unwrap();
            let mut backend = Remembering { backend, asked };
            self.procedure
                .run(&self.setting, &mut backend, |_| ())
                .unwrap();
            return backend.asked;
        }
        let Some(agreement) = self.agreement.clone() else {
            let generator = NoiseGenerator::simulated(SEED);
            let backend = Curator::open(grouped, self.plan.clone(), generator).unwrap();
            let mut backend = Remembering { backend, asked };
            self.procedure
                .run(&self.setting, &mut backend, |_| ())
                .unwrap();
            return backend.asked;
        };
        let parts = study.grouping.parties().iter();
        let parts = parts
            .map(|units| Part::of(&grouped, units.clone()))
            .collect();
        let key = PartyKey::simulated(SEED, 0);
        let agreed = Agreed::new(agreement).unwrap();
        let backend = Embedded::open(agreed.into(), &key, parts, Box::new(all_present)).unwrap();
        let mut backend = Remembering { backend, asked };
        self.procedure
            .run_on_sums(&self.setting, &mut backend, |_| ())
            .unwrap();
        backend.asked
    }

    /// The grids of a step and the questions put to it.
    fn blocks<'a>(&self, asked: &'a Asked) -> Vec<(&'a Question, PlannedBlock)> {
        match asked {
            Asked::Sum(query, _) => {
                let Some(PlannedStep::Sum(sum)) = self.plan.steps.get(query.step) else {
                    panic!("step {} is no sum", query.step)
                };
                let blocks = sum.blocks.iter().cloned();
                query.questions.iter().zip(blocks).collect()
            }
            Asked::Choice(query) => {
                let Some(PlannedStep::Choice(choice)) = self.plan.steps.get(query.step) else {
                    panic!("step {} is no choice", query.step)
                };
                vec![(&query.scores, choice.score_block())]
            }
        }
    }

    /// The integers of every unit, block after block, by the numbers that the backend gives them.
    fn integers(&self, study: &Study<'_>, table: &Table, asked: &Asked) -> Vec<Vec<i32>> {
        let rows = rows_of(table);
        let grouped = study.grouping.of(&rows);
        let blocks = self.blocks(asked);
        let parties: Vec<(u64, Range<usize>)> = match study.grouping.parties() {
            [] => vec![(0, 0..grouped.n_units())],
            parties => {
                let most = u64::from(study.holdings.most_units());
                let first = (0..).map(|party: u64| party * most);
                first.zip(parties.iter().cloned()).collect()
            }
        };
        let of_party = |(first, units): (u64, Range<usize>)| {
            integers(&blocks, first, &Part::of(&grouped, units))
        };
        parties.into_iter().flat_map(of_party).collect()
    }

    /// The integers of every unit for every question, each as the backend and as a party of a study
    /// between several makes them.
    fn all_integers(&self, table: &Table, asked: &[Asked]) -> Vec<Vec<Vec<i32>>> {
        let study = self.study(table);
        let of_backend = asked
            .iter()
            .map(|asked| self.integers(&study, table, asked));
        let mut all: Vec<Vec<Vec<i32>>> = of_backend.collect();
        let agreement = self.agreement.as_ref();
        if let Some(agreement) = agreement.filter(|agreement| agreement.data.is_some()) {
            let records = PartyRecords::of(table, "table", agreement, ClientId(0)).unwrap();
            let of_party = |asked| integers(&self.blocks(asked), 1000, &records);
            all.extend(asked.iter().map(of_party));
        }
        all
    }

    /// Puts the questions to a neighbour too and compares with `before`, the integers of the table
    /// they were asked about; the largest part of its certified distance that a block moved by.
    fn compare(&self, before: &[Vec<Vec<i32>>], asked: &[Asked], other: &Neighbour) -> f64 {
        let neighbour = read(&other.rows, &self.schema);
        let name = format!(
            "{}, {:?}, {:?}, {:?}: {}",
            self.procedure, self.setting.relation, self.setting.unit, self.backend, other.name
        );
        let mut largest = 0f64;
        let after = self.all_integers(&neighbour, asked);
        for ((before, after), asked) in before.iter().zip(&after).zip(asked.iter().cycle()) {
            assert_eq!(before.len(), after.len(), "the number of units: {name}");
            let differ = before.iter().zip(after).filter(|(a, b)| a != b).count();
            assert!(differ <= 1, "{differ} units differ: {name}");
            let moved = total(after).zip(total(before)).map(|(a, b)| a - b);
            let moved: Vec<i64> = moved.collect();
            let blocks = self.blocks(asked);
            largest = largest.max(check(&blocks, &moved, self.setting.relation, &name));
        }
        if self.backend == Backend::Curator {
            let replayed = self.replay(&neighbour, asked, &name);
            largest = largest.max(replayed);
        }
        largest
    }

    /// A curator with the same noise is asked the same about the neighbour: what its answers differ
    /// by is what the sums differ by.
    fn replay(&self, neighbour: &Table, asked: &[Asked], name: &str) -> f64 {
        let (study, rows) = (self.study(neighbour), rows_of(neighbour));
        let generator = NoiseGenerator::simulated(SEED);
        let records = study.grouping.of(&rows);
        let mut curator = Curator::open(records, self.plan.clone(), generator).unwrap();
        let mut largest = 0f64;
        for asked in asked {
            match asked {
                Asked::Choice(query) => {
                    curator.choose(query).unwrap();
                }
                Asked::Sum(query, before) => {
                    let after = curator.answer(query).unwrap();
                    let blocks = self.blocks(asked);
                    let moved = before.blocks.iter().zip(&after.blocks).zip(&blocks);
                    let moved = moved.flat_map(|((before, after), (_, planned))| {
                        let values = before.values.iter().zip(&after.values);
                        values.map(|(a, b)| whole((b - a) * planned.steps))
                    });
                    let moved: Vec<i64> = moved.collect();
                    largest = largest.max(check(&blocks, &moved, self.setting.relation, name));
                }
            }
        }
        largest
    }
}

#[expect(clippy::cast_possible_truncation, reason = "sums are far below 2^53")]
fn whole(value: f64) -> i64 {
    assert!((value - value.round()).abs() < 1e-3, "{value}");
    value.round() as i64
}

/// The integers of the units of `records`, of which the first has this number among all.
fn integers(
    blocks: &[(&Question, PlannedBlock)],
    first: u64,
    records: &impl RecordSource,
) -> Vec<Vec<i32>> {
    let asked = blocks
        .iter()
        .map(|(question, planned)| AskedBlock { question, planned });
    let contributor = Contributor::new(asked.collect(), 17).starting_at(first);
    let size = blocks
        .iter()
        .map(|(_, planned)| planned.block.coordinates as usize);
    let size = size.sum();
    let of_unit = |unit| {
        let (mut values, mut integers) = (vec![0.0; size], vec![0; size]);
        contributor.contribute(records, unit, &mut values, &mut integers);
        integers
    };
    (0..records.n_units()).map(of_unit).collect()
}

fn total(units: &[Vec<i32>]) -> impl Iterator<Item = i64> + '_ {
    let size = units.first().map_or(0, Vec::len);
    (0..size).map(|place| units.iter().map(|unit| i64::from(unit[place])).sum())
}

/// Compares what a sum moved by with what its blocks are charged for.
#[expect(clippy::cast_precision_loss, reason = "for a ratio")]
fn check(
    blocks: &[(&Question, PlannedBlock)],
    moved: &[i64],
    relation: Relation,
    name: &str,
) -> f64 {
    let mut rest = moved;
    let mut largest = 0f64;
    for (question, planned) in blocks {
        let block = &planned.block;
        let (part, following) = rest.split_at(block.coordinates as usize);
        rest = following;
        let squared: u128 = part
            .iter()
            .map(|change| u128::from(change.unsigned_abs()).pow(2))
            .sum();
        let most = block.squared_sensitivity(relation).unwrap();
        let ratio = (squared as f64 / most as f64).sqrt();
        assert!(
            squared <= most,
            "a block moved {ratio:.2} times its certified distance: {name}, {}",
            discriminant(question)
        );
        if let IntegerBounds::Box { bound, squares } = block.bounds {
            let signed = part.len() - squares as usize;
            for (place, change) in part.iter().enumerate() {
                let times = if place < signed {
                    u64::from(relation.sum_moves_by())
                } else {
                    1
                };
                assert!(change.unsigned_abs() <= times * bound, "{name}");
            }
        }
        largest = largest.max(ratio);
    }
    assert!(rest.is_empty());
    largest
}

/// The kind of a question, for messages.
fn discriminant(question: &Question) -> String {
    let text = format!("{question:?}");
    text.split(' ').next().unwrap_or_default().to_owned()
}

fn read(rows: &Rows, schema: &Schema) -> Table {
    read_csv(rows.to_csv().as_bytes(), schema).unwrap()
}

/// Whether there is time for every neighbour.
#[expect(clippy::disallowed_methods, reason = "the switch of slow tests")]
fn is_slow() -> bool {
    std::env::var_os("SPRIFED_SLOW").is_some_and(|value| value == "1")
}

/// Every procedure and relation on the neighbours of a table.
fn compare_all(unit: PrivacyUnit, backend: Backend) {
    compare_tables(&Rows::made_up(unit, 3), &tables::schema(unit), backend);
}

fn compare_tables(rows: &Rows, schema: &Schema, backend: Backend) {
    let table = read(rows, schema);
    let neighbours = rows.neighbours(is_slow());
    let mut largest = 0f64;
    for procedure in CertifiedProcedure::all() {
        for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
            let Some(fit) = Fit::of(procedure, relation, backend, schema, &table) else {
                continue;
            };
            assert_eq!(
                fit.setting.origin == NoiseOrigin::Curator,
                backend == Backend::Curator
            );
            let asked = fit.questions(&table);
            assert_eq!(asked.len(), fit.plan.steps.len(), "{procedure}");
            let before = fit.all_integers(&table, &asked);
            for neighbour in &neighbours {
                if relation == Relation::ZeroOut && !neighbour.is_emptied {
                    continue;
                }
                largest = largest.max(fit.compare(&before, &asked, neighbour));
            }
        }
    }
    // Not a vacuous comparison: some neighbour comes near to what is charged for.
    assert!(largest > 0.4, "{largest}");
}

#[test]
fn no_record_moves_a_curators_fit_by_more_than_certified() {
    compare_all(PrivacyUnit::Record, Backend::Curator);
}

#[test]
fn no_record_moves_a_fit_by_secure_sums_by_more_than_certified() {
    compare_all(PrivacyUnit::Record, Backend::SecureSum);
}

#[test]
fn no_client_moves_a_curators_fit_by_more_than_certified() {
    compare_all(PrivacyUnit::Client, Backend::Curator);
}

#[test]
fn no_client_moves_a_fit_by_secure_sums_by_more_than_certified() {
    compare_all(PrivacyUnit::Client, Backend::SecureSum);
}

#[test]
fn no_record_moves_a_fit_by_trustees_by_more_than_certified() {
    compare_all(PrivacyUnit::Record, Backend::Trustees);
}

#[test]
fn no_client_moves_a_fit_by_trustees_by_more_than_certified() {
    compare_all(PrivacyUnit::Client, Backend::Trustees);
}

#[test]
fn no_record_moves_a_fit_with_intercepts_of_sites_by_more_than_certified() {
    let rows = Rows::made_up(PrivacyUnit::Record, 3).with_sites();
    for &backend in Backend::ALL {
        compare_tables(&rows, &tables::schema_with_sites(), backend);
    }
}

/// With many records and coordinates the rounding of the others alone would move a sum further than
/// one record may: if their dither followed the number of records before them that count, the
/// gradients of this fit would move by more than they are charged for.
#[test]
fn a_record_that_is_dropped_rounds_no_other_record_anew() {
    let schema = tables::schema(PrivacyUnit::Record);
    let (records, features) = (6000, 2000);
    let text = tables::wide_csv(records, features, None);
    let table = read_csv(text.as_bytes(), &schema).unwrap();
    let (relation, backend) = (Relation::ReplaceOne, Backend::Curator);
    let procedure = CertifiedProcedure::SIEVE;
    let fit = Fit::of(procedure, relation, backend, &schema, &table).unwrap();
    let asked = fit.questions(&table);
    let text = tables::wide_csv(records, features, Some(0));
    let neighbour = read_csv(text.as_bytes(), &schema).unwrap();
    let ratio = fit.replay(&neighbour, &asked, "the first of many records is dropped");
    assert!(ratio <= 1.0, "{ratio}");
}

/// What is written about a fit does not depend on what is secret about a table: which records count,
/// and how many a client has.
#[test]
fn neighbours_have_the_same_public_numbers() {
    for unit in [PrivacyUnit::Record, PrivacyUnit::Client] {
        let (rows, schema) = (Rows::made_up(unit, 3), tables::schema(unit));
        let table = read(&rows, &schema);
        for &backend in Backend::ALL {
            let procedure = CertifiedProcedure::GRAD;
            let relation = Relation::ReplaceOne;
            let fit = Fit::of(procedure, relation, backend, &schema, &table).unwrap();
            let public = |table: &Table| {
                let study = fit.study(table);
                let fitted = sprifed_recovery::Fit {
                    sites: Vec::new(),
                    model: sprifed_query::LinearModel::default(),
                    inference: sprifed_recovery::Inferred::NotAvailable {
                        reason: sprifed_recovery::NoInference::Procedure,
                    },
                    status: sprifed_recovery::FitStatus::Complete,
                    residual_scale: None,
                    cuts: Vec::new(),
                    provenance: None,
                };
                let provenance = sprifed_noise::Provenance::Simulated;
                let ledger = sprifed_privacy::Ledger::open(
                    study.plan.budget,
                    study.plan.relation,
                    study.plan.unit,
                );
                let receipt = crate::model::Receipt {
                    provenance,
                    ledger: ledger.record(),
                };
                let guarantee = study.guarantee(provenance).unwrap();
                let model = study.to_model(&fitted, guarantee, receipt, Vec::new());
                serde_json::to_string(&model).unwrap()
            };
            let expected = public(&table);
            for neighbour in rows.neighbours(true) {
                let found = public(&read(&neighbour.rows, &schema));
                assert_eq!(found, expected, "{unit:?}: {}", neighbour.name);
            }
        }
    }
}
