use super::*;

fn choose(clients: u32, quorum: u32, colluders: u32) -> Result<Parameters, NoParameters> {
    Parameters::choose(Participation::new(clients, quorum, colluders).expect("legal"))
}

#[test]
fn few_clients_all_mask_with_each_other() {
    for (clients, quorum, colluders) in [
        (2, 2, 0),
        (3, 2, 0),
        (3, 3, 1),
        (5, 4, 1),
        (20, 14, 3),
        (40, 30, 2),
    ] {
        let parameters = choose(clients, quorum, colluders).expect("exists");
        assert!(parameters.is_complete(clients));
        assert!(
            parameters.threshold() > colluders,
            "colluders alone open nothing"
        );
        assert!(parameters.threshold() < quorum, "a quorum opens everything");
    }
}

#[test]
fn one_honest_client_needs_all_others() {
    for clients in [2, 3, 7, 255] {
        let parameters = choose(clients, clients, clients - 1).expect("exists");
        assert!(parameters.is_complete(clients));
        assert_eq!(parameters.threshold(), clients - 1);
        assert_eq!(parameters.least_in_window(), clients);
        assert_eq!(parameters.confirmations(), clients);
    }
    // A client that may be missing could get another survivor set.
    assert!(matches!(
        choose(3, 2, 1),
        Err(NoParameters::QuorumTooSmall { required: 3, .. })
    ));
}

#[test]
fn colluders_never_fill_a_neighbourhood_of_the_complete_graph() {
    for clients in 2..=COMPLETE_GRAPH_UP_TO {
        for colluders in 0..clients - 1 {
            let Ok(parameters) = choose(clients, clients, colluders) else {
                continue;
            };
            assert!(parameters.threshold() > colluders, "{parameters:?}");
            assert!(parameters.least_in_window() > colluders, "{parameters:?}");
        }
    }
}

#[test]
fn many_clients_have_few_neighbours() {
    let mut last = 0;
    for clients in [100, 600, 1100, 2100, 8000] {
        let parameters = choose(clients, clients * 4 / 5, clients / 20).expect("exists");
        assert!(!parameters.is_complete(clients), "{clients}");
        assert!(
            parameters.neighbours() > last && parameters.neighbours() < 200,
            "{parameters:?}"
        );
        last = parameters.neighbours();
    }
}

#[test]
fn chosen_numbers_keep_their_promises_with_the_stated_probability() {
    for (clients, quorum, colluders) in [(100, 80, 5), (600, 420, 30), (8000, 6400, 400)] {
        let parameters = choose(clients, quorum, colluders).expect("exists");
        let factorials = LogFactorials::up_to(clients);
        let union = f64::from(clients).ln();
        let (around, half) = (parameters.neighbours(), parameters.neighbours() / 2);
        let opened =
            factorials.log_upper_tail(clients - 1, colluders, around, parameters.threshold());
        let cut = factorials.log_upper_tail(clients, colluders, half, parameters.least_in_window());
        let dropouts = clients - quorum;
        let lost = around - parameters.threshold() + 1;
        let stuck = factorials.log_upper_tail(clients - 1, dropouts, around, lost);
        let gap = half - parameters.least_in_window() + 1;
        let gap = factorials.log_upper_tail(clients, dropouts, half, gap);
        for event in [opened, cut, stuck, gap] {
            assert!(
                event + union <= LOG_GRAPH_FAILURE,
                "{parameters:?}: {event}"
            );
        }
    }
}

#[test]
fn a_quorum_that_two_survivor_sets_could_reach_is_refused_with_the_least_allowed_one() {
    let refused = choose(100, 52, 5).expect_err("too small");
    let expected = NoParameters::QuorumTooSmall {
        quorum: 52,
        clients: 100,
        colluders: 5,
        required: 53,
    };
    assert_eq!(refused, expected);
    assert!(choose(100, 53, 5).is_ok());
}

#[test]
fn impossible_requests_are_refused_with_an_explanation() {
    let refused = choose(3000, 2400, 1500).expect_err("half of them collude");
    assert!(matches!(
        refused,
        NoParameters::NoGraph {
            clients: 3000,
            colluders: 1500,
            ..
        }
    ));
    assert!(refused.to_string().contains("tolerate fewer"), "{refused}");
}
