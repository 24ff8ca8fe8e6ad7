use proptest::prelude::*;
use sprifed_crypto::identity::ClientId;

use super::*;
use crate::clear::clear;
use crate::count::count;
use crate::step::{Output, Step, SumStep};

const WIDTH: u32 = 6;

/// A sum of four coordinates with verified norms of the first and of the last two, for so many clients.
fn step(squares: &[[u128; 2]]) -> Step {
    let clients = squares.len();
    let of_block = |block: usize| squares.iter().map(|one| one[block]).collect();
    let norms = vec![
        NormBlock {
            coordinates: 0..1,
            squares: of_block(0),
        },
        NormBlock {
            coordinates: 2..4,
            squares: of_block(1),
        },
    ];
    let sum = SumStep::new(4, vec![WIDTH; clients], 16).expect("legal");
    Step::Sum(sum.with_norms(norms).expect("legal"))
}

fn ids(clients: usize) -> Vec<ClientId> {
    (0..).map(ClientId).take(clients).collect()
}

/// Which clients the clear circuit finds outside.
fn found(step: &Step, numbers: &[[i64; 4]]) -> Vec<usize> {
    let clients = ids(numbers.len());
    let circuit = step.norm_circuit(&clients).expect("clients");
    let shared = |(client, numbers): (&ClientId, &[i64; 4])| {
        let planes = step.contribution(*client, numbers).expect("fits");
        let shared = |own: Vec<u64>| SharedPlane {
            next: vec![0; own.len()],
            own,
        };
        planes.into_iter().map(shared).collect()
    };
    let planes: Vec<Vec<SharedPlane>> = clients.iter().zip(numbers).map(shared).collect();
    let inputs = step.norm_inputs(&clients, &planes);
    let opened = clear(
        &circuit,
        inputs.into_iter().map(|plane| plane.own.clone()).collect(),
    );
    outside(&opened[0], clients.len())
}

/// The sums of the clear circuit, without noise.
fn sums(step: &Step, clients: &[(ClientId, [i64; 4])]) -> Output {
    let of = clients
        .iter()
        .map(|(client, _)| *client)
        .collect::<Vec<_>>();
    let circuit = step.circuit(&of).expect("planned");
    let mut inputs = Vec::new();
    for (client, numbers) in clients {
        inputs.extend(step.contribution(*client, numbers).expect("fits"));
    }
    for _ in 0..3 {
        inputs.extend(step.noise_planes(&[0; 4]).expect("fits"));
    }
    step.output(&clear(&circuit, inputs)).expect("sums")
}

fn norms(numbers: &[i64; 4]) -> [u128; 2] {
    let square = |number: i64| u128::from(number.unsigned_abs()).pow(2);
    [square(numbers[0]), square(numbers[2]) + square(numbers[3])]
}

fn numbers() -> impl Strategy<Value = [i64; 4]> {
    let number = || prop_oneof![-31..=31i64, Just(0), Just(31), Just(-31)];
    [number(), number(), number(), number()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// A client at its bound is inside, one unit beyond it in either block is outside, and the sum of the others is
    /// exact.
    #[test]
    fn clients_at_their_bounds_pass_and_one_unit_beyond_fails(
        all in prop::collection::vec((numbers(), 0..3usize), 1..70),
    ) {
        let sent: Vec<_> = all.iter().map(|(numbers, _)| *numbers).collect();
        // 0: at its bounds; 1, 2: one unit beyond that of a block, if there is room below.
        let bounds: Vec<_> = all
            .iter()
            .map(|(numbers, beyond)| {
                let mut bounds = norms(numbers);
                if let Some(bound) = beyond.checked_sub(1).and_then(|block| bounds.get_mut(block)) {
                    *bound = bound.saturating_sub(1);
                }
                bounds
            })
            .collect();
        let step = step(&bounds);
        let is_outside = |place: &usize| norms(&sent[*place]).iter().zip(bounds[*place]).any(|(norm, bound)| *norm > bound);
        let expected: Vec<_> = (0..sent.len()).filter(is_outside).collect();
        let outside = found(&step, &sent);
        prop_assert_eq!(&outside, &expected);
        let rest: Vec<_> = ids(sent.len())
            .into_iter()
            .zip(sent.iter().copied())
            .filter(|(client, _)| !outside.contains(&(client.0 as usize)))
            .collect();
        let total = |at: usize| rest.iter().map(|(_, numbers)| numbers[at]).sum::<i64>();
        prop_assert_eq!(sums(&step, &rest), Output::Sums((0..4).map(total).collect()));
    }
}

#[test]
fn every_number_of_a_small_width_has_its_square() {
    for number in -31..=31i64 {
        let square = u128::from(number.unsigned_abs()).pow(2);
        let is_inside =
            |bound: u128| found(&step(&[[bound, u128::MAX]]), &[[number, 5, 31, -31]]).is_empty();
        assert!(is_inside(square), "{number}");
        assert!(number == 0 || !is_inside(square - 1), "{number}");
    }
}

/// A client may set any bits: a negative zero is zero, and the largest magnitude has the largest norm.
#[test]
fn any_bits_are_numbers_of_the_width() {
    let step = step(&[[0, 2 * 31 * 31]]);
    let circuit = step.circuit(&ids(1)).expect("planned");
    // Magnitude 0 with a sign in coordinate 0, all bits in the others.
    let mut inputs = vec![vec![0b1110u64]; 5];
    inputs.push(vec![0b1111]);
    let planes = inputs
        .iter()
        .map(|own| SharedPlane {
            own: own.clone(),
            next: vec![0],
        })
        .collect();
    let opened = clear(
        &step.norm_circuit(&ids(1)).expect("a client"),
        step.norm_inputs(&ids(1), &[planes])
            .into_iter()
            .map(|plane| plane.own.clone())
            .collect(),
    );
    assert_eq!(outside(&opened[0], 1), Vec::<usize>::new());
    for _ in 0..3 {
        inputs.extend(step.noise_planes(&[0; 4]).expect("fits"));
    }
    let output = step.output(&clear(&circuit, inputs));
    assert_eq!(output, Some(Output::Sums(vec![0, -31, -31, -31])));
}

#[test]
fn clients_of_different_widths_have_their_own_bounds() {
    let norms = vec![NormBlock {
        coordinates: 0..2,
        squares: vec![100 * 100 + 1, 3 * 3, 0],
    }];
    let sum = SumStep::new(2, vec![8, 3, 1], 16)
        .expect("legal")
        .with_norms(norms);
    let step = Step::Sum(sum.expect("legal"));
    assert!(step.is_proved());
    let planes: Vec<Vec<SharedPlane>> = [[100, -1], [3, 1], [0, 0]]
        .iter()
        .zip(ids(3))
        .map(|(numbers, client)| {
            let planes = step.contribution(client, numbers).expect("fits");
            planes
                .into_iter()
                .map(|own| SharedPlane { own, next: vec![0] })
                .collect()
        })
        .collect();
    let inputs = step.norm_inputs(&ids(3), &planes);
    let circuit = step.norm_circuit(&ids(3)).expect("clients");
    let opened = clear(
        &circuit,
        inputs.into_iter().map(|plane| plane.own.clone()).collect(),
    );
    assert_eq!(outside(&opened[0], 3), [1]);
    assert!(
        step.contribution(ClientId(1), &[4, 0]).is_err(),
        "the width is the range check"
    );
    assert!(step.contribution(ClientId(1), &[i64::MIN, 0]).is_err());
}

#[test]
fn a_norm_costs_about_the_square_of_the_width_for_each_coordinate() {
    let norms = vec![NormBlock {
        coordinates: 0..231,
        squares: vec![1 << 30; 64],
    }];
    let sum = SumStep::new(231, vec![17; 64], 40)
        .expect("legal")
        .with_norms(norms);
    let circuit = Step::Sum(sum.expect("legal"))
        .norm_circuit(&ids(64))
        .expect("clients");
    let cost = count(&circuit);
    let of_client = cost.gates / 64;
    assert!(
        (50_000..62_000).contains(&of_client),
        "{of_client} gates a client"
    );
    assert!(cost.rounds < 50, "{cost:?}");
}

#[test]
fn blocks_that_the_sum_does_not_have_are_refused() {
    use crate::step::IllegalStep;
    let sum = || SumStep::new(4, vec![WIDTH; 2], 16).expect("legal");
    for (coordinates, clients) in [(0..5, 2), (3..3, 2), (0..4, 1)] {
        let squares = vec![1; clients];
        let norms = vec![NormBlock {
            coordinates,
            squares,
        }];
        assert_eq!(sum().with_norms(norms), Err(IllegalStep::Norms));
    }
}
