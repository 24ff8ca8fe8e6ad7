//! Why a command ended without what was asked; shared with the Python package.

pub(crate) use sprifed::Failure;

/// Errors of other crates, in the words of the command line: `….explained()?`.
pub(crate) trait Explained<T> {
    /// The same with a [`Failure`].
    fn explained(self) -> Result<T, Failure>;
}
