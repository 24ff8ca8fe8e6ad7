//! What client and coordinator say to each other about carrying messages; version 1, as in the paths.

use serde::{Deserialize, Serialize};

/// The header with a notice's number.
pub(crate) const NOTICE_NUMBER: &str = "sprifed-notice";

/// A client's session: which start of the server, and which return since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claim {
    pub(crate) start: u64,
    pub(crate) session: u64,
}

/// A question for the notice after number `after`.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Question {
    pub(crate) start: u64,
    pub(crate) session: u64,
    pub(crate) after: u64,
}

/// What a client can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TroubleCode {
    /// Try again later.
    Busy,
    /// Return first: the coordinator does not remember.
    Restarted,
    /// Stop: another process has this certificate.
    Superseded,
    /// Go on: the study did not want the message.
    Refused,
    /// Stop: the study will want no message of this client.
    RefusedForGood,
    /// Stop: the message can never be sent.
    TooLarge,
    /// Stop: this certificate is not in the roster.
    Unknown,
}

/// The body of every answer that is not a success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trouble {
    pub(crate) code: TroubleCode,
    pub(crate) reason: String,
}
