//! What a trustee must not forget, and what follows from it after a crash.
//!
//! A trustee that was restarted abandons the attempt; it never sends a frame of it again. So no stream
//! is used twice, and two rules are enough for the charge:
//!
//! 1. The line [`JournalLine::Opening`] is stored before an opening share leaves, and after
//!    [`JournalLine::GivenUp`] none leaves. A trustee signs that an attempt is *unopened* only after it
//!    stored `GivenUp`, and it stores that only without `Opening`.
//! 2. The next attempt at a step goes on the old charge only with the signatures of all three trustees
//!    that the last one is unopened. In every other case it is charged again.
//!
//! A trustee that stored [`JournalLine::Refused`] takes part in nothing more of the study.
//!
//! So of all attempts on one charge at most the last one opens anything.
//!
//! What a trustee says of an attempt it never takes back: once it stored [`JournalLine::Opened`] it signs that outcome, also
//! after a restart; if it stopped before that it signs none. So when one trustee says that a charge is spent, no outcome of
//! that attempt gets three signatures.

use sprifed_crypto::codec::{DecodeError, Reader, Writer};

use crate::attempt_id::VERSION;
use crate::deviation::Finding;
use crate::report::OutcomeReport;

#[cfg(test)]
mod tests;

/// Whether an attempt is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Charge {
    /// It is paid for.
    New,
    /// It goes on what was paid for the attempt before, of which nothing was opened.
    Carried,
}

/// A line of a trustee's journal, stored before what follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalLine {
    /// Before noise is drawn for the attempt.
    Charged {
        /// The step.
        step: u32,
        /// The attempt.
        attempt: u32,
        /// Whether it is paid for again.
        charge: Charge,
    },
    /// Before the list of uploads leaves: one list for each attempt.
    ListSent {
        /// The digest of the list.
        digest: [u8; 32],
    },
    /// Before the signature of the set leaves: one set for each attempt.
    SetSigned {
        /// The digest of the set.
        digest: [u8; 32],
    },
    /// Before the opening share leaves: from here the charge is spent.
    Opening,
    /// Before the signed outcome leaves, which it says again after a restart.
    Opened(Box<OutcomeReport>),
    /// No frame of this attempt leaves any more.
    GivenUp,
    /// A proof or an opening did not fit: nothing of this study leaves any more.
    Refused {
        /// What did not fit, and who found it.
        finding: Finding,
    },
}

/// How far an attempt came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It was charged, and uploads may arrive.
    Charged,
    /// The list of uploads may have left.
    Listed,
    /// The signature of the set may have left, and frames.
    Signed,
    /// The opening share may have left.
    Opening,
    /// The outcome is known.
    Opened,
    /// The attempt ended without this trustee's opening share.
    GivenUp,
    /// The study ended, because a proof or an opening did not fit.
    Refused(Finding),
}

/// A line or an attempt that does not follow from the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutOfOrder {
    /// A step or attempt that is over, or not the next one.
    #[error("step {step}, attempt {attempt} is not the next one of this trustee's journal")]
    Attempt {
        /// The step.
        step: u32,
        /// The attempt.
        attempt: u32,
    },
    /// A study that has ended.
    #[error("the study has ended: {finding}")]
    Ended {
        /// Why.
        finding: Finding,
    },
    /// A line that cannot come now.
    #[error("the journal cannot have this line here")]
    Line,
}

/// The journal of a trustee, summarised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Book {
    charges: u32,
    last: Option<(u32, u32, Stage)>,
    /// Whether this trustee opened an attempt at the last step.
    has_opened: bool,
}

impl Book {
    /// The book of a stored journal.
    ///
    /// # Errors
    /// When the lines cannot have been written by a trustee; it must then leave the study.
    pub fn from_stored(lines: &[JournalLine]) -> Result<Self, OutOfOrder> {
        let mut book = Self::default();
        for line in lines {
            book.enter(line)?;
        }
        Ok(book)
    }

    /// How often this trustee charged its copy of the ledger.
    #[must_use]
    pub const fn charges(&self) -> u32 {
        self.charges
    }

    /// The last step and attempt, and how far it came.
    #[must_use]
    pub const fn last(&self) -> Option<(u32, u32, Stage)> {
        self.last
    }

    /// The line that begins an attempt. `are_all_unopened` says that all three trustees signed that
    /// the last attempt of this journal is unopened.
    ///
    /// # Errors
    /// When the attempt is not the next one: attempts of a step only go up, and nothing of a step
    /// happens once the next one has begun.
    pub fn charge(
        &self,
        step: u32,
        attempt: u32,
        are_all_unopened: bool,
    ) -> Result<JournalLine, OutOfOrder> {
        let charge = match self.last {
            Some((last, before, Stage::GivenUp))
                if last == step && before.checked_add(1) == Some(attempt) && are_all_unopened =>
            {
                Charge::Carried
            }
            _ => Charge::New,
        };
        let line = JournalLine::Charged {
            step,
            attempt,
            charge,
        };
        let mut after = *self;
        after.enter(&line)?;
        Ok(line)
    }

    /// Whether the attempt in progress may still be given up with nothing opened by this trustee.
    #[must_use]
    pub const fn may_give_up(&self) -> bool {
        matches!(
            self.last,
            Some((_, _, Stage::Charged | Stage::Listed | Stage::Signed))
        )
    }

    /// Takes a line.
    ///
    /// # Errors
    /// When it cannot come now; nothing is changed.
    pub fn enter(&mut self, line: &JournalLine) -> Result<(), OutOfOrder> {
        let (step, attempt, stage) = match (line, self.last) {
            (_, Some((_, _, Stage::Refused(finding)))) => {
                return Err(OutOfOrder::Ended { finding });
            }
            (JournalLine::Refused { finding }, Some((step, attempt, stage)))
                if stage != Stage::GivenUp =>
            {
                (step, attempt, Stage::Refused(*finding))
            }
            (
                &JournalLine::Charged {
                    step,
                    attempt,
                    charge,
                },
                last,
            ) => {
                // A step that this trustee opened may need another attempt, which is charged: a peer may have been lost
                // before it signed the outcome. If the outcome gets three signatures after all, the step is over, however
                // far that other attempt came.
                let is_next = match last {
                    None => true,
                    Some((before, _, _)) if before < step => self.has_opened,
                    Some((before, earlier, _)) => before == step && earlier < attempt,
                };
                let is_carried = charge == Charge::Carried;
                let may_carry = matches!(last, Some((before, earlier, Stage::GivenUp))
                    if before == step && earlier.checked_add(1) == Some(attempt));
                if !is_next || (is_carried && !may_carry) {
                    return Err(OutOfOrder::Attempt { step, attempt });
                }
                self.charges += u32::from(!is_carried);
                self.has_opened &= last.is_some_and(|(before, _, _)| before == step);
                (step, attempt, Stage::Charged)
            }
            (JournalLine::ListSent { .. }, Some((step, attempt, Stage::Charged))) => {
                (step, attempt, Stage::Listed)
            }
            (JournalLine::SetSigned { .. }, Some((step, attempt, Stage::Listed))) => {
                (step, attempt, Stage::Signed)
            }
            (JournalLine::Opening, Some((step, attempt, Stage::Signed))) => {
                (step, attempt, Stage::Opening)
            }
            (JournalLine::Opened(report), Some((step, attempt, Stage::Opening)))
                if (report.attempt.step, report.attempt.attempt) == (step, attempt) =>
            {
                self.has_opened = true;
                (step, attempt, Stage::Opened)
            }
            (JournalLine::GivenUp, Some((step, attempt, _))) if self.may_give_up() => {
                (step, attempt, Stage::GivenUp)
            }
            _ => return Err(OutOfOrder::Line),
        };
        self.last = Some((step, attempt, stage));
        Ok(())
    }
}

impl JournalLine {
    /// The bytes to store.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.put(&[VERSION]);
        match self {
            Self::Charged {
                step,
                attempt,
                charge,
            } => {
                let is_carried = u8::from(*charge == Charge::Carried);
                writer
                    .put(&[1])
                    .number(*step)
                    .number(*attempt)
                    .put(&[is_carried]);
            }
            Self::ListSent { digest } => {
                writer.put(&[2]).put(digest);
            }
            Self::SetSigned { digest } => {
                writer.put(&[3]).put(digest);
            }
            Self::Opening => {
                writer.put(&[4]);
            }
            Self::Opened(report) => {
                writer.put(&[5]).sized(&report.encode());
            }
            Self::GivenUp => {
                writer.put(&[6]);
            }
            Self::Refused { finding } => finding.write(writer.put(&[7])),
        }
        writer.finish()
    }

    /// The line with these bytes.
    ///
    /// # Errors
    /// When there is none. A trustee whose journal cannot be read must leave the study.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        reader.version(VERSION)?;
        let line = match reader.byte()? {
            1 => Self::Charged {
                step: reader.number()?,
                attempt: reader.number()?,
                charge: match reader.byte()? {
                    0 => Charge::New,
                    1 => Charge::Carried,
                    _ => return Err(DecodeError::Unknown { what: "a charge" }),
                },
            },
            2 => Self::ListSent {
                digest: reader.array()?,
            },
            3 => Self::SetSigned {
                digest: reader.array()?,
            },
            4 => Self::Opening,
            5 => Self::Opened(Box::new(OutcomeReport::decode(reader.sized()?)?)),
            6 => Self::GivenUp,
            7 => Self::Refused {
                finding: Finding::read(&mut reader)?,
            },
            _ => return Err(DecodeError::Unknown { what: "a line" }),
        };
        reader.end()?;
        Ok(line)
    }
}
