//! Parties on different processors run the same procedure on the same released integers. They
//! must come to the same questions: the digests below were computed once, and every platform has to
//! find them again.

use proptest::prelude::*;
use sprifed_recovery::{CertifiedProcedure, Intercept};

use crate::script::{Script, any_case, decisions, differences};

/// Digests of discrete parts and of all numbers, in the order of [`Script::ALL`].
const GOLDEN: [(CertifiedProcedure, [(u64, u64); 6]); 3] = [
    (
        CertifiedProcedure::GRAD,
        [
            (0xda46_baa4_ff5d_b070, 0xaa6c_f7f7_d351_7f94),
            (0x2322_c275_2b69_a93a, 0x603f_3e2c_f3f3_7abc),
            (0x6e81_f944_bd61_4d32, 0x87bc_a145_044e_9ac0),
            (0xb87b_d9d4_994e_6c9f, 0x99db_3b48_974c_5c45),
            (0xce43_0f78_980f_ddbe, 0x7750_fd6f_dc6b_514b),
            (0x5590_f17b_f612_f735, 0xaffa_97d4_8ed7_f237),
        ],
    ),
    (
        CertifiedProcedure::SIEVE,
        [
            (0x9d8f_956d_085d_b16e, 0xfa4b_9e8f_4ddb_c84b),
            (0x7824_b82b_0e0d_d5f8, 0x4e13_c651_faa6_9601),
            (0x65fe_22c2_b636_f0be, 0x6804_d0b6_bb64_7de1),
            (0x6563_b8f5_5d01_3d59, 0x5d75_6dba_bc3e_0a73),
            (0xf1ea_49b6_31b2_5929, 0x4313_a54d_4ad5_49e0),
            (0x6ccc_53d5_466c_b654, 0xc369_bfca_4f8e_d526),
        ],
    ),
    (
        CertifiedProcedure::ARGMAX,
        [
            (0x509c_a03c_11c6_040a, 0x38e5_0c88_42e2_306a),
            (0x509c_a03c_11c6_040a, 0xb57b_4192_4274_9020),
            (0x509c_a03c_11c6_040a, 0x1ed1_96db_6cab_3217),
            (0x509c_a03c_11c6_040a, 0x824b_55c0_4703_15d3),
            (0x509c_a03c_11c6_040a, 0xbe06_97e3_4886_decf),
            (0x509c_a03c_11c6_040a, 0x2c90_c829_cda5_e0a9),
        ],
    ),
];

#[test]
fn every_platform_comes_to_the_same_decisions() {
    let differences = differences(&GOLDEN, |_| Intercept::Estimated);
    assert!(
        differences.is_empty(),
        "this platform, or this version, decides differently; if the procedure was changed on \
         purpose, raise its version and store the new digests:\n{}",
        differences.join("\n")
    );
    let known = GOLDEN.map(|(procedure, _)| procedure);
    assert!(CertifiedProcedure::all().eq(known));
}

#[test]
fn different_integers_lead_to_different_questions() {
    for procedure in CertifiedProcedure::all() {
        let found = Script::ALL.map(|script| decisions(procedure, script, Intercept::Estimated).1);
        for (index, one) in found.iter().enumerate() {
            assert!(!found[..index].contains(one), "{procedure}, {index}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_integers_make_a_procedure_panic_or_ask_what_is_not_a_number(case in any_case()) {
        for procedure in CertifiedProcedure::all() {
            case.check(procedure, Intercept::Estimated);
        }
    }
}
