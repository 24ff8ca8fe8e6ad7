//! What secure sums need of each party: neighbours, bits, bytes and seconds.

use serde_json::{Value, json};
use sprifed_privacy::{LOG_WRAP_PROBABILITY, NoiseOrigin, Participation, shown_delta};
use sprifed_query::Plan;
use sprifed_recovery::{CertifiedProcedure, Setting};
use sprifed_secure_sum::{Parameters, SumShape};
use sprifed_study::{Agreed, Agreement, PartyKey, split_evenly};

use crate::bench::secure_sum::{Costs, Rehearsal};
use crate::failure::Failure;

/// The part of a plan that is about masks; `Null` for a curator.
pub(super) fn answer(
    procedure: CertifiedProcedure,
    setting: &Setting,
    plan: &Plan,
) -> Result<Value, Failure> {
    let NoiseOrigin::Shares(participation) = plan.origin else {
        return Ok(Value::Null);
    };
    // Everything public follows from the agreement, as in a real study; only its keys are not real.
    let key = PartyKey::simulated(0, 0);
    let units = split_evenly(setting.n_records, participation.clients());
    let agreed = Agreed::new(Agreement::among_members(
        &key,
        procedure,
        *setting,
        plan.clone(),
        units,
    ))?;
    let study = agreed.study();
    let shapes: Vec<SumShape> = (0..study.n_sums())
        .filter_map(|sum| study.sum(sum))
        .collect();
    let bytes: usize = shapes.iter().map(|shape| shape.packed_len()).sum();
    let parameters = study.parameters();
    let n_clients = f64::from(participation.clients());
    let (costs, trial) = measure(participation, parameters, &shapes)?;
    let seconds = seconds(&costs, &shapes, participation, trial);
    let setup_bytes = costs.setup_bytes / trial.clients() as usize;
    let sum_bytes: usize = shapes
        .iter()
        .map(|shape| message_bytes(&costs, *shape))
        .sum();
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 bytes")]
    let received = n_clients * (setup_bytes + sum_bytes) as f64;
    Ok(json!({
        "clients": participation.clients(), "quorum": participation.quorum(),
        "colluders": participation.colluders(), "honest_shares": participation.honest(),
        "neighbours": parameters.neighbours(), "threshold": parameters.threshold(),
        "confirmations": parameters.confirmations(),
        "failures": failures(plan.origin, parameters, participation),
        "bits": shapes.iter().map(|shape| shape.bits()).collect::<Vec<u32>>(),
        "masked_bytes_per_client": bytes,
        "client": { "sends_bytes": setup_bytes + sum_bytes, "seconds": seconds.0 },
        "coordinator": { "receives_bytes": received, "seconds": seconds.1 },
        "seconds_are": format!("CPU time, from a trial sum of {} clients on this machine", trial.clients()),
    }))
}

/// How likely the protocol fails: what is a part of delta, and what is not because it reveals nothing.
fn failures(origin: NoiseOrigin, parameters: Parameters, participation: Participation) -> Value {
    let unopened = parameters.unopened_probability(participation.clients());
    json!({
        "privacy": {
            "in_the_study": origin.protocol_failure(), "is_in_delta": true,
            "means": "more than the sums is revealed",
        },
        "availability": {
            "for_each_sum": unopened, "is_in_delta": false,
            "means": "a sum of enough clients can not be opened and must be repeated",
        },
        "accuracy": {
            "in_the_study": LOG_WRAP_PROBABILITY.exp(), "is_in_delta": false,
            "means": "a sum wraps around its modulus and is wrong",
        },
    })
}

/// Times the largest sum with the real number of neighbours and as few clients as that allows.
fn measure(
    participation: Participation,
    parameters: Parameters,
    shapes: &[SumShape],
) -> Result<(Costs, Participation), Failure> {
    let failed = |error: &dyn core::fmt::Display| {
        Failure::outcome(
            "sprifed::plan::trial-sum",
            format!("the trial sum failed: {error}"),
            "report this; nothing was spent",
        )
    };
    let neighbours = parameters.neighbours();
    let clients = participation.clients().min(neighbours + 2);
    let trial = Participation::new(clients, clients, 1).map_err(|error| failed(&error))?;
    let largest = shapes.iter().max_by_key(|shape| shape.packed_len());
    let threshold = parameters.threshold();
    let rehearsal = Rehearsal {
        participation: trial,
        parameters: Parameters::assume_sufficient(trial, neighbours, threshold)
            .map_err(|error| failed(&error))?,
        n_dropouts: 0,
        n_sums: u32::try_from(shapes.len()).unwrap_or(u32::MAX),
        coordinates: largest.map_or(1, |shape| shape.coordinates()),
        bits: largest.map_or(1, |shape| shape.bits()),
    };
    let costs = rehearsal.run().map_err(|error| failed(&error))?;
    Ok((costs, trial))
}

/// Seconds of one client and of the coordinator for the whole study.
fn seconds(
    costs: &Costs,
    shapes: &[SumShape],
    participation: Participation,
    trial: Participation,
) -> (f64, f64) {
    let largest = shapes.iter().map(|shape| shape.packed_len()).max();
    #[expect(clippy::cast_precision_loss, reason = "sizes far below 2^53")]
    let share = |shape: &SumShape| shape.packed_len() as f64 / largest.unwrap_or(1) as f64;
    let scale = f64::from(participation.clients()) / f64::from(trial.clients());
    let client: f64 = shapes
        .iter()
        .map(|shape| {
            // Signatures of the survivors' majority are checked by every client.
            costs.agree
                + share(shape) * (costs.upload + costs.noise)
                + costs.confirm
                + costs.reveal * scale
        })
        .sum();
    let coordinator: f64 = shapes.iter().map(|shape| costs.server * share(shape)).sum();
    (
        costs.client_setup + client,
        (costs.server_setup + coordinator) * scale,
    )
}

/// What a client sends for a sum of this shape: its vector, and what goes with it.
fn message_bytes(costs: &Costs, shape: SumShape) -> usize {
    let others = costs.sum_bytes.saturating_sub(costs.upload_bytes);
    shape.packed_len() + others + 1024
}

/// The same in words.
pub(super) fn to_text(answer: &Value) -> String {
    if answer.is_null() {
        return String::new();
    }
    let number = |pointer: &str| {
        answer
            .pointer(pointer)
            .and_then(Value::as_f64)
            .unwrap_or(f64::NAN)
    };
    let bits: Vec<u64> = answer["bits"]
        .as_array()
        .map(|list| list.iter().filter_map(Value::as_u64).collect())
        .unwrap_or_default();
    let (least, most) = (bits.iter().min(), bits.iter().max());
    let unopened = match number("/failures/availability/for_each_sum") {
        0.0 => "a sum of enough clients can always be opened and never must be repeated".to_owned(),
        probability => format!(
            "a sum of enough clients can not be opened and must be repeated with a probability of at most {} for each sum",
            shown_delta(probability)
        ),
    };
    format!(
        "\nsecure sums of {} clients: at least {} stay, at most {} collude, so {} honest shares make the noise;\n\
         {} neighbours, {} shares open a secret, {} confirmations; integers of {} to {} bits\n\
         privacy fails with a probability of at most {} in the study, which is contained in delta\n\
         availability: {}; nothing is revealed then, and it is no part of delta\n\
         accuracy: a sum wraps around and is wrong with a probability of at most {} in the study; it reveals nothing more\n\
         each client sends {:.0} KiB in all and computes {:.2} s; the coordinator receives {:.1} MiB and computes \
         {:.1} s\n({})\n",
        answer["clients"],
        answer["quorum"],
        answer["colluders"],
        answer["honest_shares"],
        answer["neighbours"],
        answer["threshold"],
        answer["confirmations"],
        least.copied().unwrap_or(0),
        most.copied().unwrap_or(0),
        shown_delta(number("/failures/privacy/in_the_study")),
        unopened,
        shown_delta(number("/failures/accuracy/in_the_study")),
        number("/client/sends_bytes") / 1024.0,
        number("/client/seconds"),
        number("/coordinator/receives_bytes") / 1_048_576.0,
        number("/coordinator/seconds"),
        answer["seconds_are"].as_str().unwrap_or_default(),
    )
}
