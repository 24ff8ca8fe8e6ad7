//! The estimates give the figures of `docs/benchmarks.md` again.

use super::*;

#[test]
fn the_published_figures_are_found_again() {
    let participation = Participation::new(100, 80, 5).unwrap();
    let parameters = Parameters::choose(participation).unwrap();
    assert_eq!(parameters.neighbours(), 50);
    let shape = SumShape::new(10_000, 16).unwrap();
    let (none, _) = seconds(participation, parameters, &[]);
    let of_sums = |count: usize| seconds(participation, parameters, &vec![shape; count]);
    // 4.0 ms for a sum, 0.14 ms for its noise; 6.0 ms for the exchange of keys of 12 sums.
    let one = (of_sums(12).0 - none) / 12.0;
    assert!((one - 4.2e-3).abs() < 0.3e-3, "{one}");
    assert!(
        (none + 12.0 * 50.0 * 1.7e-6 - 6.0e-3).abs() < 0.3e-3,
        "{none}"
    );
    // The coordinator: 14 ms for the exchange of keys.
    let exchange = of_sums(0).1;
    assert!((exchange - 14e-3).abs() < 2e-3, "{exchange}");
}
