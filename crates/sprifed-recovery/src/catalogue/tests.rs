//! Every procedure of the registry does what every procedure must, and is known by its name.

use proptest::prelude::*;
use sprifed_privacy::{PrivacyUnit, Relation};

use super::*;
use crate::setting::Intercept;
use crate::test_support::procedure_checks::{does_what_every_procedure_does, uses_its_budget};
use crate::test_support::{budget, legal_setting};

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
        for procedure in CertifiedProcedure::all() {
            uses_its_budget(procedure, &setting);
        }
    }
}

#[test]
fn every_procedure_does_what_every_procedure_must() {
    for procedure in CertifiedProcedure::all() {
        does_what_every_procedure_does(procedure);
    }
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
