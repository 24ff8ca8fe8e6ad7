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
            (0xa884_b17e_1d61_acc5, 0x159e_cc10_bf5a_3ad3),
            (0x16fc_abb7_ad07_d3c7, 0x6b50_6058_aaed_6f31),
            (0xd6f8_28db_b185_f76e, 0x2ba0_01f7_f904_ab4e),
            (0xe137_6548_ef02_e0d9, 0x3576_e6a5_6cbc_afa0),
            (0xa480_6ad0_8216_4eb9, 0x2f14_4586_388d_af13),
            (0xe100_9135_137d_76a0, 0x4d99_4200_fa16_c74c),
        ],
    ),
    (
        CertifiedProcedure::SIEVE,
        [
            (0x7046_bd84_87c3_d02d, 0xddeb_31e4_fdef_1f02),
            (0x9475_edc5_7110_ec31, 0xd090_e7e7_ed07_9277),
            (0x8774_fdc2_d369_1cbe, 0x94e8_cb19_f482_12cb),
            (0xc6c3_32fa_9bdb_5dd6, 0xfc59_bf57_130d_ea2c),
            (0x72cc_106b_4eda_e583, 0xc237_d79f_adda_5d6d),
            (0x5705_3b6d_6f41_5631, 0xb746_d997_745b_7094),
        ],
    ),
    (
        CertifiedProcedure::ARGMAX,
        [
            (0x451c_846b_4c70_90cc, 0x49e1_eb8e_e6fb_b267),
            (0x451c_846b_4c70_90cc, 0xce00_a340_73d8_7c41),
            (0x451c_846b_4c70_90cc, 0x08f8_3c45_3b42_85c0),
            (0x451c_846b_4c70_90cc, 0xca54_215e_b4b4_beff),
            (0x451c_846b_4c70_90cc, 0x5988_1480_5d94_97be),
            (0x451c_846b_4c70_90cc, 0x9c7a_9d64_6478_1917),
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
