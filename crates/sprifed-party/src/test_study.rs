//! A small study for tests.

use std::sync::Arc;

use sprifed_noise::Provenance;
use sprifed_privacy::{
    ApproxDp, Delta, Epsilon, NoiseOrigin, Participation, PrivacyUnit, Relation,
};
use sprifed_recovery::{CertifiedProcedure, Intercept, Setting};
use sprifed_schema::DataTerms;
use sprifed_study::{Agreed, Agreement, Digest, FORMAT, Party, PartyKey};

/// From which the identity of the coordinator is derived.
pub(crate) const COORDINATOR_SEED: u64 = 9;

/// From which the identities and the noise of the parties are derived.
pub(crate) const SEED: u64 = 1;

const N_PARTIES: u32 = 5;

/// How many records each party may have.
pub(crate) const RECORDS: u32 = 20;

/// The columns of the tables, without the response `y`.
pub(crate) const FEATURES: [&str; 6] = ["x0", "x1", "x2", "x3", "x4", "x5"];

const SCHEMA: &str = "[response]\nname = \"y\"\nlower = -6\nupper = 6\n[features]\nlower = -2\nupper = 2\ncenter = 0\n\
                      scale = 1\n";

/// The key of the party at `place`.
pub(crate) fn key_of_party(place: u32) -> PartyKey {
    PartyKey::simulated(SEED, 0).of_member(place)
}

/// What the parties agree on.
pub(crate) fn agreement(noise: Provenance) -> Agreement {
    let participation = Participation::new(N_PARTIES, 4, 1).expect("legal");
    let epsilon = Epsilon::try_from(50.0).expect("legal");
    let setting = Setting {
        n_records: N_PARTIES * RECORDS,
        n_features: 6,
        sparsity: 1,
        budget: ApproxDp::new(epsilon, Delta::try_from(1e-6).expect("legal")),
        relation: Relation::ZeroOut,
        unit: PrivacyUnit::Record,
        origin: NoiseOrigin::Shares(participation),
        response_bound: 6.0,
        feature_bound: 2.0,
        feature_scale: Some(1.0),
        intercept: Intercept::Absent,
    };
    let party = |place: u32| Party {
        name: format!("party-{place}"),
        identity: Digest(key_of_party(place).identity().public()),
        units: RECORDS,
    };
    let procedure = CertifiedProcedure::SIEVE;
    let features = FEATURES.map(str::to_owned).to_vec();
    let terms = DataTerms::new(SCHEMA.to_owned(), features);
    let coordinator = PartyKey::simulated(COORDINATOR_SEED, 0).identity();
    Agreement {
        format: FORMAT,
        title: "a test".to_owned(),
        purpose: "tests".to_owned(),
        nonce: Digest([3; 32]),
        coordinator: Digest(coordinator.public()),
        procedure,
        procedure_version: procedure.version(),
        plan: procedure.plan(&setting).expect("a plan"),
        setting,
        parties: (0..N_PARTIES).map(party).collect(),
        repeats: 0,
        noise,
        data: Some(terms.expect("terms")),
    }
}

/// The same, agreed on.
pub(crate) fn agreed(noise: Provenance) -> Arc<Agreed> {
    Arc::new(Agreed::new(agreement(noise)).expect("legal"))
}

/// A table of `n_records` records.
pub(crate) fn table(n_records: u32) -> String {
    let header = format!("{},y\n", FEATURES.join(","));
    let rows = (0..n_records).map(|row| format!("0,0.5,-0.5,{},1,-1,0.25\n", row % 2));
    header + &rows.collect::<String>()
}
