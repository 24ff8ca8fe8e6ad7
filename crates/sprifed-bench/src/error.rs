//! Why there is no figure.

use sprifed_noise::NoiseParameterError;
use sprifed_paper::MethodError;
use sprifed_privacy::IllegalQuantity;
use sprifed_query::PlanError;
use sprifed_simulate::TrialError;
use sprifed_tables::DataError;

/// See the module.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A measured run failed.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// A measured method failed.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// A number is no privacy quantity.
    #[error(transparent)]
    Quantity(#[from] IllegalQuantity),
    /// There is no such plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Noise that cannot be drawn.
    #[error(transparent)]
    Noise(#[from] NoiseParameterError),
    /// A masked sum that cannot be made.
    #[error("{0}")]
    SecureSum(Box<dyn core::error::Error>),
    /// A choice by trustees that cannot be made.
    #[error("{0}")]
    Trustees(String),
    /// A study could not be measured.
    #[error("{0}")]
    Study(String),
    /// A table cannot be read.
    #[error(transparent)]
    Table(#[from] DataError),
    /// The peer did not do its part.
    #[error("{0}")]
    Peer(String),
}

impl Error {
    /// What to do about it.
    pub(crate) const fn help(&self) -> &'static str {
        match self {
            Self::Study(_) => "correct this, and name a new --folder",
            Self::Peer(_) => "install numpy and scikit-learn there, or leave --python out",
            Self::Table(_) => "correct the table or its schema",
            Self::Quantity(_) | Self::Plan(_) => "change the numbers of the plan",
            _ => "this is an error of sprifed",
        }
    }

    /// The exit code of a measurement that ended so.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Peer(_) | Self::Study(_) | Self::Table(_) => 3,
            Self::Quantity(_) | Self::Plan(_) => 2,
            _ => 1,
        }
    }
}
