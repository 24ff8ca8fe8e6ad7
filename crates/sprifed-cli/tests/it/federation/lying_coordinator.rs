//! A coordinator of our own that lies: the program's server and study, and in between what changes, drops, repeats or
//! invents orders. It has the real keys, so nothing but the parties' own checks stands against it.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use sprifed_net::{
    CoordinatorEffect as Effect, CoordinatorMachine, Ended, Identity, Limits, PartyId, Patience,
    PhaseInfo, Refused, RosterEntry, Server, ServerConfig, StatusView,
};
use sprifed_party::{Invitation, StudyFolder};
use sprifed_secure_sum::{Body, ClientId, IdentityKey, Phase, SignedMessage, Upload};
use sprifed_study::{
    Agreed, CoordinatorEffect, Digest, JournalLine, Order, Report, StudyCoordinator, StudyPhase,
};

use super::stage::{Running, Stage, json_at};

/// Orders that are to be sent, with their receivers.
pub(crate) type Sends = Vec<(u32, Vec<u8>)>;

/// What a coordinator does that an honest one does not.
pub(crate) trait Lie: Send + 'static {
    /// What `party` is told in the place of `order`.
    fn tell(&mut self, _party: u32, order: &[u8]) -> Vec<Vec<u8>> {
        vec![order.to_vec()]
    }

    /// `party` said `message`: what is sent besides.
    fn hear(&mut self, _party: u32, _message: &[u8]) -> Sends {
        Vec::new()
    }

    /// Whether the honest study hears `message`, too.
    fn passes_on(&mut self, _party: u32, _message: &[u8]) -> bool {
        true
    }

    /// A phase of the honest study was closed: what is sent besides.
    fn closed(&mut self) -> Sends {
        Vec::new()
    }

    /// Whether the study waits for `party`.
    fn waits_for(&self, _party: u32) -> bool {
        true
    }
}

/// A coordinator that does not lie, and keeps a book.
pub(crate) struct Honest;

impl Lie for Honest {}

/// A lie about single orders.
pub(crate) struct Changed<F>(pub(crate) F);

impl<F: FnMut(u32, Order) -> Vec<Vec<u8>> + Send + 'static> Lie for Changed<F> {
    fn tell(&mut self, party: u32, order: &[u8]) -> Vec<Vec<u8>> {
        (self.0)(party, Order::decode(order).unwrap())
    }
}

/// Everything that was said, in order.
#[derive(Debug, Default)]
pub(crate) struct Book {
    pub(crate) received: Sends,
    pub(crate) told: Sends,
}

impl Book {
    /// The uploads of `party` as they came, with their sums.
    pub(crate) fn uploads(&self, party: u32) -> Vec<(u32, Upload)> {
        let own = self.received.iter().filter(|(from, _)| *from == party);
        own.filter_map(|(_, bytes)| upload(bytes)).collect()
    }

    /// The receipts that `party` has signed.
    pub(crate) fn signatures(&self, party: u32) -> usize {
        let own = self.received.iter().filter(|(from, _)| *from == party);
        let is_signature =
            |bytes: &[u8]| matches!(Report::decode(bytes), Ok(Report::Countersigned { .. }));
        own.filter(|(_, bytes)| is_signature(bytes)).count()
    }
}

/// The message of the secure sum with these bytes.
pub(crate) fn message(bytes: &[u8]) -> Option<SignedMessage> {
    match Report::decode(bytes) {
        Ok(Report::Message(message)) => Some(message),
        _ => None,
    }
}

/// The sum and the body of an upload with these bytes.
pub(crate) fn upload(bytes: &[u8]) -> Option<(u32, Upload)> {
    let message = message(bytes).filter(|message| message.phase == Phase::Upload)?;
    match Body::decode(Phase::Upload, &message.body) {
        Ok(Body::Upload(upload)) => Some((message.sum, upload)),
        _ => None,
    }
}

/// A lying coordinator that serves.
pub(crate) struct Serving {
    pub(crate) book: Arc<Mutex<Book>>,
    is_stopped: Arc<AtomicBool>,
    cancellation: PathBuf,
    thread: Option<JoinHandle<Ended>>,
}

struct Liar<L> {
    study: StudyCoordinator,
    lie: L,
    sends: VecDeque<(u32, Vec<u8>)>,
    book: Arc<Mutex<Book>>,
    is_stopped: Arc<AtomicBool>,
}

impl<L: Lie> CoordinatorMachine for Liar<L> {
    fn receive(&mut self, from: PartyId, message: &[u8]) -> Result<(), Refused> {
        self.book
            .lock()
            .unwrap()
            .received
            .push((from.0, message.to_vec()));
        if self.lie.passes_on(from.0, message) {
            // A party is not told that the study does not want its message.
            let _ = self.study.receive(ClientId(from.0), message);
        }
        self.sends.extend(self.lie.hear(from.0, message));
        Ok(())
    }

    fn returned(&mut self, party: PartyId) {
        self.study.returned(ClientId(party.0));
    }

    fn waits_for(&self) -> Vec<PartyId> {
        let waits = self.study.waits_for().into_iter();
        let waits = waits.filter(|id| self.lie.waits_for(id.0));
        waits.map(|id| PartyId(id.0)).collect()
    }

    fn phase(&self) -> PhaseInfo {
        let phase = self.study.phase();
        let is_stopped = self.is_stopped.load(Ordering::SeqCst);
        PhaseInfo {
            number: self.study.phases_closed(),
            name: format!("{phase:?}"),
            epoch: self.study.epoch(),
            is_end: phase == StudyPhase::Ended || is_stopped,
        }
    }

    fn close_phase(&mut self) {
        self.study.close_phase();
        self.sends.extend(self.lie.closed());
    }

    fn cancel(&mut self) {}

    fn poll(&mut self) -> Option<Effect> {
        loop {
            if let Some((to, bytes)) = self.sends.pop_front() {
                self.book.lock().unwrap().told.push((to, bytes.clone()));
                return Some(Effect::Send(PartyId(to), bytes));
            }
            match self.study.poll()? {
                CoordinatorEffect::Send(to, order) => {
                    let told = self.lie.tell(to.0, &order).into_iter();
                    self.sends.extend(told.map(|bytes| (to.0, bytes)));
                }
                CoordinatorEffect::Checkpoint { epoch, bytes } => {
                    return Some(Effect::Checkpoint { epoch, bytes });
                }
                CoordinatorEffect::Ended(receipt) => {
                    let artefacts = vec![("receipt.json".to_owned(), receipt.to_json())];
                    return Some(Effect::Finished { artefacts });
                }
            }
        }
    }

    fn restore(&mut self, _epoch: u32, _checkpoint: &[u8]) -> Result<(), Refused> {
        Err(Refused::because("a liar is not started again"))
    }

    fn status(&self) -> StatusView {
        StatusView::default()
    }
}

/// Serves the study of `stage` with the keys of its coordinator.
pub(crate) fn serve(stage: &Stage, lie: impl Lie) -> Serving {
    let folder = stage.study();
    let agreed = agreed(stage);
    let study = open(stage);
    let roster = json_at(&folder.join("roster.json"));
    let certificates = roster["certificates"].as_array().unwrap();
    let entry = |(id, certificate): (u32, &serde_json::Value)| RosterEntry {
        party: PartyId(id),
        name: format!("p{id}"),
        certificate: Some(certificate.as_str().unwrap().parse().unwrap()),
    };
    let cancellation = stage.folder.join("stop-lying");
    let config = ServerConfig {
        study: agreed.digest().to_string(),
        listen: (Ipv4Addr::LOCALHOST, stage.port).into(),
        page: None,
        identity: Identity {
            certificate: folder.join("tls/coordinator.pem"),
            key: folder.join("tls/coordinator.key"),
        },
        authorities: folder.join("tls/authority.pem"),
        roster: (0..).zip(certificates).map(entry).collect(),
        state: folder.join("state.sqlite"),
        artefacts: folder.join("result"),
        cancellation: cancellation.clone(),
        patience: Patience {
            setup: Duration::from_secs(120),
            per_phase: Duration::from_secs(u64::from(stage.kind.patience)),
            farewell: Duration::from_secs(u64::from(stage.kind.stay)),
            ..Patience::default()
        },
        limits: Limits {
            largest_message: agreed.largest_message(),
            ..Limits::default()
        },
    };
    let (book, is_stopped) = (Arc::default(), Arc::default());
    let liar = Liar {
        study,
        lie,
        sends: VecDeque::new(),
        book: Arc::clone(&book),
        is_stopped: Arc::clone(&is_stopped),
    };
    let server = Server::open(config, || Ok::<_, Refused>(liar)).unwrap();
    let thread = std::thread::spawn(move || server.run_until_signal().unwrap());
    Serving {
        book,
        is_stopped,
        cancellation,
        thread: Some(thread),
    }
}

impl Serving {
    /// Waits until the study is over.
    pub(crate) fn finish(mut self) {
        self.thread.take().unwrap().join().unwrap();
    }

    pub(crate) fn uploads(&self, party: u32) -> Vec<(u32, Upload)> {
        self.book.lock().unwrap().uploads(party)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // The server looks for this file, and then finds that the study is over.
        self.is_stopped.store(true, Ordering::SeqCst);
        let _ = fs::write(&self.cancellation, b"");
        if let Some(thread) = self.thread.take().filter(|_| !std::thread::panicking()) {
            let _ = thread.join();
        }
    }
}

/// A coordinator of the study of `stage` that has received nothing.
pub(crate) fn open(stage: &Stage) -> StudyCoordinator {
    let key = key_at(&stage.study().join("coordinator.key"));
    StudyCoordinator::open(agreed(stage), key, "a liar").unwrap()
}

pub(crate) fn agreed(stage: &Stage) -> Arc<Agreed> {
    let document = fs::read(stage.study().join("invitation.json")).unwrap();
    let opened = Invitation::open(&document, "the invitation");
    let Ok((_, agreed)) = opened else {
        panic!("no invitation");
    };
    Arc::new(agreed)
}

pub(crate) fn key_at(path: &Path) -> IdentityKey {
    let text = fs::read_to_string(path).unwrap();
    let bits = Digest::try_from(text.trim().to_owned()).unwrap();
    IdentityKey::from_stored(&bits.0)
}

/// The folder of the only study of `party`, once there is one.
pub(crate) fn study_of(stage: &Stage, party: u32) -> Option<PathBuf> {
    let entries = fs::read_dir(stage.party(party)).ok()?;
    let mut folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
    folders.find(|path| path.join("state.sqlite").exists())
}

/// The journal of `party`, which does not run.
pub(crate) fn journal(stage: &Stage, party: u32) -> Vec<JournalLine> {
    let folder = StudyFolder::new(study_of(stage, party).unwrap());
    folder.look_into().unwrap().unwrap().lines
}

/// The sums for which `party` was charged by its journal, in order.
pub(crate) fn charged(stage: &Stage, party: u32) -> Vec<u32> {
    let lines = journal(stage, party).into_iter();
    let sums = lines.filter_map(|line| match line {
        JournalLine::Charged { sum, .. } => Some(sum),
        _ => None,
    });
    sums.collect()
}

/// All parties of the stage, each with a log of its own.
pub(crate) fn start_all(stage: &Stage) -> Vec<Running> {
    let start = |party| Running::start(&mut stage.join(party), &log(stage, party));
    (0..stage.kind.parties).map(start).collect()
}

pub(crate) fn log(stage: &Stage, party: u32) -> PathBuf {
    stage.folder.join(format!("log{party}"))
}

pub(crate) fn said(stage: &Stage, party: u32) -> String {
    fs::read_to_string(log(stage, party)).unwrap_or_default()
}

/// Each party ends with its exit code.
pub(crate) fn all_end(stage: &Stage, parties: Vec<Running>, codes: &[i32]) {
    for ((party, running), code) in (0..).zip(parties).zip(codes) {
        let ended = running.finish();
        let said = said(stage, party);
        assert_eq!(ended.status.code(), Some(*code), "party {party}: {said}");
        assert!(!said.contains("sprifed::defect"), "party {party}: {said}");
    }
}

/// No sum was answered that was not charged before, and none was charged or answered twice.
pub(crate) fn check_charges(stage: &Stage, serving: &Serving) {
    for party in 0..stage.kind.parties {
        let charged = charged(stage, party);
        let distinct: BTreeSet<u32> = charged.iter().copied().collect();
        assert_eq!(
            charged.len(),
            distinct.len(),
            "party {party} was charged twice"
        );
        let uploads = serving.uploads(party);
        let answered: BTreeSet<u32> = uploads.iter().map(|(sum, _)| *sum).collect();
        assert_eq!(distinct, answered, "charged and answered by party {party}");
        for (sum, upload) in &uploads {
            let mut same = uploads.iter().filter(|(other, _)| other == sum);
            assert!(
                same.all(|(_, other)| other == upload),
                "two answers to sum {sum}"
            );
        }
    }
}
