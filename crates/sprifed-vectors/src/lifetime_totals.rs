//! `lifetime_totals`.

use serde_json::Value;
use sprifed_privacy::{Cost, CostKind, Epsilon, PrivacyUnit, Relation, SpentDelta};

use crate::vector::{BadVector, Vector, number};
use crate::verdict::Verdict;

/// Never below, and above by at most a relative 1e-12 or the smallest double.
pub(crate) fn judge(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let found = match vector.group.as_str() {
        "composition" => {
            let costs = listed(vector, |cost| match cost {
                [epsilon, delta] => cost_of(epsilon, delta),
                _ => None,
            })?;
            costs.into_iter().fold(Cost::NOTHING, Cost::and)
        }
        "group_privacy" => {
            let one = Cost {
                epsilon: vector.quantity("eps")?,
                delta: vector.quantity("delta")?,
            };
            let changes = u8::try_from(vector.count("changes")?).ok();
            let changes = changes.and_then(|changes| changes.try_into().ok());
            one.over_changes(changes.ok_or_else(|| BadVector::Field("changes".to_owned()))?)
        }
        "total" => {
            let wanted = kind_of(vector.text("wanted")?);
            let wanted = wanted.ok_or_else(|| BadVector::Field("wanted".to_owned()))?;
            wanted.total(listed(vector, |cost| match cost {
                [kind, epsilon, delta] => {
                    Some((kind_of(kind.as_str()?)?, cost_of(epsilon, delta)?))
                }
                _ => None,
            })?)
        }
        unknown => return Err(BadVector::UnknownGroup(unknown.to_owned())),
    };
    for (key, found) in [("eps", found.epsilon.get()), ("delta", found.delta.get())] {
        verdict.upper_bound(key, found, 1e-12)?;
    }
    Ok(())
}

/// What the list `costs` of a vector holds.
fn listed<T>(vector: &Vector, read: impl Fn(&[Value]) -> Option<T>) -> Result<Vec<T>, BadVector> {
    let costs = vector.inputs.get("costs").and_then(Value::as_array);
    let read = costs.and_then(|costs| {
        let each = costs.iter().map(|cost| read(cost.as_array()?));
        each.collect()
    });
    read.ok_or_else(|| BadVector::Field("costs".to_owned()))
}

fn cost_of(epsilon: &Value, delta: &Value) -> Option<Cost> {
    let epsilon = Epsilon::try_from(number(Some(epsilon))?).ok()?;
    let delta = SpentDelta::try_from(number(Some(delta))?).ok()?;
    Some(Cost { epsilon, delta })
}

/// The kind that is written as `unit/relation`.
fn kind_of(text: &str) -> Option<CostKind> {
    let (unit, neighbours) = text.split_once('/')?;
    let units = [PrivacyUnit::Record, PrivacyUnit::Client];
    let relations = [Relation::ZeroOut, Relation::ReplaceOne];
    Some(CostKind {
        unit: units.into_iter().find(|known| known.words() == unit)?,
        neighbours: relations
            .into_iter()
            .find(|known| known.words() == neighbours)?,
    })
}
