//! The same task without privacy: what a procedure is measured against.
//!
//! These read the records themselves, so they are for simulation and for data that need no
//! protection. Neither has an intercept: centre the response first.

pub mod columns;
mod lasso;
mod pursuit;

pub use lasso::{non_private_lasso, non_private_lasso_at};
pub use pursuit::non_private_omp;

use sprifed_query::LinearModel;

use crate::fit::{Fit, FitStatus};
use crate::inference::{Inferred, NoInference};

/// A fit without noise.
fn exact_fit(terms: Vec<(u32, f64)>) -> Fit {
    Fit {
        sites: Vec::new(),
        inference: Inferred::NotAvailable {
            reason: NoInference::Procedure,
        },
        model: LinearModel {
            intercept: 0.0,
            terms,
        },
        status: FitStatus::Complete,
        residual_scale: None,
        baseline: None,
        cuts: Vec::new(),
        provenance: None,
    }
}
