//! Features are sought from a public number of records on.

use sprifed_privacy::Relation;

use crate::catalogue::CertifiedProcedure;
use crate::setting::{Keep, Setting};
use crate::test_support::{budget, legal_setting};

fn setting(n_records: u32, n_features: u32, epsilon: f64) -> Setting {
    Setting {
        n_records,
        n_features,
        choice: Keep::Significant,
        budget: budget(epsilon, 1e-6),
        ..legal_setting()
    }
}

#[test]
fn nothing_is_sought_where_p_values_did_not_hold() {
    let argmax = CertifiedProcedure::ARGMAX;
    for (records, features, epsilon) in [
        (57, 4000, 1.0),
        (57, 4000, 3.0),
        (96, 200, 1.0),
        (96, 200, 3.0),
        (150, 2500, 1.0),
    ] {
        let few = setting(records, features, epsilon);
        assert!(argmax.seeks_nothing(&few).unwrap(), "{records}");
        assert_eq!(argmax.plan(&few).unwrap().procedure, "mean only");
        let exactly = Setting {
            choice: Keep::Exactly,
            ..few
        };
        assert!(!argmax.seeks_nothing(&exactly).unwrap());
        assert_eq!(argmax.plan(&exactly).unwrap().procedure, "argmax OMP");
    }
}

#[test]
fn features_are_sought_where_they_were_measured_to_be_found() {
    for (procedure, records, features, sparsity, epsilon) in [
        (CertifiedProcedure::ARGMAX, 110, 2500, 5, 5.34),
        (CertifiedProcedure::ARGMAX, 250, 10_000, 10, 5.34),
        (CertifiedProcedure::ARGMAX, 400, 2500, 5, 1.0),
        (CertifiedProcedure::SIEVE, 478, 2500, 5, 5.34),
        (CertifiedProcedure::GRAD, 1900, 10_000, 10, 5.34),
    ] {
        let setting = Setting {
            sparsity,
            budget: budget(epsilon, 1e-4),
            ..setting(records, features, epsilon)
        };
        let fewest = procedure.fewest_records(&setting).unwrap();
        assert!(
            !procedure.seeks_nothing(&setting).unwrap(),
            "{procedure} {records}: {fewest}"
        );
    }
}

#[test]
fn the_number_does_not_depend_on_the_records_there_are() {
    for procedure in CertifiedProcedure::all() {
        let fewest = |records| {
            let setting = setting(records, 900, 2.0);
            procedure.fewest_records(&setting).unwrap()
        };
        assert_eq!(fewest(50), fewest(5000), "{procedure}");
        let at = |records: u64, relation| {
            let setting = Setting {
                relation,
                ..setting(u32::try_from(records).unwrap(), 900, 2.0)
            };
            procedure.seeks_nothing(&setting).unwrap()
        };
        assert!(!at(fewest(50), Relation::ZeroOut) && at(fewest(50) - 1, Relation::ZeroOut));
        // Replacing a record moves a sum twice as far.
        assert!(at(fewest(50), Relation::ReplaceOne));
    }
}
