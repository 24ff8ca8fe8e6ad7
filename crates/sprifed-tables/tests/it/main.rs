//! Whole files, through the file system.

#[cfg(feature = "arrow")]
mod arrow;
mod files;
mod plink;
mod real_sets;
