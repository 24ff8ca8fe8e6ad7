//! `study trustee`: a trustee's signing key and TLS key, its first policy, and what it tells the coordinator.
//!
//! The public file has a key for one study, which the identity key signs. The secret of it is kept until a study begins
//! with it, and erased when that study ends.

use std::path::PathBuf;

use clap::Args;
use sprifed::TrusteeIdentityAnswer;
use sprifed_net::request_certificate;
use sprifed_party::{
    CertificateRequest, PublicTrustee, TrusteeFolder, check_party_name, create_private_text,
    first_trustee_policy, is_there, replace_private, seat_name, today,
};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Digest, PartyKey, TrusteeEntry, TrusteeKey};

use super::identity::{make_folder, write_identity};
use crate::entropy::fresh_bits;
use crate::failure::{Explained as _, Failure};
use crate::output::Output;

/// `study trustee`.
#[derive(Args, Debug)]
pub(crate) struct MakeTrustee {
    /// The trustee's name: letters, digits, `-` and `_`.
    name: String,
    /// Where the files go [default: a folder of the trustee's name].
    #[arg(long)]
    out: Option<PathBuf>,
    /// Make a new trustee.json for one more study, with the identity that is there: its study key serves one study.
    #[arg(long, conflicts_with = "simulate")]
    again: bool,
    /// NOT PRIVATE: derive the keys from this seed and the place among the three, for rehearsals.
    #[arg(long, value_name = "SEED", requires = "place")]
    simulate: Option<u64>,
    /// The place among the three trustees of a rehearsal, counted from zero.
    #[arg(long, requires = "simulate", value_parser = clap::value_parser!(u8).range(..3))]
    place: Option<u8>,
}

impl MakeTrustee {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        check_party_name(&self.name)?;
        let folder = self.out.clone();
        let folder = TrusteeFolder::new(folder.unwrap_or_else(|| PathBuf::from(&self.name)));
        let public = if self.again {
            self.offer_again(&folder)?
        } else {
            self.make(&folder)?
        };
        let answer = TrusteeIdentityAnswer {
            folder: folder.path().to_owned(),
            name: public.trustee.name.clone(),
            identity: public.trustee.identity,
        };
        output.answer(&answer, |answer| {
            format!(
                "{}: identity {}\n\
                 send {} to the coordinator, and the identity to the parties and the two other trustees; it serves one \
                 study\n\
                 keep identity.key, tls.key and the folder offers to yourself\n\
                 read and change {}: it says what this trustee agrees to",
                answer.name,
                answer.identity,
                folder.public_trustee().display(),
                folder.policy().display(),
            )
        });
        Ok(())
    }

    /// A new trustee.
    fn make(&self, folder: &TrusteeFolder) -> Result<PublicTrustee, Failure> {
        refuse_existing(folder)?;
        make_folder(folder.path())?;
        let (identity, key) = match self.simulate.zip(self.place) {
            // Places of parties count from the other end.
            Some((seed, place)) => (
                PartyKey::simulated(seed, u32::MAX - u32::from(place)).identity_bits(),
                TrusteeKey::simulated(seed, place),
            ),
            None => (
                fresh_bits()?,
                TrusteeKey::assume_fresh_entropy(&fresh_bits()?),
            ),
        };
        let identity = write_identity(&folder.identity_key(), identity)?;
        let (tls_key, request) = request_certificate(&seat_name(&self.name)).explained()?;
        create_private_text(&folder.tls_key(), &tls_key)?;
        let public = PublicTrustee {
            trustee: self.entry(folder, &identity, &key)?,
            simulated: self.simulate.is_some(),
            certificate_request: CertificateRequest::sign(request, &identity),
        };
        create_private_text(&folder.public_trustee(), &public.to_json())?;
        let expires = today().a_year_later();
        create_private_text(&folder.policy(), &first_trustee_policy(expires))?;
        Ok(public)
    }

    /// A new study key for the trustee that is there.
    fn offer_again(&self, folder: &TrusteeFolder) -> Result<PublicTrustee, Failure> {
        let before = folder.public()?;
        let identity = folder.identity()?;
        if before.trustee.name != self.name || before.trustee.identity != Digest(identity.public())
        {
            return Err(Failure::usage(
                "sprifed::study::identity-exists",
                format!(
                    "{} is the folder of {:?}, but {:?} was named",
                    folder.path().display(),
                    before.trustee.name,
                    self.name
                ),
                "give the name and folder of one trustee; nothing was changed",
            ));
        }
        let key = TrusteeKey::assume_fresh_entropy(&fresh_bits()?);
        let public = PublicTrustee {
            trustee: self.entry(folder, &identity, &key)?,
            ..before
        };
        replace_private(&folder.public_trustee(), public.to_json().as_bytes())?;
        Ok(public)
    }

    /// The entry that publishes `key`, whose secret is kept first, unless it can be repeated.
    fn entry(
        &self,
        folder: &TrusteeFolder,
        identity: &IdentityKey,
        key: &TrusteeKey,
    ) -> Result<TrusteeEntry, Failure> {
        let entry = key.entry(&self.name, identity).ok_or_else(|| {
            let message = "a new key of a trustee has no study key".to_owned();
            Failure::defect("sprifed::study::defect", message, crate::defect::HELP)
        })?;
        if let Some(secret) = key.to_stored() {
            folder.keep_offer(&entry, &secret)?;
        }
        Ok(entry)
    }
}

/// Keys and policies are not overwritten, nor is half an identity added to what is there.
fn refuse_existing(folder: &TrusteeFolder) -> Result<(), Failure> {
    let files = [
        folder.identity_key(),
        folder.tls_key(),
        folder.public_trustee(),
        folder.policy(),
        folder.offers(),
    ];
    let Some(found) = files.iter().find(|path| is_there(path)) else {
        return Ok(());
    };
    let place = folder.path().display();
    let message = if folder.is_trustee() {
        format!("{place} already has a trustee; nothing was changed")
    } else {
        let found = found.file_name().unwrap_or_default().to_string_lossy();
        format!("{place} already has {found}, which a trustee would overwrite; nothing was changed")
    };
    Err(Failure::usage(
        "sprifed::study::identity-exists",
        message,
        "add --again for one more study of this trustee, or make another one in a new folder with --out",
    ))
}
