use super::{
    ClientsRun, Currency, GuaranteeFacts, GuaranteeLabel, GuaranteeMoment, GuaranteeTable,
    NamedTrustees,
};
use crate::gates::Gates;
use crate::neighbours::{PrivacyUnit, Relation};
use crate::participation::Participation;
use crate::quantity::{ApproxDp, Delta, Epsilon, Mu};
use crate::sum_plan::NoiseOrigin;

fn cost(epsilon: f64, delta: f64) -> ApproxDp {
    ApproxDp::new(
        Epsilon::try_from(epsilon).unwrap(),
        Delta::try_from(delta).unwrap(),
    )
}

fn facts() -> GuaranteeFacts {
    GuaranteeFacts {
        cost: Some(cost(3.0, 1e-6)),
        moment: GuaranteeMoment::Final,
        is_secret: true,
        unit: PrivacyUnit::Record,
        relation: Relation::ZeroOut,
        origin: NoiseOrigin::Shares(Participation::new(50, 45, 2).unwrap()),
        trustees: None,
        clients: ClientsRun::InOneProcess,
        several_records: None,
        n_sites: 0,
        currency: Some(Currency::Gaussian(Mu::try_from(0.6478).unwrap())),
        verified_from: Some("receipt.json"),
    }
}

#[test]
fn the_text_is_one_row_in_each_line() {
    let text = "\
Privacy   epsilon = 3, delta = 1e-6 for each record (zero-out)
Means     Blanking one record changes the probability of any result by at most a factor e^3, plus 1e-6.
Noise     added by the 50 clients, one share each
Holds     against every reader with bounded computing power who knows the noise of at most 2 clients, including the coordinator (a client knows its own noise)
Opened    only sums of at least 45 clients
Note      This run simulated all clients in one process; that process saw all records.
Details   Gaussian DP, mu = 0.6478; sprifed verify receipt.json recomputes it";
    let table = GuaranteeTable::new(&facts());
    assert_eq!(table.to_string(), text);
    assert_eq!(table.warning(), None);
}

#[test]
fn released_means_of_sites_are_said() {
    let table = GuaranteeTable::new(&GuaranteeFacts {
        n_sites: 5,
        ..facts()
    });
    let said = "a noisy mean of each of the 5 sites is released";
    assert_eq!(table.text(GuaranteeLabel::Sites), Some(said));
    assert_eq!(
        GuaranteeTable::new(&facts()).text(GuaranteeLabel::Sites),
        None
    );
}

#[test]
fn what_is_written_is_read_back_and_nothing_else_is() {
    let variants = [
        facts(),
        GuaranteeFacts {
            is_secret: false,
            several_records: Some((10, 17.5)),
            ..facts()
        },
        GuaranteeFacts {
            cost: None,
            origin: NoiseOrigin::Curator,
            ..facts()
        },
        GuaranteeFacts {
            n_sites: 5,
            ..facts()
        },
    ];
    for facts in variants {
        let table = GuaranteeTable::new(&facts);
        let text = serde_json::to_string(&table).unwrap();
        assert_eq!(
            serde_json::from_str::<GuaranteeTable>(&text).unwrap(),
            table
        );
    }
    let refused = GuaranteeTable::try_from("Privacy   x\nProfit    y".to_owned());
    assert_eq!(refused.unwrap_err().line, 2);
}

#[test]
fn repeatable_noise_claims_nothing() {
    let table = GuaranteeTable::new(&GuaranteeFacts {
        is_secret: false,
        ..facts()
    });
    let warning = table.warning().unwrap();
    assert!(warning.starts_with("NOT PRIVATE"), "{warning}");
    assert_eq!(table.text(GuaranteeLabel::Means), None);
    assert_eq!(table.text(GuaranteeLabel::Holds), None);
    let nominal = table.text(GuaranteeLabel::Nominal).unwrap();
    assert!(nominal.starts_with("with secret noise: epsilon = 3"));
}

#[test]
fn numbers_are_rounded_up() {
    let table = GuaranteeTable::new(&GuaranteeFacts {
        cost: Some(cost(1.000_01, 1.000_01e-6)),
        ..facts()
    });
    let privacy = table.text(GuaranteeLabel::Privacy).unwrap();
    assert!(
        privacy.starts_with("epsilon = 1.0001, delta = 1.001e-6"),
        "{privacy}"
    );
    let small = GuaranteeTable::new(&GuaranteeFacts {
        cost: Some(cost(1e-5, 1e-6)),
        ..facts()
    });
    let means = small.text(GuaranteeLabel::Means).unwrap();
    assert!(means.contains("e^(1e-5), plus"), "{means}");
}

#[test]
fn parties_clients_and_replacement_have_their_words() {
    let two = NoiseOrigin::Shares(Participation::new(2, 2, 0).unwrap());
    let table = GuaranteeTable::new(&GuaranteeFacts {
        moment: GuaranteeMoment::Planned,
        unit: PrivacyUnit::Client,
        relation: Relation::ReplaceOne,
        origin: two,
        clients: ClientsRun::AsParties,
        ..facts()
    });
    let text = table.to_string();
    for part in [
        "at most epsilon = 3, delta = 1e-6 for each client (replace-one)",
        "Replacing all records of one party by any other changes",
        "added by the 2 parties",
        "not against a party, which knows its own noise",
        "This is a plan.",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    assert!(!text.contains("one process"), "{text}");
}

fn three_trustees(gates: Gates) -> NamedTrustees {
    let names = ["archive", "court", "registry"].map(str::to_owned);
    NamedTrustees { names, gates }
}

#[test]
fn trustees_are_named_with_what_two_of_them_see() {
    let table = GuaranteeTable::new(&GuaranteeFacts {
        origin: NoiseOrigin::Trustees,
        clients: ClientsRun::AsParties,
        ..facts()
    });
    assert_eq!(
        table.text(GuaranteeLabel::Holds).unwrap(),
        "against every reader with bounded computing power, including the coordinator together with one of the \
         trustees; any two of them together see all contributions"
    );
    let named = GuaranteeTable::new(&GuaranteeFacts {
        origin: NoiseOrigin::Trustees,
        trustees: Some(three_trustees(Gates::Unproved)),
        clients: ClientsRun::AsParties,
        ..facts()
    });
    assert_eq!(
        named.text(GuaranteeLabel::Holds).unwrap(),
        "against every reader with bounded computing power, including the coordinator together with one of the \
         trustees archive, court, registry if it follows the protocol; any two of them together see all contributions"
    );
    let proved = GuaranteeTable::new(&GuaranteeFacts {
        origin: NoiseOrigin::Trustees,
        trustees: Some(three_trustees(Gates::Proved)),
        clients: ClientsRun::AsParties,
        ..facts()
    });
    let holds = proved.text(GuaranteeLabel::Holds).unwrap();
    assert!(
        holds.contains("registry, whatever it sends; any two"),
        "{holds}"
    );
    let opened = proved.text(GuaranteeLabel::Opened).unwrap();
    assert!(opened.contains("checked how it was computed"), "{opened}");
    let noise = table.text(GuaranteeLabel::Noise).unwrap();
    assert!(noise.starts_with("dealt by three trustees"), "{noise}");
    assert!(!table.to_string().contains("one process"));
    let simulated = GuaranteeTable::new(&GuaranteeFacts {
        origin: NoiseOrigin::Trustees,
        ..facts()
    });
    assert!(simulated.to_string().contains("saw all records"));
}
