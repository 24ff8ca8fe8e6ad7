//! Categories that are candidates: all columns of one are kept together or none.

use super::*;
use crate::groups::Groups;
use crate::setting::InferenceMethod;

/// The columns 20 to 22 and 30 to 33 become those of categories with a level for each, and a reference level. The first has
/// the effects given, the second none.
fn with_categories(n_records: usize, effects: [f64; 3], seed: u64) -> Table {
    let mut table = table(n_records, 40, &[(3, 0.8)], seed);
    let mut generator = NoiseGenerator::simulated(seed ^ 0xCA7);
    let rows = table.features.chunks_exact_mut(40);
    for (row, response) in rows.zip(&mut table.responses) {
        row[20..23].fill(0.0);
        row[30..34].fill(0.0);
        let (first, second) = (generator.next_u32() % 4, generator.next_u32() % 5);
        if first > 0 {
            row[19 + first as usize] = 1.0;
            #[expect(clippy::cast_possible_truncation, reason = "single precision")]
            let effect = effects[first as usize - 1] as f32;
            *response += effect;
        }
        if second > 0 {
            row[29 + second as usize] = 1.0;
        }
    }
    table
}

fn grouped(table: &Table, sparsity: u32) -> Setting {
    Setting {
        groups: Groups::of([20..23, 30..34]).unwrap(),
        ..setting(table, sparsity)
    }
}

const EFFECTS: [f64; 3] = [0.9, -0.7, 0.8];

fn features(report: &Inference) -> Vec<u32> {
    report.terms.iter().map(|term| term.feature).collect()
}

#[test]
fn a_category_with_an_effect_is_kept_as_one_feature_with_one_p_value() {
    let table = with_categories(3000, EFFECTS, 31);
    let legal = grouped(&table, 4);
    let variants = [
        legal,
        Setting {
            robust: true,
            ..legal
        },
        Setting {
            relation: Relation::ReplaceOne,
            ..legal
        },
        Setting {
            inference: InferenceMethod::Split,
            ..legal
        },
        Setting { always: 2, ..legal },
        Setting {
            feature_scale: None,
            ..legal
        },
    ];
    for variant in variants {
        let fit = fit(CertifiedProcedure::ARGMAX, &table, &variant, 32);
        let report = known(&fit);
        assert_eq!(fit.status, FitStatus::Complete, "{variant:?}: {fit:?}");
        assert_eq!(report.kept, 2, "{variant:?}: {report:?}");
        let selected = report.terms.iter();
        let selected = selected.filter(|term| term.role == Role::Selected);
        let (group, alone): (Vec<_>, Vec<_>) = selected.partition(|term| term.group.is_some());
        assert_eq!(alone.len(), 1, "{report:?}");
        assert_eq!((alone[0].feature, alone[0].group), (3, None));
        let names: Vec<u32> = group.iter().map(|term| term.feature).collect();
        assert_eq!(names, [20, 21, 22], "{report:?}");
        for (term, effect) in group.iter().zip(EFFECTS) {
            assert_eq!(term.group, Some(20));
            assert_eq!(term.p_value, group[0].p_value);
            assert!(term.p_value.unwrap() < 1e-3, "{term:?}");
            let interval = term.interval.unwrap();
            let width = interval.high - interval.low;
            // Twice the reported interval: this test must not fail by chance.
            assert!((effect - term.estimate).abs() < width, "{term:?}");
            let level = match variant.inference {
                InferenceMethod::Selective => 0.975,
                InferenceMethod::Split => 0.95,
            };
            assert!((term.level - level).abs() < 1e-12, "1 − 0.05·2/4");
        }
    }
}

#[test]
fn a_category_enters_whole_or_not_at_all() {
    let cases = [
        ([0.25, 0.0, -0.2], Keep::Significant),
        ([0.0; 3], Keep::Significant),
        ([0.2, 0.1, 0.0], Keep::Exactly),
    ];
    let mut entered = [0, 0];
    for (seed, (effects, choice)) in (0..24).zip(cases.into_iter().cycle()) {
        let table = with_categories(900, effects, 40 + seed);
        let setting = Setting {
            choice,
            ..grouped(&table, 6)
        };
        let fit = fit(CertifiedProcedure::ARGMAX, &table, &setting, 50 + seed);
        let reported = features(known(&fit));
        for in_model in [fit.model.support(), reported] {
            for group in [20..23, 30..34] {
                let found = in_model.iter().filter(|feature| group.contains(*feature));
                let found = found.count();
                assert!(found == 0 || found == group.len(), "{in_model:?}");
                entered[usize::from(found > 0)] += 1;
            }
        }
    }
    assert!(entered.iter().all(|times| *times > 10), "{entered:?}");
}

#[test]
fn a_category_without_an_effect_has_no_small_p_value_as_a_rule() {
    let (mut picked, mut small) = (0, 0);
    for seed in 0..24 {
        // Fewer records do not separate all levels from the constant, and then there are no p-values.
        let mut table = with_categories(12_000, [0.0; 3], 70 + seed);
        // Scores of numbers vary less than those of levels then, so that categories are picked.
        for row in table.features.chunks_exact_mut(40) {
            for column in (0..20).chain(23..30).chain(34..40) {
                row[column] *= 0.3;
            }
        }
        let setting = Setting {
            choice: Keep::Exactly,
            ..grouped(&table, 5)
        };
        let fit = fit(CertifiedProcedure::ARGMAX, &table, &setting, 80 + seed);
        for first in [20, 30] {
            let terms = &known(&fit).terms;
            let term = terms.iter().find(|term| term.feature == first);
            // Where the noise is too large to separate the features, there is none.
            let Some(p_value) = term.and_then(|term| term.p_value) else {
                continue;
            };
            picked += 1;
            small += u32::from(p_value < 0.05);
        }
    }
    // Of at most 48, of which 5 % are 2.4; the seeds are fixed.
    assert!(picked >= 8 && small < 5, "{small} of {picked}");
}

#[test]
fn procedures_that_see_sums_pick_each_column_on_its_own_and_ask_what_they_asked_without_groups() {
    let table = with_categories(3000, EFFECTS, 91);
    let grouped = grouped(&table, 5);
    let alone = Setting {
        groups: Groups::NONE,
        ..grouped
    };
    for procedure in [CertifiedProcedure::SIEVE, CertifiedProcedure::GRAD] {
        assert!(!procedure.picks_groups());
        assert_eq!(procedure.plan(&grouped), procedure.plan(&alone));
        let with = fit(procedure, &table, &grouped, 92);
        assert_eq!(with, fit(procedure, &table, &alone, 92));
        let terms = &known(&with).terms;
        assert!(!terms.is_empty() && terms.iter().all(|term| term.group.is_none()));
    }
    assert!(CertifiedProcedure::ARGMAX.picks_groups());
    let plans = [&grouped, &alone].map(|one| CertifiedProcedure::ARGMAX.plan(one).unwrap());
    assert_ne!(plans[0], plans[1]);
}

#[test]
fn clients_as_units_pick_categories_whole_too() {
    let table = with_categories(3000, EFFECTS, 95);
    let setting = Setting {
        unit: PrivacyUnit::Client,
        ..grouped(&table, 2)
    };
    let fit = fit(CertifiedProcedure::ARGMAX, &table, &setting, 96);
    let mut support = fit.model.support();
    support.sort_unstable();
    assert_eq!(support, [3, 20, 21, 22]);
}
