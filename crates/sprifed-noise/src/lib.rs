#![doc = include_str!("../README.md")]

mod bernoulli_exp;
mod bounded_sum;
mod canonne;
mod discrete_gaussian;
mod discrete_laplace;
mod drawn_share;
mod enclosure;
mod euler;
mod floor_gumbel;
mod generator;
mod geometric;
mod inversion;
mod kernels;
mod lazy_uniform;
mod narrow_enclosure;
mod parameter;
mod poisson;
mod random_bits;
mod release;
#[cfg(test)]
mod scripted;
mod skellam;
mod weights;

pub use bernoulli_exp::bernoulli_exp;
pub use bounded_sum::{BoundedSum, OutOfBounds};
pub use canonne::ReferenceDiscreteGaussian;
pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_laplace::DiscreteLaplace;
pub use drawn_share::DrawnShare;
pub use euler::EulerShare;
pub use floor_gumbel::FloorGumbel;
pub use generator::{NoiseGenerator, Provenance};
pub use geometric::Geometric;
pub use parameter::NoiseParameterError;
pub use poisson::Poisson;
pub use random_bits::RandomBits;
pub use release::{Choice, DrawnNoise, DrawnSelection, Noised, PrivateSum, ReleaseError};
pub use skellam::Skellam;
