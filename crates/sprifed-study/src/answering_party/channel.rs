//! How a party's answers travel: masked by the parties together, or shared among three trustees.

use std::collections::VecDeque;
use std::sync::Arc;

use sprifed_noise::BoundedSum;
use sprifed_secure_sum::{
    Client, ClientId, ClientOutput, IdentityKey, Phase, Reason, Rejected, Sender, SignedMessage,
    UploadRefused,
};
use sprifed_trustees::{ClientKeys, Upload};
use zeroize::Zeroizing;

use super::protocol_entries::protocol_entries;
use super::{Declined, JournalLine};
use crate::agreement::Agreed;
use crate::enrolment::ClientEnrolment;
use crate::hexadecimal::Digest;
use crate::party_effect::PartyEffect;
use crate::party_key::PartyKey;
use crate::wire::{Report, TrusteesReport};

/// See the module.
#[derive(Debug)]
pub(super) enum Channel {
    Masks(Box<Client>),
    Trustees(Box<TrusteesClient>),
}

/// A client of three trustees.
#[derive(Debug)]
pub(super) struct TrusteesClient {
    id: ClientId,
    identity: IdentityKey,
}

impl Channel {
    /// Opens the channel, or opens it again with what was persisted.
    pub(super) fn open(
        agreed: &Arc<Agreed>,
        me: ClientId,
        identity: IdentityKey,
        key: &mut PartyKey,
        journal: &[JournalLine],
        effects: &mut VecDeque<Result<PartyEffect, Declined>>,
    ) -> Result<Self, Declined> {
        if let Some(study) = agreed.study() {
            let (masks, protocol) = (key.masks(agreed), protocol_entries(journal));
            let client = Client::resume(Arc::clone(study), me, identity, masks, &protocol);
            let client = client.ok_or(Declined::OtherJournal)?;
            return Ok(Self::Masks(Box::new(client)));
        }
        enrol(agreed, me, &identity, key, journal, effects)?;
        let client = TrusteesClient { id: me, identity };
        Ok(Self::Trustees(Box::new(client)))
    }

    pub(super) fn id(&self) -> ClientId {
        match self {
            Self::Masks(client) => client.id(),
            Self::Trustees(client) => client.id,
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        match self {
            Self::Masks(client) => client.is_ready(),
            Self::Trustees(_) => true,
        }
    }

    pub(super) fn poll(&mut self) -> Option<ClientOutput> {
        match self {
            Self::Masks(client) => client.poll_output(),
            Self::Trustees(_) => None,
        }
    }

    /// The masking protocol, which alone has notices.
    pub(super) fn masks(&mut self) -> Result<&mut Client, Rejected> {
        match self {
            Self::Masks(client) => Ok(client),
            Self::Trustees(_) => Err(no_masks()),
        }
    }

    /// As [`Self::masks`], to look only.
    pub(super) fn masks_ref(&self) -> Result<&Client, Rejected> {
        match self {
            Self::Masks(client) => Ok(client),
            Self::Trustees(_) => Err(no_masks()),
        }
    }

    /// The report with a stored upload.
    pub(super) fn stored_upload(&self, message: &[u8]) -> Option<Report> {
        match self {
            Self::Masks(_) => SignedMessage::decode(message).ok().map(Report::Message),
            // One that was erased is not sent again.
            Self::Trustees(_) if message.is_empty() => None,
            Self::Trustees(_) => Some(upload_report(message)),
        }
    }
}

fn upload_report(message: &[u8]) -> Report {
    Report::Trustees(TrusteesReport::Upload(message.to_vec()))
}

impl TrusteesClient {
    /// The upload of exact integers, shared among the trustees.
    pub(super) fn upload(
        &self,
        agreed: &Agreed,
        key: &PartyKey,
        sum: u32,
        transcript: Digest,
        total: BoundedSum,
    ) -> Result<Vec<u8>, Declined> {
        let erased = UploadRefused::Erased { sum };
        let attempt = agreed.attempt_id(sum, transcript);
        let step = agreed.step_of(sum).map(|(step, _)| step);
        let step = step.and_then(|step| agreed.trustees()?.step(step));
        let (Some(attempt), Some(step)) = (attempt, step) else {
            return Err(Declined::OtherJournal);
        };
        let (own, trustees) = key.upload_keys(&attempt).ok_or(erased)?;
        let numbers = Zeroizing::new(total.into_upload());
        let planes = step.contribution(self.id, &numbers)?;
        let planes = Zeroizing::new(planes);
        let keys = ClientKeys {
            identity: &self.identity,
            own: &own,
            trustees: &trustees,
        };
        Ok(Upload::new(attempt, self.id, &planes, &keys).encode())
    }
}

/// Makes the chains with the trustees, or takes those that are stored, and says so.
fn enrol(
    agreed: &Agreed,
    me: ClientId,
    identity: &IdentityKey,
    key: &mut PartyKey,
    journal: &[JournalLine],
    effects: &mut VecDeque<Result<PartyEffect, Declined>>,
) -> Result<(), Declined> {
    let published = journal.iter().find_map(|line| match line {
        JournalLine::Published { message, .. } => Some(message),
        _ => None,
    });
    if let (Some(published), true) = (published, key.is_enrolled()) {
        let enrolment = ClientEnrolment::decode(published).map_err(|_| Declined::OtherJournal)?;
        let report = Report::Trustees(TrusteesReport::Client(enrolment));
        effects.push_back(Ok(PartyEffect::Send(report)));
        return Ok(());
    }
    let keys = key.pairing(agreed, identity.public());
    let keys = keys.ok_or(Declined::OtherJournal)?;
    let made = ClientEnrolment::new(agreed, me, identity, &keys);
    let (enrolment, chains) = made.ok_or(Declined::OtherJournal)?;
    let message = enrolment.encode();
    match published {
        None => {
            let told = *agreed.digest();
            let line = JournalLine::Published { told, message };
            effects.push_back(Ok(PartyEffect::Persist(line)));
        }
        // The same secret gives the same message.
        Some(published) if *published == message => {}
        Some(_) => return Err(Declined::OtherJournal),
    }
    key.enrol(chains);
    let (step, lines) = (0, Vec::new());
    effects.push_back(Ok(PartyEffect::Forget { step, lines }));
    let report = Report::Trustees(TrusteesReport::Client(enrolment));
    effects.push_back(Ok(PartyEffect::Send(report)));
    Ok(())
}

fn no_masks() -> Rejected {
    Rejected {
        sender: Sender::Coordinator,
        reason: Reason::WrongPhase { found: Phase::Keys },
    }
}
