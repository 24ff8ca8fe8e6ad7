//! Every procedure of the registry does what every procedure must, and is known by its name.

use proptest::prelude::*;
use sprifed_privacy::PrivacyUnit;

use super::*;
use crate::test_support::procedure_checks::{
    asks_robust_intervals, does_what_every_procedure_does, uses_its_budget,
};
use crate::test_support::{legal_setting, setting_from};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_plan_costs_more_than_its_budget(seed in any::<u64>()) {
        let setting = setting_from(seed);
        for procedure in CertifiedProcedure::all() {
            uses_its_budget(procedure, &setting);
            let robust = Setting { robust: true, unit: PrivacyUnit::Record, ..setting };
            uses_its_budget(procedure, &robust);
        }
    }
}

#[test]
fn every_procedure_does_what_every_procedure_must() {
    for procedure in CertifiedProcedure::all() {
        does_what_every_procedure_does(procedure);
        asks_robust_intervals(procedure);
    }
}

/// Plans as one does that knows nothing of robust intervals.
static IGNORING: Entry = Entry {
    name: "ignoring",
    about: "Ignores that robust intervals are asked",
    needs: Needs::Sums,
    version: 1,
    plan: |setting| {
        let robust = false;
        (pooled::SIEVE.plan)(&Setting { robust, ..*setting })
    },
    begin: |setting| (pooled::SIEVE.begin)(setting),
};

#[test]
fn a_procedure_that_would_ignore_robust_intervals_is_refused() {
    let setting = legal_setting();
    assert!(CertifiedProcedure::of(&IGNORING).plan(&setting).is_ok());
    let robust = Setting {
        robust: true,
        ..setting
    };
    let refused = CertifiedProcedure::of(&IGNORING).plan(&robust).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "robust intervals are asked of ignoring, but it gives none; use grad, sieve or argmax"
    );
}

#[test]
fn names_are_read_as_they_are_written_and_others_are_refused_with_the_list() {
    let names: Vec<&str> = CertifiedProcedure::all()
        .map(CertifiedProcedure::name)
        .collect();
    assert_eq!(names, ["grad", "sieve", "argmax"]);
    for procedure in CertifiedProcedure::all() {
        assert_eq!(procedure.to_string().parse(), Ok(procedure));
    }
    let refused = "omp".parse::<CertifiedProcedure>().unwrap_err().to_string();
    assert_eq!(
        refused,
        "procedure is \"omp\"; required: one of grad, sieve, argmax"
    );
}

#[test]
fn on_sums_are_those_without_choices() {
    let names: Vec<&str> = CertifiedProcedure::on_sums()
        .map(CertifiedProcedure::name)
        .collect();
    assert_eq!(names, ["grad", "sieve"]);
}
