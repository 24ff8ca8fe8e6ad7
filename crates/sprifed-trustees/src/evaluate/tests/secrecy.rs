//! What a trustee sees depends on nothing but its own shares and streams, and the outputs: exactly, by enumeration.
//!
//! Each lane of a plane is one way in which the random bits may fall, so one evaluation goes through all of them.

use std::collections::BTreeMap;

use super::*;
use crate::circuit::Operation;

/// Planes of masks: for each of a trustee's two links one for each gate.
#[derive(Clone, Debug, Default)]
struct Scripted {
    pads: [Vec<Vec<u64>>; 2],
    at: usize,
}

impl Masks for Scripted {
    fn begin_layer(&mut self, _layer: u64) {}

    fn mask(&mut self, gate: &mut [u64]) {
        for pads in &self.pads {
            for (word, pad) in gate.iter_mut().zip(&pads[self.at]) {
                *word ^= pad;
            }
        }
        self.at += 1;
    }

    fn mask_and_keep(&mut self, gate: &mut [u64], kept: [&mut [u64]; 2]) {
        for (kept, pads) in kept.into_iter().zip(&self.pads) {
            kept.copy_from_slice(&pads[self.at]);
        }
        self.mask(gate);
    }
}

/// How a planted mistake uses the masks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Masking {
    Fresh,
    None,
    /// Every gate of a link has the same mask.
    Repeated,
}

/// Circuits of three inputs and one output: a carry (one gate), a product of three (two gates in two layers), two products
/// with a common factor (two gates in one layer), four gates in three layers, and twelve in four.
const GATES: [usize; 5] = [1, 2, 2, 4, 12];

fn circuit(kind: usize, lanes: u32) -> Arc<Circuit> {
    let mut builder = Builder::new([lanes; 3]);
    let inputs: Vec<_> = builder.inputs().collect();
    let (mut x, mut y, mut z) = (inputs[0], inputs[1], inputs[2]);
    let output = match kind {
        0 => {
            let (left, right) = (builder.xor(x, z), builder.xor(y, z));
            let both = builder.and(left, right);
            builder.xor(both, z)
        }
        1 => {
            let both = builder.and(x, y);
            builder.and(both, z)
        }
        2 => {
            let (one, other) = (builder.and(x, y), builder.and(x, z));
            builder.xor(one, other)
        }
        3 => {
            let (one, other) = (builder.and(x, y), builder.and(y, z));
            let (left, right) = (builder.xor(one, z), builder.xor(other, x));
            let both = builder.and(left, right);
            let last = builder.xor(one, y);
            let last = builder.and(both, last);
            builder.xor(last, x)
        }
        _ => {
            for _ in 0..4 {
                let products = [builder.and(y, z), builder.and(z, x), builder.and(x, y)];
                x = builder.xor(x, products[0]);
                y = builder.xor(y, products[1]);
                z = builder.xor(z, products[2]);
            }
            let sum = builder.xor(x, y);
            builder.xor(sum, z)
        }
    };
    let circuit = builder.finish(vec![output]);
    let is_gate = |operation: &&Operation| matches!(operation, Operation::And { .. });
    let gates = circuit.operations.iter().filter(is_gate).count();
    assert_eq!(gates, GATES[kind]);
    Arc::new(circuit)
}

/// Bit number `place` of the number of each of 2^`bits` lanes.
fn enumerated(bits: usize, place: usize) -> Vec<u64> {
    let word = |word: usize| {
        let bit = |lane: usize| (((word << 6 | lane) >> place & 1) as u64) << lane;
        (0..64).map(bit).sum()
    };
    (0..n_words(1 << bits)).map(word).collect()
}

/// Everything that is drawn: three shares of each input, and the masks of each link, a plane for each gate.
struct Drawn {
    lanes: u32,
    shares: Vec<[Vec<u64>; 3]>,
    streams: [Vec<Vec<u64>>; 3],
}

/// The masks of the gates of a link, of which the first is given.
fn masks(masking: Masking, gates: usize, mask: impl Fn(usize) -> Vec<u64>) -> Vec<Vec<u64>> {
    let masks = (0..gates).map(|gate| match masking {
        Masking::Fresh => mask(gate),
        Masking::None => vec![0; mask(gate).len()],
        Masking::Repeated => mask(0),
    });
    masks.collect()
}

impl Drawn {
    /// The inputs, and all shares and masks that there can be.
    fn all(kind: usize, inputs: u64, masking: Masking) -> Self {
        let bits = 6 + 3 * GATES[kind];
        let shares = (0..3).map(|plane| {
            let value = vec![(inputs >> plane & 1).wrapping_neg(); n_words(1 << bits)];
            let [one, other] = [0, 1].map(|which| enumerated(bits, 2 * plane + which));
            let last = third_share(&value, &one, &other);
            [one, other, last]
        });
        let stream = |link: usize| {
            masks(masking, GATES[kind], |gate| {
                enumerated(bits, 6 + 3 * gate + link)
            })
        };
        Self {
            lanes: 1 << bits,
            shares: shares.collect(),
            streams: [0, 1, 2].map(stream),
        }
    }

    /// One sample of what trustee `place` has, and all masks that it lacks. Its third share follows from the inputs.
    fn sample(kind: usize, inputs: u64, masking: Masking, place: usize, sample: usize) -> Self {
        let bits = GATES[kind];
        let words = n_words(1 << bits);
        let random = |number: usize| {
            let bit = word(1000 * sample + number) & 1;
            vec![bit.wrapping_neg(); words]
        };
        let shares = (0..3).map(|plane| {
            let value = vec![(inputs >> plane & 1).wrapping_neg(); words];
            let mut shares = [const { Vec::new() }; 3];
            shares[place] = random(2 * plane);
            shares[(place + 1) % 3] = random(2 * plane + 1);
            shares[(place + 2) % 3] = third_share(&value, &shares[place], &shares[(place + 1) % 3]);
            shares
        });
        let stream = |link: usize| {
            masks(masking, GATES[kind], |gate| match link == (place + 2) % 3 {
                true => enumerated(bits, gate),
                false => random(6 + 3 * gate + link),
            })
        };
        Self {
            lanes: 1 << bits,
            shares: shares.collect(),
            streams: [0, 1, 2].map(stream),
        }
    }

    /// The output, and what trustee `place` sees in each lane, in ascending order: its shares, its masks, and what it
    /// received.
    fn views(&self, kind: usize, places: &[usize]) -> (u64, Vec<Vec<u64>>) {
        let circuit = circuit(kind, self.lanes);
        let mut each = hand_out(&self.shares).into_iter();
        let mut evaluations = TrusteeId::ALL.map(|trustee| {
            let pads = [trustee, trustee.next()].map(|link| self.streams[link.place()].clone());
            let inputs = each.next().expect("three");
            let scripted = Scripted { pads, at: 0 };
            Evaluation::new(Arc::clone(&circuit), trustee, scripted, inputs).expect("fits")
        });
        let (opened, received) = run(&mut evaluations);
        let views = places.iter().map(|place| {
            let own = [*place, (place + 1) % 3];
            let shares = self
                .shares
                .iter()
                .flat_map(|share| own.map(|of| &share[of][..]));
            let masks = own.into_iter().flat_map(|link| &self.streams[link]);
            let received = received[*place].chunks(n_words(self.lanes));
            let planes: Vec<&[u64]> = shares
                .chain(masks.map(Vec::as_slice))
                .chain(received)
                .collect();
            assert!(planes.len() <= 64, "a view is one word");
            let view = |lane: usize| {
                let bit = |plane: &&[u64]| plane[lane / 64] >> (lane % 64) & 1;
                planes.iter().fold(0, |view, plane| view << 1 | bit(plane))
            };
            let mut views: Vec<u64> = (0..self.lanes as usize).map(view).collect();
            views.sort_unstable();
            views
        });
        (opened[0][0] & 1, views.collect())
    }
}

/// Whether inputs with one output give the same views.
fn are_views_equal(views: impl Fn(u64) -> (u64, Vec<Vec<u64>>)) -> bool {
    let mut of_output = BTreeMap::new();
    (0..8).all(|inputs| {
        let (output, found) = views(inputs);
        *of_output.entry(output).or_insert_with(|| found.clone()) == found
    })
}

/// Whether no trustee's view tells inputs with one output apart, over all shares and masks.
fn is_secret(kind: usize, masking: Masking) -> bool {
    are_views_equal(|inputs| Drawn::all(kind, inputs, masking).views(kind, &[0, 1, 2]))
}

/// As [`is_secret`], for samples of what a trustee has, and over all that it lacks.
fn is_secret_in_samples(kind: usize, masking: Masking, samples: usize) -> bool {
    let cases = (0..samples).flat_map(|sample| [0, 1, 2].map(|place| (sample, place)));
    let mut cases = cases.into_iter();
    cases.all(|(sample, place)| {
        are_views_equal(|inputs| {
            Drawn::sample(kind, inputs, masking, place, sample).views(kind, &[place])
        })
    })
}

#[test]
fn a_trustee_sees_nothing_but_its_shares_and_the_outputs() {
    for kind in 0..4 {
        assert!(is_secret(kind, Masking::Fresh), "{} gates", GATES[kind]);
    }
    assert!(is_secret_in_samples(3, Masking::Fresh, 200));
    assert!(is_secret_in_samples(4, Masking::Fresh, 200));
}

#[test]
fn the_enumeration_finds_missing_and_repeated_masks() {
    for kind in 0..4 {
        assert!(!is_secret(kind, Masking::None));
        assert!(GATES[kind] == 1 || !is_secret(kind, Masking::Repeated));
    }
    for masking in [Masking::None, Masking::Repeated] {
        assert!(!is_secret_in_samples(4, masking, 200));
    }
}

/// Whether a trustee sees a bit that a client set after the last lane of the output, if `open` sends the shares.
fn is_spare_lane_seen(open: impl Fn(&Evaluation<Scripted>) -> Vec<u64>) -> bool {
    let builder = Builder::new([1]);
    let outputs = builder.inputs().collect();
    let circuit = Arc::new(builder.finish(outputs));
    let views = |value: u64| {
        let mut views = [const { BTreeMap::<[u64; 3], u32>::new() }; 3];
        for random in 0..16 {
            let (one, other) = (vec![random & 3], vec![random >> 2]);
            let last = third_share(&[value], &one, &other);
            let mut each = hand_out(&[[one, other, last]]).into_iter();
            let evaluations = TrusteeId::ALL.map(|trustee| {
                let inputs = each.next().expect("three");
                let scripted = Scripted::default();
                Evaluation::new(Arc::clone(&circuit), trustee, scripted, inputs).expect("fits")
            });
            for (place, views) in views.iter_mut().enumerate() {
                let (this, next) = (&evaluations[place], &evaluations[(place + 1) % 3]);
                let held = [&this.own, &this.next].map(|share| share.get(circuit.outputs()[0])[0]);
                *views.entry([held[0], held[1], open(next)[0]]).or_default() += 1;
            }
        }
        views
    };
    views(0b01) != views(0b11)
}

#[test]
fn an_opening_of_all_lanes_is_found() {
    assert!(!is_spare_lane_seen(Evaluation::opening));
    let all = |evaluation: &Evaluation<Scripted>| {
        let output = evaluation.circuit.outputs()[0];
        evaluation.next.get(output).to_vec()
    };
    assert!(is_spare_lane_seen(all));
}
