//! Every comparison does what every procedure must.

use proptest::prelude::*;
use sprifed_privacy::PrivacyUnit;
use sprifed_recovery::test_support::procedure_checks::{
    does_what_every_procedure_does, uses_its_budget,
};
use sprifed_recovery::test_support::{budget, legal_setting};

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_plan_costs_more_than_its_budget(
        n_records in 2u32..200_000,
        n_features in 2u32..4000,
        sparsity in 1u32..12,
        epsilon in prop_oneof![0.05f64..1.0, 1.0f64..20.0],
        exponent in 3i32..10,
        replace in any::<bool>(),
        by_client in any::<bool>(),
        intercept in any::<bool>(),
        known_scale in any::<bool>(),
    ) {
        let setting = Setting {
            n_records,
            n_features,
            sparsity: sparsity.min(n_features - 1),
            budget: budget(epsilon, 10f64.powi(-exponent)),
            relation: if replace { Relation::ReplaceOne } else { Relation::ZeroOut },
            unit: if by_client { PrivacyUnit::Client } else { PrivacyUnit::Record },
            intercept: if intercept { Intercept::Estimated } else { Intercept::Absent },
            feature_scale: known_scale.then_some(1.0),
            ..legal_setting()
        };
        for procedure in COMPARISONS {
            if intercept && intercept_of(procedure) == Intercept::Absent {
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
