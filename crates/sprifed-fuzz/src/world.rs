//! A study that is small enough to be run thousands of times: three parties with two records each.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use sprifed_privacy::{NoiseOrigin, Participation};
use sprifed_query::{Record, RecordSource};
use sprifed_recovery::test_support::{budget, legal_setting};
use sprifed_recovery::{CertifiedProcedure, Setting};
use sprifed_secure_sum::{ClientId, IdentityKey};
use sprifed_study::{
    Agreed, Agreement, CoordinatorEffect, JournalLine, PartyEffect, PartyKey, PartyReceipt,
    Receipt, Signature, SignedReceipt, StudyCoordinator, StudyParty, StudyPhase,
};

pub(crate) const PARTIES: u32 = 3;
const UNITS: u32 = 2;
const FEATURES: u32 = 5;
pub(crate) const SOFTWARE: &str = "sprifed-fuzz";

/// The secret of all parties, and of the coordinator.
pub(crate) fn key() -> PartyKey {
    PartyKey::simulated(5, 0)
}

/// The coordinator's own key: it signs what it likes.
pub(crate) fn coordinator_key() -> IdentityKey {
    key().identity()
}

/// What the parties agree on.
pub(crate) fn agreed() -> &'static Arc<Agreed> {
    static AGREED: OnceLock<Arc<Agreed>> = OnceLock::new();
    AGREED.get_or_init(|| {
        let participation = Participation::new(PARTIES, PARTIES, 1).unwrap();
        let setting = Setting {
            n_records: PARTIES * UNITS,
            n_features: FEATURES,
            sparsity: 2,
            budget: budget(60.0, 1e-6),
            origin: NoiseOrigin::Shares(participation),
            feature_bound: 2.0,
            ..legal_setting()
        };
        let procedure = CertifiedProcedure::SIEVE;
        let plan = procedure.plan(&setting).unwrap();
        let units = vec![UNITS; PARTIES as usize];
        let mut agreement = Agreement::among_parties(&key(), procedure, setting, plan, units);
        agreement.repeats = 1;
        Arc::new(Agreed::new(agreement).unwrap())
    })
}

/// Whether records may be read, and how often they were.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    is_open: AtomicBool,
    n_reads: AtomicU64,
}

impl Watch {
    /// A charge was handed out: records may be read for it.
    pub(crate) fn set_open(&self, is_open: bool) {
        self.is_open.store(is_open, Ordering::SeqCst);
    }

    pub(crate) fn n_reads(&self) -> u64 {
        self.n_reads.load(Ordering::SeqCst)
    }
}

/// A party's records, which may be read only while `watch` is open.
#[derive(Clone, Debug)]
pub(crate) struct Records {
    pub(crate) first: u32,
    pub(crate) watch: Arc<Watch>,
}

impl RecordSource for Records {
    fn n_features(&self) -> usize {
        FEATURES as usize
    }

    fn n_units(&self) -> usize {
        UNITS as usize
    }

    fn visit_unit(&self, unit: usize, visit: &mut dyn FnMut(Record<'_>)) {
        assert!(
            self.watch.is_open.load(Ordering::SeqCst),
            "a record is read before its charge was handed out"
        );
        self.watch.n_reads.fetch_add(1, Ordering::SeqCst);
        let place = self.first + u32::try_from(unit).unwrap();
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let value = |feature: u32| ((place * 7 + feature * 5) % 11) as f32 / 4.0 - 1.3;
        let mut features: Vec<f32> = (0..FEATURES).map(value).collect();
        let response = 2.0 * features[1] - 1.5 * features[3];
        // Nothing that a coordinator says may depend on such a value either.
        if place == 1 {
            features[2] = f32::NAN;
        }
        visit(Record {
            features: &features,
            response,
            is_present: place != 2,
        });
    }
}

/// A party of the study, resumed from its journal.
pub(crate) fn party(id: u32, watch: &Arc<Watch>, journal: &[JournalLine]) -> StudyParty<Records> {
    let own = key().of_party(id);
    let records = Records {
        first: id * UNITS,
        watch: Arc::clone(watch),
    };
    let (study, identity) = (Arc::clone(agreed()), own.identity());
    StudyParty::join(
        study,
        ClientId(id),
        identity,
        own,
        records,
        journal,
        SOFTWARE,
    )
    .unwrap()
}

pub(crate) fn coordinator() -> StudyCoordinator {
    StudyCoordinator::open(Arc::clone(agreed()), coordinator_key(), SOFTWARE).unwrap()
}

/// What an honest study leaves: every order, every report, and the receipts.
#[derive(Debug)]
pub(crate) struct Honest {
    pub(crate) orders: Vec<Vec<u8>>,
    pub(crate) reports: Vec<Vec<u8>>,
    pub(crate) receipt: SignedReceipt,
    pub(crate) party_receipt: PartyReceipt,
    pub(crate) transcript: Vec<u8>,
}

/// One honest study, run once.
pub(crate) fn honest() -> &'static Honest {
    static HONEST: OnceLock<Honest> = OnceLock::new();
    HONEST.get_or_init(run_honestly)
}

fn run_honestly() -> Honest {
    let watch = Arc::new(Watch::default());
    watch.set_open(true);
    let mut coordinator = coordinator();
    let mut parties: Vec<_> = (0..PARTIES).map(|id| party(id, &watch, &[])).collect();
    let (mut orders, mut reports) = (Vec::new(), Vec::new());
    let (mut receipt, mut party_receipt) = (None, None);
    let mut line: VecDeque<(ClientId, Vec<u8>)> = VecDeque::new();
    for _ in 0..200 {
        loop {
            let mut is_quiet = true;
            for (id, party) in (0..).map(ClientId).zip(&mut parties) {
                while let Some(effect) = party.poll() {
                    is_quiet = false;
                    match effect {
                        PartyEffect::Send(report) => {
                            let bytes = report.encode();
                            reports.push(bytes.clone());
                            coordinator.receive(id, &bytes).unwrap();
                        }
                        PartyEffect::Ended(kept) => party_receipt = Some(*kept),
                        _ => {}
                    }
                }
            }
            while let Some(effect) = coordinator.poll() {
                is_quiet = false;
                match effect {
                    CoordinatorEffect::Send(to, bytes) => line.push_back((to, bytes.to_vec())),
                    CoordinatorEffect::Ended(ended) => receipt = Some(*ended),
                    CoordinatorEffect::Checkpoint { .. } => {}
                }
            }
            while let Some((to, bytes)) = line.pop_front() {
                is_quiet = false;
                parties[to.0 as usize].receive(&bytes).unwrap();
                orders.push(bytes);
            }
            if is_quiet {
                break;
            }
        }
        if coordinator.phase() == StudyPhase::Ended {
            break;
        }
        coordinator.close_phase();
    }
    Honest {
        orders,
        reports,
        receipt: receipt.unwrap(),
        party_receipt: party_receipt.unwrap(),
        transcript: parties[0].transcript().to_json(),
    }
}

/// The receipt with the right signature of the coordinator, whatever it says.
pub(crate) fn signed(receipt: Receipt) -> SignedReceipt {
    let signature = coordinator_key().sign_statement("receipt", &receipt.digest().0);
    SignedReceipt {
        receipt,
        coordinator: Signature(signature),
        parties: Vec::new(),
        trustees: Vec::new(),
    }
}
