//! Time per draw of samplers that take turns.

use std::time::{Duration, Instant};

/// A sampler in a race.
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    /// Makes so many draws and lets the optimiser drop none of them.
    pub(crate) draw: Box<dyn FnMut(u32)>,
}

/// Nanoseconds per draw of each contestant: the fastest of `n_rounds` turns.
///
/// Whatever else the machine does can only slow a turn, so the fastest is the best estimate; and
/// since all take turns within a second, a slow minute slows all of them.
pub(crate) fn race(contestants: &mut [Contestant], n_rounds: u32) -> Vec<f64> {
    let n_draws: Vec<u32> = contestants.iter_mut().map(draws_of_a_turn).collect();
    let mut fastest = vec![f64::INFINITY; contestants.len()];
    for _ in 0..n_rounds.max(1) {
        for ((contestant, n_draws), fastest) in
            contestants.iter_mut().zip(&n_draws).zip(&mut fastest)
        {
            let nanoseconds = time(contestant, *n_draws).as_secs_f64() * 1e9;
            *fastest = fastest.min(nanoseconds / f64::from(*n_draws));
        }
    }
    fastest
}

/// Doubles the draws until they take a turn's time, which also warms the caches.
fn draws_of_a_turn(contestant: &mut Contestant) -> u32 {
    let mut n_draws = FEWEST_DRAWS;
    while time(contestant, n_draws) < TURN && n_draws < MOST_DRAWS {
        n_draws *= 2;
    }
    n_draws
}

fn time(contestant: &mut Contestant, n_draws: u32) -> Duration {
    let start = Instant::now();
    (contestant.draw)(n_draws);
    start.elapsed()
}

/// Long against the clock and the scheduler, short against the patience of the reader.
const TURN: Duration = Duration::from_millis(10);

const FEWEST_DRAWS: u32 = 1 << 8;

const MOST_DRAWS: u32 = 1 << 24;
