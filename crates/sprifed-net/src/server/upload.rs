//! Reading a message: bounded in bytes, in time, and in how many are read at once.

use std::pin::Pin;
use std::sync::atomic::Ordering;

use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, header};

use crate::machine::CoordinatorMachine;
use crate::server::Shared;

/// Why a message could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    /// More bytes than are allowed.
    TooLarge,
    /// The connection ended before the message did.
    BrokenOff,
    /// It did not arrive in time.
    TooSlow,
}

/// Refuses what says itself that it is too large.
pub(super) fn check_length(headers: &HeaderMap, largest: usize) -> Result<(), Unread> {
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.parse::<u64>().ok());
    match announced {
        Some(bytes) if usize::try_from(bytes).map_or(true, |bytes| bytes > largest) => {
            Err(Unread::TooLarge)
        }
        _ => Ok(()),
    }
}

/// Reads the body in the time that is allowed for it, and remembers who could not.
///
/// The caller holds the turn of this client's lane: what is read at once is bounded by the lanes.
pub(super) async fn read<M: CoordinatorMachine>(
    shared: &Shared<M>,
    place: usize,
    body: Body,
) -> Result<Vec<u8>, Unread> {
    let reading = collect(body, shared.limits.largest_message);
    match tokio::time::timeout(shared.limits.upload_time, reading).await {
        Ok(read) => read,
        Err(_) => {
            shared.seats[place].is_slow.store(true, Ordering::Relaxed);
            Err(Unread::TooSlow)
        }
    }
}

async fn collect(mut body: Body, largest: usize) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    loop {
        let frame = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        let Some(frame) = frame else {
            return Ok(bytes);
        };
        let frame = frame.map_err(|_| Unread::BrokenOff)?;
        if let Some(data) = frame.data_ref() {
            if bytes.len() + data.len() > largest {
                return Err(Unread::TooLarge);
            }
            bytes.extend_from_slice(data);
        }
    }
}
