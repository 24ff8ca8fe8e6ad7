//! Faults and misbehaviour as a list of operations, run by a deterministic simulator.

use std::sync::Arc;

use proptest::prelude::*;
use sprifed_secure_sum::*;

use crate::world::{CONTEXT, World, noised, participation, seed};

/// Something that goes wrong with one client's message of one phase.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Drop(Phase, u32),
    Delay(Phase, u32),
    Duplicate(Phase, u32),
    Reorder(Phase, u64),
    Restart(Phase, u32),
    WrongRound(Phase, u32),
    WrongLength(Phase, u32),
    Replay(Phase, u32),
    ForgedSender(Phase, u32),
    BadSignature(Phase, u32),
    BadShare(u32),
}

impl Op {
    const fn phase(self) -> Phase {
        match self {
            Self::Drop(phase, _)
            | Self::Delay(phase, _)
            | Self::Duplicate(phase, _)
            | Self::Reorder(phase, _)
            | Self::Restart(phase, _)
            | Self::WrongRound(phase, _)
            | Self::WrongLength(phase, _)
            | Self::Replay(phase, _)
            | Self::ForgedSender(phase, _)
            | Self::BadSignature(phase, _) => phase,
            Self::BadShare(_) => Phase::Unmask,
        }
    }
}

/// How a run ended.
pub(crate) struct Run {
    pub(crate) world: World,
    pub(crate) rejected: Vec<Rejected>,
    pub(crate) parts: Vec<Vec<i64>>,
}

const COORDINATES: u32 = 3;

/// Runs one sum of eight clients, six of which must stay, with these faults.
pub(crate) fn run(ops: &[Op]) -> Run {
    let participation = participation(8, 6, 1);
    let world = World::new(participation, COORDINATES, 16, 2);
    let mut run = Run {
        world,
        rejected: Vec::new(),
        parts: Vec::new(),
    };
    let mut late = Vec::new();
    let mut past: Vec<(ClientId, SignedMessage)> = Vec::new();
    for phase in Phase::ALL {
        if phase == Phase::Upload {
            if run.world.coordinator.open_sum(0, CONTEXT).is_err() {
                return run;
            }
            for id in 0..8u32 {
                let part = noised(participation, COORDINATES, u64::from(id));
                // A client that missed the exchange of keys cannot upload.
                let _not_ready = run.world.clients[id as usize].upload(0, &CONTEXT, &part);
                run.parts.push(part.values().to_vec());
            }
        }
        let mut messages = core::mem::take(&mut late);
        messages.extend(run.collect());
        for op in ops.iter().filter(|op| op.phase() == phase) {
            run.apply(*op, &mut messages, &mut late, &past);
        }
        for (from, message) in &messages {
            let before = run.world.coordinator.clone();
            if let Err(rejected) = run.world.coordinator.handle_message(*from, message) {
                assert_eq!(
                    before, run.world.coordinator,
                    "a refused message changes nothing"
                );
                assert_eq!(
                    rejected.sender,
                    Sender::Client(*from),
                    "a refusal names its sender"
                );
                run.rejected.push(rejected);
            }
        }
        past.extend(messages);
        run.world.coordinator.close_phase();
        run.tell();
    }
    run
}

impl Run {
    fn collect(&mut self) -> Vec<(ClientId, SignedMessage)> {
        let mut messages = Vec::new();
        for (client, journal) in self.world.clients.iter_mut().zip(&mut self.world.journals) {
            while let Some(output) = client.poll_output() {
                match output {
                    ClientOutput::Persist(entry) => journal.push(entry),
                    ClientOutput::Send(message) => {
                        self.world.transcript.push(message.encode());
                        messages.push((client.id(), message));
                    }
                }
            }
        }
        messages
    }

    fn tell(&mut self) {
        while let Some(output) = self.world.coordinator.poll_output() {
            match output {
                CoordinatorOutput::Send(to, notice) => {
                    self.world.transcript.push(notice.encode());
                    // A client that missed something refuses what follows.
                    let _refused = self.world.clients[to.0 as usize].handle_message(&notice);
                }
                CoordinatorOutput::SumEnded(outcome) => self.world.outcomes.push(outcome),
                CoordinatorOutput::StudyAbandoned(reason) => self.world.abandoned = Some(reason),
            }
        }
    }

    fn apply(
        &mut self,
        op: Op,
        messages: &mut Vec<(ClientId, SignedMessage)>,
        late: &mut Vec<(ClientId, SignedMessage)>,
        past: &[(ClientId, SignedMessage)],
    ) {
        let of = |client: u32| messages.iter().position(|(from, _)| from.0 == client);
        match op {
            Op::Drop(_, client) => messages.retain(|(from, _)| from.0 != client),
            Op::Delay(_, client) => {
                late.extend(messages.extract_if(.., |(from, _)| from.0 == client));
            }
            Op::Duplicate(_, client) => messages.extend(of(client).map(|at| messages[at].clone())),
            Op::Reorder(_, key) => messages.sort_by_key(|(from, message)| {
                (u64::from(from.0) + 1)
                    .wrapping_mul(key | 1)
                    .rotate_left(17)
                    ^ u64::from(message.signature[0])
            }),
            Op::Restart(_, client) => self.restart(client, messages),
            Op::WrongRound(_, client) => self.alter(client, messages, |message| message.sum += 1),
            Op::WrongLength(_, client) => self.alter(client, messages, |message| {
                message.body.pop();
            }),
            Op::Replay(phase, client) => {
                let old = past
                    .iter()
                    .find(|(from, old)| from.0 == client && old.phase < phase);
                messages.extend(old.cloned());
            }
            Op::ForgedSender(_, client) => {
                let other = ClientId((client + 1) % 8);
                messages.extend(of(client).map(|at| (other, messages[at].1.clone())));
            }
            Op::BadSignature(_, client) => {
                if let Some(at) = of(client) {
                    let (from, mut message) = messages[at].clone();
                    message.signature[5] ^= 1;
                    messages.insert(0, (from, message));
                }
            }
            Op::BadShare(client) => {
                let Some(at) = of(client) else { return };
                let Ok(Body::Unmask(mut unmask)) =
                    Body::decode(Phase::Unmask, &messages[at].1.body)
                else {
                    return;
                };
                unmask
                    .shares
                    .iter_mut()
                    .for_each(|share| share.share[3] ^= 9);
                let body = Body::Unmask(unmask).encode();
                messages[at].1 = self.sign(client, Phase::Unmask, 0, body);
            }
        }
    }

    /// Puts an altered message, properly signed, before the good one.
    fn alter(
        &self,
        client: u32,
        messages: &mut Vec<(ClientId, SignedMessage)>,
        change: impl Fn(&mut SignedMessage),
    ) {
        if let Some(at) = messages.iter().position(|(from, _)| from.0 == client) {
            let (from, mut message) = messages[at].clone();
            change(&mut message);
            let SignedMessage {
                phase, sum, body, ..
            } = message;
            messages.insert(0, (from, self.sign(client, phase, sum, body)));
        }
    }

    fn sign(&self, client: u32, phase: Phase, sum: u32, body: Vec<u8>) -> SignedMessage {
        let identity = &self.world.identities[client as usize];
        SignedMessage::sign(
            identity,
            self.world.study.id(),
            phase,
            sum,
            ClientId(client),
            body,
        )
    }

    /// The client forgets everything but what it persisted, and catches up.
    fn restart(&mut self, client: u32, messages: &mut Vec<(ClientId, SignedMessage)>) {
        let World {
            study,
            identities,
            clients,
            journals,
            coordinator,
            ..
        } = &mut self.world;
        let identity = identities[client as usize].clone();
        let journal = &journals[client as usize];
        let resumed = Client::resume(
            Arc::clone(study),
            ClientId(client),
            identity,
            seed(client),
            journal,
        );
        clients[client as usize] = resumed.expect("on the roster");
        coordinator.handle_return(ClientId(client));
        self.tell();
        let again = self.collect();
        messages.extend(again);
    }

    /// The exact sum of the survivors, or nothing.
    pub(crate) fn check(&self) -> Option<&UnmaskedSum> {
        let Some(SumOutcome::Unmasked(sum)) = self.world.outcomes.first() else {
            return None;
        };
        let mut expected = vec![0; COORDINATES as usize];
        for client in sum.survivors().iter() {
            for (total, value) in expected.iter_mut().zip(&self.parts[client.0 as usize]) {
                *total += value;
            }
        }
        assert_eq!(sum.values(), expected);
        Some(sum)
    }
}

#[test]
fn every_single_fault_in_every_phase_leaves_the_exact_sum() {
    let kinds: [fn(Phase, u32) -> Op; 9] = [
        Op::Drop,
        Op::Delay,
        Op::Duplicate,
        Op::Restart,
        Op::WrongRound,
        Op::WrongLength,
        Op::Replay,
        Op::ForgedSender,
        Op::BadSignature,
    ];
    for kind in kinds {
        for phase in Phase::ALL {
            let op = kind(phase, 3);
            let run = run(&[op]);
            let sum = run.check().unwrap_or_else(|| panic!("no sum after {op:?}"));
            assert!(sum.survivors().len() >= 7, "{op:?}");
            let refused = run
                .rejected
                .iter()
                .filter(|r| r.sender == Sender::Client(ClientId(3)));
            match op {
                Op::Drop(..) => assert_eq!(run.rejected.len(), 0, "{op:?}"),
                // The forger is the neighbour whose connection carried the message.
                Op::ForgedSender(..) => {
                    assert_eq!(
                        run.rejected[0].sender,
                        Sender::Client(ClientId(4)),
                        "{op:?}"
                    );
                    assert_eq!(
                        run.rejected[0].reason,
                        Reason::ForgedSender {
                            claimed: ClientId(3)
                        },
                        "{op:?}"
                    );
                }
                Op::Replay(Phase::Keys, _) | Op::Delay(Phase::Unmask, _) => {}
                _ => assert!(refused.count() >= 1, "{op:?}"),
            }
        }
    }
}

#[test]
fn a_bad_share_costs_nothing_and_its_sender_is_named() {
    let run = run(&[Op::BadShare(2)]);
    let sum = run.check().expect("a sum");
    assert_eq!(sum.culprits(), [ClientId(2)]);
    let senders = sum.wrong_shares().iter().map(|share| share.sender);
    assert!(senders.into_iter().all(|sender| sender == ClientId(2)));
}

#[test]
fn too_few_survivors_end_a_sum_before_anything_is_unmasked() {
    let lost = [
        Op::Drop(Phase::Upload, 0),
        Op::Drop(Phase::Upload, 1),
        Op::Drop(Phase::Upload, 2),
    ];
    let run = run(&lost);
    let reason = Abandoned::QuorumLost {
        found: 5,
        required: 6,
    };
    assert_eq!(
        run.world.outcomes,
        [SumOutcome::Abandoned { sum: 0, reason }]
    );
    let unmasked = run
        .world
        .transcript
        .iter()
        .filter_map(|bytes| SignedMessage::decode(bytes).ok());
    assert_eq!(
        unmasked
            .filter(|message| message.phase >= Phase::Confirm)
            .count(),
        0
    );
}

#[test]
fn the_same_faults_give_the_same_transcript() {
    let ops = [
        Op::Restart(Phase::Confirm, 1),
        Op::Reorder(Phase::Upload, 77),
        Op::BadShare(5),
    ];
    let transcript = run(&ops).world.transcript;
    assert!(transcript == run(&ops).world.transcript);
    // And a fault more gives another, so that there is something to compare.
    let more = [&ops[..], &[Op::Drop(Phase::Upload, 7)]].concat();
    assert!(transcript != run(&more).world.transcript);
}

fn any_op() -> impl Strategy<Value = Op> {
    let phase = prop::sample::select(Phase::ALL.to_vec());
    (phase, 0..8u32, 0..11u8, any::<u64>()).prop_map(|(phase, client, kind, key)| match kind {
        0 => Op::Drop(phase, client),
        1 => Op::Delay(phase, client),
        2 => Op::Duplicate(phase, client),
        3 => Op::Reorder(phase, key),
        4 => Op::Restart(phase, client),
        5 => Op::WrongRound(phase, client),
        6 => Op::WrongLength(phase, client),
        7 => Op::Replay(phase, client),
        8 => Op::ForgedSender(phase, client),
        9 => Op::BadSignature(phase, client),
        _ => Op::BadShare(client),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_goes_wrong_a_sum_is_exact_or_there_is_none(
        ops in prop::collection::vec(any_op(), 0..10),
    ) {
        let run = run(&ops);
        if run.check().is_none() {
            let abandoned = run.world.outcomes.iter().any(|o| matches!(o, SumOutcome::Abandoned { .. }));
            prop_assert!(abandoned || run.world.abandoned.is_some());
        }
    }
}
