#![doc = include_str!("../README.md")]

pub mod chart;
mod features;
mod fit_page;
mod page;
mod text_table;

pub use features::{
    BARS_OVER_BOUNDS, Bar, FeatureTable, four, interval_words, p_value_words, percent_words,
};
pub use fit_page::{FitPage, Round, ScoreCurves};
pub use page::{Badge, BadgeKind, GuaranteeView, STYLE, environment, render};
pub use text_table::table;
