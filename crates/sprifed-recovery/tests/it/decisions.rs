//! Parties on different processors run the same procedure on the same released integers. They
//! must come to the same questions: the digests below were computed once, and every platform has to
//! find them again.

use proptest::prelude::*;
use sprifed_recovery::{CertifiedProcedure, Intercept};

use crate::script::{Script, any_case, decisions, differences};

/// So many features are in every model of the second setting.
const ALWAYS: u32 = 2;

/// Digests of discrete parts and of all numbers, in the order of [`Script::ALL`].
const GOLDEN: [(CertifiedProcedure, [(u64, u64); 6]); 3] = [
    (
        CertifiedProcedure::GRAD,
        [
            (0xa884_b17e_1d61_acc5, 0x90cd_3e01_b1b1_6988),
            (0x16fc_abb7_ad07_d3c7, 0x0b26_c9bb_d035_8027),
            (0xd6f8_28db_b185_f76e, 0x2dd1_844a_40ba_f0d6),
            (0xe137_6548_ef02_e0d9, 0x4469_0440_f394_3c4c),
            (0xa480_6ad0_8216_4eb9, 0x3bfb_cf9b_0bb5_fadd),
            (0xe100_9135_137d_76a0, 0x87a8_a239_8814_9f49),
        ],
    ),
    (
        CertifiedProcedure::SIEVE,
        [
            (0x7046_bd84_87c3_d02d, 0xb131_ad0b_18de_7731),
            (0x9475_edc5_7110_ec31, 0x5df1_1b5d_ed68_79a5),
            (0x8774_fdc2_d369_1cbe, 0x8945_ff99_83ca_7d62),
            (0xc6c3_32fa_9bdb_5dd6, 0x49dd_f57a_5b09_218e),
            (0x72cc_106b_4eda_e583, 0x0148_95fd_4bdf_c423),
            (0x5705_3b6d_6f41_5631, 0x23b6_a7b7_04ca_3aec),
        ],
    ),
    (
        CertifiedProcedure::ARGMAX,
        [
            (0x451c_846b_4c70_90cc, 0x479b_cd9e_68bb_4532),
            (0x451c_846b_4c70_90cc, 0x7670_73fe_d218_a9c9),
            (0x451c_846b_4c70_90cc, 0x08f6_9380_3e0a_f470),
            (0x451c_846b_4c70_90cc, 0x5d87_7ca6_0a55_93fb),
            (0x451c_846b_4c70_90cc, 0xfdd0_fca5_a7f8_8a82),
            (0x451c_846b_4c70_90cc, 0xe8b3_c507_662b_e049),
        ],
    ),
];

#[test]
fn every_platform_comes_to_the_same_decisions() {
    let differences = differences(&GOLDEN, |_| Intercept::Estimated, ALWAYS);
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
        let found =
            Script::ALL.map(|script| decisions(procedure, script, Intercept::Estimated, ALWAYS).1);
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
            case.check(procedure, Intercept::Estimated, true);
        }
    }
}
