//! `study identity`: a party's signing key, its first policy, and what it tells the coordinator.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use sprifed_fit::{PublicParty, check_party_name};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Digest, PartyKey};

use super::{read, unusable};
use crate::entropy::fresh_bits;
use crate::failure::Failure;
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
    /// NOT PRIVATE: derive the key from this seed and the place in the roster, for rehearsals.
    #[arg(long, value_name = "SEED", requires = "place")]
    simulate: Option<u64>,
    /// The place in the roster of a rehearsal, counted from zero.
    #[arg(long, requires = "simulate")]
    place: Option<u32>,
}

/// Reads the file that a party sent.
pub(super) fn read_public_party(path: &Path) -> Result<PublicParty, Failure> {
    serde_json::from_slice(&read(path)?)
        .map_err(|error| unusable(path, &error, "the party.json of `study identity`"))
}

/// The identity key in a party's or coordinator's folder.
pub(super) fn read_identity(path: &Path) -> Result<IdentityKey, Failure> {
    let text = String::from_utf8(read(path)?).unwrap_or_default();
    let key = Digest::try_from(text.trim().to_owned());
    let key = key.map_err(|_| unusable(path, &"no key", "an identity key of 64 digits"))?;
    Ok(IdentityKey::from_stored(&key.0))
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
        let folder = self
            .out
            .clone()
            .unwrap_or_else(|| PathBuf::from(&self.name));
        make_folder(&folder)?;
        let identity = match (self.simulate, self.place) {
            (Some(seed), Some(place)) => {
                let key = PartyKey::simulated(seed, 0).of_member(place);
                write_identity(&folder.join("identity.key"), key.identity_bits())?
            }
            _ => write_identity(&folder.join("identity.key"), fresh_bits()?)?,
        };
        let public = PublicParty {
            name: self.name.clone(),
            identity: Digest(identity.public()),
            records: self.records,
            simulated: self.simulate.is_some(),
        };
        let text = serde_json::to_string_pretty(&public).unwrap_or_default();
        create_private(&folder.join("party.json"), &format!("{text}\n"))?;
        create_private(&folder.join("policy.toml"), POLICY)?;
        let answer = json!({
            "folder": folder, "name": public.name, "identity": public.identity,
            "records": public.records,
        });
        output.answer(&answer, |_| {
            format!(
                "{}: identity {}\n\
                 send {} to the coordinator; keep identity.key to yourself\n\
                 read and change {}: it says what this party agrees to",
                public.name,
                public.identity,
                folder.join("party.json").display(),
                folder.join("policy.toml").display(),
            )
        });
        Ok(())
    }
}

/// A folder that only its owner can enter, unless it is there already.
pub(super) fn make_folder(folder: &Path) -> Result<(), Failure> {
    sprifed_net::create_private_folder(folder).map_err(|error| {
        Failure::environment(
            "sprifed::file::unwritable",
            error.to_string(),
            "choose another folder",
        )
    })
}

/// A policy that refuses everything until its owner has thought about it.
const POLICY: &str = r#"# What this party agrees to. `sprifed join` checks a study against it before it opens a record,
# and refuses with the reason. Nothing that a coordinator says later can widen it.

# Identity keys of coordinators this party deals with; `sprifed join` shows the key it would need.
coordinators = []

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

# Studies with simulated noise protect nobody. Never with records that need protection.
allow-simulated-noise = false
"#;
