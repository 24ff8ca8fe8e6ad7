//! `skellam`: relative 1e-8.

use num_traits::ToPrimitive;
use sprifed_privacy::{BoxMove, Skellam};

use crate::discrete_gaussian::partial_renyi;
use crate::vector::{BadVector, Vector};
use crate::verdict::Verdict;

const TOLERANCE: f64 = 1e-8;

pub(crate) fn judge(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let law: Skellam = vector.quantity("variance")?;
    match vector.group.as_str() {
        "renyi" => {
            let shift = vector.count("shift")?;
            bound(
                law,
                BoxMove {
                    dimension: 1,
                    bound: shift,
                },
                vector,
                verdict,
            )?;
            renyi(law, shift, vector, verdict)
        }
        "delta" => {
            let found = law.delta_of_shift(vector.count("shift")?, vector.quantity("eps")?);
            verdict.relative("delta_exact", found, TOLERANCE)
        }
        "pmf" => {
            let shift = verdict.expected("shift")?.to_i64();
            let shift = shift.ok_or_else(|| BadVector::Field("shift".to_owned()))?;
            verdict.relative("pmf0", law.mass(0), TOLERANCE)?;
            verdict.relative("pmf_at_shift", law.mass(shift), TOLERANCE)?;
            verdict.relative("tail_gt_shift", law.tail(shift), TOLERANCE)
        }
        "bound_multi" => {
            let moved = BoxMove {
                dimension: vector.count("d")?,
                bound: vector.count("B")?,
            };
            bound(law, moved, vector, verdict)
        }
        other => Err(BadVector::UnknownGroup(other.to_owned())),
    }
}

fn bound(
    law: Skellam,
    moved: BoxMove,
    vector: &Vector,
    verdict: &mut Verdict<'_>,
) -> Result<(), BadVector> {
    let order = vector.count("alpha")?;
    verdict.relative("akl_bound", law.renyi_bound(moved, order), TOLERANCE)?;
    let gaussian = f64::from(order) * moved.squared_l2_norm() / (2.0 * law.get());
    verdict.relative("gaussian_value", gaussian, TOLERANCE)
}

/// The exact divergence, or, where the reference cut it off at |x| ≤ ⌈14 √v⌉ + 60, the part that
/// it added up; as for `discrete_gaussian`. The published bound must cover the exact one.
fn renyi(
    law: Skellam,
    shift: u32,
    vector: &Vector,
    verdict: &mut Verdict<'_>,
) -> Result<(), BadVector> {
    let order = vector.count("alpha")?;
    let found = law.renyi_of_shift(shift, f64::from(order));
    let published = law.renyi_bound(
        BoxMove {
            dimension: 1,
            bound: shift,
        },
        order,
    );
    verdict.not_above("exact divergence", found, published);
    let expected = verdict.expected("renyi_exact")?;
    if (found - expected).abs() <= TOLERANCE * expected {
        return Ok(());
    }
    verdict.reference_is_at_fault("its divergence leaves out a tail that matters");
    let cut = ((14.0 * law.get().sqrt()).ceil() + 60.0)
        .to_i64()
        .unwrap_or(i64::MAX);
    let masses = law.log_masses(0..=cut);
    let at = |x: i64| {
        let index = usize::try_from(x.unsigned_abs()).unwrap_or(usize::MAX);
        masses.get(index).copied().unwrap_or(f64::NEG_INFINITY)
    };
    let partial = partial_renyi((cut, i64::from(shift)), f64::from(order), at);
    verdict.not_below("renyi_exact", found, expected);
    verdict.relative("renyi_exact", partial, TOLERANCE)
}
