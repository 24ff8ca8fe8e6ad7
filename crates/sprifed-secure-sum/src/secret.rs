//! Bytes that print nothing, compare in constant time and are zeroed on drop (invariant 10).

/// Declares a type of secret bytes.
macro_rules! secret {
    ($(#[$documentation:meta])* $visibility:vis struct $name:ident([u8; $length:expr])) => {
        $(#[$documentation])*
        #[derive(Clone, zeroize::Zeroize, zeroize::ZeroizeOnDrop)]
        $visibility struct $name([u8; $length]);

        impl $name {
            #[allow(dead_code, reason = "not every secret is made from bytes")]
            pub(crate) const fn from_bytes(bytes: [u8; $length]) -> Self {
                Self(bytes)
            }

            /// A secret that is written where it stays.
            #[allow(dead_code, reason = "not every secret is computed")]
            pub(crate) fn filled(fill: impl FnOnce(&mut [u8; $length])) -> Self {
                let mut secret = Self([0; $length]);
                fill(&mut secret.0);
                secret
            }

            #[allow(dead_code, reason = "not every secret is read as bytes")]
            pub(crate) const fn expose(&self) -> &[u8; $length] {
                &self.0
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                bool::from(subtle::ConstantTimeEq::ct_eq(&self.0[..], &other.0[..]))
            }
        }

        impl Eq for $name {}

        impl core::fmt::Debug for $name {
            /// Only the name: the bytes are secret.
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                formatter.write_str(concat!(stringify!($name), "(..)"))
            }
        }
    };
}

pub(crate) use secret;

#[cfg(test)]
mod tests;
