use super::*;

fn named(pairs: &[(u32, u32)], colluders: u32) -> Vec<u32> {
    let participation = Participation::new(20, 16, colluders).expect("legal");
    let wrong: Vec<_> = pairs
        .iter()
        .map(|(sender, owner)| WrongShare {
            sender: ClientId(*sender),
            owner: ClientId(*owner),
        })
        .collect();
    culprits(&wrong, participation)
        .into_iter()
        .map(|client| client.0)
        .collect()
}

#[test]
fn a_client_in_more_wrong_shares_than_there_are_liars_has_lied() {
    assert_eq!(named(&[(3, 4)], 0), [0; 0], "either of the two");
    assert_eq!(named(&[(3, 4), (3, 5)], 0), [3], "a sender");
    assert_eq!(named(&[(4, 3), (5, 3)], 1), [3], "an owner");
    // Two liars could frame a third client together, but not for a third share.
    assert_eq!(named(&[(3, 4), (3, 5)], 2), [0; 0]);
    assert_eq!(named(&[(3, 4), (3, 5), (6, 3)], 2), [3]);
}
