//! Lanes in words: packing, moving and adding up runs of bits.

use crate::circuit::Run;

/// Words of a plane.
pub(crate) const fn n_words(lanes: u32) -> usize {
    (lanes as usize).div_ceil(64)
}

/// The bits of a last word that belong to lanes.
pub(crate) const fn last_word(lanes: u32) -> u64 {
    match lanes % 64 {
        0 => u64::MAX,
        used => (1 << used) - 1,
    }
}

/// 64 lanes from `start` on; lanes after the end are zero.
fn read(from: &[u64], start: usize) -> u64 {
    let (word, shift) = (start / 64, start % 64);
    let at = |place: usize| from.get(place).copied().unwrap_or(0);
    match shift {
        0 => at(word),
        _ => (at(word) >> shift) | (at(word + 1) << (64 - shift)),
    }
}

/// Adds a run of `from`, by XOR, to the lanes of `to` that begin at `at`.
pub(crate) fn add_run(to: &mut [u64], at: usize, from: &[u64], run: Run) {
    let (start, len) = (run.start as usize, run.len as usize);
    let mut done = 0;
    while done < len {
        let (word, shift) = ((at + done) / 64, (at + done) % 64);
        let taken = (64 - shift).min(len - done);
        let kept = if taken == 64 {
            u64::MAX
        } else {
            (1 << taken) - 1
        };
        if let Some(word) = to.get_mut(word) {
            *word ^= (read(from, start + done) & kept) << shift;
        }
        done += taken;
    }
}

/// Writes `runs` of `from` one after the other.
pub(crate) fn gather(to: &mut [u64], from: &[u64], runs: &[Run]) {
    to.fill(0);
    let mut at = 0;
    for run in runs {
        add_run(to, at, from, *run);
        at += run.len as usize;
    }
}

/// Adds up, by XOR, the parts of `part` lanes that the `lanes` lanes of `from` consist of.
pub(crate) fn fold(to: &mut [u64], from: &[u64], part: u32, lanes: u32) {
    to.fill(0);
    for start in (0..lanes).step_by(part.max(1) as usize) {
        let len = part.min(lanes - start);
        add_run(to, 0, from, Run { start, len });
    }
}

/// The planes of unsigned numbers below 2^`bits`, in lane order.
pub(crate) fn to_planes(numbers: &[u64], bits: u32) -> Vec<Vec<u64>> {
    let plane = |bit: u32| {
        let packed = |part: &[u64]| {
            let ones = part.iter().enumerate();
            ones.fold(0, |word, (lane, number)| {
                word | (((number >> bit) & 1) << lane)
            })
        };
        numbers.chunks(64).map(packed).collect()
    };
    (0..bits).map(plane).collect()
}

/// The unsigned numbers of planes.
pub(crate) fn from_planes(planes: &[Vec<u64>], lanes: u32) -> Vec<u64> {
    let number = |lane: usize| {
        let bit = |plane: &Vec<u64>| read(plane, lane) & 1;
        let bits = planes.iter().enumerate();
        bits.fold(0, |number, (place, plane)| number | (bit(plane) << place))
    };
    (0..lanes as usize).map(number).collect()
}
