//! Times without privacy: martingale residuals of records without features, and the maximum of the partial likelihood of a
//! few features, to be compared with.

use sprifed_query::{FollowUp, LinearModel, Records};

use crate::odds::reference::solved;

/// Newton's method ends after so many steps.
const MOST_STEPS: usize = 50;

/// A step is at most so long.
const LONGEST_STEP: f64 = 5.0;

/// The records in the order of their times, the latest first, and those of one time together.
fn latest_first(responses: &[FollowUp]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..responses.len()).collect();
    order.sort_by(|left, right| responses[*right].time.total_cmp(&responses[*left].time));
    order
}

/// δ − Λ(t) for each response, with the estimate of Nelson and Aalen. NOT PRIVATE.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "records are stored in f32, and there are far fewer than 2^53"
)]
pub(crate) fn martingale_residuals(responses: &[f32]) -> Vec<f32> {
    let times: Vec<FollowUp> = responses.iter().map(|one| FollowUp::of(*one)).collect();
    let order = latest_first(&times);
    // What each group of one time adds to the hazard, the latest first.
    let mut at_risk = 0.0;
    let groups =
        order.chunk_by(|left, right| times[*left].time.total_cmp(&times[*right].time).is_eq());
    let groups: Vec<(&[usize], f64)> = groups
        .map(|group| {
            at_risk += group.len() as f64;
            let events = group.iter().filter(|record| times[**record].is_event);
            (group, events.count() as f64 / at_risk)
        })
        .collect();
    let mut residuals = vec![0.0; responses.len()];
    let mut hazard = 0.0;
    for (group, added) in groups.into_iter().rev() {
        hazard += added;
        for record in group {
            residuals[*record] = (f64::from(u8::from(times[*record].is_event)) - hazard) as f32;
        }
    }
    residuals
}

/// Cox's model of these features with the largest partial likelihood, by Breslow's rule for equal times. NOT PRIVATE.
pub(crate) fn most_likely_hazards(records: &Records<'_>, features: &[u32]) -> LinearModel {
    let size = features.len();
    let rows: Vec<Vec<f64>> = records
        .iter()
        .map(|record| {
            let values = features.iter();
            values
                .map(|feature| f64::from(record.features[*feature as usize]))
                .collect()
        })
        .collect();
    let times: Vec<FollowUp> = records
        .iter()
        .map(|record| FollowUp::of(record.response))
        .collect();
    let order = latest_first(&times);
    let mut model = vec![0.0; size];
    for _ in 0..MOST_STEPS {
        let mut equations = vec![vec![0.0; size + 1]; size];
        let mut risks = 0.0;
        let mut first = vec![0.0; size];
        let mut second = vec![vec![0.0; size]; size];
        let groups =
            order.chunk_by(|left, right| times[*left].time.total_cmp(&times[*right].time).is_eq());
        for group in groups {
            for record in group {
                let row = &rows[*record];
                let predictor: f64 = row.iter().zip(&model).map(|(x, value)| x * value).sum();
                let risk = predictor.exp();
                risks += risk;
                for (place, left) in row.iter().enumerate() {
                    first[place] += risk * left;
                    for (other, right) in row.iter().enumerate() {
                        second[place][other] += risk * left * right;
                    }
                }
            }
            for record in group.iter().filter(|record| times[**record].is_event) {
                let row = &rows[*record];
                for place in 0..size {
                    let mean = first[place] / risks;
                    equations[place][size] += row[place] - mean;
                    for other in 0..size {
                        equations[place][other] +=
                            second[place][other] / risks - mean * first[other] / risks;
                    }
                }
            }
        }
        let Some(step) = solved(equations) else {
            break;
        };
        let length = step.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        let share = (LONGEST_STEP / length).min(1.0);
        for (value, change) in model.iter_mut().zip(&step) {
            *value += share * change;
        }
        if length < 1e-9 {
            break;
        }
    }
    LinearModel {
        intercept: 0.0,
        terms: features.iter().copied().zip(model).collect(),
    }
}
