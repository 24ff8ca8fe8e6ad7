//! The proof that nothing of an attempt was opened, so that the next one needs no second charge.

use sprifed_crypto::codec::DecodeError;

use crate::attempt_id::AttemptId;
use crate::message::{Body, Message};
use crate::set::{Statement, ThreeSignatures, unopened_digest};

/// The signatures of all three trustees that they sent no opening share in an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllUnopened {
    /// The attempt.
    pub attempt: AttemptId,
    /// The signatures.
    pub signatures: ThreeSignatures,
}

impl AllUnopened {
    /// Whether all three trustees signed it.
    #[must_use]
    pub fn holds(&self, identities: &[[u8; 32]; 3]) -> bool {
        let digest = unopened_digest(&self.attempt);
        self.signatures
            .hold(Statement::Unopened, identities, &digest)
    }
}

/// The signature in a trustee's message to the coordinator that an attempt is unopened.
///
/// # Errors
/// When the bytes are no such message.
pub fn unopened_signature(bytes: &[u8]) -> Result<(AttemptId, [u8; 64]), DecodeError> {
    match Message::decode(bytes)? {
        Message {
            attempt,
            body: Body::Unopened(signature),
        } => Ok((attempt, signature)),
        _ => Err(DecodeError::Unknown {
            what: "another message",
        }),
    }
}
