use super::*;
use crate::formats::csv::read_csv;

const SCHEMA: &str = "[response]\nname = \"y\"\nlower = 0\nupper = 10\n[features]\nlower = -1\nupper = 1\n\
                      exclude = [\"b\"]\n[record]\nclient = \"who\"\nmax_per_client = 2\nmissing_response = \"drop\"";

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn arrays_and_files_are_enrolled_alike() {
    let schema = Schema::parse(SCHEMA).expect("a schema");
    let text = "a,b,c,y,who\n0.1,9,0.2,1,n\n0.3,9,0.4,,n\n0.5,9,0.6,20,n\n0.7,9,-3,4,s\n";
    let table = read_csv(text.as_bytes(), &schema).expect("a table");
    let responses = [1.0, f64::NAN, 20.0, 4.0];
    let labels = names(&["n", "n", "n", "s"]);
    let enrolment = Enrolment::of(&names(&["a", "b", "c"]), &schema, &responses, Some(&labels))
        .expect("an enrolment");
    let (ours, theirs) = (enrolment.outline(), table.outline());
    assert_eq!(ours.names, theirs.names);
    assert_eq!(ours.mapping, theirs.mapping);
    assert_eq!(ours.clients, theirs.clients);
    assert_eq!(ours.public_size, theirs.public_size);
    assert_eq!(enrolment.response(), table.response());
    assert_eq!(enrolment.present(), table.present());
    assert_eq!(enrolment.present(), [true, false, true]);
    assert_eq!(enrolment.rows(), [0, 1, 3]);
    let matrix = [
        [0.1, 9.0, 0.2],
        [0.3, 9.0, 0.4],
        [0.5, 9.0, 0.6],
        [0.7, 9.0, -3.0],
    ];
    for (place, row) in enrolment.rows().iter().enumerate() {
        if !enrolment.present()[place] {
            assert_eq!(*table.design().row(place), [0.0, 0.0]);
            continue;
        }
        let mut bounded = [0.0; 2];
        let values = enrolment
            .features()
            .iter()
            .map(|column| matrix[*row][*column]);
        enrolment.mapping().features_to_units(values, &mut bounded);
        let bits = |values: &[f32]| {
            values
                .iter()
                .map(|value| value.to_bits())
                .collect::<Vec<_>>()
        };
        assert_eq!(bits(&bounded), bits(&table.design().row(place)));
    }
}

#[test]
fn a_client_column_without_labels_is_refused() {
    let schema = Schema::parse(SCHEMA).expect("a schema");
    let refused = Enrolment::of(&names(&["a", "b"]), &schema, &[1.0], None).expect_err("refused");
    assert!(
        refused.to_string().contains("the client column"),
        "{refused}"
    );
}
