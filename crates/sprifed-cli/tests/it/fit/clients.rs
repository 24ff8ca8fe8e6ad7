//! Clients: columns, blocks, caps, and what each is promised.

use serde_json::Value;

use super::table::Folder;
use super::{names, succeeded};
use crate::command::{answer, assert_near, number};

/// Gives every record a client, interleaved so that no client's rows are side by side.
fn with_houses(folder: &Folder, n_houses: usize) {
    let text = folder.read("data.csv");
    let mut lines = text.lines();
    let mut out = format!("house,{}\n", lines.next().unwrap());
    for (place, line) in lines.enumerate() {
        out += &format!("h{},{line}\n", place % n_houses);
    }
    folder.write("data.csv", &out);
}

fn with_record_table(folder: &Folder, table: &str) {
    let schema = folder.read("schema.toml") + "\n[record]\n" + table;
    folder.write("schema.toml", &schema);
}

#[test]
fn clients_as_units_are_grouped_wherever_their_rows_are() {
    let folder = Folder::new("unit_client");
    with_houses(&folder, 1500);
    with_record_table(
        &folder,
        "client = \"house\"\nmax_per_client = 2\nunit = \"client\"\n",
    );
    let answer = succeeded(&folder.fit("--sparsity 3 --epsilon 50 --json"));
    assert_eq!(names(&answer), ["x_11", "x_3", "x_7"]);
    assert_eq!(
        (&answer["guarantee"]["unit"], &answer["clients"]),
        (&"client".into(), &1500.into())
    );
    assert!(answer["guarantee"]["client"].is_null());
    let statement = answer["guarantee"]["statement"].as_str().unwrap();
    assert!(
        statement.contains("for each client (zero-out)"),
        "{statement}"
    );
}

#[test]
fn the_rows_of_a_client_may_come_in_any_order() {
    let fit = |name: &str, sorted: bool| -> Value {
        let folder = Folder::new(name);
        with_houses(&folder, 1500);
        with_record_table(
            &folder,
            "client = \"house\"\nmax_per_client = 2\nunit = \"client\"\n",
        );
        if sorted {
            let text = folder.read("data.csv");
            let mut lines: Vec<&str> = text.lines().skip(1).collect();
            let house = |line: &&str| line.split(',').next().unwrap()[1..].parse::<u32>().unwrap();
            lines.sort_by_key(house);
            folder.write(
                "data.csv",
                &format!("{}\n{}\n", text.lines().next().unwrap(), lines.join("\n")),
            );
        }
        succeeded(&folder.fit("--sparsity 3 --epsilon 5 --simulate-noise 4 --json"))
    };
    assert_eq!(
        fit("interleaved", false)["coefficients"],
        fit("sorted", true)["coefficients"]
    );
}

#[test]
fn records_as_units_come_with_what_a_client_with_several_has() {
    let folder = Folder::new("unit_record");
    with_houses(&folder, 1000);
    with_record_table(&folder, "client = \"house\"\nmax_per_client = 3\n");
    let found = succeeded(&folder.fit("--procedure grad --sparsity 3 --epsilon 2 --json"));
    let guarantee = &found["guarantee"];
    assert_eq!(
        (&guarantee["unit"], &guarantee["client"]["most_records"]),
        (&"record".into(), &3.into())
    );
    let mu = 3.0 * number(guarantee, "/mu");
    assert_near(number(guarantee, "/client/mu"), mu, 1e-12);
    let direct = answer(&format!(
        "account epsilon --mu {mu} --delta {}",
        guarantee["delta"]
    ));
    assert_near(
        number(guarantee, "/client/epsilon"),
        number(&direct, "/epsilon"),
        1e-6,
    );
    assert!(
        guarantee["statement"]
            .as_str()
            .unwrap()
            .contains("for a client with up to 3 records")
    );
}

#[test]
fn blocks_of_records_are_clients_too() {
    let folder = Folder::new("blocks");
    let record =
        succeeded(&folder.fit("--sparsity 3 --epsilon 2 --clients 1500 --procedure argmax --json"));
    assert_eq!(record["clients"], 1500);
    assert_eq!(record["guarantee"]["client"]["most_records"], 2);
    assert!(number(&record, "/guarantee/client/epsilon") > number(&record, "/guarantee/epsilon"));
    assert!(
        record["guarantee"]["trust"]
            .as_str()
            .unwrap()
            .contains("holds all records")
    );
    with_record_table(&folder, "unit = \"client\"\n");
    let client = succeeded(&folder.fit("--sparsity 3 --epsilon 2 --clients 1500 --force --json"));
    assert_eq!(
        (&client["guarantee"]["unit"], &client["clients"]),
        (&"client".into(), &1500.into())
    );
}

#[test]
fn a_dropped_record_moves_no_other_record_to_another_client() {
    let folder = Folder::new("dropped");
    with_record_table(&folder, "unit = \"client\"\nmissing_response = \"drop\"\n");
    let text = folder.read("data.csv");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for place in [1, 2, 4] {
        let cut = lines[place].rfind(',').unwrap();
        lines[place].truncate(cut + 1);
    }
    folder.write("data.csv", &lines.join("\n"));
    // The first client has no usable record left, the second one.
    let ended = folder.fit("--sparsity 3 --epsilon 50 --clients 1500 --json");
    let answer = succeeded(&ended);
    assert_eq!(names(&answer), ["x_11", "x_3", "x_7"]);
    assert_eq!(
        (&answer["train_size"], &answer["clients"]),
        (&1500.into(), &1500.into()),
        "how many records clients have is not published"
    );
    insta::assert_snapshot!(ended.stderr);
}
