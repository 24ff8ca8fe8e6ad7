//! The sum of many numbers modulo a power of two: full adders, then one prefix adder.
//!
//! Planes of one weight are a column. Three of them become one of that weight, x ⊕ y ⊕ z, and a carry
//! ((x ⊕ z)(y ⊕ z)) ⊕ z: one AND for each plane that is removed. The sum of a full adder needs no
//! exchange, so the planes that are known earliest are taken first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::build::prefix_add::prefix_add;
use crate::builder::Builder;
use crate::circuit::Plane;

/// The sum of all planes, each times 2 to the number of its column, modulo 2 to the number of columns.
pub(crate) fn add_up(builder: &mut Builder, lanes: u32, columns: Vec<Vec<Plane>>) -> Vec<Plane> {
    let mut carries = Vec::new();
    let mut reduced = Vec::with_capacity(columns.len());
    for column in columns {
        let planes = column.into_iter().chain(carries.drain(..));
        let earliest = |plane: Plane, builder: &Builder| Reverse((builder.depth(plane), plane));
        let mut left: BinaryHeap<_> = planes.map(|plane| earliest(plane, builder)).collect();
        while left.len() > 2 {
            let mut take = || left.pop().map(|Reverse((_, plane))| plane);
            let (Some(x), Some(y), Some(z)) = (take(), take(), take()) else {
                break;
            };
            let (sum, carry) = full_adder(builder, x, y, z);
            left.push(earliest(sum, builder));
            carries.push(carry);
        }
        let mut take = || left.pop().map(|Reverse((_, plane))| plane);
        reduced.push([take(), take()]);
    }
    prefix_add(builder, lanes, &reduced)
}

fn full_adder(builder: &mut Builder, x: Plane, y: Plane, z: Plane) -> (Plane, Plane) {
    let (x_or_z, y_or_z) = (builder.xor(x, z), builder.xor(y, z));
    let both = builder.and(x_or_z, y_or_z);
    let sum = builder.xor(x_or_z, y);
    (sum, builder.xor(both, z))
}
