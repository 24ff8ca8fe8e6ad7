//! The live page: what everybody may know of the study, read-only, without any asset of others.
//!
//! It has its own listener, without TLS and on a loopback address by default, answers GET only, and only to those
//! who call it by its own address. It shows [`StatusView`] and who is connected; there is nothing else that it
//! could show.

mod own_address;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;
use sprifed_privacy::{shown_cost, shown_delta};

use crate::machine::CoordinatorMachine;
use crate::server::Shared;
use crate::status::{PartyState, StatusView};

use own_address::OwnAddress;

/// What the templates are given.
#[derive(Debug, Serialize)]
struct View<'a> {
    study: &'a StatusView,
    parties: Vec<Party<'a>>,
    n_connected: usize,
    sums: Vec<&'static str>,
    budget_part: f64,
    epsilon_spent: String,
    epsilon_planned: String,
    delta: String,
    features: Vec<Bar<'a>>,
    is_over: bool,
}

#[derive(Debug, Serialize)]
struct Party<'a> {
    name: &'a str,
    state: &'static str,
    words: &'static str,
    is_connected: bool,
}

/// A feature's coefficient on a scale from -100 to 100, with [`REACH`] standard deviations of noise each way.
#[derive(Debug, Serialize)]
struct Bar<'a> {
    name: &'a str,
    coefficient: String,
    noise: String,
    from: f64,
    width: f64,
    low: f64,
    high: f64,
}

pub(crate) fn router<M: CoordinatorMachine>(shared: Arc<Shared<M>>, address: SocketAddr) -> Router {
    let gate = (Arc::clone(&shared), OwnAddress(address));
    Router::new()
        .route("/", get(whole::<M>))
        .route("/fragment", get(fragment::<M>))
        .route("/status.json", get(json::<M>))
        .route("/metrics", get(metrics::<M>))
        .route("/page.css", get(|| asset("text/css; charset=utf-8", STYLE)))
        .route(
            "/page.js",
            get(|| asset("text/javascript; charset=utf-8", SCRIPT)),
        )
        .with_state(shared)
        .layer(middleware::from_fn_with_state(gate, asked_by_name::<M>))
}

/// Refuses what was meant for another name: see [`OwnAddress`].
async fn asked_by_name<M: CoordinatorMachine>(
    State((shared, own)): State<(Arc<Shared<M>>, OwnAddress)>,
    request: Request,
    next: Next,
) -> Response {
    if own.is_asked(request.uri(), request.headers()) {
        return next.run(request).await;
    }
    shared.metrics.page_refused.count();
    tracing::warn!(host = ?request.headers().get(header::HOST), "the page was asked under another name");
    let OwnAddress(address) = own;
    let text =
        format!("This page answers as http://{address}/ and as localhost, with that port.\n");
    let refusal = guarded("text/plain; charset=utf-8", text);
    (StatusCode::MISDIRECTED_REQUEST, refusal).into_response()
}

async fn whole<M: CoordinatorMachine>(State(shared): State<Arc<Shared<M>>>) -> Response {
    rendered(&shared, "page.html")
}

async fn fragment<M: CoordinatorMachine>(State(shared): State<Arc<Shared<M>>>) -> Response {
    rendered(&shared, "fragment.html")
}

async fn json<M: CoordinatorMachine>(State(shared): State<Arc<Shared<M>>>) -> Response {
    #[derive(Serialize)]
    struct Facts<'a> {
        #[serde(flatten)]
        study: &'a StatusView,
        connected: Vec<bool>,
    }
    let facts = Facts {
        study: &shared.status(),
        connected: shared.connected(),
    };
    match serde_json::to_string(&facts) {
        Ok(text) => guarded("application/json", text),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn metrics<M: CoordinatorMachine>(State(shared): State<Arc<Shared<M>>>) -> Response {
    let text = shared.metrics.text(&shared.status(), &shared.connected());
    guarded("text/plain; version=0.0.4; charset=utf-8", text)
}

async fn asset(kind: &'static str, text: &'static str) -> Response {
    guarded(kind, text.to_owned())
}

fn rendered<M: CoordinatorMachine>(shared: &Shared<M>, template: &str) -> Response {
    let study = shared.status();
    match render(&study, &shared.connected(), template) {
        Ok(text) => guarded("text/html; charset=utf-8", text),
        Err(error) => {
            tracing::error!(%error, "page");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

fn render(
    study: &StatusView,
    connected: &[bool],
    template: &str,
) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("page.html", PAGE)?;
    environment.add_template("fragment.html", FRAGMENT)?;
    environment
        .get_template(template)?
        .render(Serde(view(study, connected)))
}

fn view<'a>(study: &'a StatusView, connected: &[bool]) -> View<'a> {
    let parties = study
        .parties
        .iter()
        .enumerate()
        .map(|(place, party)| Party {
            name: &party.name,
            state: party.state.name(),
            words: words(party.state),
            is_connected: connected.get(place).copied().unwrap_or(false),
        })
        .collect();
    let scale = study
        .features
        .iter()
        .map(|feature| feature.coefficient.abs() + REACH * feature.noise_std_dev)
        .fold(f64::MIN_POSITIVE, f64::max);
    let features = study
        .features
        .iter()
        .map(|feature| {
            let at = 100.0 * feature.coefficient / scale;
            let noise = REACH * feature.noise_std_dev;
            let reach = 100.0 * noise / scale;
            Bar {
                name: &feature.name,
                coefficient: format!("{:+.4}", feature.coefficient),
                noise: if noise.is_finite() {
                    format!("{noise:.4}")
                } else {
                    "unknown".to_owned()
                },
                from: at.min(0.0),
                width: at.abs(),
                low: at - reach,
                high: at + reach,
            }
        })
        .collect();
    let progress = study.progress;
    let is_over = !study.report.is_empty();
    let sums = (0..progress.planned.min(MOST_SQUARES))
        .map(|sum| match sum {
            sum if sum < progress.done => "done",
            sum if sum == progress.done && !is_over => "now",
            _ => "ahead",
        })
        .collect();
    let budget = study.budget;
    View {
        study,
        parties,
        n_connected: connected.iter().filter(|is_here| **is_here).count(),
        sums,
        budget_part: if budget.epsilon_planned > 0.0 {
            (100.0 * budget.epsilon_spent / budget.epsilon_planned).clamp(0.0, 100.0)
        } else {
            0.0
        },
        epsilon_spent: shown_cost(budget.epsilon_spent),
        epsilon_planned: shown_cost(budget.epsilon_planned),
        delta: shown_delta(budget.delta),
        features,
        is_over,
    }
}

const fn words(state: PartyState) -> &'static str {
    match state {
        PartyState::Invited => "invited",
        PartyState::Awaited => "awaited",
        PartyState::Answered => "answered",
        PartyState::DroppedOut => "dropped out",
        PartyState::Declined => "declined",
        PartyState::Finished => "finished",
    }
}

/// Headers that keep the page to itself.
fn guarded(kind: &'static str, text: String) -> Response {
    let headers: [(HeaderName, &str); 6] = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, text).into_response()
}

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// How many standard deviations of the noise are shown each way, in numbers and as whiskers: about 95 % of it.
const REACH: f64 = 2.0;

/// More sums than this are shown as a number only.
const MOST_SQUARES: u32 = 200;

const PAGE: &str = include_str!("page/page.html");
const FRAGMENT: &str = include_str!("page/fragment.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");
