//! The loops over all coordinates of a record, compiled for several instruction sets.
//!
//! What the processor offers decides at run time which version runs. All versions are made of the same loops in `plain`:
//! single operations whose results IEEE 754 fixes, in the same order. So all give the same bits.

use multiversion::multiversion;

mod plain;

#[cfg(test)]
mod tests;

pub(crate) use self::plain::{
    LANES, TILE, WIDEST, WIDEST_COORDINATE, finite, limited, round, step,
};

/// Makes a function for each loop of `plain` that runs the version for this processor.
macro_rules! versions {
    ($($(#[$about:meta])* fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {$(
        $(#[$about])*
        #[multiversion(
            targets("x86_64+avx512bw+avx512dq+avx512f+avx512vl", "x86_64+avx2"),
            dispatcher = "direct"
        )]
        pub(crate) fn $name($($argument: $kind),*) $(-> $result)? {
            plain::$name($($argument),*)
        }
    )*};
}

versions! {
    /// Adds `value·weight`, each value limited to ±`limit` and zero if it is not finite.
    fn add_products(values: &[f32], limit: f32, weight: f32, out: &mut [f32]);

    /// `total` and the squares of `values`, in sixteen lanes of single precision, each thousand summed in double.
    fn add_squares(total: f64, values: &[f32]) -> f64;

    /// The same for values of a record: zero if they are not finite, and [`WIDEST`] if they are wider.
    fn add_tamed_squares(total: f64, values: &[f32]) -> f64;

    /// Rounds whole groups of [`LANES`] values: `⌊value·weight + u⌋`, each value limited to ±`limit`.
    fn round_groups(lanes: &mut [u32; LANES], values: &[f32], limit: f32, weight: f32, out: &mut [i32]);

    /// The largest size of an integer, and the sum of the squares of all sizes, none taken for larger than
    /// [`WIDEST_COORDINATE`].
    fn measure(integers: &[i32]) -> (u32, u64);

    /// Limits integers to ±`most`.
    fn clamp(integers: &mut [i32], most: i32);

    /// Keeps the bits of `mask` of every integer.
    fn keep(integers: &mut [i32], mask: i32);
}
