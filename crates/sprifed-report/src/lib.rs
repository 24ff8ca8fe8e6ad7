#![doc = include_str!("../README.md")]

pub mod chart;
mod fit_page;
mod page;
mod text_table;

pub use fit_page::{Bar, FitPage, Round};
pub use page::render;
pub use text_table::table;
