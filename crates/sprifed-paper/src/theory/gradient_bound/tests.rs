//! B_C by hand, and why it is no sensitivity.

use sprifed_privacy::FeatureBound;
use sprifed_privacy::paper::all_ones_example;

use super::super::Situation;
use super::super::recovery::tests::situation;
use super::gradient_bound;

#[test]
fn the_bound_is_the_formula_of_the_lemma() {
    let found = gradient_bound(&situation());
    let error = 0.001 * (2.0 * (4e6f64).ln()).sqrt();
    let model = (3.0 + 1.05f64.sqrt() * error) / 0.95;
    assert!((found.stated - (1.0 + 2.0 * error + 4.0 * model)).abs() < 1e-12);
    assert!((found.probability - 0.997).abs() < 1e-12);
}

#[test]
fn the_repaired_bound_is_larger() {
    let found = gradient_bound(&situation());
    assert!(found.repaired > found.stated);
}

#[test]
fn the_record_of_all_ones_breaks_the_stated_step_but_not_the_repaired_one() {
    let bound = FeatureBound::try_from(1.0).unwrap();
    for sparsity in [4, 9, 25] {
        let example = all_ones_example(sparsity, bound);
        let clean = Situation {
            sparsity,
            isometry_constant: 0.0,
            residual_std_dev: 0.0,
            largest_coefficient: 1.0,
            ..situation()
        };
        let found = gradient_bound(&clean);
        // The leading 1 represents the noise of the model; the example has none.
        assert!(example.change > found.stated - 1.0);
        assert!(example.change <= found.repaired - 1.0 + 1e-12);
    }
}

#[test]
fn a_coarse_design_does_not_meet_the_lemmas_condition() {
    let coarse = Situation {
        isometry_constant: 0.6,
        ..situation()
    };
    assert!(gradient_bound(&situation()).requirements[0].holds);
    assert!(!gradient_bound(&coarse).requirements[0].holds);
}
