//! How the chosen features were selected, and what that makes of their estimates.

use core::ops::Range;

use super::{Conclusion, places_of};
use crate::joint::Solved;
use crate::portable::larger;
use crate::selection::argmax_pick::PreparedPick;
use crate::selection::conditioned::PooledEstimate;
use crate::selection::normal::cumulative;
use crate::selection::{
    ArgmaxSelection, Estimate, IndicatorScore, Interval, Pick, PooledSelection, Rival,
    feature_variance, hull, log_rivals, wald,
};

/// How the chosen features were selected.
#[derive(Clone, Debug)]
pub(crate) enum Evidence {
    /// By private choices: one for each judged feature or group, in their order.
    Picks(Vec<Picked>),
    /// By pooled sums that each party saw.
    Pool(PoolEvidence),
    /// By records that are not among those of the last answer, so that nothing is to be allowed for.
    OtherRecords,
}

/// How one feature was picked, alone or with its group.
#[derive(Clone, Debug)]
pub(crate) struct Picked {
    /// The pick of this feature. Its variance is filled in from the last answer.
    pub(crate) pick: Pick,
    /// The place of the feature that the choice named.
    pub(crate) place: usize,
    /// The places of all features that came with it, itself contained.
    pub(crate) places: Range<usize>,
}

/// What pooled sums say of the features of the last question.
#[derive(Clone, Debug)]
pub(crate) struct PoolEvidence {
    /// The pooled estimate of each in units of scaled features, and its variance, by their places.
    pub(crate) pooled: Vec<(f64, f64)>,
    /// The largest ratio of a pooled estimate to its standard deviation among all other candidates.
    pub(crate) largest_left_out: f64,
}

/// The chosen features, judged.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    /// One for each judged feature or group.
    pub(super) p_values: Vec<f64>,
    /// Whether the second moments of the chosen features are too noisy for any of them to be kept.
    pub(super) is_refused: bool,
    prepared: Vec<PreparedPick>,
    /// Of pooled sums: the largest estimate that a feature of the last question which was not chosen
    /// would have if it alone were added to those.
    largest_estimate_left_out: f64,
}

impl Judged {
    /// Judges the features by the solve with all of them.
    pub(super) fn new(conclusion: &Conclusion<'_>, all: &Solved) -> Self {
        let mut judged = Self {
            p_values: Vec::new(),
            is_refused: false,
            prepared: Vec::new(),
            largest_estimate_left_out: 0.0,
        };
        match &conclusion.evidence {
            Evidence::Picks(picks) => {
                let prepared = picks.iter().map(|picked| {
                    let index = index_of(all, picked.place);
                    of_feature(conclusion, all, index, picked.pick).prepared()
                });
                judged.prepared = prepared.collect();
            }
            Evidence::Pool(_) => {
                judged.is_refused = all.repaired > 0 || conclusion.judged.is_empty();
                judged.largest_estimate_left_out = largest_left_out(conclusion);
            }
            Evidence::OtherRecords => {}
        }
        judged.p_values = (0..conclusion.judged.len())
            .map(|index| judged.p_value_with(conclusion, all, index, 1.0))
            .collect();
        judged
    }

    /// The p-value of a judged feature or group, with the part of its variance that is due to the records
    /// multiplied by `inflation`.
    pub(super) fn p_value_with(
        &self,
        conclusion: &Conclusion<'_>,
        all: &Solved,
        index: usize,
        inflation: f64,
    ) -> f64 {
        let unit = &conclusion.judged[index];
        if unit.len() > 1 {
            return group_p_value(conclusion, all, index, inflation);
        }
        let place = index_of(all, unit.start);
        let estimate = all.estimate(place, conclusion.scale, inflation);
        match &conclusion.evidence {
            Evidence::Picks(_) => {
                let pick = self.prepared.get(index);
                pick.map_or(1.0, |pick| pick.p_value(&estimate))
            }
            Evidence::Pool(pool) => {
                let pooled = self.pooled_estimate(pool, unit.start);
                PooledSelection::new(&pooled, &estimate).p_value(&estimate)
            }
            Evidence::OtherRecords => two_sided(&estimate),
        }
    }

    /// The interval of the feature at `index` of the kept solve.
    pub(super) fn interval(
        &self,
        conclusion: &Conclusion<'_>,
        solved: &Solved,
        index: usize,
        estimate: &Estimate,
        miss: f64,
    ) -> Interval {
        match &conclusion.evidence {
            Evidence::Picks(picks) => {
                // The score of another column of the group named none of this one.
                let Some(order) = order_of(picks, solved, index) else {
                    return wald(estimate, miss);
                };
                let pick_of = |index: usize, order: usize| {
                    of_feature(conclusion, solved, index, picks[order].pick)
                };
                let first = conclusion.answer.always();
                let rivals: Vec<Rival> = (first..solved.places.len())
                    .filter_map(|other| {
                        let rank = order_of(picks, solved, other)?;
                        Some(Rival {
                            transfer: pick_of(other, rank).transfer(),
                            coefficient: conclusion.scale * solved.coefficients[other],
                            is_picked_later: rank > order,
                        })
                    })
                    .collect();
                let pick = pick_of(index, order);
                let weight = log_rivals(&pick, &rivals, conclusion.setting.sparsity);
                hull(
                    &ArgmaxSelection::new(&pick, estimate, weight),
                    estimate,
                    miss,
                )
            }
            Evidence::Pool(pool) => {
                let pooled = self.pooled_estimate(pool, solved.places[index]);
                hull(&PooledSelection::new(&pooled, estimate), estimate, miss)
            }
            Evidence::OtherRecords => wald(estimate, miss),
        }
    }

    fn pooled_estimate(&self, pool: &PoolEvidence, place: usize) -> PooledEstimate {
        let (value, variance) = pool
            .pooled
            .get(place)
            .copied()
            .unwrap_or((0.0, f64::INFINITY));
        PooledEstimate {
            value,
            variance,
            largest_ratio_left_out: pool.largest_left_out,
            largest_estimate_left_out: self.largest_estimate_left_out,
        }
    }
}

/// The order in which the feature at `index` of a solve was picked; none if a choice named another one of its group.
fn order_of(picks: &[Picked], solved: &Solved, index: usize) -> Option<usize> {
    let place = solved.places.get(index)?;
    picks.iter().position(|picked| picked.place == *place)
}

/// Where a solve has the feature at `place`.
fn index_of(solved: &Solved, place: usize) -> usize {
    let index = solved.places.iter().position(|known| *known == place);
    index.unwrap_or(place)
}

/// The p-value of the group that is judged at `index`, as a whole.
fn group_p_value(conclusion: &Conclusion<'_>, all: &Solved, index: usize, inflation: f64) -> f64 {
    let unit = &conclusion.judged[index];
    let indices: Vec<usize> = unit.clone().map(|place| index_of(all, place)).collect();
    let estimate = all.group_estimate(&indices, conclusion.scale, inflation);
    let named = match &conclusion.evidence {
        Evidence::Picks(picks) => picks.get(index),
        // No pull: these records selected nothing. Pools know no groups.
        Evidence::OtherRecords | Evidence::Pool(_) => None,
    };
    let Some(named) = named else {
        return estimate.map_or(1.0, |estimate| estimate.p_value());
    };
    let column = named.place - unit.start;
    let pick = of_feature(conclusion, all, indices[column], named.pick);
    let score = IndicatorScore::of(&pick, conclusion.opening.feature_scale);
    estimate.map_or(1.0, |estimate| {
        estimate.p_value_of_pick(column, &pick, score)
    })
}

/// The pick of the feature at `index` of a solve, with the variance that the solve found for it.
fn of_feature(conclusion: &Conclusion<'_>, solved: &Solved, index: usize, pick: Pick) -> Pick {
    let (weights, records) = (conclusion.answer.weights(), pick.n_records);
    Pick {
        feature_variance: feature_variance(solved.squares[index], weights, records),
        ..pick
    }
}

/// The ordinary p-value of an estimate that nothing selected.
pub(crate) fn two_sided(estimate: &Estimate) -> f64 {
    2.0 * cumulative(-estimate.ratio())
}

fn largest_left_out(conclusion: &Conclusion<'_>) -> f64 {
    let answer = &conclusion.answer;
    let judged = places_of(&conclusion.judged);
    let is_left_out = |place: &usize| !judged.contains(place);
    let left_out = (answer.always()..conclusion.asked.len()).filter(is_left_out);
    let estimates = left_out.map(|place| {
        let mut with = judged.clone();
        with.push(place);
        let coefficient = answer.solve(&with).coefficients.last().copied();
        conclusion.scale * coefficient.unwrap_or(0.0).abs()
    });
    estimates.fold(0.0, |most, estimate| larger(estimate, most))
}
