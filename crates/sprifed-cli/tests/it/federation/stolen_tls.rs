//! What a thief of a party's TLS key can do without its identity key: nothing that counts.

use std::fs;

use sprifed_secure_sum::{ClientId, IdentityKey, Phase, SignedMessage};
use sprifed_study::{Report, Signature};

use super::lying_coordinator::{agreed, key_at};
use super::raw_messages::post;
use super::stage::{Kind, Running, Stage, all_succeed, stored, wait_until};

#[test]
fn with_a_stolen_tls_key_alone_an_attacker_neither_declines_signs_or_answers_for_a_party() {
    let kind = Kind {
        records: 60,
        ..Kind::default()
    };
    let stage = Stage::new("stolen-tls", kind);
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let mut parties: Vec<Running> = (0..2)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    let state = stage.study().join("state.sqlite");
    wait_until("two messages", || stored(&state).len() == 2);

    let (agreed, me) = (agreed(&stage), ClientId(2));
    let thief = IdentityKey::from_stored(&[7; 32]);
    let accomplice = key_at(&stage.party(1).join("identity.key"));
    let unsigned = |reason: &str| Report::Declined {
        reason: reason.to_owned(),
        signature: Signature([0; 64]),
    };
    let (_, keys) = stored(&state).swap_remove(1);
    let Ok(Report::Message(keys)) = Report::decode(&keys) else {
        panic!("no message");
    };
    let forged = |identity: &IdentityKey, phase, sender| {
        let id = agreed.study().unwrap().id();
        Report::Message(SignedMessage::sign(
            identity,
            id,
            phase,
            0,
            sender,
            keys.body.clone(),
        ))
    };
    let of_another = Report::declined(&accomplice, &agreed, ClientId(1), "mine");
    let forgeries = [
        // As it was before refusals were signed, in the former and in the present version.
        [&[1, 2], &b"I do not take part"[..]].concat(),
        [&[2, 2], &b"I do not take part"[..]].concat(),
        unsigned(
            "I do not take part, and say so in more than sixty-four characters, as a signature has",
        )
        .encode(),
        Report::declined(&thief, &agreed, me, "I do not take part").encode(),
        Report::declined(&accomplice, &agreed, me, "I do not take part").encode(),
        of_another.encode(),
        Report::Countersigned {
            signature: thief.sign_statement("receipt", &[0; 32]),
        }
        .encode(),
        forged(&thief, Phase::Keys, me).encode(),
        forged(&accomplice, Phase::Keys, me).encode(),
        forged(&accomplice, Phase::Keys, ClientId(1)).encode(),
        forged(&thief, Phase::Upload, me).encode(),
    ];
    for (place, forgery) in forgeries.iter().enumerate() {
        assert_eq!(post(&stage, 2, forgery), 422, "forgery {place}");
    }
    assert_eq!(stored(&state).len(), 2, "a forgery was stored");

    parties.push(Running::start(&mut stage.join(2), &log));
    // In the middle of the study, too: it has three phases for each of its twelve sums.
    let mut n_posted = 0;
    let n_closed = || {
        let said = fs::read_to_string(&log).unwrap();
        said.matches("\"phase closed\"").count()
    };
    while n_closed() < 20 {
        let forgery = &forgeries[n_posted % forgeries.len()];
        assert_eq!(post(&stage, 2, forgery), 422);
        n_posted += 1;
    }
    assert!(n_posted > 0, "the study was too fast");
    all_succeed(parties, coordinator, &log);
    stage.check_result();
    let signed = stage.receipt()["parties"].as_array().unwrap().len();
    assert_eq!(signed, 3);
    let said = fs::read_to_string(&log).unwrap();
    assert!(
        said.contains("a reason that its party has not signed"),
        "{said}"
    );
}
