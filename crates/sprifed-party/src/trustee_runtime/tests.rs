use std::collections::VecDeque;
use std::fs;

use sprifed_privacy::{ApproxDp, Delta, Epsilon, Gates, NoiseOrigin};
use sprifed_query::{Record, RecordSource};
use sprifed_recovery::{CertifiedProcedure, Setting};
use sprifed_secure_sum::ClientId;
use sprifed_study::{
    Agreement, CoordinatorEffect, JournalLine, PartyEffect, PartyKey, StudyCoordinator, StudyParty,
    StudyPhase, TrusteePhase,
};

use super::*;
use crate::folder::RECEIPT;
use crate::test_study::{self, COORDINATOR_SEED, RECORDS, TestFolder, entropy};

#[derive(Clone, Debug)]
struct Records(usize);

impl RecordSource for Records {
    fn n_features(&self) -> usize {
        6
    }

    fn n_units(&self) -> usize {
        RECORDS as usize
    }

    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn visit_unit(&self, unit: usize, visit: &mut dyn FnMut(Record<'_>)) {
        let value = ((unit * 7 + self.0 * 3) % 11) as f32 / 5.0 - 1.0;
        let features = [value, 0.5, -0.5, 0.1, -value, 0.25];
        visit(Record {
            features: &features,
            response: 2.0 * value,
            is_present: true,
        });
    }
}

fn identity(place: usize) -> IdentityKey {
    IdentityKey::from_stored(&[70 + u8::try_from(place).expect("three"); 32])
}

fn key(place: usize) -> TrusteeKey {
    TrusteeKey::assume_fresh_entropy(&[60 + u8::try_from(place).expect("three"); 32])
}

fn agreed() -> Arc<Agreed> {
    let masked = test_study::agreement(Provenance::Cryptographic);
    let epsilon = Epsilon::try_from(20.0).expect("legal");
    let setting = Setting {
        origin: NoiseOrigin::Trustees,
        budget: ApproxDp::new(epsilon, Delta::try_from(1e-6).expect("legal")),
        ..masked.setting
    };
    let procedure = CertifiedProcedure::ARGMAX;
    let entry = |place| {
        let entry = key(place).entry(&format!("trustee {place}"), &identity(place));
        entry.expect("not enrolled")
    };
    let agreement = Agreement {
        procedure,
        procedure_version: procedure.version(),
        plan: procedure.plan(&setting).expect("a plan"),
        setting,
        trustees: Some([0, 1, 2].map(entry)),
        gates: Some(Gates::Proved),
        repeats: 1,
        ..masked
    };
    Arc::new(Agreed::new(agreement).expect("legal"))
}

fn files(receipt: &SignedReceipt, _: &Transcript) -> Artefacts {
    vec![(RECEIPT.to_owned(), receipt.to_json())]
}

fn open(agreed: &Arc<Agreed>, folder: &TestFolder, place: usize) -> TrusteeRuntime {
    let folder = StudyFolder::new(folder.path().join(format!("trustee-{place}")));
    fs::create_dir_all(folder.path()).expect("a folder");
    let seat = TrusteeSeat {
        agreed: Arc::clone(agreed),
        identity: identity(place),
        seed: None,
        key: folder.path().join("trustee.key"),
        folder,
        files,
        entropy,
    };
    let is_new = !seat.folder.database().exists();
    if is_new {
        let text = key(place).to_stored().expect("stored");
        crate::private_files::create_private(&seat.key, text.as_bytes()).expect("written");
    }
    let mut runtime = TrusteeRuntime::new(seat).expect("a state");
    assert!(runtime.restart().expect("begun").is_none());
    runtime
}

struct Party {
    machine: StudyParty<Records>,
    journal: Vec<JournalLine>,
}

#[test]
fn three_trustees_with_files_serve_a_study_although_one_is_killed() {
    let (agreed, folder) = (agreed(), TestFolder::new("three-trustees"));
    let identity = PartyKey::simulated(COORDINATOR_SEED, 0).identity();
    let coordinator = StudyCoordinator::open(Arc::clone(&agreed), identity, "a test");
    let mut coordinator = coordinator.expect("a coordinator");
    let n_parties = agreed.agreement().parties.len();
    let party = |place: usize| {
        let own = test_study::key_of_party(u32::try_from(place).expect("few"));
        let secret = [50 + u8::try_from(place).expect("few"); 32];
        let machine = StudyParty::join(
            Arc::clone(&agreed),
            ClientId(u32::try_from(place).expect("few")),
            own.identity(),
            PartyKey::assume_fresh_entropy(secret).split(agreed.n_steps()),
            Records(place),
            &[],
            "a test",
        );
        Party {
            machine: machine.expect("invited"),
            journal: Vec::new(),
        }
    };
    let mut parties: Vec<Party> = (0..n_parties).map(party).collect();
    let mut trustees: Vec<Option<TrusteeRuntime>> = (0..3)
        .map(|place| Some(open(&agreed, &folder, place)))
        .collect();
    let mut reports: VecDeque<(ClientId, Vec<u8>)> = VecDeque::new();
    let (mut ended, mut finished, mut is_killed) = (None, 0, false);
    let key_file = folder.path().join("trustee-1/trustee.key");
    let first_key = fs::read_to_string(&key_file).expect("a key");
    'study: for _ in 0..10_000 {
        for (place, party) in (0..).zip(&mut parties) {
            while let Some(effect) = party.machine.poll() {
                match effect {
                    PartyEffect::Persist(line) => party.journal.push(line),
                    PartyEffect::Send(report) => {
                        reports.push_back((ClientId(place), report.encode()));
                    }
                    PartyEffect::Forget { .. } | PartyEffect::Ended(_) => {}
                }
            }
        }
        for (place, runtime) in trustees.iter_mut().enumerate() {
            let seat = ClientId(u32::try_from(n_parties + place).expect("few"));
            while let Some(running) = runtime {
                match running.poll().expect("stored") {
                    None => break,
                    Some(Outgoing::Send(bytes)) => reports.push_back((seat, bytes)),
                    Some(Outgoing::Ended(end)) => {
                        assert!(end.success && end.files.len() == 1);
                        finished += 1;
                    }
                }
            }
        }
        let is_running = matches!(
            coordinator.phase(),
            StudyPhase::Attempt {
                step: 1,
                phase: TrusteePhase::Running,
                ..
            }
        );
        if is_running && !is_killed {
            // Between two frames, and without a word.
            is_killed = true;
            trustees[1] = None;
            trustees[1] = Some(open(&agreed, &folder, 1));
            coordinator.returned(ClientId(u32::try_from(n_parties + 1).expect("few")));
        }
        let is_quiet = reports.is_empty();
        while let Some((from, bytes)) = reports.pop_front() {
            let _refused = coordinator.receive(from, &bytes);
        }
        if is_quiet && coordinator.waits_for().is_empty() {
            coordinator.close_phase();
        }
        while let Some(effect) = coordinator.poll() {
            match effect {
                CoordinatorEffect::Send(to, bytes) => {
                    let place = to.0 as usize;
                    if let Some(party) = parties.get_mut(place) {
                        let _refused = party.machine.receive(&bytes);
                    } else if let Some(running) = &mut trustees[place - n_parties] {
                        let _refused = running.receive(&bytes);
                    }
                }
                CoordinatorEffect::Checkpoint { .. } => {}
                CoordinatorEffect::Ended(receipt) => {
                    ended = Some(receipt);
                    break 'study;
                }
            }
        }
    }
    let receipt = ended.expect("it ends");
    assert_eq!(receipt.receipt.ending, "complete");
    assert!(is_killed && receipt.verify().expect("good").is_confirmed());
    assert_eq!(finished, 3);
    let sums = receipt.receipt.sums.len();
    assert_eq!(sums, agreed.n_steps() + 1, "one attempt was abandoned");
    assert_eq!(receipt.receipt.ledger.entries.len(), agreed.n_steps());
    // The key is gone, and the state says that the study is over.
    assert!(first_key.contains("study 0 ") && !key_file.exists());
    let again = trustees[1]
        .as_mut()
        .expect("present")
        .restart()
        .expect("over");
    assert!(again.is_some_and(|end| end.success));
}

#[test]
fn a_state_has_one_process_and_a_lost_key_ends_a_trustee() {
    let (agreed, folder) = (agreed(), TestFolder::new("one-process"));
    let first = open(&agreed, &folder, 0);
    let seat = first.seat.clone();
    assert!(TrusteeRuntime::new(seat.clone()).is_err(), "locked");
    drop(first);
    fs::remove_file(&seat.key).expect("removed");
    let mut lost = TrusteeRuntime::new(seat).expect("a state");
    assert!(matches!(lost.restart(), Err(PartyError::StateLost { .. })));
}
