//! The part that spends: from the first answer to the model.
//!
//! What was spent comes back whatever the end was, so that it is never counted as unspent.

use std::ops::{ControlFlow, Range};

use sprifed_noise::{NoiseGenerator, Provenance};
use sprifed_privacy::LedgerRecord;
use sprifed_query::{
    Answer, ChoiceBackend, ChoiceQuery, Curator, Part, Plan, Record, RecordSource, SumBackend,
    SumQuery,
};
use sprifed_recovery::{CertifiedProcedure, Fit, Setting};
use sprifed_study::{Agreed, Agreement, Embedded, EmbeddedTrustees, PartyKey, all_present};
use sprifed_tables::Table;

use crate::backend::Backend;
use crate::error::Error;
use crate::guarantee::Guarantee;
use crate::inference::ModelInference;
use crate::model::{FORMAT, Model, Receipt, Response, VERSION, software, to_terms};
use crate::site_intercepts::site_intercepts;
use crate::study::Study;

/// What the noise of a study is made from.
#[derive(Debug)]
pub enum Secret {
    /// All of it, by one party.
    Curator(Box<NoiseGenerator>),
    /// A share for each client.
    Parties(PartyKey),
    /// A share for each of three trustees.
    Trustees(PartyKey),
}

impl Secret {
    /// The secret of `backend`, from 256 bits.
    ///
    /// # Trust
    /// The caller vouches that they are fresh from the operating system's generator and are used for one fit only.
    #[must_use]
    pub fn assume_fresh_entropy(backend: Backend, bits: [u8; 32]) -> Self {
        match backend {
            Backend::Curator => Self::Curator(NoiseGenerator::assume_fresh_entropy(bits).into()),
            Backend::SecureSum => Self::Parties(PartyKey::assume_fresh_entropy(bits)),
            Backend::Trustees => Self::Trustees(PartyKey::assume_fresh_entropy(bits)),
        }
    }

    /// A secret that can be repeated, for simulation. What it protects is nothing.
    #[must_use]
    pub fn simulated(backend: Backend, seed: u64) -> Self {
        match backend {
            Backend::Curator => Self::Curator(NoiseGenerator::simulated(seed).into()),
            Backend::SecureSum => Self::Parties(PartyKey::simulated(seed, 0)),
            Backend::Trustees => Self::Trustees(PartyKey::simulated(seed, 0)),
        }
    }

    /// The backend whose noise it makes.
    #[must_use]
    pub const fn backend(&self) -> Backend {
        match self {
            Self::Curator(_) => Backend::Curator,
            Self::Parties(_) => Backend::SecureSum,
            Self::Trustees(_) => Backend::Trustees,
        }
    }

    /// Where the noise comes from.
    #[must_use]
    pub const fn provenance(&self) -> Provenance {
        match self {
            Self::Curator(generator) => generator.provenance(),
            Self::Parties(key) | Self::Trustees(key) => key.provenance(),
        }
    }
}

/// How a run ended, and what it spent whatever the end was.
#[derive(Debug)]
pub struct Run {
    /// The fit, or why there is none.
    pub outcome: Result<Fit, Error>,
    /// What was spent, and with which noise.
    pub receipt: Receipt,
}

/// The rows of a table, each a unit; those that do not count keep their places.
#[derive(Clone, Copy, Debug)]
pub struct TableRows<'a>(&'a Table);

/// The rows of `table`.
#[must_use]
pub const fn rows_of(table: &Table) -> TableRows<'_> {
    TableRows(table)
}

impl RecordSource for TableRows<'_> {
    fn n_features(&self) -> usize {
        self.0.design().n_features()
    }

    fn n_units(&self) -> usize {
        self.0.design().n_records()
    }

    fn visit_unit(&self, unit: usize, visit: &mut dyn FnMut(Record<'_>)) {
        self.0.design().with_row(unit, |features| {
            visit(Record {
                features,
                response: self.0.response()[unit],
                is_present: self.0.present()[unit],
            });
        });
    }
}

/// Is told how many steps are done, and may end the run before the next one.
pub type Watch<'w> = dyn FnMut(usize) -> ControlFlow<()> + 'w;

/// A planned procedure, and the clients among which the units of its records are divided.
pub(crate) struct Undertaking<'a> {
    pub(crate) procedure: CertifiedProcedure,
    pub(crate) setting: &'a Setting,
    pub(crate) plan: &'a Plan,
    /// The most units that each client may have.
    pub(crate) most_units: Vec<u32>,
    /// The units that each client has; a curator needs no clients.
    pub(crate) clients: &'a [Range<usize>],
}

impl Undertaking<'_> {
    /// Runs it over `records` on the backend of `secret`; `watch` may end it between two steps.
    ///
    /// # Errors
    /// When it cannot begin; then nothing was spent.
    pub(crate) fn run<S: RecordSource>(
        self,
        records: &S,
        secret: Secret,
        watch: &mut Watch<'_>,
    ) -> Result<Run, Error> {
        let (procedure, setting, plan) = (self.procedure, self.setting, self.plan.clone());
        let provenance = secret.provenance();
        let part = |units: &Range<usize>| Part::of(records, units.clone());
        let parts = self.clients.iter().map(part).collect();
        let (fit, ledger) = match secret {
            Secret::Curator(generator) => {
                let all = Part::of(records, 0..records.n_units());
                let backend = Curator::open(all, plan, *generator);
                let backend = backend.map_err(Error::Curator)?;
                let mut watched = Watched { backend, watch };
                let fit = procedure.run(setting, &mut watched, |_| ());
                (ended(fit), watched.backend.ledger().record())
            }
            Secret::Parties(key) => {
                let units = self.most_units;
                let agreement = Agreement::among_parties(&key, procedure, *setting, plan, units);
                let agreed = Agreed::new(agreement).map_err(Error::NoAgreement)?;
                let backend = Embedded::open(agreed.into(), &key, parts, Box::new(all_present));
                let backend = backend.map_err(Error::NoSetup)?;
                let mut watched = Watched { backend, watch };
                let fit = procedure.run_on_sums(setting, &mut watched, |_| ());
                (ended(fit), watched.backend.ledger().record())
            }
            Secret::Trustees(key) => {
                let (units, attendance) = (self.most_units, Box::new(all_present));
                let backend = EmbeddedTrustees::open(parts, plan, units, &key, attendance);
                let backend = backend.map_err(Error::NoTrustees)?;
                let mut watched = Watched { backend, watch };
                let fit = procedure.run(setting, &mut watched, |_| ());
                (ended(fit), watched.backend.ledger().record())
            }
        };
        Ok(Run {
            outcome: fit,
            receipt: Receipt { provenance, ledger },
        })
    }
}

impl Study<'_> {
    /// Runs the study over `rows`, of which each is a unit; `watch` may end it between two steps.
    ///
    /// # Errors
    /// When it cannot begin; then nothing was spent.
    pub fn run<S: RecordSource>(
        &self,
        rows: &S,
        secret: Secret,
        watch: &mut Watch<'_>,
    ) -> Result<Run, Error> {
        let holdings = &self.holdings;
        let undertaking = Undertaking {
            procedure: self.procedure,
            setting: &self.setting,
            plan: &self.plan,
            most_units: vec![holdings.most_units(); holdings.n_clients],
            clients: self.grouping.parties(),
        };
        undertaking.run(&self.grouping.of(rows), secret, watch)
    }

    /// The fit in the units of the table, by name, with what it promises and what was spent.
    #[must_use]
    pub fn to_model(
        &self,
        fit: &Fit,
        guarantee: Guarantee,
        receipt: Receipt,
        earlier_receipts: Vec<Receipt>,
    ) -> Model {
        let mapping = self.table.mapping;
        let units = mapping.response();
        let (features, intercept) = to_terms(fit, mapping, self.table.names, self.table.markers);
        Model {
            format: FORMAT.to_owned(),
            version: VERSION,
            software: software(),
            label: guarantee.label().map(str::to_owned),
            guarantee,
            status: fit.status,
            response: Response::of(&self.response, mapping),
            intercept,
            sites: site_intercepts(fit, &self.site_names, intercept, units),
            features,
            inference: ModelInference::of(&fit.inference, mapping, self.table.names),
            missing: self.missing,
            residual_scale: fit.residual_scale.map(|scale| scale * units.scale()),
            train_size: u64::from(self.setting.n_records),
            sparsity: self.setting.sparsity,
            keep: self.setting.choice,
            n_candidates: self.n_candidates(),
            n_clients: self.holdings.n_clients,
            most_records: Some(self.holdings.most_records),
            procedure: self.procedure.to_string(),
            plan: self.plan.clone(),
            receipts: vec![receipt],
            earlier_receipts,
        }
    }
}

fn ended<E: core::fmt::Display>(fit: Result<Fit, E>) -> Result<Fit, Error> {
    fit.map_err(|error| Error::Ended {
        why: error.to_string(),
    })
}

/// What was spent, in words.
#[must_use]
pub fn spent_words(ledger: &LedgerRecord) -> String {
    let epsilon = ledger
        .spent
        .map_or("0".to_owned(), sprifed_privacy::Epsilon::shown);
    let (steps, delta) = (ledger.entries.len(), ledger.budget.delta().shown());
    format!("epsilon = {epsilon} at delta = {delta} was spent in {steps} steps")
}

/// A backend that asks before each step whether to go on.
struct Watched<'w, 'f, B> {
    backend: B,
    watch: &'w mut Watch<'f>,
}

/// Why a watched backend did not answer.
#[derive(Debug, thiserror::Error)]
enum WatchedError<E: core::error::Error> {
    /// It could not.
    #[error("{0}")]
    Backend(E),
    /// It was not let.
    #[error("the run was interrupted before step {}", .before + 1)]
    Interrupted {
        /// The step that was not begun.
        before: usize,
    },
}

impl<B> Watched<'_, '_, B> {
    fn go_on<E: core::error::Error>(&mut self, step: usize) -> Result<(), WatchedError<E>> {
        match (self.watch)(step) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(WatchedError::Interrupted { before: step }),
        }
    }
}

impl<B: SumBackend<Error: 'static>> SumBackend for Watched<'_, '_, B> {
    type Error = WatchedError<B::Error>;

    fn answer(&mut self, query: &SumQuery) -> Result<Answer, Self::Error> {
        self.go_on(query.step)?;
        self.backend.answer(query).map_err(WatchedError::Backend)
    }
}

impl<B: ChoiceBackend<Error: 'static>> ChoiceBackend for Watched<'_, '_, B> {
    fn choose(&mut self, query: &ChoiceQuery) -> Result<usize, Self::Error> {
        self.go_on(query.step)?;
        self.backend.choose(query).map_err(WatchedError::Backend)
    }
}
