//! ML-KEM-768: the half of every agreement of two parties that a quantum computer does not open.
//!
//! Keys and ciphertexts are functions of a party's seed, so that a restarted party repeats its
//! messages. The encapsulated secret is as unpredictable as the seed.

use ml_kem::array::Array;
use ml_kem::{Ciphertext, Decapsulate, DecapsulationKey, EncapsulationKey, KeyExport, MlKem768};
use zeroize::Zeroize;

use crate::secret;

#[cfg(test)]
mod tests;

/// Bytes of a public key.
pub const KEY_BYTES: usize = 1184;

/// Bytes of a ciphertext.
pub const CIPHERTEXT_BYTES: usize = 1088;

secret! {
    /// What a key pair is made from.
    pub struct KemSeed([u8; 64]), bytes pub
}

secret! {
    /// What one encapsulation is made from.
    pub struct Coins([u8; 32]), bytes pub
}

secret! {
    /// What both ends of an encapsulation know.
    pub struct Encapsulated([u8; 32]), bytes pub
}

/// The half that opens; zeroed on drop.
pub struct KemKey(DecapsulationKey<MlKem768>);

impl core::fmt::Debug for KemKey {
    /// Only the name: the key is secret.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("KemKey(..)")
    }
}

impl KemKey {
    /// The key pair of this seed.
    #[must_use]
    pub fn new(seed: &KemSeed) -> Self {
        let mut bytes = Array(*seed.expose());
        let key = DecapsulationKey::from_seed(bytes);
        bytes.as_mut_slice().zeroize();
        Self(key)
    }

    /// The half that others encapsulate to.
    #[must_use]
    pub fn public(&self) -> Box<[u8; KEY_BYTES]> {
        Box::new(self.0.encapsulation_key().to_bytes().into())
    }

    /// What `ciphertext` encapsulates, or a secret of this key alone if it is none for this key.
    #[must_use]
    pub fn open(&self, ciphertext: &[u8; CIPHERTEXT_BYTES]) -> Encapsulated {
        let ciphertext: Ciphertext<MlKem768> = Array(*ciphertext);
        let mut shared = self.0.decapsulate(&ciphertext);
        let opened = Encapsulated::filled(|secret| secret.copy_from_slice(&shared));
        shared.as_mut_slice().zeroize();
        opened
    }
}

/// Whether these bytes are a public key: every coefficient is below the modulus [FIPS 203, 7.2].
#[must_use]
pub fn is_key(public: &[u8; KEY_BYTES]) -> bool {
    EncapsulationKey::<MlKem768>::new(&Array(*public)).is_ok()
}

/// A ciphertext for the holder of `public` and what it encapsulates; `None` if that is no key.
#[must_use]
pub fn encapsulate(
    public: &[u8; KEY_BYTES],
    coins: &Coins,
) -> Option<([u8; CIPHERTEXT_BYTES], Encapsulated)> {
    let key = EncapsulationKey::<MlKem768>::new(&Array(*public)).ok()?;
    let mut coins = Array(*coins.expose());
    let (ciphertext, mut shared) = key.encapsulate_deterministic(&coins);
    let secret = Encapsulated::filled(|secret| secret.copy_from_slice(&shared));
    coins.as_mut_slice().zeroize();
    shared.as_mut_slice().zeroize();
    Some((ciphertext.into(), secret))
}
