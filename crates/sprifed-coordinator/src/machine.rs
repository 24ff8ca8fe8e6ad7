//! The study's coordinator in the shape that the network shell wants.

use std::sync::Arc;

use sprifed::{named_model, study_files};
use sprifed_net::{
    Budget, CoordinatorEffect as Effect, CoordinatorMachine, FeatureFound, PartyId, PartyState,
    PartyStatus, PhaseInfo, Progress, Refused, StatusView,
};
use sprifed_party::TRANSCRIPT;
use sprifed_privacy::ApproxDp;
use sprifed_secure_sum::{ClientId, Phase};
use sprifed_study::{CoordinatorEffect, Outcome, SignedReceipt, StudyCoordinator, StudyPhase};

/// See the module.
#[derive(Debug)]
pub struct StudyMachine {
    study: StudyCoordinator,
    refusals: u64,
}

impl StudyMachine {
    pub(crate) const fn new(study: StudyCoordinator) -> Self {
        Self { study, refusals: 0 }
    }

    fn states(&self) -> Vec<PartyStatus> {
        let agreement = self.study.agreed().agreement();
        let awaited = self.study.waits_for();
        let last = self.study.history().iter().rev();
        let survivors = last.filter_map(|sum| match &sum.outcome {
            Outcome::Unmasked { survivors, .. } => Some(survivors.clone()),
            Outcome::Abandoned { .. } => None,
        });
        let survivors = survivors.into_iter().next();
        let receipt = self.study.receipt();
        let state = |id: u32| {
            let signed = |receipt: &SignedReceipt| receipt.parties.iter().any(|(p, _)| *p == id);
            let declined = self.study.declined().iter().any(|(who, _)| who.0 == id);
            let missed = survivors.as_ref().is_some_and(|known| !known.contains(&id));
            // Signatures were the last that was asked.
            let missed = missed || self.study.phase() == StudyPhase::Ended;
            if declined {
                PartyState::Declined
            } else if receipt.is_some_and(signed) {
                PartyState::Finished
            } else if awaited.contains(&ClientId(id)) {
                match self.study.phase() {
                    StudyPhase::Keys => PartyState::Invited,
                    _ => PartyState::Awaited,
                }
            } else if missed {
                PartyState::DroppedOut
            } else {
                PartyState::Answered
            }
        };
        (0..)
            .zip(&agreement.parties)
            .map(|(id, party)| PartyStatus {
                name: party.name.clone(),
                state: state(id),
            })
            .collect()
    }
}

impl CoordinatorMachine for StudyMachine {
    fn receive(&mut self, from: PartyId, message: &[u8]) -> Result<(), Refused> {
        self.study
            .receive(ClientId(from.0), message)
            .map_err(|refused| {
                self.refusals += 1;
                Refused {
                    is_final: refused.is_final,
                    reason: refused.reason,
                }
            })
    }

    fn returned(&mut self, party: PartyId) {
        self.study.returned(ClientId(party.0));
    }

    fn waits_for(&self) -> Vec<PartyId> {
        let waits = self.study.waits_for().into_iter();
        waits.map(|id| PartyId(id.0)).collect()
    }

    fn phase(&self) -> PhaseInfo {
        let phase = self.study.phase();
        PhaseInfo {
            number: self.study.phases_closed(),
            name: phase_words(phase),
            epoch: self.study.epoch(),
            is_end: phase == StudyPhase::Ended,
        }
    }

    fn close_phase(&mut self) {
        self.study.close_phase();
    }

    fn cancel(&mut self) {
        self.study.cancel();
    }

    fn poll(&mut self) -> Option<Effect> {
        Some(match self.study.poll()? {
            CoordinatorEffect::Send(to, bytes) => Effect::Send(PartyId(to.0), bytes.to_vec()),
            CoordinatorEffect::Checkpoint { epoch, bytes } => Effect::Checkpoint { epoch, bytes },
            CoordinatorEffect::Ended(receipt) => {
                let mut artefacts = study_files(&receipt);
                artefacts.push((TRANSCRIPT.to_owned(), self.study.transcript().to_json()));
                Effect::Finished { artefacts }
            }
        })
    }

    fn restore(&mut self, epoch: u32, checkpoint: &[u8]) -> Result<(), Refused> {
        self.study
            .restore(epoch, checkpoint)
            .map_err(|error| Refused::because(error.to_string()))
    }

    fn status(&self) -> StatusView {
        let agreed = Arc::clone(self.study.agreed());
        let agreement = agreed.agreement();
        let unmasked = self.study.history().iter();
        let unmasked = unmasked.filter(|sum| matches!(sum.outcome, Outcome::Unmasked { .. }));
        let receipt = self.study.receipt().map(|signed| &signed.receipt);
        let model = receipt.and_then(|receipt| named_model(receipt).ok().flatten());
        let (terms, intercept) = model.unzip();
        let features = terms.into_iter().flatten().map(|term| FeatureFound {
            half_range: term.half_range(),
            name: term.name,
            coefficient: term.coefficient,
            noise_std_dev: term.noise_std_dev.unwrap_or(f64::NAN),
        });
        StatusView {
            title: agreement.title.clone(),
            guarantee: receipt.map_or_else(
                || agreed.planned_guarantee(),
                |receipt| receipt.guarantee.statement.clone(),
            ),
            phase: phase_words(self.study.phase()),
            progress: Progress {
                done: u32::try_from(unmasked.count()).unwrap_or(u32::MAX),
                planned: u32::try_from(agreed.n_steps()).unwrap_or(u32::MAX),
            },
            budget: Budget {
                epsilon_spent: self.study.ledger().spent().map_or(0.0, epsilon_of),
                epsilon_planned: epsilon_of(agreed.ceiling()),
                delta: agreed.ceiling().delta().get(),
            },
            parties: self.states(),
            features: features.collect(),
            intercept,
            report: receipt
                .map(|receipt| format!("The study ended: {}", receipt.ending))
                .into_iter()
                .collect(),
            refusals: self.refusals,
        }
    }
}

fn epsilon_of(guarantee: ApproxDp) -> f64 {
    guarantee.epsilon().get()
}

/// The phase of a study that has ended.
pub const OVER: &str = "over";

fn phase_words(phase: StudyPhase) -> String {
    match phase {
        StudyPhase::Keys => "enrolment: parties publish their keys".to_owned(),
        StudyPhase::Shares => "enrolment: parties share their secrets".to_owned(),
        StudyPhase::Sum { step, phase, .. } => {
            let what = match phase {
                Phase::Confirm => "confirmations",
                Phase::Unmask => "unmasking",
                _ => "uploads",
            };
            format!("{what} of sum {}", step + 1)
        }
        StudyPhase::Receipts => "parties sign the receipt".to_owned(),
        StudyPhase::Ended => OVER.to_owned(),
    }
}
