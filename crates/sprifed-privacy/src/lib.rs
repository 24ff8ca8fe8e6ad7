#![doc = include_str!("../README.md")]

mod block;
mod bounded_range;
mod concentrated;
mod discrete_gaussian;
mod gates;
mod gaussian;
mod grid;
mod guarantee_table;
mod ledger;
mod lifetime_totals;
mod loss_distribution;
mod modulus;
mod neighbours;
pub mod paper;
mod participation;
mod protocol_failure;
mod purchase;
mod quantity;
mod rational;
mod record_part;
mod record_spending;
mod rounding;
mod run_plan;
mod selection;
mod selection_law;
mod sensitivity;
mod share_sum;
mod shown;
mod skellam;
mod spending;
mod sum_plan;
#[doc(hidden)]
pub mod test_support;
mod totals;

pub use block::{Block, IntegerBounds};
pub use discrete_gaussian::{DiscreteGaussian, poisson_remainder};
pub use gates::Gates;
pub use grid::{
    BallRequest, BoxRequest, Rounding, accepted_squared_norm, conditional_rounding_bound,
    round_to_box,
};
pub use guarantee_table::{
    ClientsRun, Currency, GuaranteeFacts, GuaranteeLabel, GuaranteeMoment, GuaranteeTable,
    IllegalGuaranteeText, NamedTrustees,
};
pub use ledger::{Entry, Ledger, LedgerError, LedgerRecord, Permit};
pub use lifetime_totals::{Cost, CostKind, SpentDelta};
pub use loss_distribution::compose_selections;
pub use modulus::{IllegalModulus, LOG_WRAP_PROBABILITY, Modulus, ModulusPlan, SumSize};
pub use neighbours::{PrivacyUnit, Relation};
pub use participation::{
    Decision, IllegalParticipation, Participation, RemovableNoise, shortfall_cost,
};
pub use protocol_failure::{
    COMPLETE_GRAPH_UP_TO, CRYPTOGRAPHIC_ALLOWANCE, GRAPH_FAILURE, LOG_GRAPH_FAILURE, MOST_ATTEMPTS,
};
pub use purchase::{LedgerLine, Purchase, SelectionPurchase, SumPurchase};
pub use quantity::{ApproxDp, Delta, Epsilon, IllegalQuantity, Mu, RangeBound, Rho};
pub use rational::{IllegalFraction, NoiseVariance, parse_exact};
pub use record_part::RecordPart;
pub use record_spending::RecordSpending;
pub use run_plan::{RunPlan, RunRequest, Unplannable};
pub use selection::{GeometricNoise, SelectionRate};
pub use selection_law::{LARGEST_CURATOR_RATE, SelectionLaw, Trustee};
pub use sensitivity::{
    BatchedMessage, ClipNorm, FeatureBound, L2Sensitivity, NoiseStdDev, RecordBounds, Release,
    ResidualClip, ResponseBound,
};
pub use share_sum::{ShareSum, sandwich_delta, sandwich_epsilon, smoothing_slack};
pub use shown::{counted, shown_cost, shown_delta, shown_to};
pub use skellam::{BoxMove, Skellam};
pub use spending::{Expense, SelectionCost, Spending};
pub use sum_plan::{LARGEST_SLACK, NoiseOrigin, SumCost, SumPlan, Uncertifiable};
pub use totals::{Algorithm, Reading, RunShape};
