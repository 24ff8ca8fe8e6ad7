#![doc = include_str!("../README.md")]

mod machine;
mod status;

pub use machine::{
    ClientEffect, ClientMachine, CoordinatorEffect, CoordinatorMachine, PartyId, PhaseInfo, Refused,
};
pub use status::{
    Budget, FeatureFound, PartyState, PartyStatus, Progress, StatusView,
};
