//! The sum of two numbers modulo a power of two, in a logarithmic number of rounds.
//!
//! Sklansky's prefix adder: bit i generates a carry (g), or propagates one (p). Neighbouring blocks
//! are merged, g = g_high ⊕ p_high g_low and p = p_high p_low, in ⌈log2(w − 1)⌉ rounds after the first.
//! With two full numbers of w bits it has (w − 1) + 2P − (w − 2) gates, where P is the number of ones
//! in the binary digits of 0 … w − 2.

use crate::builder::Builder;
use crate::circuit::Plane;

/// What a bit or a block of bits does to a carry; `None` is zero.
#[derive(Clone, Copy)]
struct Block {
    generates: Option<Plane>,
    propagates: Option<Plane>,
}

/// The sum of two numbers whose bits may be missing, modulo 2 to the number of columns.
pub(crate) fn prefix_add(
    builder: &mut Builder,
    lanes: u32,
    columns: &[[Option<Plane>; 2]],
) -> Vec<Plane> {
    let bits: Vec<_> = columns.iter().map(|column| bit(builder, *column)).collect();
    let mut blocks = bits.clone();
    // The carry out of the last column is dropped.
    blocks.pop();
    let mut step = 1;
    while step < blocks.len() {
        let before = blocks.clone();
        for (place, block) in blocks.iter_mut().enumerate() {
            if place & step == 0 {
                continue;
            }
            let below = (place & !(step - 1)) - 1;
            if let (Some(high), Some(low)) = (before.get(place), before.get(below)) {
                let reaches_the_lowest = place < 2 * step;
                *block = merged(builder, *high, *low, reaches_the_lowest);
            }
        }
        step *= 2;
    }
    let carries = core::iter::once(None).chain(blocks.iter().map(|block| block.generates));
    let sums: Vec<_> = bits.iter().map(|bit| bit.propagates).zip(carries).collect();
    let mut sum = Vec::with_capacity(sums.len());
    for (bit, carry) in sums {
        let plane = xor(builder, bit, carry);
        sum.push(plane.unwrap_or_else(|| builder.constant(lanes, false)));
    }
    sum
}

fn bit(builder: &mut Builder, [one, other]: [Option<Plane>; 2]) -> Block {
    Block {
        generates: and(builder, one, other),
        propagates: xor(builder, one, other),
    }
}

fn merged(builder: &mut Builder, high: Block, low: Block, reaches_the_lowest: bool) -> Block {
    let carried = and(builder, high.propagates, low.generates);
    let propagates = match reaches_the_lowest {
        true => None,
        false => and(builder, high.propagates, low.propagates),
    };
    Block {
        generates: xor(builder, high.generates, carried),
        propagates,
    }
}

fn and(builder: &mut Builder, one: Option<Plane>, other: Option<Plane>) -> Option<Plane> {
    Some(builder.and(one?, other?))
}

fn xor(builder: &mut Builder, one: Option<Plane>, other: Option<Plane>) -> Option<Plane> {
    match (one, other) {
        (Some(one), Some(other)) => Some(builder.xor(one, other)),
        (one, other) => one.or(other),
    }
}
