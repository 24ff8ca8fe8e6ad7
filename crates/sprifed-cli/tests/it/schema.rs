//! `schema draft` and `schema check`.

use crate::command::{file, run};
use crate::fit::table::Folder;
use crate::transcript::Transcript;

const DATA: &str = "id,age,y\nzelda,31,1.5\nquincy,47,2.5\n";
const SCHEMA: &str = "[response]\nname = \"y\"\nlower = 0\nupper = 10\n[features]\nlower = 0\nupper = 120\n\
     exclude = [\"id\"]\n";

fn path(name: &str, contents: &str) -> String {
    file(name, contents).to_str().unwrap().to_owned()
}

#[test]
fn a_draft_names_columns_and_holds_no_value_of_theirs() {
    let data = path("draft.csv", DATA);
    let ended = run(["schema", "draft", &data]);
    assert_eq!((ended.exit_code, ended.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(ended.stdout);
    for value in ["31", "47", "1.5", "2.5", "zelda", "quincy"] {
        assert!(!ended.stdout.contains(value), "{value}: {}", ended.stdout);
    }
    let json = run(["schema", "draft", &data, "--json"]).json();
    assert_eq!(
        json["schema"].as_str().unwrap().trim_end(),
        ended.stdout.trim_end()
    );
}

#[test]
fn a_draft_goes_to_a_file_that_is_not_overwritten() {
    let (data, out) = (path("draft_out.csv", DATA), path("draft_out.toml", "mine"));
    assert_eq!(run(["schema", "draft", &data, "--out", &out]).exit_code, 2);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "mine");
    let forced = run(["schema", "draft", &data, "--out", &out, "--force"]);
    assert_eq!(forced.exit_code, 0, "{}", forced.stderr);
    let mut seen = Transcript::new();
    seen.add("what is said", &forced.stdout);
    seen.add("what is written", &std::fs::read_to_string(&out).unwrap());
    insta::assert_snapshot!(seen);
}

#[test]
fn a_schema_is_checked_alone_and_against_a_table() {
    let (schema, data) = (path("check.toml", SCHEMA), path("check.csv", DATA));
    let alone = run(["schema", "check", &schema]);
    assert_eq!(alone.exit_code, 0, "{}", alone.stderr);
    let mut seen = Transcript::new();
    seen.add("alone", &alone.stdout);
    let fitting = run(["schema", "check", &schema, &data]);
    assert_eq!(fitting.exit_code, 0, "{}", fitting.stderr);
    seen.add("with a table", &fitting.stdout);
    insta::assert_snapshot!(seen);
    let json = run(["schema", "check", &schema, &data, "--json"]).json();
    assert_eq!(
        (&json["usable"], &json["report"]["table"]["n_records"]),
        (&true.into(), &2.into())
    );
}

#[test]
fn a_schema_that_does_not_fit_is_reported_whole_and_refused() {
    let (schema, data) = (
        path("misfit.toml", SCHEMA),
        path("misfit.csv", "age,z\n1,2\n"),
    );
    let ended = run(["schema", "check", &schema, &data]);
    assert_eq!(ended.exit_code, 2);
    assert_eq!(ended.code(), "sprifed::schema::does-not-fit");
    let mut seen = Transcript::new();
    seen.add("the report", &ended.stdout);
    seen.add("the refusal", &ended.stderr);
    insta::assert_snapshot!(seen);
    let json = run(["schema", "check", &schema, &data, "--json"]);
    assert_eq!((json.exit_code, &json.json()["usable"]), (2, &false.into()));
}

#[test]
fn several_problems_are_listed_once() {
    let (schema, data) = (
        path(
            "misfit_twice.toml",
            &format!("{SCHEMA}[record]\nclient = \"who\"\n"),
        ),
        path("misfit_twice.csv", "age,z\n1,2\n"),
    );
    let ended = run(["schema", "check", &schema, &data]);
    let listed = ended.stdout.matches("problem: ").count();
    assert_eq!(listed, 2, "{}", ended.stdout);
    let said = "2 problems; all are listed above";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
    assert!(!ended.stderr.contains("the schema names"));
}

#[test]
fn a_schema_that_cannot_be_read_is_refused_by_who_must_act() {
    let broken = path("broken.toml", "[response]\nname = 3\n");
    assert_eq!(run(["schema", "check", &broken]).exit_code, 2);
    assert_eq!(
        run(["schema", "check", "/nonexistent/schema.toml"]).exit_code,
        3
    );
    assert_eq!(
        run(["schema", "draft", "/nonexistent/data.csv"]).exit_code,
        3
    );
}

/// What `schema check` says of `data` under [`SCHEMA`] with this bounds file, which it must refuse.
fn refused_bounds(name: &str, bounds: &str) -> String {
    path(&format!("{name}_bounds.csv"), bounds);
    let key = format!("[features]\nbounds = \"{name}_bounds.csv\"\n");
    let (schema, data) = (
        path(
            &format!("{name}.toml"),
            &SCHEMA.replace("[features]\n", &key),
        ),
        path(&format!("{name}.csv"), DATA),
    );
    let ended = run(["schema", "check", &schema, &data]);
    assert_eq!(ended.exit_code, 2, "{}", ended.stdout);
    ended.stdout + &ended.stderr
}

#[test]
fn a_line_of_the_bounds_file_that_bounds_no_feature_is_refused() {
    let lines = "column,lower,upper\nage,0,100\n";
    for (name, line, words) in [
        ("mistyped", "Age,0,90\n", "no such column"),
        ("response", "y,0,9\n", "the response"),
    ] {
        let said = refused_bounds(name, &(lines.to_owned() + line));
        assert!(
            said.contains("line 3 of the bounds file") && said.contains(words),
            "{said}"
        );
    }
}

#[test]
fn a_table_without_a_header_is_refused_and_no_record_is_shown() {
    let schema = path("headless.toml", SCHEMA);
    for (name, table) in [
        ("headless.csv", "31.25,0.5,1.5\n47.5,0.25,2.5\n"),
        ("headless.tsv", "31.25\t0.5\t1.5\n47.5\t0.25\t2.5\n"),
        ("headless.fam", "zelda zelda 0 0 1 31.25\n"),
    ] {
        let data = path(name, table);
        for command in [
            vec!["schema", "draft", &data],
            vec!["schema", "check", &schema, &data],
        ] {
            for more in [None, Some("--json")] {
                let ended = run(command.iter().copied().chain(more));
                assert_eq!(ended.exit_code, 2, "{name}: {}", ended.stdout);
                let said = ended.stdout + &ended.stderr;
                for value in ["31.25", "0.5", "1.5", "zelda"] {
                    assert!(!said.contains(value), "{name}: {said}");
                }
            }
        }
    }
    let counted = path("counted.csv", "0,1,2,y\n4,5,6,1.5\n");
    let draft = run(["schema", "draft", &counted]);
    assert_eq!(draft.exit_code, 0, "{}", draft.stderr);
}

#[test]
fn numbers_of_sites_that_the_table_contradicts_are_told_to_its_holder() {
    let folder = Folder::new("stated_sites");
    let table = folder.read("data.csv");
    let sites = ["h", "north", "south", "coast"];
    let lines = table.lines().enumerate().map(|(at, line)| {
        let site = if at == 0 { sites[0] } else { sites[1 + at % 3] };
        format!("{line},{site}\n")
    });
    folder.write("data.csv", &lines.collect::<String>());
    let schema = folder.read("schema.toml");
    let stated = |north: u32| {
        let sites = format!(
            "[sites]\ncolumn = \"h\"\nrecords = {{ coast = 950, north = {north}, south = 1000 }}\n"
        );
        folder.write("schema.toml", &format!("{schema}{sites}"));
        let [schema, data] = ["schema.toml", "data.csv"].map(|name| folder.path(name));
        let check = run(["schema", "check", &schema, &data]);
        assert_eq!(check.exit_code, 0, "{}", check.stderr);
        let fit = folder.fit("--sparsity 3 --epsilon 5 --force --simulate-noise 1");
        assert_eq!(fit.exit_code, 0, "{}", fit.stderr);
        (check.stdout, fit.stderr)
    };
    let (check, fit) = stated(1000);
    assert!(check.contains("22 columns"), "{check}");
    assert!(check.contains("20 features for the model"), "{check}");
    assert!(
        check.contains("site `coast`: 950 records stated, 1000 in the table"),
        "{check}"
    );
    assert_eq!(fit, "");
    let (check, fit) = stated(500);
    let told = "site `north`: 500 records stated, 1000 in the table";
    assert!(check.contains(told), "{check}");
    let note = "note for the holder of the table, not covered by the guarantee";
    assert!(fit.contains(note) && fit.contains(told), "{fit}");
    assert!(!fit.contains("coast"), "{fit}");
}

#[test]
fn a_response_is_never_to_be_excluded() {
    let schema = path("wordy.toml", SCHEMA);
    for cell in ["True", "2021-03-04"] {
        let data = path("wordy.csv", &format!("id,age,y\na,31,{cell}\n"));
        let ended = run(["schema", "check", &schema, &data]);
        assert_eq!(ended.exit_code, 2, "{}", ended.stdout);
        assert!(ended.stdout.contains("column `y`"), "{}", ended.stdout);
        assert!(!ended.stdout.contains("exclude"), "{}", ended.stdout);
    }
}

#[test]
fn a_client_is_no_site() {
    let sites =
        "[record]\nclient = \"h\"\n[sites]\ncolumn = \"h\"\nrecords = { north = 20, south = 30 }\n";
    let schema = path("client_site.toml", &(SCHEMA.to_owned() + sites));
    let ended = run(["schema", "check", &schema]);
    assert_eq!(ended.exit_code, 2, "{}", ended.stdout);
    assert!(
        ended.stderr.contains("one role for each column"),
        "{}",
        ended.stderr
    );
}
