//! Every comparison does what every procedure must.

use proptest::prelude::*;
use sprifed_recovery::test_support::procedure_checks::{
    does_what_every_procedure_does, uses_its_budget,
};
use sprifed_recovery::test_support::setting_from;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_plan_costs_more_than_its_budget(seed in any::<u64>()) {
        let setting = setting_from(seed);
        for procedure in COMPARISONS {
            if setting.intercept == Intercept::Estimated
                && intercept_of(procedure) == Intercept::Absent
            {
                prop_assert!(procedure.plan(&setting).is_err());
                continue;
            }
            uses_its_budget(procedure, &setting);
        }
    }
}

#[test]
fn every_comparison_does_what_every_procedure_must() {
    for procedure in COMPARISONS {
        does_what_every_procedure_does(procedure);
    }
}

#[test]
fn no_study_reads_a_comparison_from_a_file() {
    for procedure in COMPARISONS {
        assert!(
            procedure.name().parse::<CertifiedProcedure>().is_err(),
            "{procedure}"
        );
    }
}
