//! The coordinator's side of steps that trustees compute: it says when, passes on what others sealed,
//! and collects signatures. It sees no share.
//!
//! | phase | waits for | then |
//! |---|---|---|
//! | Noise | three charges | clients are asked |
//! | Uploads | each client that enrolled | uploads are closed |
//! | Running | three statements: an outcome, or that nothing was opened | the step is over, or the next attempt |
//! | any | the signed finding of one trustee that a proof or an opening does not fit | the study is over |
//! | Abandoning | as Running | the next attempt; without a trustee the study ends |

use std::sync::Arc;

use sprifed_secure_sum::ClientId;
use sprifed_trustees::{
    OutcomeReport, SignedFinding, Statement, TrusteeId, Upload, unopened_digest, unopened_signature,
};

use super::rounds::{Decided, Reported, Rounds};
use super::{CoordinatorEffect, Engine, Stage, StudyCoordinator, TrusteePhase};
use crate::checkpoint::{Checkpoint, SumEnding};
use crate::hexadecimal::{Digest, Signature};
use crate::receipt::Outcome;
use crate::trustee_attempt::{RefusedAttempt, RefusedPart, UnopenedSum};
use crate::wire::{Order, TrusteesOrder, TrusteesReport, is_passed_on};

/// An attempt that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempting {
    pub(super) phase: TrusteePhase,
    pub(super) sum: u32,
    pub(super) step: usize,
    pub(super) attempt: u32,
    pub(super) question: Digest,
}

type Refusal = &'static str;

const NOT_NOW: Refusal = "a message that was not asked for now";

impl StudyCoordinator {
    /// Whether a shell must store the message that was accepted last. One that is only passed on, or that was accepted
    /// before, changes nothing that a rebuilt coordinator must know.
    #[must_use]
    pub const fn keeps(&self, message: &[u8]) -> bool {
        !self.was_known && !is_passed_on(message)
    }

    /// Takes the message of a client or a trustee; nothing has changed if it is refused.
    pub(super) fn receive_trustees(
        &mut self,
        from: ClientId,
        report: TrusteesReport,
    ) -> Result<(), Refusal> {
        let agreed = Arc::clone(&self.agreed);
        let trustees = agreed.trustees().ok_or("the study has no trustees")?;
        // Two trustees say what the first one has said, and one that was restarted says it again; the step, or the study, may
        // be over since.
        if self.is_released(&report) {
            self.was_known = true;
            return Ok(());
        }
        if self.receipt().is_some() {
            return Err("the study is over");
        }
        match trustees.at_seat(from) {
            None => self.receive_client(from, report),
            Some(trustee) => self.receive_trustee(trustee, report),
        }
    }

    /// Whether a trustee says of a step what was released.
    fn is_released(&self, report: &TrusteesReport) -> bool {
        let mut released = self.transcript().released().iter();
        match report {
            TrusteesReport::Settled(said) => released.any(|one| *one == **said),
            TrusteesReport::Outcome(bytes) => OutcomeReport::decode(bytes)
                .is_ok_and(|report| released.any(|one| one.is_of(&self.agreed, &report))),
            _ => false,
        }
    }

    fn receive_client(&mut self, from: ClientId, report: TrusteesReport) -> Result<(), Refusal> {
        let agreed = Arc::clone(&self.agreed);
        let uploading = match &self.stage {
            Stage::Attempting(Attempting {
                phase: TrusteePhase::Uploads,
                sum,
                ..
            }) => agreed.attempt_id(*sum, self.transcript().head()),
            _ => None,
        };
        let is_enrolling = matches!(self.stage, Stage::Setup(_));
        let Engine::Trustees(rounds) = &mut self.engine else {
            return Err(NOT_NOW);
        };
        match report {
            TrusteesReport::Client(enrolment) => {
                if enrolment.client() != from || !enrolment.is_signed(&agreed) {
                    return Err("an enrolment that its sender has not signed");
                }
                match rounds.clients.get(&from) {
                    Some(known) if *known == enrolment => {
                        self.was_known = true;
                        Ok(())
                    }
                    None if is_enrolling => {
                        rounds.clients.insert(from, enrolment);
                        Ok(())
                    }
                    _ => Err(NOT_NOW),
                }
            }
            TrusteesReport::Upload(bytes) => {
                let upload = Upload::decode(&bytes).map_err(|_| "it is no upload")?;
                if upload.client() != from {
                    return Err("the upload of another client");
                }
                let Some(attempt) = uploading else {
                    return Err(NOT_NOW);
                };
                // One that was late for an attempt must not take the place of the one for this attempt.
                if *upload.attempt() != attempt {
                    return Err("an upload for another attempt");
                }
                if !rounds.clients.contains_key(&from) {
                    return Err(NOT_NOW);
                }
                if !rounds.uploaded.insert(from) {
                    return Err("a second upload");
                }
                self.order_trustees(&TrusteesOrder::Upload(bytes));
                Ok(())
            }
            _ => Err("a message of a trustee"),
        }
    }

    fn receive_trustee(&mut self, from: TrusteeId, report: TrusteesReport) -> Result<(), Refusal> {
        let (agreed, transcript) = (Arc::clone(&self.agreed), self.transcript().head());
        let open = match &self.stage {
            Stage::Attempting(attempting) => Some(attempting.sum),
            _ => None,
        };
        let is_enrolling = matches!(self.stage, Stage::Setup(_));
        let Engine::Trustees(rounds) = &mut self.engine else {
            return Err(NOT_NOW);
        };
        if let TrusteesReport::Trustee(enrolment) = report {
            if enrolment.trustee() != from || !enrolment.is_signed(&agreed) {
                return Err("an enrolment that its sender has not signed");
            }
            return match rounds.trustees.get(&from) {
                Some(known) if *known == enrolment => {
                    self.was_known = true;
                    Ok(())
                }
                None if is_enrolling => {
                    rounds.trustees.insert(from, enrolment);
                    Ok(())
                }
                _ => Err(NOT_NOW),
            };
        }
        if let TrusteesReport::Settled(released) = report {
            if open != Some(released.sum) || !agreed.is_opened(&released, transcript) {
                return Err("an outcome that three trustees have not signed now");
            }
            self.was_known = rounds.settled.is_some();
            rounds.settled.get_or_insert(*released);
            return Ok(());
        }
        let sum = open.ok_or(NOT_NOW)?;
        let attempt = agreed.attempt_id(sum, transcript).ok_or(NOT_NOW)?;
        if let TrusteesReport::Refused(bytes) = &report {
            let found = SignedFinding::decode(bytes).map_err(|_| "it is no finding")?;
            let refused = RefusedAttempt::of(&found);
            if found.attempt != attempt || !refused.holds(&agreed, sum, transcript) {
                return Err("a finding that its author has not signed for this attempt");
            }
            self.was_known = rounds.refused.is_some();
            rounds.refused.get_or_insert(refused);
            return Ok(());
        }
        let identities = agreed.trustees().map(|trustees| trustees.identities());
        let identity = identities.and_then(|all| all.get(from.place()).copied());
        let identity = identity.ok_or(NOT_NOW)?;
        let ending = match report {
            TrusteesReport::Peer { to, bytes } if to != from => {
                let order = TrusteesOrder::Peer { from, bytes };
                let seat = agreed.trustees().map(|trustees| trustees.seat(to));
                self.send(seat, Order::Trustees(order).encode());
                return Ok(());
            }
            TrusteesReport::Charged { sum: found } if found == sum => {
                self.was_known = !rounds.charged.insert(from);
                return Ok(());
            }
            TrusteesReport::Spent { sum: found } if found == sum => Reported::Spent,
            TrusteesReport::Outcome(bytes) => {
                let report = OutcomeReport::decode(&bytes).map_err(|_| "it is no outcome")?;
                if report.attempt != attempt || report.trustee != from {
                    return Err("an outcome of another attempt or trustee");
                }
                if !report.is_signed(&identity) {
                    return Err("an outcome that its sender has not signed");
                }
                Reported::Outcome(Box::new(report))
            }
            TrusteesReport::Unopened(bytes) => {
                let (found, signature) =
                    unopened_signature(&bytes).map_err(|_| "it is no statement")?;
                let digest = unopened_digest(&attempt);
                if found != attempt {
                    return Err("a statement about another attempt");
                }
                if !Statement::Unopened.is_signed(&identity, &digest, &signature) {
                    return Err("a statement that its sender has not signed");
                }
                Reported::Unopened(signature)
            }
            _ => return Err(NOT_NOW),
        };
        // What a trustee said first counts: it may have forgotten its outcome since.
        match rounds.endings.get(&from) {
            Some(known) if *known == ending => self.was_known = true,
            Some(_) => return Err("another statement about this attempt"),
            None => drop(rounds.endings.insert(from, ending)),
        }
        Ok(())
    }

    /// Whose answer the phase of an attempt lacks.
    pub(super) fn awaited_in(&self, attempting: &Attempting) -> Vec<ClientId> {
        let Engine::Trustees(rounds) = &self.engine else {
            return Vec::new();
        };
        if rounds.refused.is_some() {
            return Vec::new();
        }
        let has_ended = |trustee| rounds.endings.contains_key(&trustee);
        match attempting.phase {
            TrusteePhase::Noise if rounds.endings.is_empty() => {
                rounds.missing(&self.agreed, |trustee| rounds.charged.contains(&trustee))
            }
            TrusteePhase::Uploads if rounds.endings.is_empty() => {
                let clients = rounds.clients.keys().copied();
                let missing = clients.filter(|client| !rounds.uploaded.contains(client));
                missing.collect()
            }
            // Without that trustee nothing comes of the attempt.
            TrusteePhase::Noise | TrusteePhase::Uploads => Vec::new(),
            TrusteePhase::Running | TrusteePhase::Abandoning if rounds.settled.is_some() => {
                Vec::new()
            }
            TrusteePhase::Running | TrusteePhase::Abandoning => {
                rounds.missing(&self.agreed, has_ended)
            }
        }
    }

    /// All have enrolled, or the time is over: the study needs all three trustees and a client.
    pub(super) fn close_enrolment(&mut self) {
        let Engine::Trustees(rounds) = &self.engine else {
            return;
        };
        let mut trustees = TrusteeId::ALL.into_iter();
        let missing = trustees.find(|one| !rounds.trustees.contains_key(one));
        if let Some(missing) = missing {
            let ending = format!("{} did not enrol", self.name_of(missing));
            return self.finish(ending);
        }
        if rounds.clients.is_empty() {
            return self.finish("no party has enrolled".to_owned());
        }
        for seat in self.trustee_seats() {
            self.send_directory(seat);
        }
        self.next();
    }

    /// Tells a trustee who enrolled; nothing before the enrolment is closed.
    pub(super) fn send_directory(&mut self, seat: ClientId) {
        let is_trustee = self.agreed.trustees().and_then(|all| all.at_seat(seat));
        let is_closed = !matches!(self.stage, Stage::Setup(_));
        let Engine::Trustees(rounds) = &self.engine else {
            return;
        };
        if is_trustee.is_none() || !is_closed || self.receipt().is_some() {
            return;
        }
        let order = TrusteesOrder::Directory {
            trustees: rounds.trustees.values().cloned().collect(),
            clients: rounds.clients.values().cloned().collect(),
        };
        self.send([seat], Order::Trustees(order).encode());
    }

    /// Orders an attempt: first the trustees charge.
    pub(super) fn open_attempt(&mut self, attempting: Attempting) {
        if let Engine::Trustees(rounds) = &mut self.engine {
            rounds.begin_attempt();
        }
        let order = self.attempt_order(&attempting);
        self.order_trustees(&order);
        self.stage = Stage::Attempting(attempting);
    }

    fn attempt_order(&self, attempting: &Attempting) -> TrusteesOrder {
        let unopened = match &self.engine {
            Engine::Trustees(rounds) => rounds.unopened.clone(),
            Engine::Masks(_) => Vec::new(),
        };
        TrusteesOrder::Attempt {
            sum: attempting.sum,
            transcript: self.transcript().head(),
            question: attempting.question,
            unopened,
        }
    }

    /// Tells a party or a trustee that came back what the present attempt needs of it.
    pub(super) fn send_attempt_again(&mut self, seat: ClientId, attempting: &Attempting) {
        let Engine::Trustees(rounds) = &self.engine else {
            return;
        };
        let trustee = self.agreed.trustees().and_then(|all| all.at_seat(seat));
        let is_wanted = match trustee {
            Some(trustee) => !rounds.endings.contains_key(&trustee),
            None => attempting.phase == TrusteePhase::Uploads && self.waits_for().contains(&seat),
        };
        if !is_wanted {
            return;
        }
        let order = self.attempt_order(attempting);
        self.send([seat], Order::Trustees(order).encode());
        if trustee.is_some() && attempting.phase == TrusteePhase::Abandoning {
            let sum = attempting.sum;
            let order = Order::Trustees(TrusteesOrder::GiveUp { sum });
            self.send([seat], order.encode());
        }
    }

    /// Ends a phase of an attempt.
    pub(super) fn close_attempt(&mut self, mut attempting: Attempting) {
        let sum = attempting.sum;
        self.stage = Stage::Attempting(attempting);
        let Engine::Trustees(rounds) = &self.engine else {
            return;
        };
        let is_undisturbed = rounds.endings.is_empty() && rounds.refused.is_none();
        let next = match attempting.phase {
            TrusteePhase::Noise if is_undisturbed && rounds.charged.len() == 3 => {
                TrusteePhase::Uploads
            }
            TrusteePhase::Uploads if is_undisturbed && !rounds.uploaded.is_empty() => {
                TrusteePhase::Running
            }
            _ => match rounds.decided(sum) {
                Some(decided) => return self.decide(sum, decided),
                None if attempting.phase == TrusteePhase::Abandoning => {
                    return self.end_without_trustee(sum, rounds_missing(rounds));
                }
                None => TrusteePhase::Abandoning,
            },
        };
        attempting.phase = next;
        self.stage = Stage::Attempting(attempting);
        match next {
            TrusteePhase::Uploads => {
                let order = Order::Trustees(self.attempt_order(&attempting)).encode();
                // A party that declined would be charged for an answer that it cannot give.
                self.send(self.waits_for(), order);
            }
            TrusteePhase::Running => self.order_trustees(&TrusteesOrder::Close { sum }),
            _ => self.order_trustees(&TrusteesOrder::GiveUp { sum }),
        }
    }

    fn decide(&mut self, sum: u32, decided: Decided) {
        let ending = match decided {
            Decided::Opened(released) => SumEnding::Opened(released),
            Decided::Unopened(signatures) => SumEnding::Unopened(signatures),
            Decided::Refused(refused) => SumEnding::Refused(refused),
            Decided::Spent => SumEnding::Abandoned {
                reason: "a trustee was lost after the opening had begun".to_owned(),
            },
        };
        self.end_attempt(sum, ending);
    }

    fn end_attempt(&mut self, sum: u32, ending: SumEnding) {
        let checkpoint = Checkpoint { sum, ending };
        let (epoch, bytes) = (self.epoch(), checkpoint.encode());
        self.effects
            .push_back(CoordinatorEffect::Checkpoint { epoch, bytes });
        self.end_sum(checkpoint.ending);
    }

    /// Nothing was opened: the next attempt goes on the same charge.
    pub(super) fn end_unopened(&mut self, sum: u32, attempt: u32, signatures: [Signature; 3]) {
        let transcript = self.transcript().head();
        if let Engine::Trustees(rounds) = &mut self.engine {
            rounds.unopened.push(UnopenedSum { sum, signatures });
        }
        self.record(
            sum,
            Outcome::Unopened {
                transcript,
                signatures,
            },
        );
        self.ask(attempt + 1, true, "nothing was opened");
    }

    /// A trustee deviated: nothing of the study is opened any more.
    pub(super) fn end_refused(&mut self, sum: u32, refused: RefusedAttempt) {
        let transcript = self.transcript().head();
        let name =
            |place: u8| TrusteeId::new(place).map_or_else(String::new, |one| self.name_of(one));
        let by = name(refused.by);
        let what = match refused.part {
            RefusedPart::Proof(prover) => format!("the proof of the gates of {}", name(prover)),
            RefusedPart::Opening(to) => format!("what was opened to {}", name(to)),
        };
        let ending =
            format!("{by} refused {what}: one of the three trustees deviated from the protocol");
        self.record(
            sum,
            Outcome::Refused {
                transcript,
                refused,
            },
        );
        self.finish(ending);
    }

    /// All three trustees are needed to the end.
    fn end_without_trustee(&mut self, sum: u32, missing: Vec<TrusteeId>) {
        let names: Vec<String> = missing.into_iter().map(|one| self.name_of(one)).collect();
        let reason = format!("{} did not answer", names.join(" and "));
        self.record(
            sum,
            Outcome::Abandoned {
                reason: reason.clone(),
            },
        );
        self.finish(reason);
    }

    fn name_of(&self, trustee: TrusteeId) -> String {
        let entries = self.agreed.agreement().trustees.iter().flatten();
        let entry = entries.into_iter().nth(trustee.place());
        entry.map_or_else(
            || trustee.to_string(),
            |entry| format!("trustee {:?}", entry.name),
        )
    }

    fn trustee_seats(&self) -> Vec<ClientId> {
        let trustees = self.agreed.trustees().into_iter();
        trustees
            .flat_map(|all| TrusteeId::ALL.map(|trustee| all.seat(trustee)))
            .collect()
    }

    fn order_trustees(&mut self, order: &TrusteesOrder) {
        let bytes = Order::Trustees(order.clone()).encode();
        self.send(self.trustee_seats(), bytes);
    }
}

fn rounds_missing(rounds: &Rounds) -> Vec<TrusteeId> {
    let missing = TrusteeId::ALL.into_iter();
    missing
        .filter(|one| !rounds.endings.contains_key(one))
        .collect()
}
