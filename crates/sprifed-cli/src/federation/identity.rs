//! `study identity`: a party's signing key and TLS key, its first policy, and what it tells the coordinator.

use std::path::{Path, PathBuf};

use clap::Args;
use sprifed_net::request_certificate;
use sprifed_party::{
    CertificateRequest, IdentityAnswer, PartyFolder, PublicParty, check_party_name, is_there,
    key_of, today,
};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Day, Digest, PartyKey};

use super::read;
use crate::entropy::fresh_bits;
use crate::failure::{Explained as _, Failure};
use crate::files::create_private;
use crate::output::Output;

/// `study identity`.
#[derive(Args, Debug)]
pub(crate) struct MakeIdentity {
    /// The party's name: letters, digits, `-` and `_`.
    name: String,
    /// The most records this party will ever contribute to one study; public.
    #[arg(long)]
    records: u32,
    /// Where the files go [default: a folder of the party's name].
    #[arg(long)]
    out: Option<PathBuf>,
    /// The public key of the party's data-protection officer: only a policy that the officer signed counts then.
    #[arg(long, value_name = "officer.pub")]
    officer: Option<PathBuf>,
    /// NOT PRIVATE: derive the key from this seed and the place in the roster, for rehearsals.
    #[arg(long, value_name = "SEED", requires = "place")]
    simulate: Option<u64>,
    /// The place in the roster of a rehearsal, counted from zero.
    #[arg(long, requires = "simulate")]
    place: Option<u32>,
}

/// Writes a new identity key that only its owner can read.
pub(super) fn write_identity(path: &Path, bits: [u8; 32]) -> Result<IdentityKey, Failure> {
    create_private(path, &format!("{}\n", Digest(bits)))?;
    Ok(IdentityKey::from_stored(&bits))
}

impl MakeIdentity {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        check_party_name(&self.name)?;
        if self.records == 0 {
            return Err(Failure::usage(
                "sprifed::study::no-records",
                "a party of 0 records is given, but at least 1 is required".to_owned(),
                "say how many records the party holds at most",
            ));
        }
        let officer = self.officer.as_deref().map(|path| {
            let key = key_of(&read(path)?, &path.display().to_string())?;
            Ok::<_, Failure>(format!("{key}\n"))
        });
        let officer = officer.transpose()?;
        let folder = self.out.clone();
        let folder = PartyFolder::new(folder.unwrap_or_else(|| PathBuf::from(&self.name)));
        refuse_existing(&folder)?;
        make_folder(folder.path())?;
        let identity = match (self.simulate, self.place) {
            (Some(seed), Some(place)) => {
                let key = PartyKey::simulated(seed, 0).of_party(place);
                write_identity(&folder.identity_key(), key.identity_bits())?
            }
            _ => write_identity(&folder.identity_key(), fresh_bits()?)?,
        };
        let (tls_key, request) = request_certificate(&self.name).explained()?;
        create_private(&folder.tls_key(), &tls_key)?;
        let public = PublicParty {
            name: self.name.clone(),
            identity: Digest(identity.public()),
            records: self.records,
            simulated: self.simulate.is_some(),
            certificate_request: Some(CertificateRequest::sign(request, &identity)),
        };
        let text = serde_json::to_string_pretty(&public).unwrap_or_default();
        create_private(&folder.public_party(), &format!("{text}\n"))?;
        let expires = today().a_year_later();
        create_private(&folder.policy(), &first_policy(expires))?;
        if let Some(officer) = &officer {
            create_private(&folder.officer(), officer)?;
        }
        let answer = IdentityAnswer {
            folder: folder.path().to_owned(),
            name: public.name.clone(),
            identity: public.identity,
            records: public.records,
            officer: officer.as_deref().map(|key| key.trim().to_owned()),
        };
        output.answer(&answer, |_| {
            format!(
                "{}: identity {}\n\
                 send {} to the coordinator, and the identity to the other parties; keep identity.key and \
                 tls.key to yourself\n\
                 read and change {}: it says what this party agrees to{}",
                public.name,
                public.identity,
                folder.public_party().display(),
                folder.policy().display(),
                if officer.is_some() {
                    ", once its data-protection officer has signed it with `sprifed study sign-policy`"
                } else {
                    ""
                },
            )
        });
        Ok(())
    }
}

/// Keys and policies are not overwritten, nor is half an identity added to what is there.
fn refuse_existing(folder: &PartyFolder) -> Result<(), Failure> {
    let files = [
        folder.identity_key(),
        folder.tls_key(),
        folder.public_party(),
        folder.policy(),
        folder.officer(),
    ];
    let Some(found) = files.iter().find(|path| is_there(path)) else {
        return Ok(());
    };
    let message = if *found == folder.identity_key() {
        let folder = folder.path().display();
        format!("{folder} already has an identity; nothing was changed")
    } else {
        format!(
            "{} already has a file {}, which an identity would overwrite; nothing was changed",
            folder.path().display(),
            found.file_name().unwrap_or_default().to_string_lossy()
        )
    };
    Err(Failure::usage(
        "sprifed::study::identity-exists",
        message,
        "use the identity that is there, or make another one in a new folder with --out",
    ))
}

/// A folder that only its owner can enter, unless it is there already.
pub(super) fn make_folder(folder: &Path) -> Result<(), Failure> {
    sprifed_party::create_private_folder(folder).map_err(|error| {
        Failure::environment(
            "sprifed::file::unwritable",
            error.to_string(),
            "choose another folder",
        )
    })
}

/// A policy that refuses everything until its owner has thought about it.
fn first_policy(expires: Day) -> String {
    FIRST_POLICY.replace("EXPIRES", &expires.to_string())
}

const FIRST_POLICY: &str = r#"# What this party agrees to. `sprifed join` checks a study against it before it opens a record,
# and refuses with the reasons. Nothing that a coordinator says later can widen it.
# `sprifed join --check` says what a study is about, and everything in it that this policy does not allow.

# Identity keys of coordinators this party deals with. Compare them on the telephone.
coordinators = []

# What the result of a study may be for, word for word as the study says it.
purposes = []

# Columns that a study may use, the response included. A star stands for any characters: "lab_*".
columns = []

# The last day on which this policy allows anything.
expires = "EXPIRES"

# The most that one study may cost, repetitions of failed sums included.
largest-epsilon-per-study = 3.0

# The most that all studies of this party may cost together; epsilons are added. Each pair of a unit and a
# relation of neighbours (below) has a total of its own, so two allowed pairs may cost twice this.
largest-epsilon-in-total = 10.0

largest-delta = 1e-5

# Deltas are added, too.
largest-delta-in-total = 1e-5

# A sum over fewer parties than this is not opened with this party's help.
smallest-quorum = 3

# The guarantee must hold even if this share of the parties tells others what it knows.
largest-colluder-share = 0.0

# What the coordinator calls its way of finding features. It is a label: what is checked against the agreement
# are the sums, their noise and the budget, which protect the same whatever they are used for.
procedures = ["grad", "sieve"]

# "record" protects each record, "client" each party as a whole.
units = ["record", "client"]

# Which data sets may not be told apart: "zero-out" (a unit's data or zeros in their place) or "replace-one"
# (any other data in their place, which is stronger at the same epsilon).
neighbours = ["zero-out"]

# Studies with simulated noise protect no record. Never with records that need protection.
allow-simulated-noise = false

# Identity keys of the other parties that this party takes part with, under names of your choice. The guarantee
# counts on their noise: a coordinator that invents parties holds it. Compare the keys with the parties themselves,
# not with the coordinator. A study with any other party is refused. Keep this table last.
[parties]
# south = "KEY"
"#;
