use proptest::prelude::*;

use super::*;
use crate::clear::clear;

/// The choice in plain integers.
fn chosen(contributions: &[Vec<i64>], noise: &[Vec<i64>]) -> u32 {
    let score = |candidate: usize| {
        let sum: i64 = contributions.iter().map(|numbers| numbers[candidate]).sum();
        let noise: i64 = noise.iter().map(|numbers| numbers[candidate]).sum();
        sum.max(-sum - 1) + noise
    };
    let scores: Vec<_> = (0..noise[0].len()).map(score).collect();
    let largest = scores.iter().max().expect("one");
    let first = scores.iter().position(|score| score == largest);
    u32::try_from(first.expect("there")).expect("few")
}

fn opened(step: &Step, contributions: &[Vec<i64>], noise: &[Vec<i64>]) -> Option<Output> {
    let clients: Vec<_> = (0..).map(ClientId).take(contributions.len()).collect();
    let circuit = step.circuit(&clients).expect("known clients");
    let sent = clients.iter().zip(contributions);
    let planes =
        sent.flat_map(|(client, numbers)| step.contribution(*client, numbers).expect("fits"));
    let noise = noise
        .iter()
        .flat_map(|numbers| step.noise_planes(numbers).expect("fits"));
    step.output(&clear(&circuit, planes.chain(noise).collect()))
}

#[test]
fn sizes_are_those_of_the_plan() {
    let step = ChoiceStep::new(100, vec![7; 400], 14, Link::default()).expect("legal");
    assert_eq!(sum_bits(&step.client_bits), Ok(16));
    assert_eq!(score_bits(16, 14), 17);
    assert!(ChoiceStep::new(0, vec![7], 4, Link::default()).is_err());
    assert!(ChoiceStep::new(5, vec![0], 4, Link::default()).is_err());
    assert!(ChoiceStep::new(5, vec![62, 62], 4, Link::default()).is_err());
    assert!(ChoiceStep::new((1 << 24) + 1, vec![1], 4, Link::default()).is_err());
    assert!(SumStep::new(3, vec![9], 8).is_err());
}

#[test]
fn a_number_outside_its_width_is_refused_and_no_bits_can_express_it() {
    let step = Step::Choice(ChoiceStep::new(2, vec![3], 4, Link::default()).expect("legal"));
    assert!(step.contribution(ClientId(0), &[-4, 3]).is_ok());
    for numbers in [[4, 0], [0, -5]] {
        let refused = step.contribution(ClientId(0), &numbers);
        assert_eq!(refused, Err(IllegalStep::Range { bits: 3 }));
    }
    assert!(step.contribution(ClientId(0), &[1]).is_err());
    assert!(step.contribution(ClientId(1), &[0, 0]).is_err());
    assert!(step.noise_planes(&[16, 0]).is_err() && step.noise_planes(&[-1, 0]).is_err());
    let of_a_sum = DealtNoise::scripted(PaidFor::Sum, &[0, 0]);
    assert_eq!(step.noise(&of_a_sum), Err(IllegalStep::OtherNoise));
}

#[test]
fn the_score_moves_by_at_most_one_when_the_sum_does_on_the_whole_cycle() {
    for bits in 1..=8u32 {
        let half = 1i64 << (bits - 1);
        let score = |sum: i64| sum.max(-sum - 1);
        for sum in -half..half {
            let next = if sum + 1 == half { -half } else { sum + 1 };
            assert!((score(next) - score(sum)).abs() <= 1, "{bits} bits, {sum}");
        }
    }
}

fn contributions(
    bits: u32,
    clients: usize,
    numbers: usize,
) -> impl Strategy<Value = Vec<Vec<i64>>> {
    let half = 1i64 << (bits - 1);
    prop::collection::vec(prop::collection::vec(-half..half, numbers), clients)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Few bits and little noise: most instances have ties.
    #[test]
    fn a_choice_is_that_of_plain_integers(
        (bits, contributions, noise) in (1..4u32, 0..6usize, 1..90usize).prop_flat_map(|(bits, clients, p)| {
            let noise = prop::collection::vec(prop::collection::vec(0..4i64, p), 3);
            (Just(bits), contributions(bits, clients, p), noise)
        }),
    ) {
        let candidates = u32::try_from(noise[0].len()).expect("few");
        let widths = vec![bits; contributions.len().max(1)];
        let step = ChoiceStep::new(candidates, widths, 2, Link::default()).expect("legal");
        let expected = Output::Index(chosen(&contributions, &noise));
        prop_assert_eq!(opened(&Step::Choice(step), &contributions, &noise), Some(expected));
    }

    #[test]
    fn a_sum_is_that_of_plain_integers_modulo_a_power_of_two(
        (contributions, noise) in (0..5usize, 1..70usize).prop_flat_map(|(clients, d)| {
            let noise = prop::collection::vec(prop::collection::vec(-300..300i64, d), 3);
            (contributions(5, clients, d), noise)
        }),
    ) {
        let coordinates = u32::try_from(noise[0].len()).expect("few");
        let step = Step::Sum(SumStep::new(coordinates, vec![5; contributions.len()], 9).expect("legal"));
        let sums = (0..noise[0].len()).map(|place| {
            let all = contributions.iter().chain(&noise);
            let sum: i64 = all.map(|numbers| numbers[place]).sum();
            (sum + 256).rem_euclid(512) - 256
        });
        prop_assert_eq!(opened(&step, &contributions, &noise), Some(Output::Sums(sums.collect())));
    }
}

#[test]
fn a_large_choice_sends_no_more_than_was_planned() {
    for (clients, bits, noise_bits, most_bytes, most_rounds) in
        [(400, 7, 14, 45_000_000, 90), (1, 40, 24, 8_000_000, 75)]
    {
        let step = ChoiceStep::new(100_000, vec![bits; clients], noise_bits, Link::default());
        let step = Step::Choice(step.expect("legal"));
        let clients: Vec<_> = (0..).map(ClientId).take(clients).collect();
        let cost = crate::count::count(&step.circuit(&clients).expect("known clients"));
        assert!(cost.bytes <= most_bytes, "{cost:?}");
        assert!(cost.rounds <= most_rounds, "{cost:?}");
    }
}
