use super::*;
use crate::streams::{Purpose, StepKey, StreamKey};

const ATTEMPT: AttemptId = AttemptId {
    study: [1; 32],
    step: 2,
    attempt: 3,
    transcript: [4; 32],
};

/// A list with the uploads of these clients.
fn list(fresh: u8, clients: &[(u32, u8)]) -> UploadList {
    let uploads = clients.iter();
    UploadList {
        fresh: [fresh; 32],
        uploads: uploads
            .map(|(client, digest)| (ClientId(*client), [*digest; 32]))
            .collect(),
    }
}

fn lists() -> [UploadList; 3] {
    [1, 2, 3].map(|fresh| list(fresh, &[(0, 7), (2, 8), (5, 9)]))
}

/// The bytes of a list with these clients in this order.
fn bytes(clients: &[u32]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.put(&[1; 32]).len(clients.len());
    for client in clients {
        writer.number(*client).put(&[7; 32]);
    }
    writer.finish()
}

/// A client that was counted twice would move a score by twice what is charged.
#[test]
fn a_list_with_a_client_twice_or_in_another_order_is_no_list() {
    let read = |clients: &[u32]| UploadList::read(&mut Reader::new(&bytes(clients)));
    let found = read(&[0, 2, 5]).expect("in order");
    assert_eq!(found, list(1, &[(0, 7), (2, 7), (5, 7)]));
    let mut written = Writer::default();
    found.write(&mut written);
    assert_eq!(written.finish(), bytes(&[0, 2, 5]));
    for clients in [&[0, 0][..], &[2, 2, 5], &[0, 5, 5], &[2, 0], &[0, 5, 2]] {
        let refused = read(clients).expect_err("twice, or out of order");
        let what = "a list out of order";
        assert_eq!(refused, DecodeError::Unknown { what });
    }
}

#[test]
fn a_set_has_the_uploads_that_all_three_listed_and_each_client_once() {
    let clients = |lists: &[UploadList; 3]| {
        let set = intersection(lists).into_iter();
        set.map(|(client, digest)| (client.0, digest[0]))
            .collect::<Vec<_>>()
    };
    assert_eq!(clients(&lists()), [(0, 7), (2, 8), (5, 9)]);
    // One trustee lacks a client, another one holds another upload of one, and the third has one more.
    let [first, ..] = lists();
    let second = list(2, &[(0, 7), (5, 9)]);
    let third = list(3, &[(0, 6), (2, 8), (5, 9), (6, 1)]);
    assert_eq!(clients(&[first, second, third]), [(5, 9)]);
}

/// Streams and frame keys are bound to the set, so they are others whenever anything that masked values depend on is
/// another: the circuit as well.
#[test]
fn another_attempt_list_circuit_or_proof_is_another_set_with_other_streams() {
    let (circuit, batch) = ([5; 32], None);
    let digest =
        |attempt: &AttemptId, lists: &[UploadList; 3]| set_digest(attempt, lists, &circuit, batch);
    let mut found = vec![
        digest(&ATTEMPT, &lists()),
        set_digest(&ATTEMPT, &lists(), &[6; 32], batch),
        set_digest(&ATTEMPT, &lists(), &circuit, Some(12)),
        set_digest(&ATTEMPT, &lists(), &circuit, Some(13)),
    ];
    let other = |change: fn(&mut AttemptId)| {
        let mut attempt = ATTEMPT;
        change(&mut attempt);
        digest(&attempt, &lists())
    };
    found.push(other(|attempt| attempt.study[0] ^= 1));
    found.push(other(|attempt| attempt.step += 1));
    found.push(other(|attempt| attempt.attempt += 1));
    found.push(other(|attempt| attempt.transcript[0] ^= 1));
    for place in 0..3 {
        // Other fresh bytes, one upload less, another upload: also where the intersection stays as it is.
        for changed in [
            list(9, &[(0, 7), (2, 8), (5, 9)]),
            list(1, &[(0, 7), (2, 8)]),
            list(1, &[(0, 7), (2, 8), (5, 9), (6, 1)]),
            list(1, &[(0, 7), (2, 8), (5, 1)]),
        ] {
            let mut lists = lists();
            lists[place] = changed;
            found.push(digest(&ATTEMPT, &lists));
        }
    }
    let mut swapped = lists();
    swapped.swap(0, 1);
    found.push(digest(&ATTEMPT, &swapped));
    let first = found[0];
    let clients = [ClientId(0), ClientId(2)];
    found.push(second_set_digest(&ATTEMPT, &first, &clients, &circuit));
    found.push(second_set_digest(&ATTEMPT, &first, &clients, &[6; 32]));
    found.push(second_set_digest(&ATTEMPT, &first, &clients[..1], &circuit));
    found.push(second_set_digest(&ATTEMPT, &found[1], &clients, &circuit));
    let link = StepKey::filled(|key| key.fill(3));
    let streams = |set: &[u8; 32]| {
        [Purpose::Gates, Purpose::Deals]
            .map(|purpose| *StreamKey::new(&link, purpose, set).expose())
    };
    let n_sets = found.len();
    let mut keys: Vec<[u8; 32]> = found.iter().flat_map(streams).collect();
    for values in [&mut found, &mut keys] {
        values.sort_unstable();
        values.dedup();
    }
    assert_eq!((found.len(), keys.len()), (n_sets, 2 * n_sets));
}
