use zeroize::ZeroizeOnDrop;

use crate::agreement::Agreed;
use crate::kem::{Coins, Encapsulated, KemSeed};

const fn is_zeroed_on_drop<T: ZeroizeOnDrop>() {}

/// This compiles only with the `zeroize` features of the ciphers.
#[test]
fn every_holder_of_a_secret_is_zeroed_on_drop() {
    is_zeroed_on_drop::<Agreed>();
    is_zeroed_on_drop::<KemSeed>();
    is_zeroed_on_drop::<Coins>();
    is_zeroed_on_drop::<Encapsulated>();
    is_zeroed_on_drop::<ml_kem::DecapsulationKey<ml_kem::MlKem768>>();
    is_zeroed_on_drop::<aes::Aes256>();
    is_zeroed_on_drop::<ctr::Ctr64LE<aes::Aes256>>();
}
