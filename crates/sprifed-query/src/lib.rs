#![doc = include_str!("../README.md")]

mod columns;
mod constant;
mod contribution;
mod curator;
mod discrete;
mod dither;
mod feature_list;
mod feature_set;
mod kernels;
mod limit;
mod model;
mod plan;
mod procedure;
mod question;
mod records;
mod work;

pub use columns::{COLUMN_CUT, ColumnUnit, IllegalColumns, ReleasedColumns};
pub use constant::Constant;
pub use contribution::{AskedBlock, Contributor};
pub use curator::{Curator, CuratorError};
pub use feature_list::{FeatureList, RepeatedFeature};
pub use feature_set::{FeatureSet, IllegalRuns};
pub use limit::{IllegalLimit, Limit};
pub use model::{IllegalModel, LinearModel, ReleasedModel};
pub use plan::{Plan, PlanError, PlannedBlock, PlannedChoice, PlannedStep, PlannedSum, Planner};
pub use procedure::{
    Answer, AnswerBlock, ChoiceBackend, ChoiceQuery, ChoosingProcedure, ChoosingStep, Procedure,
    Step, SumBackend, SumQuery, run, run_choosing,
};
pub use question::{Question, ROW_BUCKETS, SCALE_BUCKETS, Scales};
pub use records::{IllegalRecords, Part, Record, RecordSource, Records};
