//! The four things that a client can ask of a coordinator.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use tokio::sync::watch;
use tracing::{debug, info, warn};

use crate::error::NetError;
use crate::keeper::Outcome;
use crate::machine::CoordinatorMachine;
use crate::outbox::{Asked, Session};
use crate::server::connections::Peer;
use crate::server::shared::Stopping;
use crate::server::upload::{self, Unread};
use crate::server::{Shared, told};
use crate::wire::{Claim, NOTICE_NUMBER, Question, Trouble, TroubleCode};

/// Who is asked, and whether it is about to stop.
struct Desk<M> {
    shared: Arc<Shared<M>>,
    stopped: watch::Receiver<bool>,
}

impl<M> Clone for Desk<M> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            stopped: self.stopped.clone(),
        }
    }
}

pub(super) fn router<M: CoordinatorMachine>(
    shared: Arc<Shared<M>>,
    stopped: watch::Receiver<bool>,
) -> Router {
    Router::new()
        .route("/v1/return", post(come_back::<M>))
        .route("/v1/messages", post(message::<M>))
        .route("/v1/notices", get(notice::<M>))
        .route("/v1/leave", post(leave::<M>))
        .with_state(Desk { shared, stopped })
}

/// A client begins, or begins again.
async fn come_back<M: CoordinatorMachine>(
    State(Desk { shared, .. }): State<Desk<M>>,
    Extension(Peer { place }): Extension<Peer>,
) -> Response {
    let Ok(_turn) = shared.fast_lane.acquire().await else {
        return stopping();
    };
    shared.seats[place].has_left.store(false, Ordering::Relaxed);
    let opened = shared.with_keeper(move |keeper, shared| {
        let session = shared
            .outboxes
            .lock()
            .map_err(|_| NetError::Machine("the outboxes are damaged".to_owned()))?
            .open(place);
        // A request that waits in an older session learns that it is over.
        shared.ring(&[place]);
        let party = shared.roster.entries()[place].party;
        let touched = keeper.returned(party, &shared.roster, &shared.outboxes)?;
        shared.ring(&touched);
        Ok(session)
    });
    match opened.await {
        Ok(Session(session)) => {
            info!(party = shared.name(place), session, "returned");
            let claim = Claim {
                start: shared.start,
                session,
            };
            Json(claim).into_response()
        }
        Err(Stopping) => stopping(),
    }
}

/// A message for the machine. It is stored when this answers.
async fn message<M: CoordinatorMachine>(
    State(Desk { shared, .. }): State<Desk<M>>,
    Extension(Peer { place }): Extension<Peer>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    if let Err(unread) = upload::check_length(&headers, shared.limits.largest_message) {
        return refuse_unread(&shared, place, unread);
    }
    let seat = &shared.seats[place];
    let Ok(_one) = seat.upload.try_acquire() else {
        return trouble(
            StatusCode::TOO_MANY_REQUESTS,
            TroubleCode::Busy,
            "one message at a time",
        );
    };
    let lane = if seat.is_slow.load(Ordering::Relaxed) {
        &shared.slow_lane
    } else {
        &shared.fast_lane
    };
    let Ok(_turn) = lane.acquire().await else {
        return stopping();
    };
    let bytes = match upload::read(&shared, place, body).await {
        Ok(bytes) => bytes,
        Err(unread) => return refuse_unread(&shared, place, unread),
    };
    let n_bytes = bytes.len();
    let party = shared.roster.entries()[place].party;
    let taken = shared.with_keeper(move |keeper, shared| {
        let outcome = keeper.receive(party, &bytes, &shared.roster, &shared.outboxes)?;
        if let Outcome::Accepted(touched) = &outcome {
            shared.ring(touched);
        }
        Ok(outcome)
    });
    match taken.await {
        Ok(Outcome::Accepted(_)) => {
            shared.metrics.messages_accepted.count();
            shared.metrics.message_bytes.add(n_bytes);
            debug!(
                party = shared.name(place),
                bytes = n_bytes,
                "message accepted"
            );
            StatusCode::NO_CONTENT.into_response()
        }
        Ok(Outcome::Refused(refused)) => {
            shared.metrics.messages_refused.count();
            warn!(party = shared.name(place), bytes = n_bytes, reason = %refused, "message refused");
            let code = if refused.is_final {
                TroubleCode::RefusedForGood
            } else {
                TroubleCode::Refused
            };
            trouble(StatusCode::UNPROCESSABLE_ENTITY, code, &refused.reason)
        }
        Err(Stopping) => stopping(),
    }
}

/// The next notice, or nothing after a while.
async fn notice<M: CoordinatorMachine>(
    State(Desk {
        shared,
        mut stopped,
    }): State<Desk<M>>,
    Extension(Peer { place }): Extension<Peer>,
    Query(question): Query<Question>,
) -> Response {
    if question.start != shared.start {
        return trouble(StatusCode::CONFLICT, TroubleCode::Restarted, "return first");
    }
    let session = Session(question.session);
    let patience = tokio::time::sleep(shared.limits.long_poll);
    tokio::pin!(patience);
    loop {
        let bell = shared.seats[place].bell.notified();
        tokio::pin!(bell);
        // Before the look, so that a notice that comes in between is not missed.
        bell.as_mut().enable();
        let asked = match shared.outboxes.lock() {
            Ok(mut outboxes) => outboxes.ask(place, session, question.after),
            Err(_) => return stopping(),
        };
        match asked {
            Asked::Notice(number, bytes) => {
                shared.metrics.notices_sent.count();
                shared.metrics.notice_bytes.add(bytes.len());
                let bytes = axum::body::Bytes::from_owner(bytes);
                return ([(NOTICE_NUMBER, number.to_string())], bytes).into_response();
            }
            Asked::Superseded => {
                let reason = "the same certificate returned since";
                return trouble(StatusCode::CONFLICT, TroubleCode::Superseded, reason);
            }
            Asked::Forgotten => {
                return trouble(StatusCode::CONFLICT, TroubleCode::Restarted, "return first");
            }
            Asked::Nothing => {}
        }
        tokio::select! {
            () = bell => {}
            () = &mut patience => return StatusCode::NO_CONTENT.into_response(),
            () = told(&mut stopped) => return StatusCode::NO_CONTENT.into_response(),
        }
    }
}

/// A client's part is over: nothing is kept for it any more.
async fn leave<M: CoordinatorMachine>(
    State(Desk { shared, .. }): State<Desk<M>>,
    Extension(Peer { place }): Extension<Peer>,
    Query(claim): Query<Claim>,
) -> Response {
    let is_known = claim.start == shared.start
        && shared
            .outboxes
            .lock()
            .is_ok_and(|mut outboxes| outboxes.close(place, Session(claim.session)));
    if is_known {
        shared.seats[place].has_left.store(true, Ordering::Relaxed);
        shared.changed.notify_one();
        info!(party = shared.name(place), "left");
    }
    StatusCode::NO_CONTENT.into_response()
}

fn refuse_unread<M: CoordinatorMachine>(
    shared: &Shared<M>,
    place: usize,
    unread: Unread,
) -> Response {
    shared.metrics.messages_unread.count();
    warn!(party = shared.name(place), reason = ?unread, "message not read");
    let limits = shared.limits;
    match unread {
        Unread::TooLarge => {
            let reason = format!("more than {} bytes", limits.largest_message);
            trouble(
                StatusCode::PAYLOAD_TOO_LARGE,
                TroubleCode::TooLarge,
                &reason,
            )
        }
        Unread::BrokenOff => trouble(
            StatusCode::BAD_REQUEST,
            TroubleCode::Busy,
            "the message is incomplete",
        ),
        Unread::TooSlow => {
            let reason = format!("not complete after {} s", limits.upload_time.as_secs());
            trouble(StatusCode::REQUEST_TIMEOUT, TroubleCode::Busy, &reason)
        }
    }
}

fn stopping() -> Response {
    trouble(
        StatusCode::SERVICE_UNAVAILABLE,
        TroubleCode::Busy,
        "the coordinator is stopping",
    )
}

pub(super) fn trouble(status: StatusCode, code: TroubleCode, reason: &str) -> Response {
    let body = Trouble {
        code,
        reason: reason.to_owned(),
    };
    (status, Json(body)).into_response()
}
