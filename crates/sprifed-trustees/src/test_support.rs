//! What a deviating trustee can do with its own keys, for tests: it opens a frame that it sends, and seals another one.

use crate::message::{Body, Content, FrameKey, Message, SealedFrame};
use crate::streams::StepKey;
use crate::trustee_id::TrusteeId;

/// What a frame is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FrameKind {
    /// Noise.
    Deal,
    /// Gates.
    Layer,
    /// A part of a proof.
    Proof,
    /// Opened shares.
    Opening,
}

/// A frame of a trustee, opened by it.
#[derive(Debug)]
pub struct OpenedFrame {
    message: Message,
    key: FrameKey,
    content: Content,
    /// Its round.
    pub number: u32,
    /// What it holds.
    pub words: Vec<u64>,
}

impl OpenedFrame {
    /// The frame in a message from one trustee to another; `link` is the step's key of these two, and `set` the digest of
    /// the set that all three signed.
    #[must_use]
    pub fn open(
        bytes: &[u8],
        link: &StepKey,
        set: &[u8; 32],
        (from, to): (TrusteeId, TrusteeId),
    ) -> Option<Self> {
        let message = Message::decode(bytes).ok()?;
        let Body::Frame(frame) = &message.body else {
            return None;
        };
        let key = FrameKey::new(link, set, from, to);
        let words = frame.sealed.len().checked_sub(16)? / 8;
        let words = key.open(frame, words)?.to_vec();
        let (content, number) = (frame.content, frame.number);
        Some(Self {
            message,
            key,
            content,
            number,
            words,
        })
    }

    /// What it is about.
    #[must_use]
    pub const fn kind(&self) -> FrameKind {
        match self.content {
            Content::Deal => FrameKind::Deal,
            Content::Layer => FrameKind::Layer,
            Content::Proof => FrameKind::Proof,
            Content::Opening => FrameKind::Opening,
        }
    }

    /// The message with what it holds now.
    #[must_use]
    pub fn seal(self) -> Vec<u8> {
        let frame: SealedFrame = self.key.seal(self.content, self.number, &self.words);
        let body = Body::Frame(frame);
        Message {
            body,
            ..self.message
        }
        .encode()
    }
}
