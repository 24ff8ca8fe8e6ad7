//! Numbers of a guarantee are shortened in one place, which rounds towards the weaker claim.
//!
//! A format with a fixed number of digits rounds to nearest, and an ε that is rounded down is a promise
//! that was not kept. So no line that names ε, δ, ρ or μ, or ends in `-DP`, may have one: it calls
//! `shown`, `shown_cost`, `shown_to` or `shown_delta` of `sprifed-privacy`.

use crate::finding::Finding;
use crate::repository::Repository;
use crate::tidy::{code_lines, spells_the_rules};

/// Where the digits are cut.
const PLACE: &str = "crates/sprifed-privacy/src/shown.rs";

/// Words that say what a number is.
const NAMES: [&str; 7] = ["epsilon", "delta", "rho", "mu", "eps", "ε", "δ"];

/// Ways to cut digits off in the languages of the project.
const CUTS: [&str; 5] = [
    "toFixed(",
    "toPrecision(",
    "|round",
    "|format",
    ".ceil() / 1e",
];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repository.texts_ending(&[".rs", ".py", ".html", ".js"]) {
        if path == PLACE || spells_the_rules(path) || is_about_others(path) {
            continue;
        }
        for (number, line) in code_lines(text) {
            if names_a_guarantee(line) && cuts_digits(line) {
                let problem = "cuts digits off a number of a guarantee".to_owned();
                let remedy = "call shown(), shown_cost, shown_to or shown_delta of sprifed-privacy";
                findings.push(Finding::in_file(path, problem, remedy.to_owned()).at_line(number));
            }
        }
    }
    findings
}

/// Tests, examples and pages that were made once.
fn is_about_others(path: &str) -> bool {
    path.contains("/tests") || path.contains("/examples/") || path.starts_with("docs/")
}

fn names_a_guarantee(line: &str) -> bool {
    let is_part = |c: char| c.is_alphabetic();
    let mut words = line.split(|c: char| !is_part(c));
    line.contains("-DP") || words.any(|word| NAMES.contains(&word.to_lowercase().as_str()))
}

/// Whether `line` has a format such as `{:.4}`, `{x:.3e}` or `%.3f`, or another cut.
fn cuts_digits(line: &str) -> bool {
    let has_precision = |mark: &str| {
        line.split(mark).skip(1).any(|after| {
            after.starts_with(|c: char| c.is_ascii_digit()) || after.starts_with("digits$")
        })
    };
    has_precision(":.") || has_precision("%.") || CUTS.iter().any(|cut| line.contains(cut))
}

#[cfg(test)]
mod tests {
    use super::{PLACE, check};
    use crate::repository::Repository;
    use crate::tidy::shown;

    #[test]
    fn a_number_that_is_cut_elsewhere_is_found() {
        for line in [
            r#"format!("epsilon = {:.4} at delta = {:e}", e, d)"#,
            r#"format!("({:.4}, {})-DP for each record", e, d)"#,
            r#"format!("{epsilon:.2}")"#,
            r#"let shown = (epsilon * 1e4).ceil() / 1e4;"#,
            r#"format!("rho = {:.5} by zCDP", rho)"#,
            r#"f"({guarantee.epsilon:.4g}, 1)""#,
            r#"<p>ε {{ "%.3f"|format(spent) }}</p>"#,
            r#"cell.textContent = epsilon.toFixed(3);"#,
        ] {
            let sample = format!("\n{line}\n");
            let found = shown(&check(&Repository::sample([(
                "crates/a/src/b.rs",
                &sample,
            )])));
            assert_eq!(found.len(), 1, "{line}");
            assert!(
                found[0].starts_with("crates/a/src/b.rs:2: cuts digits"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn numbers_in_full_other_numbers_and_the_place_itself_are_fine() {
        for line in [
            r#"format!("epsilon = {} at delta = {:e}", e.shown(), d)"#,
            r#"format!("{seconds:.2} s")"#,
            r#"format!("{:.3} of the multiples", x)"#,
        ] {
            assert!(check(&Repository::sample([("crates/a/src/b.rs", line)])).is_empty());
        }
        let inside = r#"format!("{delta:.3e}")"#;
        assert!(check(&Repository::sample([(PLACE, inside)])).is_empty());
        assert!(check(&Repository::sample([("crates/a/tests/b.rs", inside)])).is_empty());
    }
}
