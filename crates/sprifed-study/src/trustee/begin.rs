//! How a trustee enrols, and how it begins an attempt: charge, store, draw noise.

use hkdf::Hkdf;
use sha2::Sha256;

use super::{
    Agreed, AgreedTrustees, Arc, Attempt, AttemptId, Charged, ClientEnrolment, DealtNoise, Digest,
    DrawnShare, Paid, Roster, Setting, Stage, StudyTrustee, Trustee, TrusteeEffect,
    TrusteeEnrolment, TrusteeId, TrusteeLine, TrusteeRefused, TrusteesReport, UnopenedSum, link,
};

impl StudyTrustee {
    /// Makes the chains with all who enrolled, and erases what they were made from.
    pub(super) fn enrol(
        &mut self,
        trustees: &[TrusteeEnrolment],
        clients: &[ClientEnrolment],
    ) -> Result<(), TrusteeRefused> {
        let Some(keys) = self.key.pairing(self.identity.public()) else {
            // It has enrolled. Who enrolled later is not in the study.
            return Ok(());
        };
        let with = |other: TrusteeId| {
            let theirs = trustees.iter().find(|one| one.trustee() == other);
            let chain = theirs.and_then(|theirs| link(&self.agreed, self.me, &keys, theirs));
            chain.ok_or(TrusteeRefused::NotEnrolled { trustee: other })
        };
        let links = [with(self.me.previous())?, with(self.me.next())?];
        let mut chains = vec![None; self.agreed.agreement().parties.len()];
        for enrolment in clients {
            let chain = enrolment.chain(&self.agreed, self.me, &keys);
            if let Some(place) = chains.get_mut(enrolment.client().0 as usize)
                && place.is_none()
            {
                *place = chain;
            }
        }
        self.key.enrol(links, chains);
        self.effects.push_back(TrusteeEffect::Forget);
        Ok(())
    }

    /// Charges for an attempt at the next step, or carries the charge of the last one.
    pub(super) fn begin(
        &mut self,
        sum: u32,
        transcript: Digest,
        question: Digest,
        unopened: &[UnopenedSum],
    ) -> Result<(), TrusteeRefused> {
        if !self.key.is_enrolled() {
            return Err(TrusteeRefused::TooEarly);
        }
        if self.begun.last().is_some_and(|(last, _, _)| *last == sum) {
            return self.begin_again(sum);
        }
        let place = self.agreed.step_of(sum);
        let next = self.transcript().released().len();
        let place = place.filter(|(step, _)| *step == next);
        let (Some((step, number)), true) = (place, transcript == self.transcript().head()) else {
            return Err(TrusteeRefused::OtherTranscript { sum });
        };
        if self.derivation.question() != Some(question) {
            return Err(TrusteeRefused::OtherQuestion { sum });
        }
        let attempt = self.agreed.attempt_id(sum, transcript);
        let attempt = attempt.ok_or(TrusteeRefused::OtherJournal)?;
        if attempt.step < self.key.step() {
            // It was over before a restart: three trustees signed its outcome.
            return Err(TrusteeRefused::OtherTranscript { sum });
        }
        let is_unopened = self.is_last_unopened(transcript, unopened);
        let step = u32::try_from(step).unwrap_or(u32::MAX);
        // What was under way is over: from here nothing of it leaves.
        let line = self.book.charge(step, number, is_unopened)?;
        let charges = self.book.charges();
        let mut book = self.book;
        book.enter(&line)?;
        let is_new = book.charges() != charges;
        let paid = match is_new {
            true => self.pay(sum)?,
            false => self.pay_again()?,
        };
        self.book = book;
        self.attempt = None;
        self.begun.push((sum, transcript, is_new));
        self.said = None;
        let line = TrusteeLine::Begun { transcript, line };
        self.effects.push_back(TrusteeEffect::Persist(line));
        self.charged = Some(Charged { sum, attempt, paid });
        Ok(())
    }

    /// The last attempt, ordered again: it begins once.
    fn begin_again(&mut self, sum: u32) -> Result<(), TrusteeRefused> {
        if self.charged.is_some() {
            return Ok(());
        }
        let is_collecting = matches!(self.book.last(), Some((_, _, Stage::Charged)));
        if self.attempt.is_some() && is_collecting {
            self.send(TrusteesReport::Charged { sum });
            return Ok(());
        }
        match self.attempt {
            Some(_) => Ok(()),
            None => self.say_again(sum),
        }
    }

    /// Whether three trustees signed that nothing was opened of the last attempt that it began.
    fn is_last_unopened(&self, transcript: Digest, unopened: &[UnopenedSum]) -> bool {
        self.begun.last().is_some_and(|(last, after, _)| {
            let mut proofs = unopened.iter().filter(|proof| proof.sum == *last);
            *after == transcript && proofs.any(|proof| proof.holds(&self.agreed, transcript))
        })
    }

    /// Charges its copy of the ledger.
    pub(super) fn pay(&mut self, sum: u32) -> Result<Paid, TrusteeRefused> {
        pay(&self.agreed, &mut self.ledger, sum)
    }

    /// The last charge again, as nothing was opened on it: the ledger is made anew from all charges.
    fn pay_again(&mut self) -> Result<Paid, TrusteeRefused> {
        let mut ledger = self.agreed.new_ledger();
        let mut last = None;
        for (sum, _, _) in self.begun.iter().filter(|(_, _, is_new)| *is_new) {
            last = Some(pay(&self.agreed, &mut ledger, *sum)?);
        }
        let paid = last.ok_or(TrusteeRefused::OtherJournal)?;
        self.ledger = ledger;
        Ok(paid)
    }

    /// Draws the noise of an attempt whose charge was handed out to be stored, and begins it.
    pub(super) fn draw_noise(&mut self) -> Result<(), TrusteeRefused> {
        let Some(Charged { sum, attempt, paid }) = self.charged.take() else {
            return Ok(());
        };
        let erased = TrusteeRefused::OtherJournal;
        let mut generator = self.key.noise(&attempt).ok_or(erased)?;
        let noise = match paid {
            Paid::Sum(permit) => {
                let share = DrawnShare::for_sum(permit, &mut generator);
                DealtNoise::from(share.map_err(Box::new)?)
            }
            Paid::Choice(permit) => {
                let share = DrawnShare::for_choice(permit, dealer(self.me), &mut generator);
                DealtNoise::from(share.map_err(Box::new)?)
            }
        };
        let setting = self.setting(attempt).ok_or(TrusteeRefused::OtherJournal)?;
        self.attempt = Some((sum, Attempt::new(setting, self.book, noise)?));
        self.send(TrusteesReport::Charged { sum });
        Ok(())
    }

    fn setting(&self, attempt: AttemptId) -> Option<Setting> {
        let trustees: &AgreedTrustees = self.agreed.trustees()?;
        let [previous, next] = self.key.links()?;
        let roster: &Arc<Roster> = self.agreed.roster();
        let clients = self.key.clients().iter();
        Some(Setting {
            attempt,
            step: Arc::clone(trustees.step(attempt.step as usize)?),
            trustee: self.me,
            identity: self.identity.clone(),
            identities: trustees.identities(),
            roster: Arc::clone(roster),
            links: [previous.key(attempt.step)?, next.key(attempt.step)?],
            client_keys: clients
                .map(|chain| chain.as_ref().and_then(|chain| chain.key(attempt.step)))
                .collect(),
            fresh: self.fresh_of(&attempt),
        })
    }

    /// Random bytes of this process for one attempt.
    fn fresh_of(&self, attempt: &AttemptId) -> [u8; 32] {
        let mut fresh = [0; 32];
        let hkdf = Hkdf::<Sha256>::new(Some(&attempt.transcript), self.fresh.as_slice());
        let info: [&[u8]; 3] = [
            b"sprifed: fresh bytes of an attempt",
            &attempt.step.to_le_bytes(),
            &attempt.attempt.to_le_bytes(),
        ];
        let expanded = hkdf.expand_multi_info(&info, &mut fresh);
        debug_assert!(expanded.is_ok(), "32 bytes can always be expanded");
        fresh
    }
}

fn pay(
    agreed: &Agreed,
    ledger: &mut sprifed_privacy::Ledger,
    sum: u32,
) -> Result<Paid, TrusteeRefused> {
    let step = agreed.step_of(sum).map(|(step, _)| step);
    let step = step.ok_or(TrusteeRefused::OtherJournal)?;
    let paid = agreed.charge(ledger, step).map_err(Box::new)?;
    paid.ok_or(TrusteeRefused::OtherJournal)
}

const fn dealer(trustee: TrusteeId) -> Trustee {
    match trustee.share() {
        0 => Trustee::First,
        1 => Trustee::Second,
        _ => Trustee::Third,
    }
}
