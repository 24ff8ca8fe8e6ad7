//! The sites of generated worlds.

use rand_core::SeedableRng;

use super::*;
use crate::world::{Unexplained, World, WorldRequest};

const TEN: WorldSites = WorldSites {
    count: 10,
    r2: 0.3,
    are_fitted: true,
};

#[test]
fn ten_sites_have_from_a_quarter_to_a_thirtieth_of_the_records() {
    let sizes = TEN.sizes(600);
    assert_eq!(sizes.iter().sum::<u32>(), 600);
    assert!(sizes.is_sorted_by(|one, next| one >= next));
    assert!((130..=150).contains(&sizes[0]), "{sizes:?}");
    assert!((15..=20).contains(&sizes[9]), "{sizes:?}");
    assert!(WorldSites::NONE.sizes(600).is_empty());
}

#[test]
fn the_means_have_the_stated_variance_and_no_common_mean() {
    let mut stream = Xoshiro256PlusPlus::seed_from_u64(4);
    let means = TEN.means(600, 2.0, &mut stream);
    let sizes = TEN.sizes(600);
    let mean = |of: &dyn Fn(f64) -> f64| {
        let pairs = sizes.iter().zip(&means);
        pairs
            .map(|(size, mean)| f64::from(*size) * of(*mean))
            .sum::<f64>()
            / 600.0
    };
    assert!(mean(&|mean| mean).abs() < 1e-12);
    assert!((mean(&|mean| mean * mean) - 4.0).abs() < 1e-9);
}

#[test]
fn a_record_says_its_site_behind_its_features_and_the_shares_of_variance_are_those_stated() {
    let request = WorldRequest {
        unexplained: Unexplained::PopulationR2(0.2),
        sites: TEN,
        ..WorldRequest::clean(4000, 30, 5)
    };
    let world = World::generate(request, 7);
    let rows: Vec<&[f32]> = world.features().chunks(40).collect();
    assert_eq!(rows.len(), 4000);
    let mut sums = [(0.0, 0u32); 10];
    for (row, response) in rows.iter().zip(world.responses()) {
        let indicators: Vec<u32> = row[30..].iter().map(|one| one.to_bits()).collect();
        let is_here = |indicator: &u32| *indicator == 1.0_f32.to_bits();
        let is_elsewhere = |indicator: &u32| *indicator == 0.0_f32.to_bits();
        let site = indicators.iter().position(is_here).unwrap();
        let others = indicators.iter().filter(|one| is_elsewhere(one));
        assert_eq!(others.count(), 9);
        sums[site].0 += f64::from(*response);
        sums[site].1 += 1;
    }
    let counts: Vec<u32> = sums.iter().map(|(_, count)| *count).collect();
    assert_eq!(counts, TEN.sizes(4000));
    let responses = world
        .responses()
        .iter()
        .map(|response| f64::from(*response));
    let total = responses.map(|response| response * response).sum::<f64>() / 4000.0;
    let between = sums
        .iter()
        .map(|(sum, count)| sum * sum / f64::from(*count));
    let share = between.sum::<f64>() / 4000.0 / total;
    assert!((0.25..0.35).contains(&share), "{share}");
    // The same features and errors as without sites.
    let without = World::generate(
        WorldRequest {
            sites: WorldSites::NONE,
            ..request
        },
        7,
    );
    assert_eq!(&without.features()[..30], &rows[0][..30]);
}
