use sprifed_privacy::{ApproxDp, Delta, Epsilon, Relation};
use sprifed_recovery::CertifiedProcedure;
use sprifed_simulate::{Reading, WorldRequest, WorldSites, setting_of};

use super::*;

fn planned(records: usize, features: usize) -> (Setting, Plan) {
    let world = WorldRequest {
        records,
        test_records: 0,
        features,
        sparsity: 3,
        support: 3,
        correlation: sprifed_simulate::Correlation::None,
        unexplained: sprifed_simulate::Unexplained::ErrorStdDev(0.1),
        reading: Reading::Clean,
        outcome: sprifed_simulate::WorldOutcome::Linear,
        sites: WorldSites::NONE,
    };
    let epsilon = Epsilon::try_from(5.34).unwrap();
    let budget = ApproxDp::new(epsilon, Delta::try_from(1e-4).unwrap());
    let setting = Setting {
        origin: NoiseOrigin::Trustees,
        ..setting_of(&world, budget, Relation::ZeroOut).unwrap()
    };
    (setting, CertifiedProcedure::ARGMAX.plan(&setting).unwrap())
}

#[test]
fn the_costs_are_those_of_the_circuits_and_grow_with_clients_and_features() {
    let (setting, plan) = planned(200, 1000);
    let of = |setting: &Setting, plan: &Plan, clients| {
        let costs = TrusteeCosts::of(setting, plan, clients, Needs::Choices);
        costs.unwrap().unwrap()
    };
    let few = of(&setting, &plan, 20);
    let many = of(&setting, &plan, 200);
    assert!(many.trustee.gates > few.trustee.gates);
    // One bit for each gate, in whole words.
    let bits = 8 * many.trustee.sends_bytes;
    assert!(
        bits >= many.trustee.gates && bits < 2 * many.trustee.gates,
        "{many:?}"
    );
    assert!(
        many.trustee.rounds >= 60 && many.trustee.rounds < 2000,
        "{many:?}"
    );
    // A client of one record shares 7 bits for each of about a thousand scores, three times.
    assert!(
        (3 * 875..60_000).contains(&many.client_sends_bytes),
        "{many:?}"
    );
    assert!(many.coordinator_receives_bytes == 200 * many.client_sends_bytes);
    // The proof takes few bytes and rounds, and about ten times the computation.
    let proof = many.proof.expect("planned with the proof");
    assert!(proof.gates >= many.trustee.gates, "{proof:?}");
    let steps = u32::try_from(plan.steps.len()).unwrap();
    assert!(proof.rounds > 10 * steps, "{proof:?}");
    assert!(
        proof.sends_bytes > 0 && proof.cpu_seconds > 0.0,
        "{proof:?}"
    );
    let units = vec![1; 200];
    let unproved = TrusteeCosts::of_units(&setting, &plan, &units, Needs::Choices, Gates::Unproved);
    let unproved = unproved.unwrap();
    assert_eq!(unproved.proof, None);
    // Norms of sums are verified only where gates are proved.
    assert!(unproved.trustee.gates < many.trustee.gates);
    assert!(unproved.trustee.sends_bytes < many.trustee.sends_bytes);
    // The log of the gates, and what a proof makes of it.
    let log = proof.gates / u64::from(steps) / 64 * 56;
    assert!(many.trustee.memory_bytes > unproved.trustee.memory_bytes);
    assert!(many.trustee.memory_bytes > log, "{many:?}");
    assert!(unproved.network_seconds < many.network_seconds);
    let (wider, wider_plan) = planned(200, 4000);
    let wide = of(&wider, &wider_plan, 200);
    assert!(wide.trustee.sends_bytes > 2 * many.trustee.sends_bytes);
    assert!(many.trust.contains("any two trustees"));
}

#[test]
fn trustees_need_a_few_more_records_than_a_curator() {
    for (records, features) in [(135, 2500), (235, 10_000)] {
        let (setting, _) = planned(records, features);
        let found = records_against_curator(&setting, Needs::Choices).unwrap();
        assert!((1.05..1.35).contains(&found), "{found}");
    }
}

#[test]
fn other_backends_have_no_trustees() {
    let (setting, plan) = planned(100, 50);
    let setting = Setting {
        origin: NoiseOrigin::Curator,
        ..setting
    };
    let plan = Plan {
        origin: NoiseOrigin::Curator,
        ..plan
    };
    let none = TrusteeCosts::of(&setting, &plan, 10, Needs::Choices).unwrap();
    assert_eq!(none, None);
}
