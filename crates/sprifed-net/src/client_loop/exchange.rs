//! HTTP as a client speaks it: outward only, repeated until there is an answer that settles the matter.

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Method, Proxy, Response, StatusCode};
use tokio::time::{Instant, sleep};
use tracing::{info, warn};

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
            claim: Claim {
                start: 0,
                session: 0,
            },
        })
    }

    /// Opens a session; the coordinator tells all that is needed again.
    pub(super) async fn come_back(&mut self) -> Result<(), NetError> {
        match self.ask(Method::POST, "/v1/return", None).await? {
            Answer::Good(response) => {
                let body = response.bytes().await.unwrap_or_default();
                self.claim = serde_json::from_slice(&body).map_err(|error| NetError::Answer {
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
            let response = match self.ask(Method::GET, &path, None).await? {
                Answer::Good(response) if response.status() == StatusCode::NO_CONTENT => continue,
                Answer::Good(response) => response,
                Answer::Trouble(trouble) => {
                    return match trouble.code {
                        TroubleCode::Restarted => Ok(Reply::Forgotten),
                        TroubleCode::Superseded => Err(NetError::Superseded),
                        _ => Err(NetError::Forbidden(trouble.reason)),
                    };
                }
            };
            let number = response
                .headers()
                .get(NOTICE_NUMBER)
                .and_then(|value| value.to_str().ok())
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| NetError::Answer {
                    found: "a notice without a number".to_owned(),
                    required: "a numbered notice",
                })?;
            match response.bytes().await {
                Ok(bytes) => {
                    let bytes = bytes.to_vec();
                    return Ok(Reply::Notice { number, bytes });
                }
                // It is kept until a later one is asked for.
                Err(error) => warn!(error = told(&error), "a notice broke off"),
            }
        }
    }

    /// Sends a message until the coordinator has stored or refused it.
    pub(super) async fn message(&self, message: Vec<u8>) -> Result<Sent, NetError> {
        match self
            .ask(Method::POST, "/v1/messages", Some(&message))
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
        let _ = self.once(Method::POST, &path, None).await;
    }

    /// Asks until there is an answer that repeating would not change.
    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&[u8]>,
    ) -> Result<Answer, NetError> {
        let since = Instant::now();
        let mut n_failures = 0;
        loop {
            let last = match self.once(method.clone(), path, body).await {
                Ok(Answer::Trouble(trouble)) if trouble.code == TroubleCode::Busy => trouble.reason,
                Ok(answer) => return Ok(answer),
                Err(error) => told(&error),
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
    ) -> Result<Answer, reqwest::Error> {
        let mut request = self
            .http
            .request(method, format!("{}{path}", self.coordinator));
        if let Some(body) = body {
            request = request.body(body.to_vec());
        }
        let response = request.send().await?;
        if response.status().is_success() {
            return Ok(Answer::Good(response));
        }
        let status = response.status();
        let body = response.bytes().await?;
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
    Good(Response),
    Trouble(Trouble),
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
