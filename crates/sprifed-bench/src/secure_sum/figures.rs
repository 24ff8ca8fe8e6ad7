//! From clocks to rows: each figure beside its limit, its goal and Flower's.

use serde::Serialize;

use crate::secure_sum::Setting;
use crate::secure_sum::flower::Flower;
use crate::secure_sum::primitives::Primitives;
use crate::secure_sum::rehearsal::{Costs, Rehearsal};

/// One row.
#[derive(Debug, Serialize)]
pub(super) struct Figure {
    pub(super) setting: String,
    pub(super) figure: &'static str,
    pub(super) value: f64,
    pub(super) unit: &'static str,
    /// What the primitives alone would take.
    pub(super) limit: Option<f64>,
    pub(super) goal: Option<f64>,
    pub(super) is_within_goal: Option<bool>,
    pub(super) flower: Option<f64>,
    pub(super) flower_times_ours: Option<f64>,
}

/// At most so much for one sum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Goals {
    pub(super) client_milliseconds: Option<f64>,
    pub(super) server_milliseconds: Option<f64>,
    pub(super) upload_kibibytes: Option<f64>,
}

impl Figure {
    fn new(setting: &str, figure: &'static str, value: f64, unit: &'static str) -> Self {
        Self {
            setting: setting.to_owned(),
            figure,
            value,
            unit,
            limit: None,
            goal: None,
            is_within_goal: None,
            flower: None,
            flower_times_ours: None,
        }
    }

    fn limit(self, limit: f64) -> Self {
        Self {
            limit: Some(limit),
            ..self
        }
    }

    fn goal(self, goal: Option<f64>) -> Self {
        Self {
            goal,
            is_within_goal: goal.map(|goal| self.value <= goal),
            ..self
        }
    }

    fn flower(self, flower: Option<f64>) -> Self {
        Self {
            flower,
            flower_times_ours: flower.map(|flower| flower / self.value),
            ..self
        }
    }
}

/// One mask against the key stream that it is made of.
pub(super) fn mask_figures(primitives: Primitives) -> Vec<Figure> {
    let Primitives {
        mask,
        key_stream,
        chacha,
        agreement,
    } = primitives;
    let of = |figure, value, unit| Figure::new("primitives", figure, value, unit);
    vec![
        of("one mask put on", 1e6 * mask, "us").limit(1e6 * key_stream),
        of("a mask against its key stream", mask / key_stream, "times")
            .limit(1.0)
            .goal(Some(1.5)),
        of(
            "ChaCha20 against that key stream",
            chacha / key_stream,
            "times",
        ),
        of("one key agreement (X25519)", 1e6 * agreement, "us"),
    ]
}

/// All rows of one setting.
pub(super) fn sum_figures(
    setting: &Setting,
    costs: &Costs,
    primitives: Primitives,
    flower: Option<&Flower>,
) -> Vec<Figure> {
    let Setting {
        name,
        rehearsal,
        goals,
        ..
    } = setting;
    let n_sums = f64::from(rehearsal.n_sums);
    let (client_limit, server_limit) = limits(rehearsal, primitives);
    let packed = (f64::from(rehearsal.coordinates) * f64::from(rehearsal.bits) / 8.0).ceil();
    let milliseconds = |figure, seconds: f64| Figure::new(name, figure, 1e3 * seconds, "ms");
    let kibibytes = |figure, bytes: f64| Figure::new(name, figure, bytes / 1024.0, "KiB");
    vec![
        milliseconds("client, one sum", costs.client())
            .limit(1e3 * client_limit)
            .goal(goals.client_milliseconds),
        milliseconds("  key agreement", costs.agree),
        milliseconds("  masks, tags and signature", costs.upload),
        milliseconds("  survivors confirmed", costs.confirm),
        milliseconds("  signatures checked, shares revealed", costs.reveal),
        milliseconds("client, noise draw beside it", costs.noise),
        milliseconds("client, exchange of keys for all sums", costs.client_setup),
        milliseconds(
            "client, one sum and its part of the exchange",
            costs.client() + costs.client_setup / n_sums,
        )
        .flower(flower.map(|flower| 1e3 * flower.client_seconds)),
        milliseconds("server, one sum", costs.server)
            .limit(1e3 * server_limit)
            .goal(goals.server_milliseconds),
        milliseconds("server, exchange of keys for all sums", costs.server_setup),
        milliseconds(
            "server, one sum and its part of the exchange",
            costs.server + costs.server_setup / n_sums,
        )
        .flower(flower.map(|flower| 1e3 * flower.server_seconds)),
        kibibytes("upload", bytes(costs.upload_bytes))
            .limit(packed / 1024.0)
            .goal(goals.upload_kibibytes)
            .flower(flower.map(|flower| flower.upload_bytes / 1024.0)),
        kibibytes(
            "all that a client sends for one sum, with its part of the exchange",
            bytes(costs.sum_bytes) + bytes(costs.setup_bytes) / n_sums,
        )
        .flower(flower.map(|flower| flower.sent_bytes / 1024.0)),
    ]
}

/// Seconds of a client and of the server if they did nothing but agree on keys and make masks.
fn limits(rehearsal: &Rehearsal, primitives: Primitives) -> (f64, f64) {
    let Primitives {
        key_stream,
        agreement,
        ..
    } = primitives;
    let neighbours = f64::from(rehearsal.parameters.neighbours());
    let client = neighbours * (agreement + key_stream) + key_stream;
    let n_clients = f64::from(rehearsal.participation.clients());
    let dropouts = f64::from(rehearsal.n_dropouts);
    let survivors = n_clients - dropouts;
    // Of the neighbours of a client that is gone, so many are expected to have stayed.
    let pairs = dropouts * neighbours * survivors / (n_clients - 1.0);
    let server = survivors * key_stream + pairs * (agreement + key_stream);
    (client, server)
}

#[expect(clippy::cast_precision_loss, reason = "messages are small")]
const fn bytes(count: usize) -> f64 {
    count as f64
}
