//! Every experiment, in the order of the page.

mod madelon;
mod n90;
mod norms;
mod perf;
mod privacy;
mod real_data;
mod recovery;
mod robustness;
mod survival;
mod table_1;
mod winners;

pub(crate) use real_data::{best_of_ours, real_tables};

#[cfg(test)]
mod tests;

use sprifed_report::chart::Scale;

use crate::chart::{Drawn, Figure};
use crate::experiment::Experiment;

/// All experiments, those of the paper first.
#[must_use]
pub fn catalogue() -> Vec<Experiment> {
    vec![
        table_1::EXPERIMENT,
        norms::EXPERIMENT,
        perf::OVER_FEATURES,
        perf::OVER_RECORDS,
        recovery::FIVE_SMALL,
        recovery::FIVE_LARGE,
        recovery::TEN_SMALL,
        recovery::TEN_LARGE,
        recovery::TEN_LARGEST,
        madelon::EXPERIMENT,
        survival::EXPERIMENT,
        privacy::EXPERIMENT,
        n90::EXPERIMENT,
        winners::EXPERIMENT,
        robustness::EXPERIMENT,
        real_data::EXPERIMENT,
    ]
}

/// Features found, over a logarithmic axis.
const RECOVERED: Figure = Figure {
    metric: "recovered",
    vertical: "features found",
    drawn: Drawn::Mean,
    across: Scale::Logarithmic,
    up: Scale::Linear,
};

/// Test errors, both axes logarithmic.
const ERRORS: Figure = Figure {
    metric: "test MSE",
    vertical: "test MSE, median",
    drawn: Drawn::Median,
    across: Scale::Logarithmic,
    up: Scale::Logarithmic,
};

/// The reading of the generated data that comes closest to the paper.
const READING: &str = "Features N(0, 1) clipped at 1 and rescaled to unit variance, response generated from them, clipped \
at 1 and rescaled (almost its sign), noise as if all bounds were 1, B_C = 1 and no clipping of gradients. The paper does not say all \
of this; no other reading we tried comes near its numbers.";
