//! The study's coordinator in the shape that the network shell wants.

use std::sync::Arc;

use sprifed::{Model, Role, Term, TermEstimate, study_files, study_model};
use sprifed_net::{
    Budget, CoordinatorEffect as Effect, CoordinatorMachine, FeatureFound, PartyId, PartyState,
    PartyStatus, PhaseInfo, Progress, Refused, StatusView,
};
use sprifed_party::TRANSCRIPT;
use sprifed_privacy::ApproxDp;
use sprifed_secure_sum::{ClientId, Phase};
use sprifed_study::{
    Agreed, CoordinatorEffect, SignedReceipt, StudyCoordinator, StudyPhase, TrusteePhase,
};
use sprifed_trustees::TrusteeId;

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

    /// The study, to look at.
    #[must_use]
    pub const fn study(&self) -> &StudyCoordinator {
        &self.study
    }

    fn states(&self) -> Vec<PartyStatus> {
        let agreement = self.study.agreed().agreement();
        let awaited = self.study.waits_for();
        let mut last = self.study.history().iter().rev();
        let survivors = last.find_map(|sum| sum.outcome.survivors());
        let receipt = self.study.receipt();
        let state = |id: u32| {
            let signed = |receipt: &SignedReceipt| receipt.parties.iter().any(|(p, _)| *p == id);
            let declined = self.study.declined().iter().any(|(who, _)| who.0 == id);
            let missed = survivors.is_some_and(|known| !known.contains(&id));
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

    /// Where the trustees stand: none in a study of secure sums.
    fn trustee_states(&self) -> Vec<PartyStatus> {
        let agreed = self.study.agreed();
        let Some(trustees) = agreed.trustees() else {
            return Vec::new();
        };
        let awaited = self.study.waits_for();
        let receipt = self.study.receipt();
        let state = |trustee: TrusteeId| {
            let place = u32::from(trustee.share());
            let signed =
                |receipt: &SignedReceipt| receipt.trustees.iter().any(|(t, _)| *t == place);
            if receipt.is_some_and(signed) {
                PartyState::Finished
            } else if awaited.contains(&trustees.seat(trustee)) {
                match self.study.phase() {
                    StudyPhase::Keys => PartyState::Invited,
                    _ => PartyState::Awaited,
                }
            } else if self.study.phase() == StudyPhase::Ended {
                PartyState::DroppedOut
            } else {
                PartyState::Answered
            }
        };
        let entries = TrusteeId::ALL.into_iter().zip(trustees.entries());
        let status = entries.map(|(trustee, entry)| PartyStatus {
            name: entry.name.clone(),
            state: state(trustee),
        });
        status.collect()
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

    fn is_passed_on(&self, message: &[u8]) -> bool {
        !self.study.keeps(message)
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
            name: phase_words(phase, self.study.agreed()),
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
        let released = self.study.history().iter();
        let released = released.filter(|sum| sum.outcome.survivors().is_some());
        let receipt = self.study.receipt().map(|signed| &signed.receipt);
        let model = receipt.and_then(|receipt| study_model(receipt).ok().flatten());
        let model = model.as_ref();
        let intercept = model.map(Model::reported_intercept);
        StatusView {
            title: agreement.title.clone(),
            guarantee: receipt.map_or_else(
                || agreed.planned_guarantee(),
                |receipt| receipt.guarantee.statement.clone(),
            ),
            phase: phase_words(self.study.phase(), &agreed),
            progress: Progress {
                done: u32::try_from(released.count()).unwrap_or(u32::MAX),
                planned: u32::try_from(agreed.n_steps()).unwrap_or(u32::MAX),
            },
            budget: Budget {
                epsilon_spent: self.study.ledger().spent().map_or(0.0, epsilon_of),
                epsilon_planned: epsilon_of(agreed.ceiling()),
                delta: agreed.ceiling().delta().get(),
            },
            parties: self.states(),
            trustees: self.trustee_states(),
            alarm: model.and_then(Model::alarm),
            features: model.map_or_else(Vec::new, features_of),
            intercept: intercept.map(|(estimate, _)| estimate),
            intercept_interval: intercept.and_then(|(_, interval)| interval),
            notes: model.map_or_else(Vec::new, Model::notes),
            report: receipt
                .map(|receipt| format!("The study ended: {}", receipt.ending))
                .into_iter()
                .collect(),
            refusals: self.refusals,
        }
    }
}

/// The features of a model as the page shows them.
fn features_of(model: &Model) -> Vec<FeatureFound> {
    let found = |term: TermEstimate| FeatureFound {
        half_range: model.feature(&term.name).map_or(1.0, Term::half_range),
        coefficient: term.estimate,
        interval: term.interval.map(|interval| (interval.low, interval.high)),
        p_value: term.p_value,
        privacy_share: term.privacy_share,
        is_always: term.role == Role::Always,
        name: term.name,
    };
    model.reported().into_iter().map(found).collect()
}

fn epsilon_of(guarantee: ApproxDp) -> f64 {
    guarantee.epsilon().get()
}

/// The phase of a study that has ended.
pub(crate) const OVER: &str = "over";

fn phase_words(phase: StudyPhase, agreed: &Agreed) -> String {
    let who = match agreed.trustees() {
        Some(_) => "parties and trustees",
        None => "parties",
    };
    match phase {
        StudyPhase::Keys => format!("enrolment: {who} publish their keys"),
        StudyPhase::Shares => "enrolment: parties share their secrets".to_owned(),
        StudyPhase::Sum { step, phase, .. } => {
            let what = match phase {
                Phase::Confirm => "confirmations",
                Phase::Unmask => "unmasking",
                _ => "uploads",
            };
            format!("{what} of sum {}", step + 1)
        }
        StudyPhase::Attempt { step, phase, .. } => {
            let what = match phase {
                TrusteePhase::Noise => "trustees draw noise for",
                TrusteePhase::Uploads => "uploads for",
                TrusteePhase::Running => "trustees compute",
                TrusteePhase::Abandoning => "trustees abandon an attempt at",
            };
            format!("{what} step {}", step + 1)
        }
        StudyPhase::Receipts => format!("{who} sign the receipt"),
        StudyPhase::Ended => OVER.to_owned(),
    }
}
