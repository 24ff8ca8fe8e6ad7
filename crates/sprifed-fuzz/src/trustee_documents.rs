//! Documents of studies with trustees: who a trustee is, and what it allows.

use std::sync::LazyLock;

use sprifed_party::{CertificateRequest, PublicTrustee, parse_trustee_policy};
use sprifed_privacy::{ApproxDp, Epsilon, Gates, NoiseOrigin};
use sprifed_recovery::{CertifiedProcedure, Setting};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Agreed, Agreement, Day, TrusteeEntry, TrusteeKey};

use crate::world::agreed;
use crate::{Way, way};

/// The way of what is no document at all.
const UNREADABLE: Way = 0;

type Seeds = Vec<(&'static str, Vec<u8>)>;

fn identity(place: u8) -> IdentityKey {
    IdentityKey::from_stored(&[60 + place; 32])
}

fn entry(place: u8) -> TrusteeEntry {
    let key = TrusteeKey::simulated(5, place);
    key.entry(&format!("t{place}"), &identity(place)).unwrap()
}

/// The study of [`agreed`] with three trustees.
pub(crate) fn by_trustees() -> &'static Agreed {
    static AGREED: LazyLock<Agreed> = LazyLock::new(|| {
        let masked = agreed().agreement().clone();
        // The clamp of the trustees' noise costs a delta that grows with epsilon.
        let epsilon = Epsilon::try_from(6.0).unwrap();
        let setting = Setting {
            origin: NoiseOrigin::Trustees,
            budget: ApproxDp::new(epsilon, masked.setting.budget.delta()),
            ..masked.setting
        };
        let procedure = CertifiedProcedure::ARGMAX;
        Agreed::new(Agreement {
            procedure,
            procedure_version: procedure.version(),
            plan: procedure.plan(&setting).unwrap(),
            setting,
            trustees: Some([0, 1, 2].map(entry)),
            gates: Some(Gates::Proved),
            ..masked
        })
        .unwrap()
    });
    &AGREED
}

/// What claims to be the policy of a trustee.
pub(crate) fn policy(bytes: &[u8]) -> Way {
    let text = String::from_utf8_lossy(bytes);
    match parse_trustee_policy(&text, "policy") {
        Ok(policy) => {
            let own = entry(0).identity;
            way(&policy.check(by_trustees(), &own, Day::of_unix_time(1_800_000_000)))
        }
        Err(failure) => way(&failure.code()),
    }
}

pub(crate) fn policies() -> Seeds {
    let coordinator = by_trustees().agreement().coordinator;
    let [one, other] = [1, 2].map(|place| entry(place).identity);
    let text = format!(
        "coordinators = [\"{coordinator}\"]\nexpires = \"2999-12-31\"\nmost-steps = 50\nmost-clients = 50\n\
         most-candidates = 5000\nallow-simulated-noise = true\ntrustees = {{ one = \"{one}\", other = \"{other}\" }}\n"
    );
    vec![("permissive", text.into_bytes())]
}

/// What claims to be the public file of a trustee.
pub(crate) fn public(bytes: &[u8]) -> Way {
    let Ok(public) = serde_json::from_slice::<PublicTrustee>(bytes) else {
        return UNREADABLE;
    };
    let written = serde_json::from_str::<PublicTrustee>(&public.to_json());
    assert_eq!(written.unwrap(), public, "what is written is read back");
    let is_ours = public.trustee == entry(0);
    assert!(
        is_ours || public.trustee.identity != entry(0).identity || !public.trustee.is_signed(),
        "a signature for another name or key is taken"
    );
    let request = public.certificate_request();
    way(&(public.trustee.is_signed(), request.is_ok()))
}

pub(crate) fn publics() -> Seeds {
    let public = PublicTrustee {
        trustee: entry(0),
        simulated: false,
        certificate_request: CertificateRequest::sign("a request".to_owned(), &identity(0)),
    };
    vec![("signed", public.to_json().into_bytes())]
}
