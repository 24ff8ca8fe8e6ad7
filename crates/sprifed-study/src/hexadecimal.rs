//! Bytes as people and JSON see them.

/// Declares a type of public bytes that is written in hexadecimal.
macro_rules! hexadecimal {
    ($(#[$documentation:meta])* $name:ident, $length:expr) => {
        $(#[$documentation])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(pub [u8; $length]);

        impl core::fmt::Display for $name {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let mut bytes = self.0.iter();
                bytes.try_for_each(|byte| write!(formatter, "{byte:02x}"))
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, formatter)
            }
        }

        impl From<$name> for String {
            fn from(bytes: $name) -> Self {
                bytes.to_string()
            }
        }

        impl TryFrom<String> for $name {
            type Error = NotHexadecimal;

            fn try_from(text: String) -> Result<Self, NotHexadecimal> {
                let mut bytes = [0; $length];
                read(&text, &mut bytes)?;
                Ok(Self(bytes))
            }
        }
    };
}

hexadecimal! {
    /// 256 public bits: a digest, a public key or a nonce.
    Digest, 32
}

hexadecimal! {
    /// An Ed25519 signature.
    Signature, 64
}

/// Text that is not so many hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found {found:?}, but {required} hexadecimal digits are required")]
pub struct NotHexadecimal {
    /// What was found, cut short.
    pub found: String,
    /// How many digits there must be.
    pub required: usize,
}

fn read(text: &str, bytes: &mut [u8]) -> Result<(), NotHexadecimal> {
    let required = 2 * bytes.len();
    let refuse = || NotHexadecimal {
        found: text.chars().take(required + 16).collect(),
        required,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != bytes.len() || !rest.is_empty() {
        return Err(refuse());
    }
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        let digits = pair.map(|digit| char::from(digit).to_digit(16));
        let [Some(high), Some(low)] = digits else {
            return Err(refuse());
        };
        *byte = u8::try_from(16 * high + low).map_err(|_| refuse())?;
    }
    Ok(())
}
