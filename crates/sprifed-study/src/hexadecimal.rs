//! Thirty-two bytes as people and JSON see them.

use serde::{Deserialize, Serialize};

/// 256 public bits, written in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(pub [u8; 32]);

/// Text that is not 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found {found:?}, but 64 hexadecimal digits are required")]
pub struct NotHexadecimal {
    /// What was found, cut short.
    pub found: String,
}

impl core::fmt::Display for Digest {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl core::fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(self, formatter)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for Digest {
    type Error = NotHexadecimal;

    fn try_from(text: String) -> Result<Self, NotHexadecimal> {
        let refuse = || NotHexadecimal {
            found: text.chars().take(80).collect(),
        };
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != 32 || !rest.is_empty() {
            return Err(refuse());
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(pairs) {
            let digits = pair.map(|digit| char::from(digit).to_digit(16));
            let [Some(high), Some(low)] = digits else {
                return Err(refuse());
            };
            *byte = u8::try_from(16 * high + low).map_err(|_| refuse())?;
        }
        Ok(Self(bytes))
    }
}
