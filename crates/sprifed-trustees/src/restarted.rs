//! A trustee after a crash: it abandons the attempt that it was in, and never replays it.

use sprifed_crypto::identity_key::IdentityKey;

use crate::attempt::{Effect, Ending};
use crate::attempt_id::AttemptId;
use crate::book::{Book, JournalLine, OutOfOrder, Stage};
use crate::message::{Body, Message};
use crate::report::OutcomeReport;
use crate::set::{Statement, unopened_digest};
use crate::trustee_id::TrusteeId;

/// What a restarted trustee does about the last attempt of its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restarted {
    /// The effects, in order.
    pub effects: Vec<Effect>,
}

impl Restarted {
    /// Ends the attempt that the journal was in.
    ///
    /// If the study had ended because a proof or an opening did not fit, it says so again. If it had stored an outcome, which
    /// is the last `said` of its journal, it says that again: its signature may have been lost on the way, and a peer that has
    /// it goes back to no earlier step.
    /// Without an opening share of this trustee it stores that none will leave, and signs it. With
    /// one, and no outcome, the charge is spent. Either way the next attempt has new keys, noise and uploads.
    ///
    /// # Errors
    /// When `attempt` is not the last one of the journal.
    pub fn new(
        book: &mut Book,
        attempt: AttemptId,
        (trustee, identity): (TrusteeId, &IdentityKey),
        said: Option<&OutcomeReport>,
    ) -> Result<Self, OutOfOrder> {
        let stage = match book.last() {
            Some((step, number, stage)) if (step, number) == (attempt.step, attempt.attempt) => {
                stage
            }
            _ => {
                return Err(OutOfOrder::Attempt {
                    step: attempt.step,
                    attempt: attempt.attempt,
                });
            }
        };
        let mut effects = Vec::new();
        if let Stage::Refused(finding) = stage {
            let signature = Statement::Refusal.sign(identity, &finding.digest(&attempt));
            let body = Body::Refusal(finding, signature);
            if finding.by == trustee {
                tell_all(&mut effects, trustee, &Message { attempt, body });
            }
            effects.push(Effect::Ended(Ending::Refused(finding)));
            return Ok(Self { effects });
        }
        if stage == Stage::Opened {
            let report = said.filter(|report| report.attempt == attempt);
            let report = report.ok_or(OutOfOrder::Line)?;
            let message = Message {
                attempt,
                body: Body::Outcome(report.signature),
            };
            tell_peers(&mut effects, trustee, &message);
            effects.push(Effect::SendCoordinator(report.encode()));
            return Ok(Self { effects });
        }
        if book.may_give_up() {
            book.enter(&JournalLine::GivenUp)?;
            effects.push(Effect::Persist(JournalLine::GivenUp));
        } else if stage != Stage::GivenUp {
            effects.push(Effect::Ended(Ending::Spent));
            return Ok(Self { effects });
        }
        let signature = Statement::Unopened.sign(identity, &unopened_digest(&attempt));
        let body = Body::Unopened(signature);
        tell_all(&mut effects, trustee, &Message { attempt, body });
        effects.push(Effect::Ended(Ending::Unopened));
        Ok(Self { effects })
    }
}

fn tell_peers(effects: &mut Vec<Effect>, trustee: TrusteeId, message: &Message) {
    for peer in trustee.peers() {
        effects.push(Effect::SendPeer(peer, message.encode()));
    }
}

fn tell_all(effects: &mut Vec<Effect>, trustee: TrusteeId, message: &Message) {
    tell_peers(effects, trustee, message);
    effects.push(Effect::SendCoordinator(message.encode()));
}
