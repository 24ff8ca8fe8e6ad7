//! `study identity`: a party's signing key and TLS key, its first policy, and what it tells the coordinator.

use std::path::{Path, PathBuf};

use clap::Args;
use sprifed_net::request_certificate;
use sprifed_party::{
    CertificateRequest, IdentityAnswer, PartyFolder, PublicParty, check_party_name,
    create_private_text, first_policy, is_there, key_of, today,
};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Digest, PartyKey};

use super::read;
use crate::entropy::fresh_bits;
use crate::failure::{Explained as _, Failure};
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
    create_private_text(path, &format!("{}\n", Digest(bits)))?;
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
        create_private_text(&folder.tls_key(), &tls_key)?;
        let public = PublicParty {
            name: self.name.clone(),
            identity: Digest(identity.public()),
            records: self.records,
            simulated: self.simulate.is_some(),
            certificate_request: Some(CertificateRequest::sign(request, &identity)),
        };
        let text = serde_json::to_string_pretty(&public).unwrap_or_default();
        create_private_text(&folder.public_party(), &format!("{text}\n"))?;
        let expires = today().a_year_later();
        create_private_text(&folder.policy(), &first_policy(expires))?;
        if let Some(officer) = &officer {
            create_private_text(&folder.officer(), officer)?;
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
