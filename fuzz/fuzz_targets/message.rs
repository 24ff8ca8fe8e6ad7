//! Bytes that claim to be a client's message, or the body of one.

use sprifed_secure_sum::{Body, Phase, SignedMessage};

/// Runs one input.
pub fn run(bytes: &[u8]) {
    if let Ok(message) = SignedMessage::decode(bytes) {
        assert_eq!(message.encode(), bytes, "one encoding for each message");
        if let Ok(body) = Body::decode(message.phase, &message.body) {
            assert_eq!(body.encode(), message.body);
        }
    }
    for phase in Phase::ALL {
        if let Ok(body) = Body::decode(phase, bytes) {
            assert_eq!(body.phase(), phase);
            assert_eq!(body.encode(), bytes, "one encoding for each body");
        }
    }
}
