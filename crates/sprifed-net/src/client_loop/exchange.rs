//! HTTP as a client speaks it: outward only, repeated until there is an answer that settles the matter.
//!
//! Every answer is bounded in bytes and in time: a coordinator that never stops sending fills no memory.

mod body;
#[cfg(test)]
mod tests;

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Method, Proxy, Response, StatusCode};
use tokio::time::{Instant, sleep};
use tracing::{info, warn};

use self::body::{Missed, Pieces, in_time, time_for};
use crate::client_loop::{ClientConfig, Persistence};
use crate::error::NetError;
use crate::tls;
use crate::wire::{Claim, NOTICE_NUMBER, Trouble, TroubleCode};

/// What a coordinator that was asked for notices says in the end.
#[derive(Debug)]
pub(super) enum Reply {
    /// The next one.
    Notice { number: u64, bytes: Vec<u8> },
    /// It does not know this session: begin anew.
    Forgotten,
}

/// What became of a message.
#[derive(Debug)]
pub(super) enum Sent {
    /// It is stored.
    Accepted,
    /// The study did not want it; a repeated message ends so.
    Refused(String),
}

/// The coordinator, seen from a client.
#[derive(Debug)]
pub(super) struct Exchange {
    http: Client,
    coordinator: String,
    persistence: Persistence,
    largest_notice: usize,
    claim: Claim,
}

impl Exchange {
    pub(super) fn new(config: &ClientConfig) -> Result<Self, NetError> {
        let coordinator = config.coordinator.trim_end_matches('/').to_owned();
        if !coordinator.starts_with("https://") {
            return Err(NetError::Setting {
                found: config.coordinator.clone(),
                required: "address that begins with `https://`",
            });
        }
        let tls = tls::client(&config.identity, &config.authorities)?;
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls)
            .https_only(true)
            .redirect(Policy::none())
            .connect_timeout(CONNECT_TIME)
            .read_timeout(ANSWER_TIME)
            .tcp_nodelay(true)
            .no_proxy();
        if let Some(proxy) = &config.proxy {
            builder = builder.proxy(Proxy::https(proxy).map_err(|_| NetError::Setting {
                found: proxy.clone(),
                required: "address of a proxy, such as `http://proxy:3128`",
            })?);
        }
        Ok(Self {
            http: builder
                .build()
                .map_err(|error| NetError::Tls(told(&error)))?,
            coordinator,
            persistence: config.persistence,
            largest_notice: config.largest_notice,
            claim: Claim {
                start: 0,
                session: 0,
            },
        })
    }

    /// Opens a session; the coordinator tells all that is needed again.
    pub(super) async fn come_back(&mut self) -> Result<(), NetError> {
        let asked = self.ask(Method::POST, "/v1/return", None, LARGEST_WORD);
        match asked.await? {
            Answer::Good(good) => {
                self.claim =
                    serde_json::from_slice(&good.body).map_err(|error| NetError::Answer {
                        found: format!("no session ({error})"),
                        required: "a session",
                    })?;
                info!(session = self.claim.session, "returned");
                Ok(())
            }
            Answer::Trouble(trouble) => Err(NetError::Forbidden(trouble.reason)),
        }
    }

    /// The notice after number `after`, as soon as there is one.
    pub(super) async fn notice(&mut self, after: u64) -> Result<Reply, NetError> {
        let Claim { start, session } = self.claim;
        let path = format!("/v1/notices?start={start}&session={session}&after={after}");
        loop {
            let since = Instant::now();
            // A notice that broke off is kept until a later one is asked for.
            let asked = self.ask(Method::GET, &path, None, self.largest_notice);
            let good = match asked.await? {
                Answer::Good(good) => good,
                Answer::Trouble(trouble) => {
                    return match trouble.code {
                        TroubleCode::Restarted => Ok(Reply::Forgotten),
                        TroubleCode::Superseded => Err(NetError::Superseded),
                        _ => Err(NetError::Forbidden(trouble.reason)),
                    };
                }
            };
            if good.status == StatusCode::NO_CONTENT {
                // A coordinator holds the question for a while; one that does not is not asked faster.
                if since.elapsed() < SHORTEST_HOLD {
                    sleep(self.persistence.wait(1)).await;
                }
                continue;
            }
            let number = good.number.ok_or_else(|| NetError::Answer {
                found: "a notice without a number".to_owned(),
                required: "a numbered notice",
            })?;
            let bytes = good.body;
            return Ok(Reply::Notice { number, bytes });
        }
    }

    /// Sends a message until the coordinator has stored or refused it.
    pub(super) async fn message(&self, message: Vec<u8>) -> Result<Sent, NetError> {
        match self
            .ask(Method::POST, "/v1/messages", Some(&message), LARGEST_WORD)
            .await?
        {
            Answer::Good(_) => Ok(Sent::Accepted),
            Answer::Trouble(trouble) if trouble.code == TroubleCode::Refused => {
                Ok(Sent::Refused(trouble.reason))
            }
            Answer::Trouble(trouble) => Err(NetError::Forbidden(trouble.reason)),
        }
    }

    /// Says good-bye, once: the coordinator need not wait for this client.
    pub(super) async fn leave(&self) {
        let Claim { start, session } = self.claim;
        let path = format!("/v1/leave?start={start}&session={session}");
        let _ = self.once(Method::POST, &path, None, LARGEST_WORD).await;
    }

    /// Asks until there is an answer, of at most `largest` bytes, that repeating would not change.
    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&[u8]>,
        largest: usize,
    ) -> Result<Answer, NetError> {
        let since = Instant::now();
        let mut n_failures = 0;
        loop {
            let last = match self.once(method.clone(), path, body, largest).await {
                Ok(Answer::Trouble(trouble)) if trouble.code == TroubleCode::Busy => trouble.reason,
                Ok(answer) => return Ok(answer),
                Err(Missed::Lost(reason)) => reason,
                Err(Missed::TooLong { largest }) => {
                    return Err(NetError::EndlessAnswer { largest });
                }
            };
            n_failures += 1;
            let wait = self.persistence.wait(n_failures);
            let silent = since.elapsed() + wait;
            if self
                .persistence
                .give_up_after
                .is_some_and(|limit| silent > limit)
            {
                return Err(NetError::OutOfReach {
                    coordinator: self.coordinator.clone(),
                    seconds: since.elapsed().as_secs(),
                    last,
                });
            }
            warn!(
                reason = last,
                wait_ms = wait.as_millis(),
                "no contact; trying again"
            );
            sleep(wait).await;
        }
    }

    async fn once(
        &self,
        method: Method,
        path: &str,
        body: Option<&[u8]>,
        largest: usize,
    ) -> Result<Answer, Missed> {
        let mut request = self
            .http
            .request(method, format!("{}{path}", self.coordinator));
        let n_sent = body.map_or(0, <[u8]>::len);
        if let Some(body) = body {
            request = request.body(body.to_vec());
        }
        let sending = async { request.send().await.map_err(|error| lost(&error)) };
        let response = in_time(ANSWER_TIME + time_for(n_sent), sending).await?;
        let status = response.status();
        if status.is_success() {
            let number = response.headers().get(NOTICE_NUMBER);
            let number = number.and_then(|value| value.to_str().ok());
            return Ok(Answer::Good(Good {
                status,
                number: number.and_then(|text| text.parse().ok()),
                body: read(response, largest).await?,
            }));
        }
        let body = read(response, LARGEST_WORD).await?;
        Ok(Answer::Trouble(
            serde_json::from_slice(&body).unwrap_or_else(|_| Trouble {
                // Not ours: a proxy between us, or a server that starts up.
                code: TroubleCode::Busy,
                reason: format!("status {status} without an explanation"),
            }),
        ))
    }
}

enum Answer {
    Good(Good),
    Trouble(Trouble),
}

/// A success, read to its end.
struct Good {
    status: StatusCode,
    number: Option<u64>,
    body: Vec<u8>,
}

/// The body of `response`, unless it has more than `largest` bytes or takes too long.
async fn read(mut response: Response, largest: usize) -> Result<Vec<u8>, Missed> {
    let mut pieces = Pieces::none_yet(largest, response.content_length())?;
    let reading = async {
        while let Some(piece) = response.chunk().await.map_err(|error| lost(&error))? {
            pieces.add(&piece)?;
        }
        Ok(pieces.whole())
    };
    in_time(BODY_TIME + time_for(largest), reading).await
}

fn lost(error: &reqwest::Error) -> Missed {
    Missed::Lost(told(error))
}

/// An error with its causes: the outermost of them says little.
fn told(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

const CONNECT_TIME: Duration = Duration::from_secs(20);

/// Longer than a question for notices is held open.
const ANSWER_TIME: Duration = Duration::from_secs(90);

/// For a body, beside what its bytes may take.
const BODY_TIME: Duration = Duration::from_secs(60);

/// A coordinator without a notice answers later than this, unless it stops.
const SHORTEST_HOLD: Duration = Duration::from_secs(1);

/// The most bytes of an answer that is no notice: a session or an explanation.
const LARGEST_WORD: usize = 64 << 10;
