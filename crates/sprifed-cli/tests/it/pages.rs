//! The pages that commands write, in a real browser at two widths.

use std::path::{Path, PathBuf};

use crate::browser::Browser;
use crate::command::run;
use crate::fit::table::Folder;

fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("pages_{name}"));
    let _ = std::fs::remove_dir_all(&path);
    path
}

#[test]
fn people_see_a_fit() {
    let table = Folder::new("page_seen");
    let Some(browser) = Browser::find(&folder("fit")) else {
        return;
    };
    for (name, noise) in [("secret.html", ""), ("seeded.html", "--simulate-noise 1")] {
        let page = table.path(name);
        let options =
            format!("--sparsity 3 --epsilon 5 --clients 100 --force {noise} --report {page}");
        let ended = table.fit(&options);
        assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
        let words: &[&str] = if noise.is_empty() {
            &["complete", "Sparse model of y", "epsilon = "]
        } else {
            &["complete", "NOT PRIVATE", "with secret noise: epsilon = "]
        };
        let rest = [
            "Noise\t",
            "Details\t",
            "95 % confidence interval",
            "x_3",
            "(intercept)",
            "Rounds and budget",
        ];
        browser.check(Path::new(&page), &[words, &rest].concat());
    }
}

#[test]
fn people_see_the_demo() {
    let out = folder("demo");
    let Some(browser) = Browser::find(&out) else {
        return;
    };
    let ended = run(["demo", "--out", out.to_str().unwrap()]);
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let words = [
        "true features found: ",
        "sprifed demo",
        "epsilon = 3, delta = 1e-6 for each record (zero-out)",
        "Blanking one record changes",
        "added by the 50 clients, one share each",
        "only sums of at least 45 clients",
        "This run simulated all clients in one process",
        "Gaussian DP, mu = ",
        "95 % confidence interval",
        "true coefficient",
        "variance due to privacy",
    ];
    browser.check(&out.join("report.html"), &words);
}

#[test]
fn people_see_the_paper_judged() {
    let Some(browser) = Browser::find(&folder("paper")) else {
        return;
    };
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/paper");
    let words = [
        "not reproduced",
        "The paper, reproduced and judged",
        "Abstract",
        "Verdicts",
        "MADELON: test error",
        "How to read this page",
        "Real data",
        "Generated data",
        "Figure 1.",
        "Figure 2.",
        "Agreement with an independent simulation",
    ];
    browser.check(&docs.canonicalize().unwrap().join("report.html"), &words);
}
