use proptest::prelude::*;

use super::*;
use crate::counted;
use crate::quantity::{Delta, Mu};
use crate::rational::parse_exact;
use crate::totals::{Reading, RunShape};

fn request(algorithm: Algorithm, features: u32, sparsity: u32, shares: (&str, &str)) -> RunRequest {
    RunRequest {
        algorithm,
        features,
        sparsity,
        per_vector: parse_exact(shares.0).unwrap(),
        per_support: parse_exact(shares.1).unwrap(),
        participation: Participation::new(200, 180, 10).unwrap(),
        relation: Relation::ZeroOut,
        records_per_client: 1,
    }
}

fn blocks(plan: &RunPlan) -> Vec<Vec<(&str, u32)>> {
    let of_sum = |sum: &SumPlan| -> Vec<(String, u32)> {
        sum.blocks
            .iter()
            .map(|block| (block.name.clone(), block.coordinates))
            .collect()
    };
    let named = plan.sums.iter().map(of_sum).collect::<Vec<_>>();
    let known = ["gamma0", "beta", "grad", "gammaS", "betaS"];
    let name = |text: &str| known.into_iter().find(|known| *known == text).unwrap();
    let shorten = |sum: &Vec<(String, u32)>| sum.iter().map(|(n, c)| (name(n), *c)).collect();
    named.iter().map(shorten).collect()
}

fn any_request() -> impl Strategy<Value = RunRequest> {
    let algorithm = prop_oneof![Just(Algorithm::Omp), Just(Algorithm::Grad)];
    let relation = prop_oneof![Just(Relation::ZeroOut), Just(Relation::ReplaceOne)];
    let people = (2u32..300, 0u32..30, 0u32..30);
    (
        algorithm,
        relation,
        1u32..8,
        1u32..100,
        1u32..200,
        1u32..200,
        people,
    )
        .prop_map(
            |(algorithm, relation, sparsity, more, per_vector, per_support, people)| {
                let (honest, colluders, spare) = people;
                let quorum = honest + colluders;
                let hundredths = |share: u32| parse_exact(&format!("{share}/100")).unwrap();
                RunRequest {
                    algorithm,
                    features: sparsity + more,
                    sparsity,
                    per_vector: hundredths(per_vector),
                    per_support: hundredths(per_support),
                    participation: Participation::new(quorum + spare, quorum, colluders).unwrap(),
                    relation,
                    records_per_client: 1,
                }
            },
        )
}

#[test]
fn omp_asks_what_it_needs_in_one_sum_more_than_it_chooses_features() {
    let plan = request(Algorithm::Omp, 20, 3, ("0.4", "0.1"))
        .plan()
        .unwrap();
    let expected = vec![
        vec![("gamma0", 20)],
        vec![("beta", 19), ("gammaS", 1), ("betaS", 1)],
        vec![("beta", 18), ("gammaS", 1), ("betaS", 2)],
        vec![("gammaS", 1), ("betaS", 3)],
    ];
    assert_eq!(blocks(&plan), expected);
    assert_eq!(plan.coordinates, 20 + 21 + 21 + 4);
}

#[test]
fn the_gradient_variant_asks_two_sums_for_each_feature() {
    let plan = request(Algorithm::Grad, 20, 2, ("0.4", "0.1"))
        .plan()
        .unwrap();
    let expected = vec![
        vec![("grad", 20)],
        vec![("gammaS", 1), ("betaS", 1)],
        vec![("grad", 19)],
        vec![("gammaS", 1), ("betaS", 2)],
    ];
    assert_eq!(blocks(&plan), expected);
}

#[test]
fn a_sparsity_that_does_not_suit_the_features_is_refused() {
    for (features, sparsity) in [(20, 0), (20, 20), (20, 21), (0, 0), (1, 1)] {
        for algorithm in [Algorithm::Omp, Algorithm::Grad] {
            let error = request(algorithm, features, sparsity, ("0.4", "0.1"))
                .plan()
                .unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains(&format!("the sparsity is {sparsity}, but it must be")),
                "{text}"
            );
            assert!(
                text.contains(&counted(features, "feature", "features")),
                "{text}"
            );
        }
    }
}

#[test]
fn a_share_of_the_budget_that_is_not_positive_is_refused_by_name() {
    for (shares, words) in [
        (("0", "0.1"), "mu_p is 0, but it must be above zero"),
        (("-1/2", "0.1"), "mu_p is -1/2, but it must be above zero"),
        (("0.4", "0"), "mu_s is 0, but it must be above zero"),
    ] {
        let error = request(Algorithm::Omp, 20, 3, shares).plan().unwrap_err();
        assert_eq!(error.to_string(), words);
    }
}

#[test]
fn a_share_beyond_every_grid_or_modulus_is_refused_without_a_panic() {
    for shares in [
        ("1e30", "0.1"),
        ("0.4", "1e19"),
        ("1e-30", "0.1"),
        ("1e18", "1e18"),
    ] {
        assert!(
            request(Algorithm::Omp, 20, 3, shares).plan().is_err(),
            "{shares:?}"
        );
    }
    let mut many_records = request(Algorithm::Omp, 20, 3, ("1e9", "1e9"));
    many_records.records_per_client = u32::MAX;
    assert!(matches!(many_records.plan(), Err(Unplannable::Modulus(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_total_is_that_of_the_theory_up_to_the_price_of_integers(request in any_request()) {
        let plan = request.plan().unwrap();
        let mu = |share: &BigRational| Mu::try_from(crate::rational::nearest_double(share)).unwrap();
        let shape = RunShape {
            algorithm: request.algorithm,
            features: request.features,
            sparsity: request.sparsity,
            per_vector: mu(&request.per_vector),
            per_support: mu(&request.per_support),
        };
        // Replace-one noise is twice as wide, so both relations aim at the zero-out total.
        let most = shape.total(Reading::Needed, Relation::ZeroOut).unwrap().get().powi(2);
        let least = match request.relation {
            Relation::ZeroOut => most,
            // A square moves by B, not 2B: betaS of the l-th row costs (l − 3/4)/s instead of l/s.
            Relation::ReplaceOne => most - 0.75 * shape.per_support.get().powi(2),
        };
        let honest = f64::from(request.participation.honest());
        let found = plan.total.squared_mu();
        // The share is rounded up by at most 1/1024 of at least 25, and 3 of at least 25 h is lost.
        prop_assert!(found <= most / (1.0 - 3.0 / (25.0 * honest)) * (1.0 + 1e-12));
        prop_assert!(found >= least / (1.0 + 1.0 / 25_600.0) * (1.0 - 1e-12));
    }

    #[test]
    fn the_total_is_the_composition_of_the_sums(request in any_request()) {
        let plan = request.plan().unwrap();
        let origin = NoiseOrigin::Shares(request.participation);
        let costs = plan.sums.iter().map(|sum| sum.cost(origin, request.relation).unwrap());
        prop_assert_eq!(&plan.costs, &costs.collect::<Vec<_>>());
        let squared: f64 = plan.costs.iter().map(|cost| cost.squared_mu()).sum();
        prop_assert!((plan.total.squared_mu() / squared - 1.0).abs() < 1e-13);
        prop_assert_eq!(plan.sums.iter().map(SumPlan::coordinates).sum::<u64>(), plan.coordinates);
    }

    #[test]
    fn every_sum_fits_the_modulus(request in any_request()) {
        let plan = request.plan().unwrap();
        for block in plan.sums.iter().flat_map(|sum| &sum.blocks) {
            let size = SumSize {
                largest_sum: u128::from(request.participation.clients())
                    * u128::from(block.bounds.coordinate_bound()),
                shares: request.participation.clients(),
                share_variance: block.share_variance.to_f64(),
                coordinates: plan.coordinates,
                log_wrap_probability: LOG_WRAP_PROBABILITY,
            };
            prop_assert!(size.plan().unwrap().least <= plan.modulus.least);
        }
        prop_assert!(plan.modulus.least <= 1 << plan.modulus.bits);
    }

    #[test]
    fn a_smaller_share_of_the_budget_never_costs_more(request in any_request()) {
        let delta = Delta::try_from(1e-6).unwrap();
        let epsilon = |request: &RunRequest| request.plan().unwrap().total.to_approx_dp(delta).epsilon();
        let half = |share: &BigRational| share / BigRational::from(BigInt::from(2));
        let before = epsilon(&request);
        let thriftier = [
            RunRequest { per_vector: half(&request.per_vector), ..request.clone() },
            RunRequest { per_support: half(&request.per_support), ..request.clone() },
        ];
        for request in &thriftier {
            prop_assert!(epsilon(request) <= before);
        }
    }
}
