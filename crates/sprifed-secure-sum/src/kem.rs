//! ML-KEM-768: the half of every agreement of two clients that a quantum computer does not open.
//!
//! Keys and ciphertexts are functions of a client's seed, so that a restarted client repeats its
//! messages. The encapsulated secret is as unpredictable as the seed.

use ml_kem::array::Array;
use ml_kem::{Ciphertext, Decapsulate, DecapsulationKey, EncapsulationKey, KeyExport, MlKem768};
use zeroize::Zeroize;

use crate::secret::secret;

#[cfg(test)]
mod tests;

/// Bytes of a public key.
pub(crate) const KEY_BYTES: usize = 1184;

/// Bytes of a ciphertext.
pub(crate) const CIPHERTEXT_BYTES: usize = 1088;

secret! {
    /// What a key pair is made from.
    pub(crate) struct KemSeed([u8; 64])
}

secret! {
    /// What one encapsulation is made from.
    pub(crate) struct Coins([u8; 32])
}

secret! {
    /// What both ends of an encapsulation know.
    pub(crate) struct Encapsulated([u8; 32])
}

/// The half that opens; zeroed on drop.
pub(crate) struct KemKey(DecapsulationKey<MlKem768>);

impl KemKey {
    pub(crate) fn new(seed: &KemSeed) -> Self {
        let mut bytes = Array(*seed.expose());
        let key = DecapsulationKey::from_seed(bytes);
        bytes.as_mut_slice().zeroize();
        Self(key)
    }

    pub(crate) fn public(&self) -> Box<[u8; KEY_BYTES]> {
        Box::new(self.0.encapsulation_key().to_bytes().into())
    }

    /// What `ciphertext` encapsulates, or a secret of this key alone if it is none for this key.
    pub(crate) fn open(&self, ciphertext: &[u8; CIPHERTEXT_BYTES]) -> Encapsulated {
        let ciphertext: Ciphertext<MlKem768> = Array(*ciphertext);
        let mut shared = self.0.decapsulate(&ciphertext);
        let opened = Encapsulated::filled(|secret| secret.copy_from_slice(&shared));
        shared.as_mut_slice().zeroize();
        opened
    }
}

/// Whether these bytes are a public key: every coefficient is below the modulus [FIPS 203, 7.2].
pub(crate) fn is_key(public: &[u8; KEY_BYTES]) -> bool {
    EncapsulationKey::<MlKem768>::new(&Array(*public)).is_ok()
}

/// A ciphertext for the holder of `public` and what it encapsulates; `None` if that is no key.
pub(crate) fn encapsulate(
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
