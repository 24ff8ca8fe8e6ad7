//! Whether one number is greater than another, in a logarithmic number of rounds.
//!
//! A block of bits says that the number is greater in it (g), or equal (e). Neighbouring blocks are
//! merged: g = g_high ⊕ e_high g_low, e = e_high e_low. For w bits: 3w − 2 − ⌈log2 w⌉ gates in
//! 1 + ⌈log2 w⌉ rounds.

use crate::builder::Builder;
use crate::circuit::Plane;

/// A block; `equal` is `None` in the lowest one, where it is not needed.
#[derive(Clone, Copy)]
struct Block {
    greater: Plane,
    equal: Option<Plane>,
}

/// The plane of \[`number` > `than`\]; both have the same bits, at least one.
pub(crate) fn greater(builder: &mut Builder, number: &[Plane], than: &[Plane]) -> Option<Plane> {
    let mut blocks = Vec::with_capacity(number.len());
    for (place, (number, than)) in number.iter().zip(than).enumerate() {
        let (different, smaller) = (builder.xor(*number, *than), builder.not(*than));
        blocks.push(Block {
            greater: builder.and(*number, smaller),
            equal: (place > 0).then(|| builder.not(different)),
        });
    }
    while blocks.len() > 1 {
        let mut merged = Vec::with_capacity(blocks.len().div_ceil(2));
        for pair in blocks.chunks(2) {
            merged.push(match *pair {
                [low, high] => merge(builder, low, high),
                [single] => single,
                _ => continue,
            });
        }
        blocks = merged;
    }
    blocks.first().map(|block| block.greater)
}

fn merge(builder: &mut Builder, low: Block, high: Block) -> Block {
    // Only the lowest block has no `equal`, and it is never the higher one of two.
    let Some(high_equal) = high.equal else {
        return high;
    };
    let greater_below = builder.and(high_equal, low.greater);
    Block {
        greater: builder.xor(high.greater, greater_below),
        equal: low.equal.map(|equal| builder.and(high_equal, equal)),
    }
}
