//! Whole files, through the file system.

mod files;
mod plink;
mod real_sets;
