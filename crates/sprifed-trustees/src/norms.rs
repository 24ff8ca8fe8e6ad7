//! Verified norms: which clients' blocks of a sum lie in their balls.
//!
//! A client of such a sum sends each number as its sign and its magnitude, so the squares of all numbers and their sum
//! are exact and nothing wraps. Trustees compute one bit for each client, that Σ x² is at most its bound in every
//! block, prove these gates, and open the bits. A client that does as agreed is always inside, so its bit says nothing.
//!
//! The lanes of this circuit are clients. Each trustee moves the bits of its own shares into that order, which needs no
//! exchange.

use std::ops::Range;

use crate::build::add_up::add_up;
use crate::build::greater::greater;
use crate::builder::Builder;
use crate::circuit::{Circuit, Plane};
use crate::evaluate::SharedPlane;
use crate::lanes::n_words;

/// Coordinates of a sum whose squared norm is verified for each client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormBlock {
    /// Which coordinates.
    pub coordinates: Range<u32>,
    /// The largest squared norm of each client of the roster.
    pub squares: Vec<u128>,
}

impl NormBlock {
    /// Bits of a sum of squares of magnitudes of so many bits.
    pub(crate) fn bits(&self, magnitude: u32) -> u32 {
        let many = self.coordinates.end.saturating_sub(self.coordinates.start);
        2 * magnitude + many.next_power_of_two().trailing_zeros()
    }
}

/// The circuit of the bits [inside all balls] of clients whose magnitudes have at most `magnitude` bits and whose
/// bounds are given for each block. Inputs: for each block, coordinate and bit one plane of clients.
pub(crate) fn norm_circuit(
    blocks: &[NormBlock],
    bounds: &[Vec<u128>],
    clients: u32,
    magnitude: u32,
) -> Circuit {
    let coordinates = blocks
        .iter()
        .map(|block| block.coordinates.len())
        .sum::<usize>();
    let n_inputs = coordinates * magnitude as usize;
    let mut builder = Builder::new(core::iter::repeat_n(clients, n_inputs));
    let mut inputs = builder.inputs();
    let mut inside: Option<Plane> = None;
    for (block, bounds) in blocks.iter().zip(bounds) {
        let bits = block.bits(magnitude);
        let mut columns = vec![Vec::new(); bits as usize];
        for _ in block.coordinates.clone() {
            let number: Vec<_> = inputs.by_ref().take(magnitude as usize).collect();
            square(&mut builder, &number, &mut columns);
        }
        let sum = add_up(&mut builder, clients, columns);
        let bound = public_numbers(&mut builder, clients, bounds, bits);
        let Some(outside) = greater(&mut builder, &sum, &bound) else {
            continue;
        };
        let is_inside = builder.not(outside);
        inside = Some(match inside {
            Some(before) => builder.and(before, is_inside),
            None => is_inside,
        });
    }
    let inside = inside.unwrap_or_else(|| builder.constant(clients, true));
    builder.finish(vec![inside])
}

/// The square of a number, as planes by weight: each bit is its own square, and each pair counts twice.
fn square(builder: &mut Builder, number: &[Plane], columns: &mut [Vec<Plane>]) {
    let mut put = |weight: usize, plane: Plane| {
        if let Some(column) = columns.get_mut(weight) {
            column.push(plane);
        }
    };
    for (low, one) in number.iter().enumerate() {
        put(2 * low, *one);
        for (high, other) in number.iter().enumerate().skip(low + 1) {
            let product = builder.and(*one, *other);
            put(low + high + 1, product);
        }
    }
}

/// Public numbers, one for each lane; those that do not fit are the largest that does.
fn public_numbers(builder: &mut Builder, lanes: u32, numbers: &[u128], bits: u32) -> Vec<Plane> {
    let largest = 1u128.checked_shl(bits).map_or(u128::MAX, |above| above - 1);
    let plane = |builder: &mut Builder, bit: u32| {
        let mut words = vec![0; n_words(lanes)];
        for (lane, number) in numbers.iter().enumerate() {
            if ((*number).min(largest) >> bit) & 1 == 1
                && let Some(word) = words.get_mut(lane / 64)
            {
                *word |= 1 << (lane % 64);
            }
        }
        let zero = builder.constant(lanes, false);
        builder.xor_public(zero, words)
    };
    (0..bits).map(|bit| plane(builder, bit)).collect()
}

/// A trustee's shares in the order of [`norm_circuit`], from its shares of all planes of each client: magnitudes,
/// lowest bit first, then the sign.
pub(crate) fn by_client(
    blocks: &[NormBlock],
    clients: &[Vec<SharedPlane>],
    magnitude: u32,
) -> Vec<SharedPlane> {
    let words = clients.len().div_ceil(64);
    let mut planes = Vec::new();
    for coordinate in blocks.iter().flat_map(|block| block.coordinates.clone()) {
        let (from, shift) = (coordinate as usize / 64, coordinate % 64);
        for bit in 0..magnitude as usize {
            let mut plane = SharedPlane {
                own: vec![0; words],
                next: vec![0; words],
            };
            for (lane, client) in clients.iter().enumerate() {
                // The last plane is the sign.
                let magnitudes = client.split_last().map_or(&[][..], |(_, all)| all);
                let Some(of_client) = magnitudes.get(bit) else {
                    continue;
                };
                let shares = [
                    (&mut plane.own, &of_client.own),
                    (&mut plane.next, &of_client.next),
                ];
                for (to, share) in shares {
                    let value = share.get(from).map_or(0, |word| (word >> shift) & 1);
                    if let Some(word) = to.get_mut(lane / 64) {
                        *word |= value << (lane % 64);
                    }
                }
            }
            planes.push(plane);
        }
    }
    planes
}

/// Which lanes of an opened plane are not set.
pub(crate) fn outside(plane: &[u64], clients: usize) -> Vec<usize> {
    let is_outside = |lane: &usize| {
        let word = plane.get(lane / 64).copied().unwrap_or(0);
        (word >> (lane % 64)) & 1 == 0
    };
    (0..clients).filter(is_outside).collect()
}

#[cfg(test)]
mod tests;
