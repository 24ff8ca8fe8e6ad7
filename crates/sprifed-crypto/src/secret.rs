//! Bytes that print nothing, compare in constant time and are zeroed on drop (invariant 10).

/// Declares a type of secret bytes. Its bytes are open to the crate that declares it, or as far as
/// `bytes` says.
///
/// The crate that uses it depends on `subtle` and `zeroize`.
#[macro_export]
macro_rules! secret {
    ($(#[$documentation:meta])* $visibility:vis struct $name:ident([u8; $length:expr])) => {
        $crate::secret! {
            $(#[$documentation])* $visibility struct $name([u8; $length]), bytes pub(crate)
        }
    };
    (
        $(#[$documentation:meta])*
        $visibility:vis struct $name:ident([u8; $length:expr]), bytes $access:vis
    ) => {
        $(#[$documentation])*
        #[derive(Clone, zeroize::Zeroize, zeroize::ZeroizeOnDrop)]
        $visibility struct $name([u8; $length]);

        impl $name {
            #[allow(dead_code, reason = "not every secret is made from bytes")]
            /// The secret of these bytes.
            #[must_use]
            $access const fn from_bytes(bytes: [u8; $length]) -> Self {
                Self(bytes)
            }

            /// A secret that is written where it stays.
            #[allow(dead_code, reason = "not every secret is computed")]
            #[must_use]
            $access fn filled(fill: impl FnOnce(&mut [u8; $length])) -> Self {
                let mut secret = Self([0; $length]);
                fill(&mut secret.0);
                secret
            }

            #[allow(dead_code, reason = "not every secret is read as bytes")]
            /// The bytes.
            #[must_use]
            $access const fn expose(&self) -> &[u8; $length] {
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

#[cfg(test)]
mod tests;
