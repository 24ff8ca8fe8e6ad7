//! The formulas of clipping, against numerical integrals over a normal variable.

use super::*;

/// E f(z) for a standard normal z, by the midpoint rule.
fn expectation(f: impl Fn(f64) -> f64) -> f64 {
    let step = 1e-3;
    let at = |index: i32| {
        let z = (f64::from(index) + 0.5) * step;
        f(z) * (-z * z / 2.0).exp() / (2.0 * PI).sqrt() * step
    };
    (-10_000..10_000).map(at).sum()
}

#[test]
fn the_kept_signal_is_the_correlation_with_the_clipped_variable() {
    for clip in CLIPS {
        let expected = expectation(|z| z * z.clamp(-clip, clip));
        assert!((kept_signal(clip) - expected).abs() < 1e-6, "{clip}");
    }
}

#[test]
fn the_clipped_variance_is_in_units_of_the_clip() {
    for clip in CLIPS {
        let expected = expectation(|z| (z / clip).clamp(-1.0, 1.0).powi(2));
        assert!((clipped_variance(clip) - expected).abs() < 1e-6, "{clip}");
    }
}

#[test]
fn more_noise_asks_for_a_tighter_clip() {
    let clips: Vec<f64> = [0.0, 1e2, 1e3, 1e4, 1e6]
        .map(|noise| best_clip(noise, 1e3))
        .to_vec();
    assert!(
        clips.is_sorted_by(|before, after| before >= after),
        "{clips:?}"
    );
    assert!(
        (clips[0] - 3.0).abs() < 1e-9,
        "without noise nothing is clipped: {clips:?}"
    );
    assert!(
        (clips[4] - 0.2).abs() < 1e-9,
        "in much noise the clip is the tightest: {clips:?}"
    );
}

#[test]
fn a_number_that_makes_no_sense_still_gives_a_clip() {
    for noise in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(
            CLIPS
                .iter()
                .any(|clip| (clip - best_clip(noise, 100.0)).abs() < 1e-12)
        );
    }
}
