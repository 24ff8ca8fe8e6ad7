//! The limits: what a mask, bare key streams and a key agreement cost on this machine.

use std::hint::black_box;
use std::time::Duration;

use aes::cipher::{KeyIvInit, StreamCipher};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{SeedableRng, TryRng};
use sprifed_secure_sum::{IllegalStudy, MaskSeed, Residues, Sign, SumShape};
use x25519_dalek::{PublicKey, StaticSecret};

use crate::cpu_clock::{clocked, median};

/// Seconds of one of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Primitives {
    /// A mask put on a vector.
    pub(super) mask: f64,
    /// The key stream of that mask alone.
    pub(super) key_stream: f64,
    /// As much of ChaCha20, the cipher that was not chosen.
    pub(super) chacha: f64,
    /// One X25519 agreement.
    pub(super) agreement: f64,
}

/// How often something is done, and what, with a seed that is new each time.
type Work<'a> = (u32, &'a mut dyn FnMut([u8; 32]));

impl Primitives {
    /// The four take turns; the median of the turns counts.
    pub(super) fn measure(
        coordinates: u32,
        bits: u32,
        repetitions: u32,
    ) -> Result<Self, IllegalStudy> {
        let shape = SumShape::new(coordinates, bits)?;
        let mut residues = Residues::zero(shape);
        let mut bytes = vec![0; shape.packed_len()];
        let mut other_bytes = bytes.clone();
        let secret = StaticSecret::from([5; 32]);
        let public = PublicKey::from(&StaticSecret::from([7; 32]));
        let mut turns: [Vec<f64>; 4] = Default::default();
        for _ in 0..TURNS_PER_REPETITION * repetitions {
            let works: [Work<'_>; 4] = [
                (STREAMS, &mut |seed| {
                    residues.add_mask(&MaskSeed::assume_secret(seed), Sign::Plus);
                }),
                (STREAMS, &mut |seed| {
                    ctr::Ctr64LE::<aes::Aes256>::new(&seed.into(), &[0; 16].into())
                        .write_keystream(black_box(&mut bytes));
                }),
                (STREAMS, &mut |seed| {
                    let Ok(()) =
                        ChaCha20Rng::from_seed(seed).try_fill_bytes(black_box(&mut other_bytes));
                }),
                (AGREEMENTS, &mut |_| {
                    black_box(black_box(&secret).diffie_hellman(&public));
                }),
            ];
            for ((count, work), turns) in works.into_iter().zip(&mut turns) {
                turns.push(seconds_each(count, work));
            }
        }
        black_box(&residues);
        let [mask, key_stream, chacha, agreement] = turns.map(median);
        Ok(Self {
            mask,
            key_stream,
            chacha,
            agreement,
        })
    }
}

fn seconds_each(count: u32, work: &mut dyn FnMut([u8; 32])) -> f64 {
    let mut total = Duration::ZERO;
    clocked(&mut total, || {
        for turn in 0..count {
            let mut seed = [7; 32];
            seed[..4].copy_from_slice(&turn.to_le_bytes());
            work(seed);
        }
    });
    total.as_secs_f64() / f64::from(count)
}

const TURNS_PER_REPETITION: u32 = 5;

const STREAMS: u32 = 500;

const AGREEMENTS: u32 = 20;
