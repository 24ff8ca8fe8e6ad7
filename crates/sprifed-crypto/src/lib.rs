#![doc = include_str!("../README.md")]
#![deny(clippy::indexing_slicing)]

pub mod agreement;
pub mod codec;
pub mod derivation;
pub mod identity;
pub mod identity_key;
pub mod kem;
mod secret;
pub mod small_order;
pub mod statement;
pub mod stream;
