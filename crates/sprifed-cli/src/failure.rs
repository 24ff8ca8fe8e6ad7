//! Why a command ended without what was asked; shared with the Python package.

pub(crate) use sprifed_fit::Failure;
