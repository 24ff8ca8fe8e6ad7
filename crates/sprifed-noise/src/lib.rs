//! sprifed-noise

mod bernoulli_exp;
mod canonne;
mod discrete_gaussian;
mod discrete_laplace;
mod enclosure;
mod floor_gumbel;
mod geometric;
mod inversion;
mod lazy_uniform;
mod parameter;
mod poisson;
mod random_bits;
#[cfg(test)]
mod scripted;
mod skellam;
mod weights;

pub use bernoulli_exp::bernoulli_exp;
pub use canonne::ReferenceDiscreteGaussian;
pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_laplace::DiscreteLaplace;
pub use floor_gumbel::FloorGumbel;
pub use geometric::Geometric;
pub use parameter::NoiseParameterError;
pub use poisson::Poisson;
pub use random_bits::RandomBits;
pub use skellam::Skellam;
