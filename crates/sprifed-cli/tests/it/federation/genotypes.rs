//! A study of genetic markers: which allele of each is counted is agreed, and a party that counts the other one is refused.

use std::fs;
use std::path::PathBuf;

use super::stage::{Kind, PURPOSE, Stage, json_at, output_of, sprifed, succeed};

const SCHEMA: &str = "[response]\nname = \"PHENO\"\nlower = -10\nupper = 10\n[features]\nlower = 0\nupper = 2\nexclude = [\"FID\", \"IID\", \"SEX\"]\n";

/// Files of as many samples as a party has, at 12 markers with these alleles.
fn cohort(stage: &Stage, name: &str, alleles: &str) -> PathBuf {
    let path = stage.folder.join(name);
    let samples = stage.kind.records as usize;
    let markers = (0..12).map(|at| format!("6\trs{at}\t0\t{at}\t{alleles}\n"));
    fs::write(path.with_extension("bim"), markers.collect::<String>()).unwrap();
    let people = (0..samples).map(|at| format!("f{at} p{at} 0 0 1 1.5\n"));
    fs::write(path.with_extension("fam"), people.collect::<String>()).unwrap();
    let genotypes = std::iter::repeat_n(0b1110_0011, 12 * samples / 4);
    let bed: Vec<u8> = [0x6C, 0x1B, 1].into_iter().chain(genotypes).collect();
    let path = path.with_extension("bed");
    fs::write(&path, bed).unwrap();
    path
}

#[test]
fn a_party_that_counts_the_other_allele_does_not_take_part() {
    let stage = Stage::new("alleles", Kind::default());
    let new = stage.folder.join("new");
    fs::write(stage.folder.join("schema.toml"), SCHEMA).unwrap();
    let columns = cohort(&stage, "cohort", "A\tG");
    let mut init = sprifed();
    init.args(["study", "init"]).arg(&new);
    for party in ["p0", "p1", "p2"] {
        init.arg("--party")
            .arg(stage.folder.join(party).join("party.json"));
    }
    init.arg("--schema").arg(stage.folder.join("schema.toml"));
    init.arg("--columns").arg(&columns);
    init.args(["--sparsity", "2", "--epsilon", "90", "--simulate-noise"]);
    init.args(["--procedure", "sieve", "--address", "localhost:1"]);
    succeed(init.args(["--purpose", PURPOSE]));
    let invitation = json_at(&new.join("invitation.json"));
    let marker = &invitation["agreement"]["data"]["markers"]["rs3"];
    assert_eq!(marker["effect_allele"], "A");
    assert_eq!(marker["position"], 3);
    let said = |data: &PathBuf| {
        let mut check = sprifed();
        check.arg("join").arg(new.join("for-p0"));
        check.arg("--identity").arg(stage.party(0));
        check
            .args(["--simulate-noise", "11", "--check"])
            .arg("--data")
            .arg(data);
        let ended = output_of(&mut check);
        String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned()
    };
    let other = "`rs0` counts copies of G and not of A; required: copies of A and not of G";
    let flipped = said(&cohort(&stage, "flipped", "G\tA"));
    assert!(flipped.contains(other), "{flipped}");
    let same = said(&cohort(&stage, "same", "A\tG"));
    assert!(!same.contains("counts copies"), "{same}");
}
