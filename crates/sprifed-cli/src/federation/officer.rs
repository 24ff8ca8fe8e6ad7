//! `study officer` and `study sign-policy`: a data-protection officer decides what a party may agree to.

use std::path::PathBuf;

use clap::Args;
use sprifed::{OfficerAnswer, PolicyParty, SignedPolicyAnswer};
use sprifed_party::{
    Destination, Overwrite, PartyFolder, PublicParty, create_private_text, parse_policy, read_key,
    sign_policy, signature_of,
};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::Digest;

use super::identity::{make_folder, write_identity};
use super::{read, unusable};
use crate::entropy::fresh_bits;
use crate::failure::Failure;
use crate::output::Output;

/// The officer's signing key in the officer's folder.
const OFFICER_KEY: &str = "officer.key";

/// `study officer`.
#[derive(Args, Debug)]
pub(crate) struct MakeOfficer {
    /// The officer's folder, which is made; keep it away from the party's machine.
    folder: PathBuf,
}

impl MakeOfficer {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        make_folder(&self.folder)?;
        let key = write_identity(&self.folder.join(OFFICER_KEY), fresh_bits()?)?;
        let (public, path) = (
            Digest(key.public()),
            PartyFolder::new(&self.folder).officer(),
        );
        create_private_text(&path, &format!("{public}\n"))?;
        let answer = OfficerAnswer {
            officer: public,
            file: path.clone(),
        };
        output.answer(&answer, |_| {
            format!(
                "officer's key {public}\n\
                 keep {OFFICER_KEY} to yourself; a party that gets {} takes part only by policies that you signed:\n\
                 \x20   sprifed study identity NAME --records N --officer {}\n\
                 a party that has an identity already puts the file into its folder",
                path.display(),
                path.display(),
            )
        });
        Ok(())
    }
}

/// `study sign-policy`.
#[derive(Args, Debug)]
pub(crate) struct SignPolicy {
    /// The policy, which must be complete.
    policy: PathBuf,
    /// The folder that `study officer` made.
    #[arg(long, value_name = "FOLDER")]
    officer: PathBuf,
    /// The public file of the party that the policy is for. The signature counts for no other party.
    #[arg(long, value_name = "party.json")]
    party: PathBuf,
}

impl SignPolicy {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let content = read(&self.policy)?;
        let name = self.policy.display().to_string();
        let text = String::from_utf8(content.clone())
            .map_err(|error| unusable(&self.policy, &error, "a text in UTF-8"))?;
        let policy = parse_policy(&text, &name)?;
        let key = IdentityKey::from_stored(&*read_key(&self.officer.join(OFFICER_KEY))?);
        let party = PublicParty::read(&self.party)?;
        let signature = sign_policy(&content, &party.identity, &key);
        let path = signature_of(&self.policy);
        // A policy that was changed is signed anew.
        let place = Destination::reserve(&path, Overwrite::Forced, &[&self.policy, &self.party])?;
        place.write(&format!("{signature}\n"))?;
        let answer = SignedPolicyAnswer {
            policy,
            file: path,
            officer: Digest(key.public()),
            party: PolicyParty {
                name: party.name,
                identity: party.identity,
            },
        };
        output.answer(&answer, |answer| {
            format!(
                "signed: {name}, which allows studies until {}\n\
                 for the party {} with the key {}; compare the key with the party\n\
                 put {} beside the policy in the party's folder; any change of the policy makes the signature invalid. An older \
                 policy that you signed for this party counts until it expires",
                answer.policy.expires,
                answer.party.name,
                answer.party.identity,
                answer.file.display()
            )
        });
        Ok(())
    }
}
