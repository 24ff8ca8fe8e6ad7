//! Which p-values are kept so that the expected share of false ones is limited.

/// The places of the p-values that Benjamini and Hochberg's rule keeps at `share`, in order.
///
/// With m p-values, sorted, R is the largest r with p_(r) ≤ share·r/m, and the R smallest are kept.
/// p-values that are equal to the largest kept one are kept too. One that is not a number counts as 1.
///
/// # Guarantee
/// The expected share of false ones among those kept is at most `share` where the p-values are
/// independent or positively dependent [BH95, Thm 1; BY01, Thm 1.2]
/// (docs/proofs/selective_inference.md#5-how-many-are-kept).
#[must_use]
pub fn kept_by_benjamini_hochberg(p_values: &[f64], share: f64) -> Vec<usize> {
    let legal = |p: f64| if p >= 0.0 { p } else { 1.0 };
    let mut sorted: Vec<f64> = p_values.iter().map(|p| legal(*p)).collect();
    sorted.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "a support is small")]
    let allowed = |rank: usize| share * (rank + 1) as f64 / sorted.len() as f64;
    let last = (0..sorted.len())
        .rev()
        .find(|rank| sorted[*rank] <= allowed(*rank));
    let Some(largest) = last.map(|rank| sorted[rank]) else {
        return Vec::new();
    };
    let is_kept = |place: &usize| legal(p_values[*place]) <= largest;
    (0..p_values.len()).filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::kept_by_benjamini_hochberg as kept;

    #[test]
    fn the_example_of_the_paper_keeps_four() {
        // [BH95, Sec. 4.1]: fifteen p-values, q = 0.05.
        let p_values = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0000,
        ];
        assert_eq!(kept(&p_values, 0.05), [0, 1, 2, 3]);
    }

    #[test]
    fn a_p_value_above_its_own_line_is_kept_below_a_later_one_that_passes() {
        assert_eq!(kept(&[0.04, 0.9, 0.045], 0.1), [0, 2]);
        assert_eq!(kept(&[0.06, 0.9, 0.065], 0.1), [0, 2]);
        assert_eq!(kept(&[0.06, 0.9, 0.07], 0.1), [0_usize; 0]);
    }

    #[test]
    fn places_are_those_of_the_input() {
        assert_eq!(kept(&[0.5, 0.001, 0.02, 0.9], 0.1), [1, 2]);
        assert_eq!(kept(&[0.02, 0.02, 0.02], 0.1), [0, 1, 2]);
    }

    #[test]
    fn nothing_is_kept_of_nothing_and_of_what_is_not_a_number() {
        assert_eq!(kept(&[], 0.1), [0_usize; 0]);
        assert_eq!(kept(&[f64::NAN, -1.0, f64::INFINITY], 0.1), [0_usize; 0]);
        assert_eq!(kept(&[f64::NAN, 0.01], 0.1), [1]);
    }

    #[test]
    fn a_smaller_p_value_never_keeps_fewer() {
        let p_values = [0.03, 0.2, 0.01, 0.06, 0.5];
        let before = kept(&p_values, 0.1);
        for place in 0..p_values.len() {
            let mut fewer = p_values;
            fewer[place] /= 3.0;
            let after = kept(&fewer, 0.1);
            assert!(before.iter().all(|place| after.contains(place)), "{place}");
        }
    }
}
