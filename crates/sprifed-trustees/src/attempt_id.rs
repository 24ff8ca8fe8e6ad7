//! Which attempt of which step of which study, after which transcript.

use sha2::{Digest as _, Sha256};
use sprifed_crypto::codec::{DecodeError, Reader, Writer};

/// The version of all messages and key derivations of this crate.
pub(crate) const VERSION: u8 = 1;

/// One attempt at one step. It is in every signature and in every key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptId {
    /// The digest of the agreement.
    pub study: [u8; 32],
    /// The step, counted from zero.
    pub step: u32,
    /// The attempt at the step, counted from zero.
    pub attempt: u32,
    /// The digest of everything that was opened before.
    pub transcript: [u8; 32],
}

impl AttemptId {
    pub(crate) fn write(&self, writer: &mut Writer) {
        writer
            .put(&self.study)
            .number(self.step)
            .number(self.attempt)
            .put(&self.transcript);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            study: reader.array()?,
            step: reader.number()?,
            attempt: reader.number()?,
            transcript: reader.array()?,
        })
    }

    /// A hash that begins with a label of this purpose and with the attempt.
    pub(crate) fn hash(&self, label: &[u8]) -> Sha256 {
        Sha256::new_with_prefix(b"sprifed trustees: ")
            .chain_update([VERSION, u8::try_from(label.len()).unwrap_or(u8::MAX)])
            .chain_update(label)
            .chain_update(self.study)
            .chain_update(self.step.to_le_bytes())
            .chain_update(self.attempt.to_le_bytes())
            .chain_update(self.transcript)
    }
}
