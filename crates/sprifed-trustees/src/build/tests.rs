use proptest::prelude::*;

use crate::build::add_up::add_up;
use crate::build::greater::greater;
use crate::build::group_sizes::{Link, group_sizes};
use crate::build::prefix_add::prefix_add;
use crate::build::tournament::tournament;
use crate::builder::Builder;
use crate::circuit::{Circuit, Plane};
use crate::clear::clear;
use crate::count::count;
use crate::lane_order::LaneOrder;
use crate::lanes::{from_planes, to_planes};

/// A builder with numbers of these widths as inputs, and their planes.
fn inputs(lanes: u32, widths: &[u32]) -> (Builder, Vec<Vec<Plane>>) {
    let all: u32 = widths.iter().sum();
    let builder = Builder::new((0..all).map(|_| lanes));
    let mut planes = builder.inputs();
    let split = |width: &u32| planes.by_ref().take(*width as usize).collect();
    let numbers = widths.iter().map(split).collect();
    (builder, numbers)
}

fn run(circuit: &Circuit, numbers: &[(Vec<u64>, u32)]) -> Vec<Vec<u64>> {
    let planes = numbers
        .iter()
        .flat_map(|(numbers, bits)| to_planes(numbers, *bits));
    clear(circuit, planes.collect())
}

fn lanes_of<T>(numbers: &[T]) -> u32 {
    u32::try_from(numbers.len()).expect("few")
}

fn below(bits: u32) -> u64 {
    (1 << bits) - 1
}

#[test]
fn adders_have_the_gates_and_rounds_that_are_documented() {
    for (bits, gates) in [(16, 57), (24, 97), (40, 193)] {
        let (mut builder, numbers) = inputs(1, &[bits, bits]);
        let columns: Vec<_> = numbers[0]
            .iter()
            .zip(&numbers[1])
            .map(|(one, other)| [Some(*one), Some(*other)])
            .collect();
        let sum = prefix_add(&mut builder, 1, &columns);
        let cost = count(&builder.finish(sum));
        assert_eq!(cost.gates, gates, "{bits} bits");
        assert_eq!(cost.rounds, 1 + (bits - 1).next_power_of_two().ilog2());
    }
}

#[test]
fn comparisons_have_the_gates_and_rounds_that_are_documented() {
    for bits in 1..=40u32 {
        let (mut builder, numbers) = inputs(1, &[bits, bits]);
        let is_greater = greater(&mut builder, &numbers[0], &numbers[1]).expect("bits");
        let cost = count(&builder.finish(vec![is_greater]));
        let merges = bits.next_power_of_two().ilog2();
        assert_eq!(cost.gates, u64::from(3 * bits - 2 - merges), "{bits} bits");
        assert_eq!(cost.rounds, 1 + merges);
    }
}

#[test]
fn one_and_is_needed_for_each_plane_that_adding_up_removes() {
    let (clients, bits, columns) = (400, 7, 16);
    let widths = vec![bits; clients];
    let (mut builder, numbers) = inputs(1, &widths);
    let mut weights = vec![Vec::new(); columns];
    for number in &numbers {
        for (column, plane) in weights.iter_mut().zip(number) {
            column.push(*plane);
        }
    }
    let sum = add_up(&mut builder, 1, weights);
    let cost = count(&builder.finish(sum));
    let planes = 7 * 400;
    assert!(cost.gates < planes + 60, "{cost:?}");
    assert!(cost.rounds <= 22, "{cost:?}");
}

#[test]
fn groups_of_two_need_more_rounds_than_the_planned_ones() {
    let sizes = group_sizes(100_000, 40, Link::default());
    let product: u64 = sizes.iter().map(|size| u64::from(*size)).product();
    assert!((100_000..101_000).contains(&product), "{sizes:?}");
    assert!(sizes.len() <= 7, "{sizes:?}");
    let slow = group_sizes(100_000, 40, Link { bits_per_round: 0 });
    assert!(slow.iter().all(|size| *size <= 3), "{slow:?}");
    assert!(group_sizes(1, 40, Link::default()).is_empty());
}

#[test]
fn lanes_are_a_permutation_and_digits_give_the_candidate_back() {
    for (candidates, sizes) in [(1, vec![]), (7, vec![2, 4]), (60, vec![3, 4, 5])] {
        let order = LaneOrder::new(candidates, sizes).expect("legal");
        let mut lanes: Vec<_> = (0..candidates).map(|one| order.lane(one)).collect();
        lanes.sort_unstable();
        lanes.dedup();
        assert_eq!(lanes.len(), candidates as usize);
        for candidate in 0..candidates {
            let mut rest = candidate;
            let digits: Vec<_> = order
                .sizes()
                .iter()
                .map(|size| {
                    let digit = u64::from(rest % size);
                    rest /= size;
                    digit
                })
                .collect();
            assert_eq!(order.candidate(&digits), u64::from(candidate));
        }
    }
    assert_eq!(LaneOrder::new(5, vec![2, 2]), None);
    assert_eq!(LaneOrder::new(0, vec![]), None);
    assert_eq!(LaneOrder::new(1, vec![1]), None);
}

fn vectors(lanes: usize, bits: u32) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(0..=below(bits), lanes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn adding_up_is_addition_modulo_a_power_of_two(
        (bits, numbers) in (1..12u32, 1..130usize, 1..20usize).prop_flat_map(|(bits, lanes, many)| {
            let numbers = (1..=bits).prop_flat_map(move |width| (vectors(lanes, width), Just(width)));
            (Just(bits), prop::collection::vec(numbers, many))
        }),
    ) {
        let lanes = lanes_of(&numbers[0].0);
        let widths: Vec<_> = numbers.iter().map(|(_, width)| *width).collect();
        let (mut builder, planes) = inputs(lanes, &widths);
        let mut columns = vec![Vec::new(); bits as usize];
        for number in &planes {
            for (column, plane) in columns.iter_mut().zip(number) {
                column.push(*plane);
            }
        }
        let sum = add_up(&mut builder, lanes, columns);
        let circuit = builder.finish(sum);
        let found = from_planes(&run(&circuit, &numbers), lanes);
        for (lane, found) in found.iter().enumerate() {
            let sum: u64 = numbers.iter().map(|(number, _)| number[lane]).sum();
            prop_assert_eq!(*found, sum & below(bits));
        }
    }

    #[test]
    fn a_comparison_is_strict(
        (bits, one, other) in (1..20u32, 1..150usize)
            .prop_flat_map(|(bits, lanes)| (Just(bits), vectors(lanes, bits), vectors(lanes, bits))),
    ) {
        let lanes = lanes_of(&one);
        let (mut builder, planes) = inputs(lanes, &[bits, bits]);
        let plane = greater(&mut builder, &planes[0], &planes[1]).expect("bits");
        let circuit = builder.finish(vec![plane]);
        let found = from_planes(&run(&circuit, &[(one.clone(), bits), (other.clone(), bits)]), lanes);
        for ((one, other), found) in one.iter().zip(&other).zip(found) {
            prop_assert_eq!(found == 1, one > other);
        }
    }

    #[test]
    fn a_tournament_finds_the_first_of_the_largest(
        (bits, sizes, numbers) in (1..7u32, prop::collection::vec(2..7u32, 1..4))
            .prop_flat_map(|(bits, sizes)| {
                let lanes: u32 = sizes.iter().product();
                (1..=lanes as usize).prop_flat_map(move |candidates| {
                    (Just(bits), Just(sizes.clone()), vectors(candidates, bits))
                })
            }),
    ) {
        let order = LaneOrder::new(lanes_of(&numbers), sizes.clone()).expect("legal");
        let (mut builder, planes) = inputs(order.lanes(), &[bits]);
        let digits = tournament(&mut builder, planes[0].clone(), &sizes);
        let widths: Vec<_> = digits.iter().map(Vec::len).collect();
        let circuit = builder.finish(digits.concat());
        let opened = run(&circuit, &[(order.arrange(&numbers), bits)]);
        let mut rest = opened.as_slice();
        let digits: Vec<_> = widths.iter().map(|width| {
            let (digit, after) = rest.split_at(*width);
            rest = after;
            from_planes(digit, 1)[0]
        }).collect();
        let largest = numbers.iter().max().expect("one");
        let first = numbers.iter().position(|number| number == largest).expect("there");
        prop_assert_eq!(order.candidate(&digits), first as u64);
    }
}
