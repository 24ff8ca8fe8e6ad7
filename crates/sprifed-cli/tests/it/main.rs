//! The `sprifed` binary, as users and scripts meet it.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic")]

mod answers;
mod audit;
mod bad_input;
mod baselines;
mod browser;
mod choices;
mod command;
mod delta;
mod experiment;
mod federation;
mod fit;
mod forecast;
mod genotypes;
mod golden;
mod help;
mod inference_slow;
mod json_schema;
mod pages;
mod paper;
mod plan;
mod predict;
mod process;
mod real_data_page;
mod real_tables;
mod recovery_slow;
mod reference;
mod schema;
mod simulate;
mod transcript;
mod trustees;
mod vectors;
mod worked_study;
