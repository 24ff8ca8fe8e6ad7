//! A split key as text, one secret on a line. What was erased has a line that says so.

use core::fmt::Write as _;

use sprifed_noise::Provenance;
use sprifed_trustees::Chain;
use zeroize::Zeroizing;

use super::{PartyKey, Secret, Secrets};

/// The first line.
const TITLE: &str = "sprifed party key 1";

/// What stands for a secret that was erased.
const ERASED: &str = "erased";

/// Text that is no stored key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoredKeyError {
    /// The first line is another one: another version, or no key at all.
    #[error("the first line is not {TITLE:?}: it is no party key, or one of another version")]
    Title,
    /// A line is missing or not as it should be.
    #[error("line {line} is not {required:?} and a secret of 64 hexadecimal digits")]
    Line {
        /// Which line, counted from one.
        line: usize,
        /// What it should begin with.
        required: String,
    },
}

impl PartyKey {
    /// The text to store; it is as secret as the key. `None` for a key that is not split, or that
    /// can be repeated: such keys are not stored.
    #[must_use]
    pub fn to_stored(&self) -> Option<Zeroizing<String>> {
        let Secrets::Split { root, setup, steps } = &self.secrets else {
            return None;
        };
        if self.provenance != Provenance::Cryptographic {
            return None;
        }
        // As long as it gets, so that no part of it is left behind where it was moved from.
        let bytes = TITLE.len() + 96 * (steps.len() + 6);
        let mut text = Zeroizing::new(String::with_capacity(bytes));
        let _infallible = writeln!(text, "{TITLE}");
        add_line(&mut text, "root", Some(root));
        add_line(&mut text, "set-up", setup.as_ref());
        for (step, secret) in steps.iter().enumerate() {
            add_line(&mut text, &format!("step {step}"), secret.as_ref());
        }
        for chain in self.trustees.iter().flat_map(|chains| chains.iter()) {
            let (step, link) = chain.to_stored();
            let link = Zeroizing::new(link);
            add_line(&mut text, &format!("trustee from {step}"), Some(&link));
        }
        Some(text)
    }

    /// The key that was stored, of a plan of `n_steps`.
    ///
    /// # Errors
    /// When the text is none.
    pub fn from_stored(text: &str, n_steps: usize) -> Result<Self, StoredKeyError> {
        let mut lines = text.lines();
        if lines.next() != Some(TITLE) {
            return Err(StoredKeyError::Title);
        }
        let mut number = 1;
        let mut next = |required: &str| {
            number += 1;
            let found = lines.next().and_then(|line| read_line(line, required));
            found.ok_or_else(|| StoredKeyError::Line {
                line: number,
                required: required.to_owned(),
            })
        };
        let root = next("root")?.ok_or_else(|| StoredKeyError::Line {
            line: 2,
            required: "root".to_owned(),
        })?;
        let setup = next("set-up")?;
        let steps = (0..n_steps).map(|step| next(&format!("step {step}")));
        let steps = steps.collect::<Result<_, _>>()?;
        let rest: Vec<&str> = lines.collect();
        let trustees = read_chains(&rest).ok_or_else(|| StoredKeyError::Line {
            line: n_steps + 4,
            required: "the end".to_owned(),
        })?;
        Ok(Self {
            secrets: Secrets::Split { root, setup, steps },
            trustees,
            provenance: Provenance::Cryptographic,
        })
    }
}

fn add_line(text: &mut String, name: &str, secret: Option<&Secret>) {
    text.push_str(name);
    text.push(' ');
    match secret {
        Some(secret) => {
            let mut digits = Zeroizing::new([0; 64]);
            let _infallible = hex::encode_to_slice(secret.as_slice(), digits.as_mut_slice());
            text.extend(digits.iter().copied().map(char::from));
        }
        None => text.push_str(ERASED),
    }
    text.push('\n');
}

/// The chains with three trustees in the last lines; nothing if there are no such lines.
fn read_chains(lines: &[&str]) -> Option<Option<Box<[Chain; 3]>>> {
    let read = |line: &str| {
        let (step, secret) = line.strip_prefix("trustee from ")?.split_once(' ')?;
        let line = Zeroizing::new(format!("link {secret}"));
        let secret = read_line(&line, "link")??;
        Some(Chain::from_stored(step.parse().ok()?, *secret))
    };
    match lines {
        [] => Some(None),
        [first, second, third] => Some(Some(Box::new([read(first)?, read(second)?, read(third)?]))),
        _ => None,
    }
}

/// The secret of a line of this name, or that it was erased; `None` if it is no such line.
fn read_line(line: &str, name: &str) -> Option<Option<Secret>> {
    let value = line.strip_prefix(name)?.strip_prefix(' ')?;
    if value == ERASED {
        return Some(None);
    }
    let mut secret = Zeroizing::new([0; 32]);
    hex::decode_to_slice(value, secret.as_mut_slice()).ok()?;
    Some(Some(secret))
}
