//! What one sum reveals says nothing about the masks of another.
