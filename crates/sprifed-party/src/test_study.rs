//! A small study for tests.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use sprifed_noise::Provenance;
use sprifed_privacy::{
    ApproxDp, Delta, Epsilon, NoiseOrigin, Participation, PrivacyUnit, Relation,
};
use sprifed_recovery::{
    CertifiedProcedure, ColumnScales, Groups, InferenceMethod, Intercept, Keep, Outcome, Setting,
    Sites,
};
use sprifed_schema::DataTerms;
use sprifed_study::{Agreed, Agreement, Digest, FORMAT, Party, PartyKey};

use crate::admission::Application;
use crate::error::PartyError;
use crate::folder::{PartyFolder, StudyFolder};
use crate::identity::PublicParty;
use crate::invitation::{Invitation, Reach};
use crate::ledger::LedgerPlace;

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

/// The same where each party has an intercept of its own.
pub(crate) fn with_site_effects(mut agreement: Agreement) -> Agreement {
    let units: Vec<u32> = agreement.parties.iter().map(|party| party.units).collect();
    agreement.setting.sites = Sites::new(&units).expect("few sites");
    agreement.setting.intercept = Intercept::Estimated;
    let schema = format!("{SCHEMA}[record]\nsite_effects = true\n");
    let features = FEATURES.map(str::to_owned).to_vec();
    agreement.data = Some(DataTerms::new(schema, features).expect("terms"));
    agreement.plan = agreement
        .procedure
        .plan(&agreement.setting)
        .expect("a plan");
    agreement
}

/// The key of the party at `place`.
pub(crate) fn key_of_party(place: u32) -> PartyKey {
    PartyKey::simulated(SEED, 0).of_party(place)
}

/// What the parties agree on.
pub(crate) fn agreement(noise: Provenance) -> Agreement {
    let participation = Participation::new(N_PARTIES, 4, 1).expect("legal");
    let epsilon = Epsilon::try_from(50.0).expect("legal");
    let setting = Setting {
        n_records: N_PARTIES * RECORDS,
        n_features: 6,
        sparsity: 1,
        choice: Keep::Exactly,
        inference: InferenceMethod::Selective,
        always: 0,
        groups: Groups::NONE,
        sites: Sites::NONE,
        column_scales: ColumnScales::NONE,
        outcome: Outcome::Linear,
        budget: ApproxDp::new(epsilon, Delta::try_from(1e-6).expect("legal")),
        relation: Relation::ZeroOut,
        unit: PrivacyUnit::Record,
        origin: NoiseOrigin::Shares(participation),
        response_bound: 6.0,
        feature_bound: 2.0,
        feature_scale: Some(1.0),
        intercept: Intercept::Absent,
        robust: false,
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
        trustees: None,
        gates: None,
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

/// A folder of one test, which is removed with it.
#[derive(Debug)]
pub(crate) struct TestFolder(PathBuf);

impl TestFolder {
    pub(crate) fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../target/sprifed-party")
            .join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A party of the study with everything it needs, in a folder of its own.
#[derive(Debug)]
pub(crate) struct TestParty {
    pub(crate) agreed: Arc<Agreed>,
    pub(crate) place: u32,
    pub(crate) party: PartyFolder,
    pub(crate) folder: StudyFolder,
    pub(crate) data: PathBuf,
    pub(crate) ledger: LedgerPlace,
    pub(crate) home: TestFolder,
}

impl TestParty {
    /// The party at `place`, with a policy that allows the study and a table of its own.
    pub(crate) fn new(name: &str, place: u32, agreed: &Arc<Agreed>) -> Self {
        let home = TestFolder::new(&format!("{name}-{place}"));
        let party = PartyFolder::new(home.path().join("party"));
        std::fs::create_dir_all(party.path()).expect("a folder");
        let key = key_of_party(place);
        let own = &agreed.agreement().parties[place as usize];
        let public = PublicParty {
            name: own.name.clone(),
            identity: own.identity,
            records: RECORDS,
            simulated: agreed.agreement().noise == Provenance::Simulated,
            certificate_request: None,
        };
        let public = serde_json::to_string(&public).expect("written");
        let data = home.path().join("own.csv");
        for (path, content) in [
            (
                party.identity_key(),
                Digest(key.identity_bits()).to_string(),
            ),
            (party.public_party(), public),
            (party.policy(), policy(agreed, place)),
            (data.clone(), table(RECORDS)),
        ] {
            std::fs::write(path, content).expect("written");
        }
        Self {
            folder: StudyFolder::in_home(party.path(), agreed.digest()),
            ledger: party.ledger(None).expect("a key"),
            agreed: Arc::clone(agreed),
            place,
            party,
            data,
            home,
        }
    }

    /// What happens with its application; `state` is the file of its state.
    pub(crate) fn with_application<T>(
        &self,
        state: &Path,
        run: impl FnOnce(Application<'_>) -> T,
    ) -> T {
        let identity = self.party.identity().expect("a key");
        run(Application {
            party: &self.party,
            agreed: &self.agreed,
            identity: &identity,
            folder: &self.folder,
            state,
            data: &self.data,
            phenotypes: None,
            ledger: &self.ledger,
            other_ledgers: &[],
            policy: None,
            marks_again: false,
        })
    }

    /// The invitation, as the coordinator signs it.
    pub(crate) fn invitation(&self) -> Vec<u8> {
        let coordinator = PartyKey::simulated(COORDINATOR_SEED, 0).identity();
        let invitation = Invitation::sign(&self.agreed, &coordinator, Reach::default());
        invitation.to_json().into_bytes()
    }
}

/// A policy that allows the study to the party at `place`.
fn policy(agreed: &Agreed, place: u32) -> String {
    let agreement = agreed.agreement();
    let others = (0..).zip(&agreement.parties);
    let others = others.filter(|(other, _)| *other != place);
    let parties: String = others
        .map(|(_, party)| format!("{} = \"{}\"\n", party.name, party.identity))
        .collect();
    format!(
        "coordinators = [\"{}\"]\npurposes = [\"tests\"]\ncolumns = [\"x*\", \"y\"]\nexpires = \"2999-12-31\"\n\
         largest-epsilon-per-study = 100.0\nlargest-epsilon-in-total = 200.0\nlargest-delta = 1e-5\n\
         largest-delta-in-total = 1e-5\nsmallest-quorum = 3\nlargest-colluder-share = 0.0\n\
         procedures = [\"sieve\"]\nunits = [\"record\"]\nneighbours = [\"zero-out\"]\ntrustees = []\nlargest-trustee-coalition = 1\n\
         allow-simulated-noise = true\n[parties]\n{parties}",
        agreement.coordinator
    )
}

/// Bytes that no other call returns; as good as fresh ones for a test.
pub(crate) fn entropy() -> Result<[u8; 32], PartyError> {
    static CALLS: AtomicU8 = AtomicU8::new(0);
    Ok([CALLS.fetch_add(1, Ordering::Relaxed); 32])
}
