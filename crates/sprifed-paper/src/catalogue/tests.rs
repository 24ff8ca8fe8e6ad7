//! The catalogue is complete and its cells are distinct.

use super::catalogue;
use crate::contender::Contender;
use crate::experiment::{Conditions, Size, Work};
use crate::label::Label;
use crate::verdict::Outcome;

fn conditions(size: Size) -> Conditions {
    Conditions {
        size,
        trials: None,
        seed: 1,
        data: None,
        commit: String::new(),
    }
}

#[test]
fn names_differ_and_every_experiment_says_what_it_is_about() {
    let all = catalogue();
    let mut names: Vec<&str> = all.iter().map(|experiment| experiment.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len());
    for experiment in all {
        assert!(!experiment.title.is_empty() && !experiment.claim.is_empty());
        assert!(!experiment.setting.is_empty() && !experiment.metrics.is_empty());
        let verdict = (experiment.judge)(&[]);
        assert_eq!(verdict.outcome, Outcome::NotRun, "{}", experiment.name);
    }
}

#[test]
fn no_two_cells_of_an_experiment_answer_the_same_question() {
    for experiment in catalogue() {
        let Work::Cells(cells) = experiment.work else {
            continue;
        };
        let cells = cells(&conditions(Size::Full)).unwrap();
        let mut places: Vec<String> = cells
            .iter()
            .map(|cell| format!("{} {} {}", cell.panel, cell.contender.name(), cell.axis.1))
            .collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), cells.len(), "{}", experiment.name);
        assert!(
            cells.iter().all(|cell| cell.trials >= 5),
            "{}",
            experiment.name
        );
    }
}

#[test]
fn all_contenders_compete_at_three_budgets() {
    let winners = catalogue()
        .into_iter()
        .find(|experiment| experiment.name == "winners")
        .unwrap();
    let Work::Cells(cells) = winners.work else {
        panic!("winners are cells")
    };
    let cells = cells(&conditions(Size::Full)).unwrap();
    for contender in Contender::CERTIFIED {
        let budgets = cells
            .iter()
            .filter(|cell| cell.contender == contender && cell.world.sparsity == 5);
        assert_eq!(budgets.count(), 3, "{}", contender.name());
    }
}

#[test]
fn the_whole_table_of_independent_numbers_is_compared() {
    let with_independent = |experiment: &crate::experiment::Experiment| match experiment.work {
        Work::Cells(cells) => cells(&conditions(Size::Full))
            .unwrap()
            .iter()
            .map(|cell| cell.independent.len())
            .sum(),
        _ => 0usize,
    };
    // Six lines of Table 1 with two numbers each, and six settings for GRAD and OMP.
    let total: usize = catalogue().iter().map(with_independent).sum();
    assert_eq!(total, 24);
}

#[test]
fn the_paper_delivers_what_the_accountant_says() {
    let five = Label::delivered(5).unwrap();
    let ten = Label::delivered(10).unwrap();
    assert!(
        (five - 11.7).abs() < 0.05 && (ten - 11.9).abs() < 0.06,
        "{five} {ten}"
    );
}
