use sprifed_noise::Provenance;
use sprifed_privacy::{Gates, NoiseOrigin};
use sprifed_recovery::{CertifiedProcedure, Setting};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Agreed, Agreement, Digest, TrusteeEntry};
use sprifed_trustees::{PairingKeys, PairingSeed};

use super::*;
use crate::error::PartyError;
use crate::folder::StudyFolder;
use crate::identity::CertificateRequest;
use crate::private_files::create_private;
use crate::test_study::{TestFolder, agreement};

fn identity(place: u8) -> IdentityKey {
    IdentityKey::from_stored(&[40 + place; 32])
}

fn seed(place: u8, study: u8) -> [u8; 32] {
    [10 * place + study; 32]
}

fn entry(place: u8, study: u8) -> TrusteeEntry {
    let identity = identity(place);
    let keys = PairingKeys::new(
        PairingSeed::from_stored(seed(place, study)),
        identity.public(),
    );
    TrusteeEntry::new(&format!("t{place}"), &identity, keys.public().clone())
}

/// A study by trustees whose keys are those for `study`.
fn agreed(study: u8) -> Agreed {
    let masked = agreement(Provenance::Simulated);
    let setting = Setting {
        origin: NoiseOrigin::Trustees,
        ..masked.setting
    };
    let procedure = CertifiedProcedure::ARGMAX;
    Agreed::new(Agreement {
        procedure,
        procedure_version: procedure.version(),
        plan: procedure.plan(&setting).expect("a plan"),
        setting,
        trustees: Some([0, 1, 2].map(|place| entry(place, study))),
        gates: Some(Gates::Proved),
        ..masked
    })
    .expect("legal")
}

/// The folder of the first trustee, which published its key for study 1.
fn trustee(home: &TestFolder) -> TrusteeFolder {
    let folder = TrusteeFolder::new(home.path());
    let coordinator = agreement(Provenance::Simulated).coordinator;
    let [one, two] = [1, 2].map(|place| entry(place, 1).identity);
    let policy = format!(
        "coordinators = [\"{coordinator}\"]\nexpires = 2999-12-31\nmost-steps = 20\nmost-clients = 5\n\
         most-candidates = 100\nallow-simulated-noise = true\n[trustees]\nt1 = \"{one}\"\nt2 = \"{two}\"\n"
    );
    let public = PublicTrustee {
        trustee: entry(0, 1),
        simulated: false,
        certificate_request: CertificateRequest::sign("a request".to_owned(), &identity(0)),
    };
    let key = format!("{}\n", Digest([40; 32]));
    for (path, text) in [
        (folder.identity_key(), key),
        (folder.policy(), policy),
        (folder.public_trustee(), public.to_json()),
    ] {
        create_private(&path, text.as_bytes()).expect("written");
    }
    let secret = "the secret of study 1";
    folder.keep_offer(&entry(0, 1), secret).expect("kept");
    folder
}

#[test]
fn a_study_key_serves_one_study() {
    let home = TestFolder::new("study-key");
    let folder = trustee(&home);
    let first = StudyFolder::new(home.path().join("study-1"));
    let second = StudyFolder::new(home.path().join("study-2"));
    first.begin(b"an invitation").expect("begun");
    second.begin(b"an invitation").expect("begun");
    folder.take_study_key(&first, &entry(0, 1)).expect("there");
    let kept = std::fs::read_to_string(first.trustee_key()).expect("kept");
    assert_eq!(kept, "the secret of study 1");
    // Again for the same study, but for no other.
    folder.take_study_key(&first, &entry(0, 1)).expect("there");
    let refused = folder.take_study_key(&second, &entry(0, 1));
    let refused = refused.expect_err("used");
    assert!(
        matches!(refused, PartyError::OtherStudyKey { .. }),
        "{refused}"
    );
    assert!(!folder.has_study_key(&second, &entry(0, 1)));
}

#[test]
fn everything_that_stands_against_serving_is_said() {
    let home = TestFolder::new("trustee-admission");
    let folder = trustee(&home);
    let own = identity(0);
    let study = agreed(1);
    let look = |study: &Agreed, identity: &IdentityKey| {
        let kept = StudyFolder::in_home(home.path(), study.digest());
        let application = TrusteeApplication {
            trustee: &folder,
            agreed: study,
            identity,
            folder: &kept,
        };
        application.look().map(|admission| {
            let obstacles = admission.obstacles.iter();
            obstacles.map(PartyError::code).collect::<Vec<_>>()
        })
    };
    assert_eq!(look(&study, &own).expect("invited"), Vec::<&str>::new());
    let stranger = look(&study, &identity(7)).expect_err("a stranger");
    assert!(matches!(stranger, PartyError::NotInvited { .. }));
    // A study with a key that it never published.
    let other = look(&agreed(2), &own).expect("invited");
    assert_eq!(other, ["sprifed::study::study-key"]);
    // A study that was begun and whose state is gone.
    let kept = StudyFolder::in_home(home.path(), study.digest());
    kept.begin(b"an invitation").expect("begun");
    create_private(&kept.begun(), b"begun\n").expect("marked");
    let lost = look(&study, &own).expect("invited");
    assert_eq!(lost, ["sprifed::study::state-lost"]);
}

#[test]
fn a_request_for_a_certificate_of_another_identity_is_refused() {
    let mut public = PublicTrustee {
        trustee: entry(0, 1),
        simulated: false,
        certificate_request: CertificateRequest::sign("a request".to_owned(), &identity(0)),
    };
    assert_eq!(public.certificate_request().expect("its own"), "a request");
    public.certificate_request = CertificateRequest::sign("a request".to_owned(), &identity(1));
    public.certificate_request().expect_err("of another");
}

#[test]
fn a_party_and_a_trustee_of_one_name_have_folders_of_their_own() {
    let mut agreement = agreed(1).agreement().clone();
    agreement.parties.truncate(1);
    agreement.parties[0].name = "t0".to_owned();
    let names = seat_names(&agreement);
    assert_eq!(names, ["t0", "trustee-t0", "trustee-t1", "trustee-t2"]);
}
