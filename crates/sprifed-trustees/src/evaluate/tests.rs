//! Three trustees compute what the clear circuit says, and what each of them sees depends on nothing
//! but its own inputs and the outputs: exactly, by enumeration.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::build::add_up::add_up;
use crate::build::greater::greater;
use crate::build::tournament::tournament;
use crate::builder::Builder;
use crate::clear::clear;
use crate::count::count;
use crate::streams::{Purpose, StepKey, StreamKey};

/// A word of masks for each gate: one stream for each link.
#[derive(Clone, Debug, Default)]
struct Scripted {
    pads: [Vec<u64>; 2],
    at: usize,
}

impl Masks for Scripted {
    fn begin_layer(&mut self, _layer: u64) {}

    fn mask(&mut self, gate: &mut [u64]) {
        for pads in &self.pads {
            gate[0] ^= pads[self.at];
        }
        self.at += 1;
    }

    fn mask_and_keep(&mut self, gate: &mut [u64], kept: [&mut [u64]; 2]) {
        for (kept, pads) in kept.into_iter().zip(&self.pads) {
            kept[0] = pads[self.at];
        }
        self.mask(gate);
    }
}

/// Writes down which words were used: (layer, place) of each call.
#[derive(Debug, Default)]
struct Register {
    layer: u64,
    place: usize,
    used: BTreeSet<(u64, usize)>,
}

impl Masks for Register {
    fn begin_layer(&mut self, layer: u64) {
        (self.layer, self.place) = (layer, 0);
    }

    fn mask(&mut self, gate: &mut [u64]) {
        for _ in gate {
            assert!(self.used.insert((self.layer, self.place)), "a word twice");
            self.place += 1;
        }
    }

    fn mask_and_keep(&mut self, gate: &mut [u64], _kept: [&mut [u64]; 2]) {
        self.mask(gate);
    }
}

/// The three evaluations in step: outputs, and all words that each trustee received.
fn run<P: Masks>(evaluations: &mut [Evaluation<P>; 3]) -> (Vec<Vec<u64>>, [Vec<u64>; 3]) {
    let mut received = [const { Vec::new() }; 3];
    loop {
        let turns = evaluations.each_mut().map(Evaluation::advance);
        let frames = turns.map(|turn| match turn {
            Turn::Exchange(frame) => Some(frame),
            Turn::Done => None,
        });
        if frames.iter().all(Option::is_none) {
            break;
        }
        for (place, evaluation) in evaluations.iter_mut().enumerate() {
            let frame = frames[(place + 1) % 3].as_ref().expect("one circuit");
            assert_eq!(frame.len(), evaluation.awaited_words());
            assert!(evaluation.receive(&frame[1..]).is_err(), "a short frame");
            evaluation.receive(frame).expect("fits");
            received[place].extend(frame);
        }
    }
    let openings = evaluations.each_ref().map(Evaluation::opening);
    let opened: Vec<_> = (0..3)
        .map(|place| {
            evaluations[place]
                .open(&openings[(place + 1) % 3])
                .expect("fits")
        })
        .collect();
    assert!(opened[0] == opened[1] && opened[1] == opened[2]);
    for (place, words) in received.iter_mut().enumerate() {
        words.extend(&openings[(place + 1) % 3]);
    }
    (opened[0].clone(), received)
}

fn share(planes: &[Vec<u64>], noise: impl Fn(usize, usize, usize) -> u64) -> [Vec<SharedPlane>; 3] {
    let shares: Vec<[Vec<u64>; 3]> = planes
        .iter()
        .enumerate()
        .map(|(number, plane)| {
            let random = |which| {
                (0..plane.len())
                    .map(|word| noise(number, which, word))
                    .collect()
            };
            let (one, other): (Vec<u64>, Vec<u64>) = (random(0), random(1));
            let both = plane.iter().zip(one.iter().zip(&other));
            let last = both
                .map(|(value, (one, other))| value ^ one ^ other)
                .collect();
            [one, other, last]
        })
        .collect();
    [0, 1, 2].map(|place| {
        let plane = |share: &[Vec<u64>; 3]| SharedPlane {
            own: share[place].clone(),
            next: share[(place + 1) % 3].clone(),
        };
        shares.iter().map(plane).collect()
    })
}

fn with_streams(circuit: &Arc<Circuit>, inputs: [Vec<SharedPlane>; 3]) -> [Evaluation; 3] {
    let keys = [1, 2, 3].map(|byte| StepKey::from_bytes([byte; 32]));
    let mut inputs = inputs.into_iter();
    TrusteeId::ALL.map(|trustee| {
        let key = |link: TrusteeId| StreamKey::new(&keys[link.place()], Purpose::Gates, &[9; 32]);
        let pads = Pads::new(key(trustee), key(trustee.next()));
        let inputs = inputs.next().expect("three");
        Evaluation::new(Arc::clone(circuit), trustee, pads, inputs).expect("fits")
    })
}

fn word(seed: usize) -> u64 {
    let mut word = (seed as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3 {
        word = (word ^ (word >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    word ^ (word >> 32)
}

fn circuits(lanes: u32) -> Vec<Arc<Circuit>> {
    let build = |widths: usize, make: &dyn Fn(&mut Builder, &[Plane]) -> Vec<Plane>| {
        let mut builder = Builder::new((0..widths).map(|_| lanes));
        let inputs: Vec<_> = builder.inputs().collect();
        let outputs = make(&mut builder, &inputs);
        Arc::new(builder.finish(outputs))
    };
    vec![
        build(20, &|builder, inputs| {
            let columns = inputs.chunks(5).map(<[Plane]>::to_vec).collect();
            add_up(builder, lanes, columns)
        }),
        build(12, &|builder, inputs| {
            let (one, other) = inputs.split_at(6);
            greater(builder, one, other).into_iter().collect()
        }),
        build(4, &|builder, inputs| {
            let half = lanes / 2;
            tournament(builder, inputs.to_vec(), &[2, half]).concat()
        }),
    ]
}

#[test]
fn three_trustees_compute_the_clear_circuit_and_send_what_was_counted() {
    for lanes in [2, 6, 64, 130] {
        for circuit in circuits(lanes) {
            let planes: Vec<Vec<u64>> = (0..circuit.n_inputs())
                .map(|plane| {
                    (0..n_words(lanes))
                        .map(|at| word(1000 * plane + at))
                        .collect()
                })
                .collect();
            let expected = clear(&circuit, planes.clone());
            let inputs = share(&planes, |plane, which, at| {
                word(7 + plane + 99 * which + 31 * at)
            });
            let (opened, received) = run(&mut with_streams(&circuit, inputs));
            let outputs = circuit.outputs().iter().zip(&expected);
            let expected: Vec<_> = outputs
                .map(|(plane, words)| clean(words, circuit.lanes(*plane)))
                .collect();
            assert_eq!(opened, expected, "{lanes} lanes");
            let opening: usize = expected.iter().map(Vec::len).sum();
            let sent = 8 * (received[0].len() - opening) as u64;
            assert_eq!(sent, count(&circuit).bytes);
        }
    }
}

#[test]
fn no_word_of_a_layer_masks_two_gates() {
    for circuit in circuits(130) {
        let planes = vec![vec![0; 3]; circuit.n_inputs()];
        let inputs = share(&planes, |_, _, _| 0);
        let mut inputs = inputs.into_iter();
        let mut evaluations = TrusteeId::ALL.map(|trustee| {
            let inputs = inputs.next().expect("three");
            let register = Register::default();
            Evaluation::new(Arc::clone(&circuit), trustee, register, inputs).expect("fits")
        });
        // Without masks the products are still right, and every word was asked for once.
        let _ = run(&mut evaluations);
        let used = evaluations[0].pads.used.len() as u64;
        assert_eq!(8 * used, count(&circuit).bytes);
    }
}

#[test]
fn streams_of_other_links_purposes_and_sets_are_other_streams() {
    let mut seen = BTreeSet::new();
    for link in [1, 2] {
        for purpose in [Purpose::Gates, Purpose::Deals] {
            for set in [[1; 32], [2; 32]] {
                for number in [0, 1] {
                    let key = StreamKey::new(&StepKey::from_bytes([link; 32]), purpose, &set);
                    let mut bytes = [0; 32];
                    key.stream(number).fill(&mut bytes);
                    assert!(seen.insert(bytes));
                }
            }
        }
    }
    assert_eq!(seen.len(), 16);
}

/// How a planted mistake uses the masks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Masking {
    Fresh,
    None,
    /// Every gate of a link has the same mask.
    Repeated,
}

/// Circuits of one lane: a carry (one gate), a product of three (two gates in two layers), and two
/// products with a common factor (two gates in one layer).
fn small() -> Vec<Arc<Circuit>> {
    let mut all = Vec::new();
    for kind in 0..3 {
        let mut builder = Builder::new([1, 1, 1]);
        let inputs: Vec<_> = builder.inputs().collect();
        let (x, y, z) = (inputs[0], inputs[1], inputs[2]);
        let outputs = match kind {
            0 => {
                let (left, right) = (builder.xor(x, z), builder.xor(y, z));
                let both = builder.and(left, right);
                vec![builder.xor(both, z)]
            }
            1 => {
                let both = builder.and(x, y);
                vec![builder.and(both, z)]
            }
            _ => {
                let (one, other) = (builder.and(x, y), builder.and(x, z));
                vec![builder.xor(one, other)]
            }
        };
        all.push(Arc::new(builder.finish(outputs)));
    }
    all
}

type View = Vec<u64>;

/// How often each trustee has each view, over all shares and masks, for these inputs.
fn views(circuit: &Arc<Circuit>, inputs: u64, masking: Masking) -> (u64, [BTreeMap<View, u32>; 3]) {
    let gates = usize::try_from(count(circuit).gates).expect("few");
    let planes: Vec<_> = (0..3).map(|bit| vec![(inputs >> bit) & 1]).collect();
    let mut found = [const { BTreeMap::new() }; 3];
    let mut output = 0;
    for random in 0..1u64 << (6 + 3 * gates) {
        let bit = |place: usize| (random >> place) & 1;
        let shares = share(&planes, |plane, which, _| bit(2 * plane + which));
        let stream = |link: TrusteeId| -> Vec<u64> {
            let mask = |gate: usize| match masking {
                Masking::Fresh => bit(6 + 3 * gate + link.place()),
                Masking::None => 0,
                Masking::Repeated => bit(6 + link.place()),
            };
            (0..gates).map(mask).collect()
        };
        let mut each = shares.clone().into_iter();
        let mut evaluations = TrusteeId::ALL.map(|trustee| {
            let pads = [stream(trustee), stream(trustee.next())];
            let inputs = each.next().expect("three");
            let scripted = Scripted { pads, at: 0 };
            Evaluation::new(Arc::clone(circuit), trustee, scripted, inputs).expect("fits")
        });
        let (opened, received) = run(&mut evaluations);
        output = opened[0][0];
        for trustee in TrusteeId::ALL {
            let place = trustee.place();
            let mut view: View = shares[place]
                .iter()
                .flat_map(|plane| [plane.own[0], plane.next[0]])
                .collect();
            view.extend(stream(trustee));
            view.extend(stream(trustee.next()));
            view.extend(received[place].iter().map(|word| word & 1));
            *found[place].entry(view).or_default() += 1;
        }
    }
    (output, found)
}

/// Whether no trustee's view tells inputs with one output apart.
fn is_secret(circuit: &Arc<Circuit>, masking: Masking) -> bool {
    let mut of_output: BTreeMap<u64, [BTreeMap<View, u32>; 3]> = BTreeMap::new();
    for inputs in 0..8 {
        let (output, found) = views(circuit, inputs, masking);
        if *of_output.entry(output).or_insert_with(|| found.clone()) != found {
            return false;
        }
    }
    true
}

#[test]
fn a_trustee_sees_nothing_but_its_shares_and_the_outputs() {
    for circuit in small() {
        assert!(is_secret(&circuit, Masking::Fresh));
    }
}

#[test]
fn the_enumeration_finds_missing_and_repeated_masks() {
    for circuit in small() {
        assert!(!is_secret(&circuit, Masking::None));
        if count(&circuit).gates > 1 {
            assert!(!is_secret(&circuit, Masking::Repeated));
        }
    }
}

#[test]
fn only_the_lanes_of_outputs_are_opened() {
    let builder = Builder::new([3]);
    let outputs = builder.inputs().collect();
    let circuit = Arc::new(builder.finish(outputs));
    // A client may set bits after the last lane; they stay closed.
    let inputs = share(&[vec![0b1111_0101]], |_, which, _| word(which));
    let (opened, received) = run(&mut with_streams(&circuit, inputs));
    assert_eq!(opened, [[0b101]]);
    assert!(received.iter().flatten().all(|word| *word <= 0b111));
}
