//! Documents that others wrote: what a study is, what it was, and what a party allows.

use std::sync::Arc;

use serde_json::Value;
use sprifed::{Document, study_files, study_model};
use sprifed_party::{Invitation, Reach, parse_policy};
use sprifed_privacy::Cost;
use sprifed_secure_sum::ClientId;
use sprifed_study::{
    Agreed, Agreement, Applicant, Day, Derivation, Forbidden, PartyReceipt, Policy, SignedReceipt,
    StudyParty,
};

use crate::trustee_documents::by_trustees;
use crate::world::{Records, SOFTWARE, Watch, agreed, coordinator_key, honest, key, signed};
use crate::{Way, way};

/// The way of what is no document at all: changing it further leads nowhere.
const UNREADABLE: Way = 0;

type Seeds = Vec<(&'static str, Vec<u8>)>;

/// What a coordinator may propose: read, checked, and joined by a party whose policy had allowed it.
pub(crate) fn agreement(bytes: &[u8]) -> Way {
    let read = Agreed::read(bytes);
    let Ok(agreement) = serde_json::from_slice::<Agreement>(bytes) else {
        assert!(read.is_err());
        return UNREADABLE;
    };
    let checked = Agreed::new(agreement.clone());
    if let Ok(read) = &read {
        assert_eq!(
            read.agreement().to_document(),
            bytes,
            "one document for each digest"
        );
        assert!(checked.is_ok());
    }
    // A liar's plan fits its setting.
    let mut fitting = agreement;
    let planned = fitting
        .procedure
        .plan(&fitting.setting)
        .map(|plan| fitting.plan = plan);
    let fitting = planned.is_ok().then(|| Agreed::new(fitting));
    let words = [Some(checked), fitting].map(|agreed| match agreed {
        Some(Ok(agreed)) => joined(&Arc::new(agreed)),
        Some(Err(error)) => format!("{error:?}"),
        None => "unplannable".to_owned(),
    });
    way(&words[0]) ^ way(&words[1]).rotate_left(1)
}

/// Everything that follows from an agreement before a record is touched.
fn joined(agreed: &Arc<Agreed>) -> String {
    let n_sums = agreed.n_sums();
    for sum in 0..n_sums {
        let (step, attempt) = agreed.step_of(sum).unwrap();
        assert_eq!(agreed.sum_number(step, attempt), Some(sum));
        let _ = agreed.line(step).unwrap();
    }
    assert_eq!(agreed.step_of(n_sums), None);
    assert!(agreed.largest_message() > 0);
    let ceiling = agreed.ceiling();
    assert!(ceiling.epsilon().get() > 0.0 && ceiling.delta().get() < 1.0);
    let policies = policies();
    let policy = parse_policy(&String::from_utf8_lossy(&policies[0].1), "policy").unwrap();
    let allowed = checked(&policy, agreed);
    let derived = Derivation::begin(Arc::clone(agreed)).map(|derivation| derivation.question());
    let own = key().of_party(0);
    let records = Records {
        first: 0,
        watch: Arc::new(Watch::default()),
    };
    let identity = own.identity();
    let party = StudyParty::join(
        Arc::clone(agreed),
        ClientId(0),
        identity,
        own,
        records,
        &[],
        SOFTWARE,
    );
    let party = party.map(|mut party| while party.poll().is_some() {});
    format!("{party:?} {derived:?} {allowed:?}")
}

pub(crate) fn agreements() -> Seeds {
    vec![
        ("sieve", agreed().agreement().to_document()),
        ("trustees", by_trustees().agreement().to_document()),
    ]
}

/// What a coordinator may send: as it is, and signed by it.
pub(crate) fn invitation(bytes: &[u8]) -> Way {
    let opened = Invitation::open(bytes, "invitation").map(drop);
    let Ok(invitation) = serde_json::from_slice::<Invitation>(bytes) else {
        assert!(opened.is_err(), "an unreadable invitation is opened");
        return UNREADABLE;
    };
    let Ok(agreed) = Agreed::new(invitation.agreement.clone()) else {
        assert!(
            opened.is_err(),
            "an invitation to an illegal study is opened"
        );
        return way(&opened.map_err(|failure| failure.to_string()));
    };
    let own = Invitation::sign(&agreed, &coordinator_key(), invitation.reach.clone());
    let signed = Invitation::open(own.to_json().as_bytes(), "invitation").map(drop);
    let names_us = agreed.agreement().coordinator.0 == coordinator_key().public();
    if signed.is_ok() {
        assert!(names_us, "a signature of another coordinator is taken");
    }
    way(&opened.map_err(|failure| failure.to_string()))
        ^ way(&signed.map_err(|failure| failure.to_string())).rotate_left(1)
}

pub(crate) fn invitations() -> Seeds {
    let reach = Reach {
        address: "localhost:8443".to_owned(),
        authority: "a certificate".to_owned(),
    };
    let invitation = Invitation::sign(agreed(), &coordinator_key(), reach);
    vec![("signed", invitation.to_json().into_bytes())]
}

/// What claims to be a receipt: as it is, and signed by its coordinator whatever it says.
pub(crate) fn receipt(bytes: &[u8]) -> Way {
    let text = String::from_utf8_lossy(bytes);
    let parsed = Document::parse(&text, "receipt");
    let said = parsed.as_ref().map_err(ToString::to_string);
    let said = said.and_then(|document| {
        let proof = document.verify("receipt");
        proof.map(drop).map_err(|error| error.to_string())
    });
    let study = serde_json::from_slice::<SignedReceipt>(bytes).ok();
    let study = study.or_else(|| Some(serde_json::from_slice::<PartyReceipt>(bytes).ok()?.study));
    let Some(study) = study else {
        return UNREADABLE;
    };
    // What is shown of a receipt is made before or after it is believed.
    let _ = (study_files(&study), study_model(&study.receipt).map(drop));
    let verified = signed(study.receipt.clone()).verify();
    if let Ok(verified) = &verified {
        let (stated, charged) = (verified.guarantee.epsilon, study.receipt.ledger.spent);
        assert!(
            stated >= charged,
            "a receipt states at least what was charged"
        );
    }
    way(&verified.map(|_| said).map_err(|problem| problem.what))
}

pub(crate) fn receipts() -> Seeds {
    let honest = honest();
    vec![
        ("study", honest.receipt.to_json()),
        ("party", honest.party_receipt.to_json()),
    ]
}

/// What claims to be the transcript of a study, beside its true receipt.
pub(crate) fn transcript(bytes: &[u8]) -> Way {
    let text = String::from_utf8_lossy(bytes);
    let document = Document::Study(Box::new(honest().receipt.clone()));
    let verified = document.verify_transcript(&text, "transcript");
    if verified.is_ok() {
        let [own, read] = [&honest().transcript[..], bytes]
            .map(|bytes| serde_json::from_slice::<Value>(bytes).unwrap());
        assert_eq!(own, read, "one transcript for each digest");
    }
    // And as a coordinator may lead a party along it.
    let released = serde_json::from_slice::<Vec<sprifed_study::Released>>(bytes);
    if released.is_err() {
        return UNREADABLE;
    }
    let mut derivation = Derivation::begin(Arc::clone(agreed())).unwrap();
    let mut words = Vec::new();
    for released in released.into_iter().flatten() {
        let before = derivation.transcript().head();
        let checked = derivation.check(&released);
        let taken = derivation.take(released);
        assert_eq!(checked, taken, "what is checked is what is taken");
        let is_same = derivation.transcript().head() == before;
        assert_eq!(is_same, taken.is_err(), "a refused sum changes nothing");
        words.push((
            taken.map_err(|error| error.what),
            derivation.question().is_some(),
        ));
    }
    let begin = way(&verified.map_err(|error| error.to_string()));
    words
        .iter()
        .fold(begin, |way, word| way.rotate_left(5) ^ crate::way(word))
}

pub(crate) fn transcripts() -> Seeds {
    vec![("honest", honest().transcript.clone())]
}

/// What a policy says of a study, to a party whose table has one feature.
fn checked(policy: &Policy, agreed: &Agreed) -> Result<(), Forbidden> {
    let columns = ["y".to_owned(), "x0".to_owned()];
    let applicant = Applicant {
        own: agreed.agreement().parties[0].identity,
        columns: &columns,
        today: Day::of_unix_time(1_800_000_000),
    };
    policy.check(agreed, &applicant, Cost::NOTHING)
}

/// What claims to be a policy.
pub(crate) fn policy(bytes: &[u8]) -> Way {
    let text = String::from_utf8_lossy(bytes);
    let parsed = parse_policy(&text, "policy");
    match parsed {
        Ok(policy) => way(&checked(&policy, agreed())),
        Err(failure) => way(&failure.code()),
    }
}

pub(crate) fn policies() -> Seeds {
    let agreement = agreed().agreement();
    let (coordinator, purpose) = (agreement.coordinator, &agreement.purpose);
    let [one, other] = [1, 2].map(|party: usize| agreement.parties[party].identity);
    let text = format!(
        "coordinators = [\"{coordinator}\"]\npurposes = [\"{purpose}\"]\ncolumns = [\"y\", \"x*\"]\nexpires = \"2999-12-31\"\n\
         largest-epsilon-per-study = 200.0\nlargest-epsilon-in-total = 200.0\n\
         largest-delta = 1e-5\nlargest-delta-in-total = 1e-5\nsmallest-quorum = 3\nlargest-colluder-share = 0.0\n\
         procedures = [\"sieve\", \"grad\"]\nunits = [\"record\"]\nneighbours = [\"zero-out\"]\ntrustees = []\nlargest-trustee-coalition = 1\n\
         allow-simulated-noise = true\nparties = {{ one = \"{one}\", other = \"{other}\" }}\n"
    );
    vec![("permissive", text.into_bytes())]
}
