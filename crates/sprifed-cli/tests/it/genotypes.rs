//! Genotypes of PLINK with phenotypes in a second table: drafted, checked, fitted, reported, predicted and accounted for.

use std::fmt::Write as _;

use crate::command::{Ended, run};
use crate::fit::table::Folder;

const SAMPLES: usize = 3000;
const MARKERS: usize = 30;

/// height = 165 + 3 (copies of A at rs4) - 2 (copies of A at rs9) + 0.2 (age - 50) + error.
const SCHEMA: &str = r#"
[response]
name = "height"
lower = 140
upper = 190
[features]
lower = 0
upper = 2
exclude = ["FID", "IID", "SEX", "year"]
[feature.age]
lower = 20
upper = 80
[record]
missing = "midpoint"
missing_response = "drop"
"#;

/// Three files of genotypes; phenotypes in another order, without the last sample and with two others.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    let mut state = 11_u32;
    let mut draw = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    let genotypes: Vec<Vec<u32>> = (0..MARKERS)
        .map(|_| (0..SAMPLES).map(|_| draw(2) + draw(2)).collect())
        .collect();
    let (mut bed, mut bim) = (vec![0x6C, 0x1B, 1], String::new());
    for (at, copies) in genotypes.iter().enumerate() {
        let chromosome = 6 + at / 20;
        writeln!(bim, "{chromosome}\trs{at}\t0\t{}\tA\tG", 1000 * (at + 1)).unwrap();
        for four in copies.chunks(4) {
            let codes = four
                .iter()
                .map(|copies| [0b11, 0b10, 0b00][*copies as usize]);
            bed.push(codes.rev().fold(0u8, |byte, code| byte << 2 | code));
        }
    }
    std::fs::write(folder.path("cohort.bed"), bed).unwrap();
    folder.write("cohort.bim", &bim);
    let samples = (0..SAMPLES).map(|at| format!("f{at} p{at} 0 0 {} -9\n", 1 + at % 2));
    folder.write("cohort.fam", &samples.collect::<String>());
    let mut rows: Vec<String> = (0..SAMPLES - 1)
        .map(|at| {
            let age = 20 + draw(60);
            let error = f64::from(draw(1000)) / 250.0 - 2.0;
            let height = 165.0 + 3.0 * f64::from(genotypes[4][at])
                - 2.0 * f64::from(genotypes[9][at])
                + 0.2 * (f64::from(age) - 50.0)
                + error;
            format!("{height},p{at},{age},{}\n", 2000 + at % 20)
        })
        .collect();
    rows.reverse();
    rows.extend(["150,q1,30,2001\n".to_owned(), "151,q2,31,2002\n".to_owned()]);
    folder.write(
        "traits.csv",
        &("height,IID,age,year\n".to_owned() + &rows.concat()),
    );
    folder.write("schema.toml", SCHEMA);
    folder
}

fn fit(folder: &Folder, options: &str) -> Ended {
    let traits = folder.path("traits.csv");
    folder.fit_file("cohort.bed", &format!("--phenotypes {traits} {options}"))
}

const WANTED: &str = "--extra-samples leave-out --sparsity 3 --epsilon 20";

#[test]
fn a_fit_finds_markers_and_says_where_they_lie_and_which_allele_is_counted() {
    let folder = folder("genotypes");
    let effects = folder.path("effects.tsv");
    let ended = fit(
        &folder,
        &format!("{WANTED} --simulate-noise 1 --effects {effects} --json"),
    );
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("1 record has no row in the table of --phenotypes"),
        "{}",
        ended.stderr
    );
    assert!(
        ended
            .stderr
            .contains("2 samples of --phenotypes belong to no record"),
        "{}",
        ended.stderr
    );
    let answer = ended.json();
    assert_eq!(answer["features"], 31, "thirty markers and age");
    assert_eq!(
        answer["train_size"], SAMPLES,
        "the sample without a row stays in the public number"
    );
    let marker = &answer["markers"]["rs4"];
    assert_eq!(marker["chromosome"], "6");
    assert_eq!(marker["position"], 5000);
    assert_eq!(
        (&marker["effect_allele"], &marker["other_allele"]),
        (&"A".into(), &"G".into())
    );
    assert!(answer["markers"].get("age").is_none());
    let table = folder.read("effects.tsv");
    let mut lines = table.lines();
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("chromosome\tbase_pair_location\teffect_allele")
    );
    let lines: Vec<Vec<&str>> = lines.map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines.len(), 3);
    for (name, effect, place) in [("rs4", 3.0, "5000"), ("rs9", -2.0, "10000")] {
        let line = lines.iter().find(|line| line[8] == name).unwrap();
        assert_eq!(
            (line[0], line[1], line[2], line[3], line[6]),
            ("6", place, "A", "G", "NA")
        );
        let number = |at: usize| line[at].parse::<f64>().unwrap();
        assert!((number(4) - effect).abs() < 0.5, "{line:?}");
        assert!(number(9) < number(4) && number(4) < number(10), "{line:?}");
    }
    let age = lines.iter().find(|line| line[8] == "age").unwrap();
    assert_eq!(&age[..4], ["NA"; 4]);
}

#[test]
fn the_text_and_the_page_name_the_counted_allele() {
    let folder = folder("genotypes_text");
    let page = folder.path("report.html");
    let ended = fit(
        &folder,
        &format!("{WANTED} --simulate-noise 1 --report {page}"),
    );
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("effect allele"), "{}", ended.stdout);
    let line = ended
        .stdout
        .lines()
        .find(|line| line.contains("rs4"))
        .unwrap();
    assert!(line.contains("6:5000"), "{line}");
    assert!(
        folder
            .read("report.html")
            .contains("6:5000, copies of A, not G")
    );
}

#[test]
fn regions_choose_markers() {
    let folder = folder("genotypes_region");
    let count = |options: &str| {
        let ended = fit(
            &folder,
            &format!("{WANTED} --simulate-noise 1 --force {options}"),
        );
        assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
        folder.json("model.json")["n_candidates"].as_u64().unwrap()
    };
    assert_eq!(count("--region 6"), 21);
    assert_eq!(count("--region 6:1000-10000"), 11);
    let marked = "\u{feff}".to_owned() + &folder.read("cohort.bim");
    folder.write("cohort.bim", &marked);
    assert_eq!(
        count("--region 6"),
        21,
        "a mark of byte order is no chromosome"
    );
    let empty = fit(&folder, &format!("{WANTED} --force --region 6,7:1-1"));
    assert_eq!(empty.exit_code, 2);
    assert!(
        empty.stderr.contains("the region `7:1-1`"),
        "{}",
        empty.stderr
    );
}

#[test]
fn samples_in_one_table_only_are_refused_by_their_number() {
    let folder = folder("genotypes_unmatched");
    let ended = fit(&folder, "--sparsity 3 --epsilon 20");
    assert_eq!(ended.exit_code, 2);
    assert!(
        ended
            .stderr
            .contains("2 rows of the second table belong to no record"),
        "{}",
        ended.stderr
    );
    folder.write(
        "schema.toml",
        &SCHEMA.replace("missing_response = \"drop\"", ""),
    );
    let ended = fit(&folder, WANTED);
    assert_eq!(ended.exit_code, 2);
    assert!(
        ended
            .stderr
            .contains("1 record of the first table has no row"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_draft_of_both_tables_is_checked_and_a_model_predicts_from_both() {
    let folder = folder("genotypes_draft");
    let [bed, traits, schema, model] =
        ["cohort.bed", "traits.csv", "schema.toml", "model.json"].map(|name| folder.path(name));
    let draft = run(["schema", "draft", &bed, "--phenotypes", &traits]);
    assert_eq!(draft.exit_code, 0, "{}", draft.stderr);
    assert!(draft.stdout.contains("upper = 2 "), "{}", draft.stdout);
    assert!(
        draft.stdout.contains("[feature.\"age\"]") && !draft.stdout.contains("PHENO"),
        "{}",
        draft.stdout
    );
    let check = run([
        "schema",
        "check",
        &schema,
        &bed,
        "--phenotypes",
        &traits,
        "--extra-samples",
        "leave-out",
    ]);
    assert_eq!(check.exit_code, 0, "{}", check.stderr);
    assert!(
        check
            .stdout
            .contains("1 sample without a row in the table of --phenotypes"),
        "{}",
        check.stdout
    );
    assert_eq!(
        fit(&folder, &format!("{WANTED} --simulate-noise 1")).exit_code,
        0
    );
    let predict = run([
        "predict",
        &model,
        &bed,
        "--phenotypes",
        &traits,
        "--extra-samples",
        "leave-out",
    ]);
    assert_eq!(predict.exit_code, 0, "{}", predict.stderr);
    assert_eq!(predict.stdout.lines().count(), 1 + SAMPLES);
}

#[test]
fn a_ledger_accounts_for_both_tables() {
    let folder = folder("genotypes_ledger");
    let ledger = folder.path("ledger");
    let ended = fit(&folder, &format!("{WANTED} --ledger {ledger}"));
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    folder.write("schema.toml", TRAITS_ALONE);
    let alone = folder.fit_to("traits.csv", "other.json", "--sparsity 1 --epsilon 1");
    alone.assert_refused(2, "sprifed::ledger::needed");
    folder.write("schema.toml", SCHEMA);
    let other = folder.path("other");
    let elsewhere = fit(&folder, &format!("{WANTED} --force --ledger {other}"));
    elsewhere.assert_refused(1, "sprifed::ledger::refused");
}

/// The phenotypes alone, without genotypes.
const TRAITS_ALONE: &str = "[response]\nname = \"height\"\nlower = 140\nupper = 190\n[features]\nlower = 20\nupper = 80\nexclude = [\"IID\"]\n[feature.year]\nlower = 2000\nupper = 2020\n";

#[test]
fn a_copy_of_the_second_table_is_known_by_its_content() {
    let folder = folder("genotypes_copy");
    let ledger = folder.path("ledger");
    let ended = fit(&folder, &format!("{WANTED} --ledger {ledger}"));
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    folder.write("schema.toml", TRAITS_ALONE);
    folder.write("copy.csv", &folder.read("traits.csv"));
    let alone = folder.fit_to("copy.csv", "other.json", "--sparsity 1 --epsilon 1");
    alone.assert_refused(2, "sprifed::ledger::needed");
}

#[test]
fn an_edited_second_table_is_noticed() {
    let folder = folder("genotypes_edited");
    let ledger = folder.path("ledger");
    let wanted = format!("{WANTED} --force --ledger {ledger}");
    let again = "is not what it was when an earlier fit or study was entered";
    for _ in 0..2 {
        let ended = fit(&folder, &wanted);
        assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
        assert!(!ended.stderr.contains(again), "{}", ended.stderr);
    }
    folder.write(
        "traits.csv",
        &folder.read("traits.csv").replacen(",2001\n", ",2002\n", 1),
    );
    let ended = fit(&folder, &wanted);
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let noticed = format!("`traits.csv` {again}");
    assert!(ended.stderr.contains(&noticed), "{}", ended.stderr);
    assert!(!ended.stderr.contains("`cohort.bed`"), "{}", ended.stderr);
    let lines = run(["ledger", "show", &ledger, "--json"]).json()["lines"].take();
    let data = |at: usize| &lines[at]["data"];
    assert_eq!(data(0), data(1));
    assert_eq!(data(0)["fingerprint"], data(2)["fingerprint"]);
    let joined = |at: usize| &data(at)["joined"];
    assert_eq!(joined(0)["name"], "traits.csv");
    assert_ne!(joined(0)["fingerprint"], joined(2)["fingerprint"]);
}

#[test]
fn a_family_of_0_is_no_client() {
    let folder = folder("genotypes_family");
    let client = "unit = \"client\"\nclient = \"FID\"\n";
    folder.write("schema.toml", &(SCHEMA.replace("\"FID\", ", "") + client));
    let [bed, traits, schema] =
        ["cohort.bed", "traits.csv", "schema.toml"].map(|name| folder.path(name));
    let check = || {
        run([
            "schema",
            "check",
            &schema,
            &bed,
            "--phenotypes",
            &traits,
            "--extra-samples",
            "leave-out",
        ])
    };
    let ended = check();
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let samples = folder.read("cohort.fam").replacen("f7 p7", "0 p7", 1);
    folder.write("cohort.fam", &samples);
    let ended = check();
    assert_eq!(ended.exit_code, 2, "{}", ended.stdout);
    assert!(
        ended.stdout.contains("a family of 0 is none") && ended.stdout.contains("record 8"),
        "{}",
        ended.stdout
    );
}
