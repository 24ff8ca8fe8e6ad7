//! From a noisy histogram of residual sizes to the scale of the residual.
//!
//! The histogram has one bucket for each power of two, so that one question serves every scale
//! within a factor 2¹³ of the public bound, and a bad model cannot saturate it.

use libm::{erf, exp2};
use sprifed_query::SCALE_BUCKETS;

use crate::portable::{smaller, square};

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// Scales tried in each halving.
const STEPS_PER_HALVING: u32 = 8;

/// Up to this share of the records may be residuals of zero beside a normal residual …
const MOST_ZEROS: f64 = 0.8;

/// … and fewer than this are not told from noise.
const LEAST_ZEROS: f64 = 0.1;

/// The standard deviation of a centred normal residual that fits the noisy `counts` best.
///
/// # Notation
/// Bucket b holds residuals in [largest·2^(−b−1), largest·2^(−b)); the first takes everything
/// above, the last everything below. The fit minimises Σ (count − n·P(bucket))².
///
/// # Why
/// A response that takes one value very often leaves residuals of zero, and the last bucket then
/// holds more than its normal share. What it holds beyond that is left out of the fit.
#[must_use]
pub fn estimate_scale(counts: &[f64], records: f64, largest: f64) -> f64 {
    let tried = (0..STEPS_PER_HALVING * 14)
        .map(|step| largest * exp2(-f64::from(step) / f64::from(STEPS_PER_HALVING)));
    let distance = |scale: f64| -> f64 {
        let expected = bucket_probabilities(scale / largest);
        let zeros = zeros_beside(counts, records, &expected);
        let mut sum = 0.0;
        for (bucket, (count, p)) in counts.iter().zip(expected).enumerate() {
            let beside = if bucket + 1 == SCALE_BUCKETS {
                zeros
            } else {
                0.0
            };
            sum += square(count - beside - (records - zeros) * p);
        }
        sum
    };
    let best = tried.min_by(|left, right| distance(*left).total_cmp(&distance(*right)));
    best.unwrap_or(largest)
}

/// How many residuals of zero there are beside normal ones of these probabilities, by the count of
/// the last bucket.
fn zeros_beside(counts: &[f64], records: f64, expected: &[f64; SCALE_BUCKETS]) -> f64 {
    let last = SCALE_BUCKETS - 1;
    let (Some(count), normal) = (counts.get(last), expected[last]) else {
        return 0.0;
    };
    let excess = count - records * normal;
    if excess > LEAST_ZEROS * records {
        smaller(excess / (1.0 - normal), MOST_ZEROS * records)
    } else {
        0.0
    }
}

/// The root mean square of the features of a typical record: the median of the noisy histogram.
///
/// # Notation
/// Bucket b holds rows between largest·2^(−(b+1)/2) and largest·2^(−b/2).
#[must_use]
pub fn estimate_row_scale(counts: &[f64], largest: f64) -> f64 {
    let total: f64 = counts.iter().sum();
    let mut below = 0.0;
    let mut median = 0.0;
    for (bucket, count) in (0u32..).zip(counts) {
        below += count;
        median = f64::from(bucket);
        if below >= total / 2.0 {
            break;
        }
    }
    largest * exp2(-(median + 0.5) / 2.0)
}

/// The probability of each bucket for a centred normal of this standard deviation, in units of
/// the first bucket's upper end.
fn bucket_probabilities(scale: f64) -> [f64; SCALE_BUCKETS] {
    let below = |edge: f64| erf(edge / scale * core::f64::consts::FRAC_1_SQRT_2);
    core::array::from_fn(|bucket| {
        let halvings = f64::from(u32::try_from(bucket).unwrap_or(0));
        let upper = if bucket == 0 {
            1.0
        } else {
            below(exp2(-halvings))
        };
        let lower = if bucket + 1 == SCALE_BUCKETS {
            0.0
        } else {
            below(exp2(-halvings - 1.0))
        };
        upper - lower
    })
}
