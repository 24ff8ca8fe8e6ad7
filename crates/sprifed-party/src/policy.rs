//! A party's policy as its owner wrote it, and as a data-protection officer signed it.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use sprifed_secure_sum::{IdentityKey, is_signed_statement};
use sprifed_study::{Digest, Policy, Signature};

use crate::error::PartyError;
use crate::folder::PartyFolder;
use crate::policy_text::parse_policy;
use crate::private_files::read_if_there;

/// The file with the signature for the policy in `path`: its name, and `.sig`.
#[must_use]
pub fn signature_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".sig");
    name.into()
}

/// What an officer's signature is about.
const POLICY: &str = "policy of one party";

/// The policy in `folder`, or the one in `other`; `party` is the identity key of the party.
///
/// In a folder with an officer's key only the policy that the officer signed for this party counts.
pub(crate) fn read_policy(
    folder: &PartyFolder,
    other: Option<&Path>,
    party: &Digest,
) -> Result<Policy, PartyError> {
    let own = folder.policy();
    let path = other.unwrap_or(&own);
    let name = path.display().to_string();
    let missing = || PartyError::unusable(&name, "it is not there", "the policy of this party");
    let officer_path = folder.officer();
    let officer = read_if_there(&officer_path)?;
    if officer.is_some() && other.is_some() {
        let officer = officer_path;
        return Err(PartyError::PolicyOfOfficer { officer });
    }
    let text = read_if_there(path)?.ok_or_else(missing)?;
    if let Some(officer) = officer {
        let officer = key_of(&officer, &officer_path.display().to_string())?;
        let signature = read_if_there(&signature_of(path))?;
        refuse_unsigned(&text, party, signature.as_deref(), &officer, &name)?;
    }
    parse_policy(&utf8(text, &name)?, &name)
}

/// The signature of `officer` for a policy file with this content, for the party with the identity key `party` alone.
#[must_use]
pub fn sign_policy(content: &[u8], party: &Digest, officer: &IdentityKey) -> Signature {
    Signature(officer.sign_statement(POLICY, &signed_digest(content, party)))
}

/// What is signed: for whom the policy is, then its text.
fn signed_digest(content: &[u8], party: &Digest) -> [u8; 32] {
    Sha256::new_with_prefix(party.0)
        .chain_update(content)
        .finalize()
        .into()
}

/// The public key in a file of 64 hexadecimal digits, which messages call `name`.
///
/// # Errors
/// When there is none.
pub fn key_of(content: &[u8], name: &str) -> Result<Digest, PartyError> {
    let text = String::from_utf8_lossy(content).trim().to_owned();
    Digest::try_from(text)
        .map_err(|error| PartyError::unusable(name, error, "the key of a data-protection officer"))
}

fn refuse_unsigned(
    content: &[u8],
    party: &Digest,
    signature: Option<&[u8]>,
    officer: &Digest,
    name: &str,
) -> Result<(), PartyError> {
    let signature = signature.map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned());
    let found = match signature.map(Signature::try_from) {
        None => "has no signature",
        Some(Err(_)) => "has a signature that cannot be read",
        Some(Ok(signature)) => {
            let digest = signed_digest(content, party);
            if is_signed_statement(&officer.0, POLICY, &digest, &signature.0) {
                return Ok(());
            }
            "was changed after it was signed, or signed by another officer or for another party"
        }
    };
    Err(PartyError::PolicyUnsigned {
        name: name.to_owned(),
        found,
        officer: *officer,
        party: *party,
    })
}

fn utf8(content: Vec<u8>, name: &str) -> Result<String, PartyError> {
    String::from_utf8(content).map_err(|error| PartyError::unusable(name, error, "a text in UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy_text::tests::whole;
    use crate::test_study::TestFolder;

    #[test]
    fn with_an_officer_only_the_signed_policy_counts() {
        let officer = IdentityKey::from_stored(&[3; 32]);
        let other = IdentityKey::from_stored(&[4; 32]);
        let text = whole();
        let public = format!("{}\n", Digest(officer.public()));
        let (north, south) = (Digest([7; 32]), Digest([8; 32]));
        let good = sign_policy(text.as_bytes(), &north, &officer).to_string();
        let by_other = sign_policy(text.as_bytes(), &north, &other).to_string();
        let for_other = sign_policy(text.as_bytes(), &south, &officer).to_string();
        let edited = text.replace("smallest-quorum = 3", "smallest-quorum = 2");
        let folder = TestFolder::new("officer");
        let party = PartyFolder::new(folder.path());
        let read = |text: &str, signature: Option<&str>, other: Option<&str>| {
            let files = [
                (party.officer(), Some(public.as_str())),
                (party.policy(), Some(text)),
                (signature_of(&party.policy()), signature),
            ];
            for (path, content) in files {
                let _ = std::fs::remove_file(&path);
                if let Some(content) = content {
                    std::fs::write(path, content).expect("written");
                }
            }
            read_policy(&party, other.map(Path::new), &north)
        };
        read(&text, Some(&good), None).expect("signed");
        for (text, signature, words) in [
            (&text, None, "has no signature"),
            (&text, Some(by_other.as_str()), "another officer"),
            (&text, Some(for_other.as_str()), "for another party"),
            (&edited, Some(good.as_str()), "was changed"),
            (&text, Some("12"), "cannot be read"),
        ] {
            let refused = read(text, signature, None).expect_err(words);
            assert!(refused.to_string().contains(words), "{refused}");
            assert_eq!(refused.exit_code(), 1);
        }
        let refused = read(&text, Some(&good), Some("mine.toml")).expect_err("another policy");
        assert!(
            matches!(refused, PartyError::PolicyOfOfficer { .. }),
            "{refused}"
        );
    }
}
