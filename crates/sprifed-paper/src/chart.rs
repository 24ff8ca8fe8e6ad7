//! What is drawn of an experiment.

pub(crate) mod lines;

use sprifed_report::chart::Scale;

/// What to draw of an experiment: one chart for each panel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    /// The metric along the vertical axis.
    pub metric: &'static str,
    /// The label of that axis.
    pub vertical: &'static str,
    /// Which value of a row is drawn.
    pub drawn: Drawn,
    /// The horizontal scale.
    pub across: Scale,
    /// The vertical scale.
    pub up: Scale,
}

/// Which value of a row is drawn, with which whiskers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drawn {
    /// The mean with one standard error.
    Mean,
    /// The median with the quartiles of the trials.
    Median,
}
