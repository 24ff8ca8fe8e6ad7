//! Three trustees compute what the clear circuit says.

use std::collections::BTreeSet;

use super::*;
use crate::build::add_up::add_up;
use crate::build::greater::greater;
use crate::build::tournament::tournament;
use crate::builder::Builder;
use crate::clear::clear;
use crate::count::count;
use crate::streams::{Purpose, StepKey, StreamKey};

mod secrecy;

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
    let shares: Vec<_> = planes
        .iter()
        .enumerate()
        .map(|(number, plane)| {
            let random = |which| {
                (0..plane.len())
                    .map(|word| noise(number, which, word))
                    .collect()
            };
            let (one, other): (Vec<u64>, Vec<u64>) = (random(0), random(1));
            let last = third_share(plane, &one, &other);
            [one, other, last]
        })
        .collect();
    hand_out(&shares)
}

/// What makes two shares of a plane three.
fn third_share(plane: &[u64], one: &[u64], other: &[u64]) -> Vec<u64> {
    let both = plane.iter().zip(one.iter().zip(other));
    both.map(|(value, (one, other))| value ^ one ^ other)
        .collect()
}

/// The planes of each trustee, from all three shares.
fn hand_out(shares: &[[Vec<u64>; 3]]) -> [Vec<SharedPlane>; 3] {
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
