//! The abstract of the page: five sentences with the main numbers, each computed from rows.

use super::Section;
use crate::catalogue::{best_of_ours, real_tables};
use crate::numbers::shown;
use crate::row::Row;
use crate::verdict::{Evidence, Outcome, with_error};

/// The sentences for which there are rows.
pub(super) fn sentences(sections: &[Section], rows: &[Row]) -> Vec<String> {
    let of = |experiment: &str| -> Vec<Row> {
        let own = rows.iter().filter(|row| row.experiment == experiment);
        own.cloned().collect()
    };
    let sentences = [
        outcomes(sections),
        delivered(&of("privacy"), rows),
        recovered(&of("recovery-s10-a")),
        records_needed(&of("n90")),
        real_data(rows, &of("real-data")),
    ];
    sentences.into_iter().flatten().collect()
}

fn outcomes(sections: &[Section]) -> Option<String> {
    let count = |outcome: Outcome| {
        let same = sections.iter().filter(|section| section.outcome == outcome);
        same.count()
    };
    let (yes, partly, no) = (
        count(Outcome::Reproduced),
        count(Outcome::OnlyIf),
        count(Outcome::NotReproduced),
    );
    (yes + partly + no > 0).then(|| {
        format!(
            "We measured the tables and figures of section 6 again: of {} claims of the paper, {yes} is reproduced as \
             stated, {partly} only under a condition that the paper does not state, and {no} not at all.",
            yes + partly + no
        )
    })
}

fn delivered(privacy: &[Row], all: &[Row]) -> Option<String> {
    let evidence = Evidence(privacy);
    let at = |series| {
        let row = evidence.at("section 6, s = 10", series, 0.0, "epsilon")?;
        Some(shown(row.value, "epsilon"))
    };
    let grad = all.iter().find(|row| {
        row.series == "paper-grad" && row.epsilon_claimed.is_some() && row.experiment != "real-data"
    })?;
    let grad = match grad.epsilon_zero_out {
        None => "; SPriFed-OMP-GRAD, which clips no residual, delivers no ε at all",
        Some(_) => "",
    };
    Some(format!(
        "The setting for s = 10 claims ε = {}, but SPriFed-OMP delivers {} under zero-out and {} under replace-one, the \
         paper's own relation{grad}.",
        at("claimed")?,
        at("delivered, zero-out")?,
        at("delivered, replace-one")?
    ))
}

fn recovered(rows: &[Row]) -> Option<String> {
    let evidence = Evidence(rows);
    let theirs = evidence.of("recovered").find(|row| row.paper.is_some())?;
    let ours = evidence.at(&theirs.panel, "sieve", theirs.x, "recovered")?;
    Some(format!(
        "With n = {} ({}) SPriFed-OMP-GRAD as published finds {} features, and our sieve, with certified noise at the ε \
         that SPriFed-OMP delivers there, finds {}.",
        theirs.x,
        theirs.panel,
        with_error(theirs),
        with_error(ours)
    ))
}

fn records_needed(rows: &[Row]) -> Option<String> {
    let evidence = Evidence(rows);
    let panel = "p = 2500, s = 5, ε = 5.34";
    let needed = |series: &str| evidence.at(panel, series, 0.0, "n90").map(with_error);
    Some(format!(
        "To find nine tenths of the features at the same delivered ε ({panel}), the sieve needs {} records and argmax, \
         with a trusted curator, {}, where the paper's GRAD with certified noise needs {}.",
        needed("sieve")?,
        needed("argmax")?,
        needed("honest-grad")?
    ))
}

fn real_data(all: &[Row], rows: &[Row]) -> Option<String> {
    // Every value of the paper stands beside two readings of its noise.
    let printed: Vec<(f64, f64)> = all
        .iter()
        .filter(|row| ["madelon", "survival"].contains(&row.experiment.as_str()))
        .filter(|row| row.metric == "test MSE" && row.panel.ends_with("bounds of 1"))
        .filter_map(|row| Some((row.paper?, row.null?)))
        .collect();
    let better = printed.iter().filter(|(paper, null)| paper < null).count();
    let found: Vec<(&str, &Row)> = real_tables()
        .filter_map(|panel| Some((panel, best_of_ours(rows, panel)?)))
        .collect();
    if printed.is_empty() || found.is_empty() {
        return None;
    }
    let list = |predicts: bool| -> Vec<String> {
        let some = found
            .iter()
            .filter(|(_, row)| (row.value > 0.0) == predicts);
        some.map(|(panel, row)| format!("{} on {panel}", with_error(row)))
            .collect()
    };
    let (above, below) = (list(true), list(false));
    let below = if below.is_empty() {
        String::new()
    } else {
        format!(", but {}, worse than the mean", below.join(" and "))
    };
    Some(format!(
        "On real data, {better} of the {} test errors that the paper prints for MADELON, chop and gse1992 beat predicting \
         the mean; our best procedures have a test R2 of {}{below}.",
        printed.len(),
        above.join(", ")
    ))
}
