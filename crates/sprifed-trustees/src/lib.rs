#![doc = include_str!("../README.md")]

mod attempt;
mod attempt_id;
mod book;
mod build;
mod builder;
mod chain;
mod circuit;
mod clear;
mod count;
mod dealt_noise;
mod deviation;
mod embedded;
mod evaluate;
mod lane_order;
mod lanes;
mod message;
mod norms;
mod pairing;
mod proof;
mod report;
mod restarted;
mod set;
mod step;
mod store;
mod streams;
pub mod test_support;
mod trustee_id;
mod unopened;
mod upload;

pub use attempt::{Attempt, Effect, Ending, Refused, Setting};
pub use attempt_id::AttemptId;
pub use book::{Book, Charge, JournalLine, OutOfOrder, Stage};
pub use build::group_sizes::{Link, group_sizes};
pub use chain::{Chain, ChainLink};
pub use circuit::{Circuit, Operation, Plane, Run};
pub use clear::clear;
pub use count::{CircuitCost, ProofCost, count, count_proof};
pub use dealt_noise::DealtNoise;
pub use deviation::{Deviation, Finding, SignedFinding};
pub use embedded::{Embedded, EmbeddedFailed};
pub use evaluate::{Evaluation, SharedPlane, Turn, WrongLength};
pub use lane_order::LaneOrder;
pub use message::Message;
pub use norms::NormBlock;
pub use pairing::{PairingKeys, PairingPublic, PairingSeed};
pub use report::OutcomeReport;
pub use restarted::Restarted;
pub use set::{
    Counted, Statement, ThreeSignatures, checked_digest, outcome_digest, unopened_digest,
};
pub use step::{ChoiceStep, IllegalStep, Output, Step, SumStep};
pub use streams::{Masks, Pads, Purpose, StepKey, StreamKey};
pub use trustee_id::TrusteeId;
pub use unopened::{AllUnopened, unopened_signature};
pub use upload::{ClientKeys, OpenedUpload, Upload, UploadRefused};
