//! The part of an attempt between the signed set and the signed outcome: deals, layers, proofs, opening.

use std::collections::BTreeMap;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::schedule::{Round, rounds};
use super::{Attempt, DealtNoise, Effect, Ending, Refused, Setting};
use crate::book::JournalLine;
use crate::circuit::Circuit;
use crate::deviation::Deviation;
use crate::evaluate::{Evaluation, SharedPlane, Turn};
use crate::lanes::n_words;
use crate::message::{Body, Content, FrameKey, SealedFrame};
use crate::proof::{Frames, Proof, Statement as Proved};
use crate::report::OutcomeReport;
use crate::set::{Statement, checked_digest, outcome_digest};
use crate::step::Step;
use crate::streams::{Pads, Purpose, StreamKey, stream_words};
use crate::trustee_id::TrusteeId;

/// How many rounds a peer may be ahead: an honest one is at most two.
const AHEAD: usize = 3;

/// Which of the circuits of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Which clients are inside their balls.
    Norms,
    /// What the step is about.
    Outcome,
}

/// The secrets and the place of a trustee in a circuit.
#[derive(Debug)]
pub(super) struct Run {
    phase: Phase,
    circuit: Arc<Circuit>,
    schedule: Vec<Round>,
    to_previous: FrameKey,
    to_next: FrameKey,
    from_previous: FrameKey,
    from_next: FrameKey,
    /// Of the link to the previous trustee, and to the next one.
    gates: [StreamKey; 2],
    deals: [StreamKey; 2],
    noise: Vec<SharedPlane>,
    evaluation: Option<Evaluation>,
    proof: Option<Proof>,
    /// Batches whose proof began.
    batches: u32,
    /// The round whose frames the trustee waits for, and how many rounds' frames it has sent.
    round: usize,
    sent: usize,
    /// Frames that came, by round and whether they are the next trustee's.
    waiting: BTreeMap<(usize, bool), Zeroizing<Vec<u64>>>,
}

impl Run {
    pub(super) fn new(
        circuit: Arc<Circuit>,
        phase: Phase,
        setting: &Setting,
        set: &[u8; 32],
    ) -> Self {
        let trustee = setting.trustee;
        let [previous, next] = &setting.links;
        let key = |link, from, to| FrameKey::new(link, set, from, to);
        let streams = |purpose| [previous, next].map(|link| StreamKey::new(link, purpose, set));
        Self {
            schedule: rounds(&circuit, &setting.step, phase == Phase::Outcome),
            phase,
            circuit,
            to_previous: key(previous, trustee, trustee.previous()),
            from_previous: key(previous, trustee.previous(), trustee),
            to_next: key(next, trustee, trustee.next()),
            from_next: key(next, trustee.next(), trustee),
            gates: streams(Purpose::Gates),
            deals: streams(Purpose::Deals),
            noise: Vec::new(),
            evaluation: None,
            proof: None,
            batches: 0,
            round: 0,
            sent: 0,
            waiting: BTreeMap::new(),
        }
    }

    /// Whether an opening share of a peer has come, of what the step is about.
    pub(super) fn has_opening(&self) -> bool {
        let last = self.schedule.len() - 1;
        let is_outcome = self.phase == Phase::Outcome;
        is_outcome && self.has_frame_of(last)
    }

    fn has_frame_of(&self, last: usize) -> bool {
        self.round > last || self.waiting.range((last, false)..).next().is_some()
    }

    fn number(&self) -> u32 {
        u32::try_from(self.round).unwrap_or(u32::MAX)
    }

    /// Shares the trustee's own noise: the frame for the next trustee.
    fn deal(&mut self, step: &Step, noise: &DealtNoise) -> Result<SealedFrame, Refused> {
        let planes = Zeroizing::new(step.noise(noise)?);
        let [own, _] = &self.deals;
        let mut stream = own.stream(0);
        let mut frame = Zeroizing::new(Vec::new());
        self.noise.clear();
        for plane in planes.iter() {
            let own = stream_words(&mut stream, plane.len());
            let next: Vec<_> = plane.iter().zip(&own).map(|(one, pad)| one ^ pad).collect();
            frame.extend_from_slice(&next);
            self.noise.push(SharedPlane { own, next });
        }
        Ok(self.to_next.seal(Content::Deal, self.number(), &frame))
    }

    /// Opens a frame and keeps it until its turn.
    fn receive(
        &mut self,
        from: TrusteeId,
        frame: &SealedFrame,
        setting: &Setting,
    ) -> Result<(), Refused> {
        let is_next = from == setting.trustee.next();
        let number = frame.number as usize;
        let round = self.schedule.get(number);
        let round = round.filter(|round| round.content == frame.content);
        let length = round.and_then(|round| match is_next {
            true => round.from_next,
            false => round.from_previous,
        });
        let is_expected = (self.round..=self.round.saturating_add(AHEAD)).contains(&number)
            && !self.waiting.contains_key(&(number, is_next));
        let (true, Some(length)) = (is_expected, length) else {
            return Err(Refused::OutOfTurn { from });
        };
        let key = match is_next {
            true => &self.from_next,
            false => &self.from_previous,
        };
        let opened = key.open(frame, length).ok_or(Refused::Frame { from })?;
        self.waiting.insert((number, is_next), opened);
        Ok(())
    }

    /// The frames of the present round, once all of them are there. A frame that does not come is empty.
    fn take(&mut self, round: Round) -> Option<Frames> {
        let has = |is_next: bool| self.waiting.contains_key(&(self.round, is_next));
        let is_there = |length: Option<usize>, is_next: bool| length.is_none() || has(is_next);
        if !is_there(round.from_previous, false) || !is_there(round.from_next, true) {
            return None;
        }
        let mut take = |is_next| self.waiting.remove(&(self.round, is_next));
        let frames = Frames {
            previous: take(false).unwrap_or_default(),
            next: take(true).unwrap_or_default(),
        };
        self.round += 1;
        Some(frames)
    }

    /// All inputs: the clients' planes, then the noise of trustees 0, 1 and 2.
    fn inputs(
        &mut self,
        mut clients: Vec<SharedPlane>,
        dealt: &[u64],
        setting: &Setting,
    ) -> Vec<SharedPlane> {
        let plane = n_words(setting.step.lanes());
        let bits = setting.step.noise_bits() as usize;
        let zero = || vec![0; plane];
        let from_previous = dealt.chunks(plane).map(|received| SharedPlane {
            own: received.to_vec(),
            next: zero(),
        });
        let [_, next] = &self.deals;
        let mut stream = next.stream(0);
        let from_next = (0..bits).map(|_| SharedPlane {
            own: zero(),
            next: stream_words(&mut stream, plane),
        });
        let mut of_dealer: BTreeMap<TrusteeId, Vec<SharedPlane>> = BTreeMap::new();
        of_dealer.insert(setting.trustee.previous(), from_previous.collect());
        of_dealer.insert(setting.trustee, core::mem::take(&mut self.noise));
        of_dealer.insert(setting.trustee.next(), from_next.collect());
        clients.extend(of_dealer.into_values().flatten());
        clients
    }

    /// The proof of the present batch, which begins if it has not.
    fn proof(&mut self, round: Round, setting: &Setting, set: Option<&[u8; 32]>) -> &mut Proof {
        let Self {
            proof,
            evaluation,
            batches,
            ..
        } = self;
        proof.get_or_insert_with(|| {
            let statement = Proved {
                trustee: setting.trustee,
                links: &setting.links,
                set: set.unwrap_or(&[0; 32]),
                batch: *batches,
            };
            *batches += 1;
            let gates = evaluation.as_mut().map(|one| one.take_log(round.batch));
            Proof::new(&statement, &gates.unwrap_or_default())
        })
    }

    /// The shares of the outputs for the previous trustee and for the next one.
    fn openings(&mut self) -> (Zeroizing<Vec<u64>>, Zeroizing<Vec<u64>>) {
        let Some(evaluation) = &mut self.evaluation else {
            return (Zeroizing::default(), Zeroizing::default());
        };
        // What follows the last exchange.
        let _ = evaluation.advance();
        (
            Zeroizing::new(evaluation.opening()),
            Zeroizing::new(evaluation.opening_to_next()),
        )
    }

    fn pads(&self) -> Pads {
        let [previous, next] = &self.gates;
        Pads::new(previous.clone(), next.clone())
    }
}

impl Attempt {
    pub(super) fn receive_frame(
        &mut self,
        from: TrusteeId,
        frame: SealedFrame,
    ) -> Result<(), Refused> {
        let run = self.run.as_mut();
        // A frame leaves its sender after this trustee has signed the set, so it has a run.
        let run = run.ok_or(Refused::OutOfTurn { from })?;
        run.receive(from, &frame, &self.setting)?;
        self.proceed()
    }

    /// Computes as far as the frames and signatures that came allow.
    pub(super) fn proceed(&mut self) -> Result<(), Refused> {
        while let Some(run) = &mut self.run {
            let Some(round) = run.schedule.get(run.round).copied() else {
                break;
            };
            if run.sent == run.round && !self.send(round)? {
                break;
            }
            let frames = self.run.as_mut().and_then(|run| run.take(round));
            let Some(frames) = frames else { break };
            self.take(round, &frames)?;
        }
        Ok(())
    }

    /// Sends the frames of a round, unless something must come before it.
    fn send(&mut self, round: Round) -> Result<bool, Refused> {
        // No frame leaves without three signatures of the set.
        let is_signed = self.set_signatures.iter().all(Option::is_some);
        if !is_signed || (round.content == Content::Opening && !self.are_gates_checked()) {
            return Ok(false);
        }
        let begins_norms = |run: &Run| run.phase == Phase::Norms && run.evaluation.is_none();
        if self.run.as_ref().is_some_and(begins_norms) {
            let inputs = self.norm_inputs();
            self.begin_evaluation(inputs)?;
        }
        let Some(run) = &mut self.run else {
            return Ok(false);
        };
        let number = run.number();
        run.sent += 1;
        let (previous, next) = match round.content {
            Content::Deal => match self.noise.take() {
                Some(noise) => (None, Some(run.deal(&self.setting.step, &noise)?)),
                None => (None, None),
            },
            Content::Layer => match run.evaluation.as_mut().map(Evaluation::advance) {
                Some(Turn::Exchange(frame)) => {
                    let frame = Zeroizing::new(frame);
                    (
                        Some(run.to_previous.seal(Content::Layer, number, &frame)),
                        None,
                    )
                }
                Some(Turn::Done) | None => (None, None),
            },
            Content::Proof => {
                let frames = run.proof(round, &self.setting, self.set.as_ref()).frames();
                (
                    Some(
                        run.to_previous
                            .seal(Content::Proof, number, &frames.previous),
                    ),
                    Some(run.to_next.seal(Content::Proof, number, &frames.next)),
                )
            }
            Content::Opening => {
                let (previous, next) = run.openings();
                let previous = run.to_previous.seal(Content::Opening, number, &previous);
                let next = round
                    .from_previous
                    .map(|_| run.to_next.seal(Content::Opening, number, &next));
                if run.phase == Phase::Outcome {
                    self.persist(JournalLine::Opening)?;
                }
                (Some(previous), next)
            }
        };
        for (peer, frame) in self
            .setting
            .trustee
            .peers()
            .into_iter()
            .zip([previous, next])
        {
            if let Some(frame) = frame {
                self.tell(peer, Body::Frame(frame));
            }
        }
        Ok(true)
    }

    /// Takes the frames of a round.
    fn take(&mut self, round: Round, frames: &Frames) -> Result<(), Refused> {
        let Some(run) = &mut self.run else {
            return Ok(());
        };
        let from = self.setting.trustee.next();
        match round.content {
            Content::Deal => {
                let lanes = self.setting.step.lanes();
                let uploads = core::mem::take(&mut self.uploads).into_values();
                let clients = uploads.flat_map(|upload| upload.planes(lanes)).collect();
                let inputs = run.inputs(clients, &frames.previous, &self.setting);
                self.begin_evaluation(inputs)?;
            }
            Content::Layer => {
                let received = run.evaluation.as_mut().map(|one| one.receive(&frames.next));
                if let Some(Err(_)) = received {
                    return Err(Refused::Frame { from });
                }
            }
            Content::Proof => {
                let received = run.proof.as_mut().map(|proof| proof.receive(frames));
                if run.proof.as_ref().is_some_and(Proof::is_over) {
                    run.proof = None;
                }
                if let Some(Err(refused)) = received {
                    let prover = refused.prover;
                    self.refuse(Deviation::Proof { prover })?;
                }
            }
            Content::Opening => {
                if round.from_previous.is_some() && frames.previous != frames.next {
                    let receiver = self.setting.trustee;
                    return self.refuse(Deviation::Opening { receiver });
                }
                let opened = run.evaluation.as_ref().map(|one| one.open(&frames.next));
                match (opened, run.phase) {
                    (Some(Ok(planes)), Phase::Outcome) => self.finish(&planes)?,
                    (Some(Ok(planes)), Phase::Norms) => self.sign_second_set(&planes)?,
                    (Some(Err(_)), _) => return Err(Refused::Frame { from }),
                    (None, _) => {}
                }
            }
        }
        Ok(())
    }

    /// Begins the circuit of the present run.
    fn begin_evaluation(&mut self, inputs: Vec<SharedPlane>) -> Result<(), Refused> {
        let Some(run) = &mut self.run else {
            return Ok(());
        };
        let (circuit, pads) = (Arc::clone(&run.circuit), run.pads());
        let from = self.setting.trustee;
        let evaluation = Evaluation::new(circuit, from, pads, inputs);
        // Uploads and deals were compared with the plan when they came.
        let evaluation = evaluation.map_err(|_| Refused::Frame { from })?;
        run.evaluation = Some(match self.setting.step.is_proved() {
            true => evaluation.with_log(),
            false => evaluation,
        });
        Ok(())
    }

    /// Whether all three trustees accepted all proofs. This trustee says so here, as all rounds before the opening
    /// are over.
    fn are_gates_checked(&mut self) -> bool {
        let (true, Some(set)) = (self.setting.step.is_proved(), self.set) else {
            return true;
        };
        let own = self.setting.trustee;
        if self.checked_signatures.get(own.place()) == Some(&None) {
            let digest = checked_digest(&self.setting.attempt, &set);
            let signature = Statement::Checked.sign(&self.setting.identity, &digest);
            self.tell_peers(&Body::Checked(signature));
            super::keep(&mut self.checked_signatures, own, signature);
        }
        self.checked_signatures.iter().all(Option::is_some)
    }

    /// Signs what came out.
    fn finish(&mut self, planes: &[Vec<u64>]) -> Result<(), Refused> {
        let output = self.setting.step.output(planes);
        let (Some(output), Some(set)) = (output, self.set) else {
            // An index that no candidate has: a trustee deviated.
            self.end(Ending::Spent);
            return Ok(());
        };
        let digest = outcome_digest(&self.setting.attempt, &set, &self.clients, &output);
        let signature = Statement::Outcome.sign(&self.setting.identity, &digest);
        let report = OutcomeReport {
            attempt: self.setting.attempt,
            trustee: self.setting.trustee,
            set,
            clients: self.clients.clone(),
            output: output.clone(),
            signature,
        };
        let bytes = report.encode();
        self.persist(JournalLine::Opened(Box::new(report)))?;
        self.tell_peers(&Body::Outcome(signature));
        self.effects.push_back(Effect::SendCoordinator(bytes));
        self.output = Some(output);
        self.run = None;
        super::keep(
            &mut self.outcome_signatures,
            self.setting.trustee,
            signature,
        );
        self.take_early(Statement::Outcome)
    }
}
