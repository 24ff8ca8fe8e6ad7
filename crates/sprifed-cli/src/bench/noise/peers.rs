//! Samplers of the same law in other crates, measured only with the feature `peers`.
//!
//! OpenDP draws from its own thread-local generator, which without OpenSSL is ChaCha20 as well.

use std::hint::black_box;

use opendp::traits::samplers::sample_discrete_gaussian;

use crate::bench::stopwatch::Contestant;

pub(super) fn gaussian(std_dev: u32) -> Vec<Contestant> {
    vec![opendp(std_dev)]
}

fn opendp(std_dev: u32) -> Contestant {
    let draw = move |n_draws: u32| {
        for _ in 0..n_draws {
            // A failed draw counts as a draw: it can only flatter the peer.
            let _ = black_box(sample_discrete_gaussian(std_dev.into()));
        }
    };
    Contestant {
        name: "opendp 0.16",
        draw: Box::new(draw),
    }
}
