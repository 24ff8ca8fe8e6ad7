//! Builders of circuits, each in a file of its own.

pub(crate) mod add_up;
pub(crate) mod greater;
pub(crate) mod group_sizes;
pub(crate) mod prefix_add;
pub(crate) mod tournament;

#[cfg(test)]
mod tests;
