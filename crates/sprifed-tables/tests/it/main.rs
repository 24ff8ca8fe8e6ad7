//! Whole files, through the file system.

mod files;
mod real_sets;
