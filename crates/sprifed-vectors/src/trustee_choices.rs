//! `trustee_choices`: the index that other secure computation chose, exactly.

use serde_json::Value;
use sprifed_crypto::identity::ClientId;
use sprifed_trustees::{ChoiceStep, Link, Output, Step, clear};

use crate::vector::{BadVector, Vector};
use crate::verdict::Verdict;

pub(crate) fn judge(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    if vector.group != "choice" {
        return Err(BadVector::UnknownGroup(vector.group.clone()));
    }
    let (contributions, noise) = (rows(vector, "contributions")?, rows(vector, "noise")?);
    let (bits, noise_bits) = (vector.count("client_bits")?, vector.count("noise_bits")?);
    let index = chosen(&contributions, &noise, bits, noise_bits);
    let index = index.ok_or_else(|| BadVector::Field("contributions".to_owned()))?;
    verdict.same("index", index)
}

/// The index that the circuit chooses; `None` for numbers that make no step.
fn chosen(
    contributions: &[Vec<i64>],
    noise: &[Vec<i64>],
    bits: u32,
    noise_bits: u32,
) -> Option<u32> {
    let candidates = u32::try_from(noise.first()?.len()).ok()?;
    let widths = vec![bits; contributions.len()];
    let choice = ChoiceStep::new(candidates, widths, noise_bits, Link::default());
    let step = Step::Choice(choice.ok()?);
    let clients: Vec<_> = (0..).map(ClientId).take(contributions.len()).collect();
    let mut planes = Vec::new();
    for (client, numbers) in clients.iter().zip(contributions) {
        planes.extend(step.contribution(*client, numbers).ok()?);
    }
    for numbers in noise {
        planes.extend(step.noise_planes(numbers).ok()?);
    }
    match step.output(&clear(&step.circuit(&clients).ok()?, planes))? {
        Output::Index(index) => Some(index),
        Output::Sums(_) => None,
    }
}

fn rows(vector: &Vector, key: &str) -> Result<Vec<Vec<i64>>, BadVector> {
    let bad = || BadVector::Field(key.to_owned());
    let rows = vector
        .inputs
        .get(key)
        .and_then(Value::as_array)
        .ok_or_else(bad)?;
    let row =
        |row: &Value| -> Option<Vec<i64>> { row.as_array()?.iter().map(Value::as_i64).collect() };
    rows.iter().map(|one| row(one).ok_or_else(bad)).collect()
}
