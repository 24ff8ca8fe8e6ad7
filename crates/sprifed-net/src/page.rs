//! The live page: the public facts of the study, read-only, without assets from elsewhere.
//!
//! It has its own listener, without TLS and on a loopback address by default, answers GET only, and only to those
//! who call it by its own address. It shows [`StatusView`] and which parties are connected, and nothing else.

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
use serde::Serialize;
use sprifed_privacy::{shown_cost, shown_delta};
use sprifed_report::{Badge, BadgeKind, Bar, FeatureTable, GuaranteeView, STYLE, environment};

use crate::machine::CoordinatorMachine;
use crate::server::Shared;
use crate::status::{FeatureFound, PartyState, PartyStatus, Presence, Progress, StatusView};

use own_address::OwnAddress;

/// What the templates are given.
#[derive(Debug, Serialize)]
struct View<'a> {
    title: &'a str,
    status: [Badge; 1],
    ending: &'a [String],
    guarantee: GuaranteeView<'a>,
    progress: Progress,
    sums: Vec<&'static str>,
    budget_part: String,
    epsilon_spent: String,
    epsilon_planned: String,
    delta: String,
    parties: Vec<Party<'a>>,
    n_connected: usize,
    trustees: Vec<Party<'a>>,
    n_trustees_connected: usize,
    presences: [Entry; 3],
    refusals: u64,
    alarm: Option<&'a str>,
    features: FeatureTable,
    notes: &'a [String],
    is_over: bool,
}

#[derive(Debug, Serialize)]
struct Party<'a> {
    name: &'a str,
    state: &'static str,
    words: &'static str,
    presence: Presence,
    presence_words: &'static str,
}

/// A line of the legend of parties.
#[derive(Debug, Serialize)]
struct Entry {
    presence: Presence,
    words: &'static str,
}

pub(crate) fn router<M: CoordinatorMachine>(shared: Arc<Shared<M>>, address: SocketAddr) -> Router {
    let gate = (Arc::clone(&shared), OwnAddress(address));
    Router::new()
        .route("/", get(whole::<M>))
        .route("/fragment", get(fragment::<M>))
        .route("/status.json", get(json::<M>))
        .route("/metrics", get(metrics::<M>))
        .route("/page.css", get(style))
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
        trustees_connected: Vec<bool>,
    }
    let (study, presence) = seen(&shared);
    let (parties, trustees) = by_role(&study, &presence);
    let connected = |of: &[Presence]| of.iter().map(|one| one.is_connected()).collect();
    let facts = Facts {
        study: &study,
        connected: connected(parties),
        trustees_connected: connected(trustees),
    };
    match serde_json::to_string(&facts) {
        Ok(text) => guarded("application/json", text),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn metrics<M: CoordinatorMachine>(State(shared): State<Arc<Shared<M>>>) -> Response {
    let (study, presence) = seen(&shared);
    let (parties, trustees) = by_role(&study, &presence);
    let connected = (n_connected(parties), n_connected(trustees));
    let text = shared.metrics.text(&study, connected);
    guarded("text/plain; version=0.0.4; charset=utf-8", text)
}

async fn asset(kind: &'static str, text: &'static str) -> Response {
    guarded(kind, text.to_owned())
}

async fn style() -> Response {
    guarded("text/css; charset=utf-8", format!("{STYLE}{OWN_STYLE}"))
}

/// Who is there of the parties, and who of the trustees.
fn by_role<'a>(study: &StatusView, presence: &'a [Presence]) -> (&'a [Presence], &'a [Presence]) {
    presence.split_at(study.parties.len().min(presence.len()))
}

/// The public facts, and who is there now, in the order of the roster. A party that missed a phase and was silent since has
/// dropped out, although the study waits for it in the next phase.
fn seen<M: CoordinatorMachine>(shared: &Shared<M>) -> (StatusView, Vec<Presence>) {
    let mut study = StatusView::clone(&shared.status());
    let all = study.parties.iter_mut().chain(&mut study.trustees);
    for (place, party) in all.enumerate() {
        let is_open = matches!(
            party.state,
            PartyState::Invited | PartyState::Awaited | PartyState::Answered
        );
        if is_open && shared.is_missing(place) {
            party.state = PartyState::DroppedOut;
        }
    }
    (study, shared.presence())
}

fn n_connected(presence: &[Presence]) -> usize {
    let connected = presence.iter().filter(|presence| presence.is_connected());
    connected.count()
}

fn rendered<M: CoordinatorMachine>(shared: &Shared<M>, template: &str) -> Response {
    let (study, presence) = seen(shared);
    match render(&study, &presence, template) {
        Ok(text) => guarded("text/html; charset=utf-8", text),
        Err(error) => {
            tracing::error!(%error, "page");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

fn render(
    study: &StatusView,
    presence: &[Presence],
    template: &str,
) -> Result<String, minijinja::Error> {
    let templates = [
        ("page.html", PAGE),
        ("fragment.html", FRAGMENT),
        ("found.html", FOUND),
    ];
    environment(&templates)?
        .get_template(template)?
        .render(Serde(view(study, presence)))
}

fn view<'a>(study: &'a StatusView, presence: &[Presence]) -> View<'a> {
    let (of_parties, of_trustees) = by_role(study, presence);
    let bars: Vec<(Bar, f64)> = study.features.iter().map(bar).collect();
    let progress = study.progress;
    let is_over = !study.report.is_empty();
    let sums = (0..progress.planned.min(MOST_SQUARES))
        .map(|sum| match sum {
            sum if sum < progress.done => "done",
            sum if sum == progress.done && !is_over => "now",
            _ => "ahead",
        })
        .collect();
    let status = match (is_over, study.intercept, &study.alarm) {
        (false, ..) => Badge::new(BadgeKind::Running, study.phase.clone()),
        (true, None, _) => Badge::new(BadgeKind::Failed, "ended without a model"),
        (true, Some(_), None) => Badge::new(BadgeKind::Done, "complete"),
        (true, Some(_), Some(_)) => {
            Badge::new(BadgeKind::Failed, "ended; do not interpret the model")
        }
    };
    let features = FeatureTable::over_bounds(&bars, study.intercept)
        .with_intercept_interval(study.intercept_interval);
    let features = match study.alarm {
        Some(_) => features.without_chart(),
        None => features,
    };
    let heading = if is_over {
        "Final guarantee"
    } else {
        "Planned guarantee"
    };
    let budget = study.budget;
    let budget_part = if budget.epsilon_planned > 0.0 {
        (100.0 * budget.epsilon_spent / budget.epsilon_planned).clamp(0.0, 100.0)
    } else {
        0.0
    };
    View {
        title: &study.title,
        status: [status],
        ending: &study.report,
        guarantee: GuaranteeView::new(heading, &study.guarantee),
        progress,
        sums,
        budget_part: format!("{budget_part:.0}"),
        epsilon_spent: shown_cost(budget.epsilon_spent),
        epsilon_planned: shown_cost(budget.epsilon_planned),
        delta: shown_delta(budget.delta),
        parties: present(&study.parties, of_parties),
        n_connected: n_connected(of_parties),
        trustees: present(&study.trustees, of_trustees),
        n_trustees_connected: n_connected(of_trustees),
        presences: Presence::ALL.map(|presence| Entry {
            presence,
            words: presence.text(),
        }),
        refusals: study.refusals,
        alarm: study.alarm.as_deref(),
        notes: &study.notes,
        features,
        is_over,
    }
}

/// Where each of `all` stands, and whether it is there.
fn present<'a>(all: &'a [PartyStatus], presence: &[Presence]) -> Vec<Party<'a>> {
    let each = all.iter().enumerate().map(|(place, one)| {
        let presence = presence.get(place).copied().unwrap_or(Presence::Away);
        Party {
            name: &one.name,
            state: one.state.name(),
            words: text(one.state),
            presence,
            presence_words: presence.text(),
        }
    });
    each.collect()
}

/// A feature's bar, and half the width of its public bounds.
fn bar(feature: &FeatureFound) -> (Bar, f64) {
    let bar = Bar {
        interval: feature.interval,
        p_value: feature.p_value,
        privacy_share: feature.privacy_share,
        is_always: feature.is_always,
        ..Bar::of_estimate(feature.name.clone(), feature.coefficient)
    };
    (bar, feature.half_range)
}

const fn text(state: PartyState) -> &'static str {
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

/// More sums than this are shown as a number only.
const MOST_SQUARES: u32 = 200;

const PAGE: &str = include_str!("page/page.html");
const FRAGMENT: &str = include_str!("page/fragment.html");
const FOUND: &str = include_str!("page/found.html");
const OWN_STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");
