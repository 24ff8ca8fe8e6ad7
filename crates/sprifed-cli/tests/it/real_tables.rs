//! Tables as they come: categories, logarithms, gaps, bounds files, other separators.

use std::fmt::Write as _;

use crate::command::{Ended, run};
use crate::fit::table::Folder;

const SCHEMA: &str = r#"
[response]
name = "y"
lower = -10
upper = 20
[features]
bounds = "bounds.csv"
include = ["snp_*", "arm", "visits", "age"]
[feature.arm]
levels = ["placebo", "low", "high"]
[feature.visits]
transform = "log1p"
[feature.age]
lower = 0
upper = 100
missing = "indicator"
"#;

/// y = 1 + 6 (arm is high) + 2 ln(1 + visits) + 4 (age is missing), and four columns that do not matter.
fn table(n_records: u32) -> String {
    let mut text = String::from("id;snp_0;arm;visits;snp_1;age;snp_2;snp_3;y\n");
    let mut state = 7_u32;
    let mut draw = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    for record in 0..n_records {
        let [a, b, c, d] = [(); 4].map(|()| draw(3));
        let arm = ["placebo", "low", "high"][draw(3) as usize];
        let visits = [0, 1, 7, 54][draw(4) as usize];
        let age = 20 + draw(60);
        let is_missing = draw(4) == 0;
        let age = if is_missing {
            "NA".to_owned()
        } else {
            format!("{age},5")
        };
        let response = 1.0
            + 6.0 * f64::from(u8::from(arm == "high"))
            + 2.0 * f64::from(visits).ln_1p()
            + 4.0 * f64::from(u8::from(is_missing));
        let response = response.to_string().replace('.', ",");
        writeln!(
            text,
            "p{record};{a};{arm};{visits};{b};{age};{c};{d};{response}"
        )
        .unwrap();
    }
    text
}

/// The schema in which the levels of the category are one candidate.
fn together() -> String {
    SCHEMA.replace("[feature.arm]\n", "[feature.arm]\ntogether = true\n")
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("data.csv", &table(3000));
    folder.write("schema.toml", SCHEMA);
    let bounds = (0..4)
        .map(|at| format!("snp_{at},0,2\n"))
        .collect::<String>();
    folder.write(
        "bounds.csv",
        &format!("column,lower,upper\n{bounds}visits,0,99\n"),
    );
    folder
}

const TEXT: &str = "--separator ; --decimal ,";

#[test]
fn a_fit_of_a_real_table_finds_levels_logarithms_and_gaps_and_predicts_with_them() {
    let folder = folder("real_table");
    let ended = folder.fit(&format!(
        "{TEXT} --sparsity 3 --epsilon 20 --simulate-noise 1 --json"
    ));
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let model = folder.json("model.json");
    assert_eq!(
        model["n_candidates"], 9,
        "four markers, two levels, visits, age and its gaps"
    );
    let mut found: Vec<(&str, f64)> = model["features"]
        .as_array()
        .unwrap()
        .iter()
        .map(|term| {
            (
                term["name"].as_str().unwrap(),
                term["coefficient"].as_f64().unwrap(),
            )
        })
        .collect();
    found.sort_by_key(|(name, _)| *name);
    for ((name, coefficient), (expected, truth)) in
        found
            .iter()
            .zip([("age=missing", 4.0), ("arm=high", 6.0), ("visits", 2.0)])
    {
        assert_eq!(*name, expected);
        assert!((coefficient - truth).abs() < 0.5, "{name}: {coefficient}");
    }
    // New records: predictions read each column as the fit did.
    folder.write(
        "new.csv",
        "visits;arm;age\n0;placebo;50\n7;high;NA\n54;low;30\n7;unknown;30\n",
    );
    let (model, new) = (folder.path("model.json"), folder.path("new.csv"));
    let words = ["predict", &model, &new, "--json"]
        .into_iter()
        .chain(TEXT.split(' '));
    let predicted = run(words);
    assert_eq!(predicted.exit_code, 0, "{}", predicted.stderr);
    let predicted = predicted.json();
    let predictions = predicted["predictions"].as_array().unwrap();
    let truths = [
        1.0,
        1.0 + 6.0 + 2.0 * 8f64.ln() + 4.0,
        1.0 + 2.0 * 55f64.ln(),
    ];
    for (prediction, truth) in predictions.iter().zip(truths) {
        let prediction = prediction.as_f64().unwrap();
        assert!(
            (prediction - truth).abs() < 1.0,
            "{prediction} beside {truth}"
        );
    }
    assert!(
        predictions[3].is_null(),
        "a level that the model does not know"
    );
    // The receipt of the model is still what its plan and ledger give.
    assert_eq!(run(["verify", &model]).exit_code, 0);
}

#[test]
fn another_separator_is_named_before_anything_else() {
    let folder = folder("separator");
    let ended = folder.fit("--sparsity 3 --epsilon 20");
    ended.assert_refused(2, "sprifed::data::table");
    let says = |ended: &Ended, parts: [&str; 2]| {
        for part in parts {
            assert!(ended.stderr.contains(part), "{}", ended.stderr);
        }
    };
    says(
        &ended,
        [
            "seems to be separated by semicolons;",
            "pass --separator ';'",
        ],
    );
    let ended = folder.fit("--separator ; --sparsity 3 --epsilon 20");
    says(
        &ended,
        [
            "column `age`, line 4: a number with a decimal comma;",
            "pass --decimal ','",
        ],
    );
    let ended = folder.fit("--decimal , --sparsity 3 --epsilon 20");
    assert!(
        ended.stderr.contains("pass --separator ';' too"),
        "{}",
        ended.stderr
    );
}

#[test]
fn one_column_in_every_few_is_kept_by_the_schema_or_by_an_option() {
    let folder = folder("thinned");
    let fit = |options: &str| {
        let ended = folder.fit(&format!(
            "{TEXT} --sparsity 2 --epsilon 20 --simulate-noise 1 --force {options}"
        ));
        assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
        folder.json("model.json")["n_candidates"].as_u64().unwrap()
    };
    // Two of four markers, and what has a name of its own.
    assert_eq!(fit("--thin 2"), 7);
    folder.write(
        "schema.toml",
        &SCHEMA.replace("bounds =", "every = 4\nbounds ="),
    );
    assert_eq!(fit(""), 6);
    assert_eq!(fit("--thin 1"), 9);
}

#[test]
fn columns_that_stay_in_the_model_are_reported_and_are_no_candidates() {
    let folder = folder("always");
    let options = format!("{TEXT} --sparsity 2 --epsilon 20 --simulate-noise 1 --json");
    let ended = folder.fit(&format!("{options} --always age,arm"));
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let answer = ended.json();
    assert_eq!(
        answer["features"], 5,
        "four markers and visits are candidates"
    );
    let terms = answer["inference"]["terms"].as_array().unwrap();
    let always = terms.iter().filter(|term| term["role"] == "always");
    let names: Vec<&str> = always
        .clone()
        .map(|term| term["name"].as_str().unwrap())
        .collect();
    // The columns of the table in their order, each with the features that it becomes.
    assert_eq!(names.len(), 4, "{names:?}");
    for name in ["age", "age=missing", "arm=low", "arm=high"] {
        assert!(names.contains(&name), "no {name} in {names:?}");
    }
    for term in always {
        assert!(
            term["interval"].is_object() && term["p_value"].is_f64(),
            "{term}"
        );
        assert!(
            (term["level"].as_f64().unwrap() - 0.95).abs() < 1e-9,
            "{term}"
        );
    }
    let high = terms
        .iter()
        .find(|term| term["name"] == "arm=high")
        .unwrap();
    assert!(
        (high["estimate"].as_f64().unwrap() - 6.0).abs() < 0.2,
        "{high}"
    );
    let selected: Vec<&str> = terms
        .iter()
        .filter(|term| term["role"] == "selected")
        .map(|term| term["name"].as_str().unwrap())
        .collect();
    // The table has no random error, for which p-values allow, so a marker may be kept beside it.
    assert!(selected.contains(&"visits"), "{selected:?}");
    for name in &selected {
        assert!(!names.contains(name), "{name} is no candidate");
    }
    let text = folder.fit(&format!(
        "{TEXT} --sparsity 2 --epsilon 20 --simulate-noise 1 --always age,arm --force"
    ));
    assert!(
        text.stdout.contains("arm=high (always in the model)"),
        "{}",
        text.stdout
    );
    // The same by the schema.
    folder.write(
        "schema.toml",
        &SCHEMA.replace("bounds =", "always = [\"age\", \"arm\"]\nbounds ="),
    );
    let by_schema = folder.fit(&format!("{options} --force")).json();
    assert_eq!(
        by_schema["inference"]["terms"],
        answer["inference"]["terms"]
    );
}

#[test]
fn one_table_names_its_column_of_sites() {
    let folder = folder("sites");
    folder.write(
        "schema.toml",
        &format!("{SCHEMA}[record]\nsite-effects = true\n"),
    );
    let ended = folder.fit(&format!("{TEXT} --sparsity 2 --epsilon 20"));
    ended.assert_refused(2, "sprifed::fit::sites-not-named");
    assert!(!folder.files().contains(&"model.json".to_owned()));
}

/// y = 2 + 3 x_0 + the effect of a hospital: 4 for north, −2 for south and coast.
fn table_of_hospitals() -> String {
    let mut text = String::from("x_0,hospital,x_1,x_2,x_3,y\n");
    let mut state = 11_u32;
    let mut draw = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 16) / 32_768.0 - 1.0
    };
    for record in 0..1500 {
        let (hospital, effect) = [("north", 4.0), ("south", -2.0), ("coast", -2.0)][record % 3];
        let [a, b, c, d] = [(); 4].map(|()| draw());
        let response = 2.0 + 3.0 * a + effect + 0.5 * draw();
        writeln!(text, "{a},{hospital},{b},{c},{d},{response}").unwrap();
    }
    text
}

const HOSPITALS: &str =
    "[response]\nname = \"y\"\nlower = -20\nupper = 20\n[features]\nlower = -1\nupper = 1\n";

#[test]
fn each_site_of_one_table_has_an_intercept_of_its_own() {
    let folder = Folder::new("hospitals");
    folder.write("data.csv", &table_of_hospitals());
    let sites =
        "[sites]\ncolumn = \"hospital\"\nrecords = { north = 500, south = 500, coast = 500 }\n";
    folder.write("schema.toml", &format!("{HOSPITALS}{sites}"));
    let ended = folder.fit("--sparsity 2 --epsilon 20 --simulate-noise 1");
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let said = "Each site has an intercept of its own, so a noisy mean of each site is released";
    assert!(ended.stdout.contains(said), "{}", ended.stdout);
    let model = folder.json("model.json");
    assert_eq!(model["n_candidates"], 4, "the column of sites is none");
    assert!(
        (model["intercept"].as_f64().unwrap() - 2.0).abs() < 0.3,
        "{model}"
    );
    let found: Vec<(&str, f64)> = model["sites"]
        .as_array()
        .unwrap()
        .iter()
        .map(|site| {
            (
                site["site"].as_str().unwrap(),
                site["intercept"].as_f64().unwrap(),
            )
        })
        .collect();
    let expected = [("coast", 0.0), ("north", 6.0), ("south", 0.0)];
    for ((site, intercept), (name, truth)) in found.iter().zip(expected) {
        assert_eq!(*site, name);
        assert!((intercept - truth).abs() < 0.5, "{site}: {intercept}");
    }
    // A record of a new site gets the mean of the intercepts, one of a known site its own.
    folder.write("new.csv", "x_0,x_1,x_2,x_3\n0.5,0,0,0\n");
    let (path, new) = (folder.path("model.json"), folder.path("new.csv"));
    let predict = |options: &[&str]| {
        let words = ["predict", &path, &new, "--json"].into_iter();
        run(words.chain(options.iter().copied()))
    };
    let prediction = |options: &[&str]| predict(options).json()["predictions"][0].as_f64().unwrap();
    assert!((prediction(&[]) - 3.5).abs() < 0.5);
    assert!((prediction(&["--site", "north"]) - 7.5).abs() < 0.7);
    let unknown = predict(&["--site", "west"]);
    let found = (unknown.exit_code, unknown.code());
    assert_eq!(found, (2, "sprifed::model::unknown-site"));
    assert_eq!(run(["verify", &path]).exit_code, 0);
}

#[test]
fn sites_that_cannot_have_intercepts_are_refused_before_anything_is_spent() {
    let folder = Folder::new("few_in_a_site");
    folder.write("data.csv", &table_of_hospitals());
    let all = "north = 500, south = 500, coast = 500";
    for (sites, column, code, said) in [
        (
            "north = 500, south = 500, coast = 14",
            "hospital",
            "sprifed::plan::impossible",
            "a site with 14 records",
        ),
        (
            "north = 500, south = 500",
            "hospital",
            "sprifed::data::table",
            "hospital",
        ),
        (all, "clinic", "sprifed::data::table", "the column of sites"),
        (all, "y", "sprifed::data::schema", "the column of sites"),
    ] {
        let text = format!("{HOSPITALS}[sites]\ncolumn = \"{column}\"\nrecords = {{ {sites} }}\n");
        folder.write("schema.toml", &text);
        let ended = folder.fit("--sparsity 2 --epsilon 20 --simulate-noise 1");
        ended.assert_refused(2, code);
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
        assert!(!folder.files().contains(&"model.json".to_owned()));
    }
}

#[test]
fn numbers_that_buy_nothing_are_refused_by_the_name_of_their_option() {
    let folder = Folder::new("usage");
    for (options, said) in [
        (
            "--sparsity 3 --epsilon 0",
            "--epsilon must be greater than 0",
        ),
        ("--sparsity 0 --epsilon 1", "--sparsity must be at least 1"),
        ("--sparsity -1 --epsilon 1", "--sparsity must be at least 1"),
        ("--sparsity=-1 --epsilon 1", "--sparsity must be at least 1"),
    ] {
        let ended = folder.fit(options);
        assert_eq!(ended.exit_code, 2, "{options}");
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
}

#[test]
fn a_placeholder_is_named_by_file_and_line() {
    let folder = Folder::new("placeholder");
    folder.write(
        "schema.toml",
        "[response]\nname = \"y\"\nlower = FILL_IN\nupper = 1\n",
    );
    let ended = folder.fit("--sparsity 3 --epsilon 1");
    ended.assert_refused(2, "sprifed::data::schema");
    assert!(
        ended
            .stderr
            .contains("schema.toml line 3: replace FILL_IN with a number"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_category_is_one_feature_of_a_fit_its_text_its_page_and_its_plan() {
    let folder = folder("category");
    folder.write("schema.toml", &together());
    let options = format!("{TEXT} --sparsity 4 --epsilon 20 --procedure argmax --simulate-noise 1");
    let ended = folder.fit(&format!("{options} --json"));
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let report = &folder.json("model.json")["inference"];
    let terms = report["terms"].as_array().unwrap();
    let arm: Vec<_> = terms
        .iter()
        .filter(|term| term["category"] == "arm")
        .collect();
    let names: Vec<&str> = arm
        .iter()
        .map(|term| term["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["arm=low", "arm=high"], "{report}");
    assert_eq!(arm[0]["p_value"], arm[1]["p_value"], "{report}");
    assert!(
        arm.iter().all(|term| term["interval"].is_object()),
        "{report}"
    );
    let others = terms
        .iter()
        .filter(|term| term["category"].is_null())
        .count();
    assert_eq!(report["kept"], 1 + others, "{report}");
    assert_eq!(ended.json()["inference"]["terms"], report["terms"]);

    // A row of effects has no room to say that a p-value is that of the category.
    let effects = folder.path("effects.tsv");
    let ended = folder.fit(&format!("{options} --force --effects {effects}"));
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let rows = folder.read("effects.tsv");
    for level in ["arm=low", "arm=high"] {
        let row = rows.lines().find(|row| row.contains(level)).unwrap();
        assert_eq!(row.split('\t').nth(7), Some("NA"), "{row}");
    }

    let apart = options.replace("argmax", "sieve");
    let ended = folder.fit(&format!("{apart} --force"));
    let words = "The levels of arm were picked one by one";
    assert!(ended.stdout.contains(words), "{}", ended.stdout);

    let page = folder.path("page.html");
    let ended = folder.fit(&format!("{options} --force --report {page}"));
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let words = "All levels of arm were kept together and count as one feature.";
    assert!(ended.stdout.contains(words), "{}", ended.stdout);
    assert!(folder.read("page.html").contains(words));

    // Sums: each level alone, as without groups.
    let ended = folder.fit(&format!(
        "{TEXT} --sparsity 3 --epsilon 20 --procedure sieve --simulate-noise 1 --force --json"
    ));
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let report = &folder.json("model.json")["inference"];
    let terms = report["terms"].as_array().unwrap();
    let names: Vec<&str> = terms
        .iter()
        .map(|term| term["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"arm=high") && !names.contains(&"arm=low"),
        "{report}"
    );

    // Nine columns: four markers, two levels, visits, age and its gaps.
    let named = together().replace("include = [\"snp_*\", \"arm\", \"visits\", \"age\"]\n", "");
    let markers = (0..4)
        .map(|at| format!("[feature.snp_{at}]\n"))
        .collect::<String>();
    folder.write("named.toml", &format!("{named}{markers}"));
    let schema = folder.path("named.toml");
    let plan = |options: &str| {
        let size = "--records 3000 --sparsity 3 --epsilon 20 --forecast-trials 0";
        let line = format!("plan --schema {schema} {size} {options}");
        let ended = run(line.split_whitespace());
        assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
        ended
    };
    let found = plan("--procedure argmax --json").json();
    assert_eq!(found["features"], 9, "{found}");
    let categories = serde_json::json!({"count": 1, "columns": 2, "picked_as_one": true});
    assert_eq!(found["categories"], categories, "{found}");
    let words = "1 category with 2 columns is to be picked together";
    let text = plan("--procedure argmax").stdout;
    assert!(
        text.contains(&format!(
            "{words}: all columns of a category enter the model or none"
        )),
        "{text}"
    );
    let text = plan("--procedure sieve").stdout;
    assert!(
        text.contains(&format!("{words}, but sieve sees sums")),
        "{text}"
    );
}

#[test]
fn trustees_pick_a_category_as_one_feature_too() {
    let folder = folder("category_trustees");
    folder.write("schema.toml", &together());
    let ended = folder.fit(&format!(
        "{TEXT} --sparsity 3 --epsilon 20 --backend trustees --clients 10 --simulate-noise 1 --json"
    ));
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let model = folder.json("model.json");
    assert_eq!(model["procedure"], "argmax", "{model}");
    let terms = model["inference"]["terms"].as_array().unwrap();
    let arm = terms.iter().filter(|term| term["category"] == "arm");
    assert_eq!(arm.count(), 2, "{model}");
    let ended = run(["verify", &folder.path("model.json")]);
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
}
