use sprifed_privacy::Participation;

use super::*;

fn graph(n_clients: u32, neighbours: u32) -> Graph {
    let participation = Participation::new(n_clients, n_clients, 0).expect("legal");
    let parameters = Parameters::assume_sufficient(participation, neighbours, 1).expect("legal");
    Graph::new(n_clients, parameters, &[3; 32])
}

#[test]
fn neighbours_are_mutual_and_slots_are_their_places() {
    for (n_clients, neighbours) in [(2, 1), (5, 4), (11, 4), (50, 48), (255, 254), (300, 30)] {
        let graph = graph(n_clients, neighbours);
        for client in (0..n_clients).map(ClientId) {
            let around: Vec<_> = graph.neighbours(client).collect();
            assert_eq!(around.len(), neighbours as usize);
            for (slot, other) in (0..).zip(&around) {
                assert_eq!(graph.slot(client, *other), Some(slot));
                assert!(graph.slot(*other, client).is_some(), "mutual");
            }
            let strangers = (0..n_clients)
                .map(ClientId)
                .filter(|other| !around.contains(other));
            assert!(
                strangers
                    .into_iter()
                    .all(|other| graph.slot(client, other).is_none())
            );
        }
    }
}

#[test]
fn a_run_without_survivors_is_a_gap() {
    let graph = graph(40, 6);
    let mut present = ClientSet::empty(40);
    let order = graph.ring.as_ref().expect("a ring").order.clone();
    present.extend(order.iter().copied().skip(3));
    assert!(
        !graph.holds_together(&present, 1),
        "three in a row are gone"
    );
    present.insert(*order.get(1).expect("forty clients"));
    assert!(graph.holds_together(&present, 1));
    assert!(!graph.holds_together(&present, 2));
}

#[test]
fn another_seed_gives_another_ring() {
    let participation = Participation::new(300, 300, 0).expect("legal");
    let parameters = Parameters::assume_sufficient(participation, 30, 1).expect("legal");
    assert_ne!(
        Graph::new(300, parameters, &[3; 32]),
        Graph::new(300, parameters, &[4; 32])
    );
}
