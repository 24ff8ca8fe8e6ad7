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

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "pattern": format!("^[0-9a-f]{{{}}}$", 2 * $length),
                })
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                formatter.write_str(&hex::encode(self.0))
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
                match hex::decode_to_slice(&text, &mut bytes) {
                    Ok(()) => Ok(Self(bytes)),
                    Err(_) => Err(NotHexadecimal {
                        found: text.chars().take(2 * $length + 16).collect(),
                        required: 2 * $length,
                    }),
                }
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
