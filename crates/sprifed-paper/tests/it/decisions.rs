//! The comparisons decide the same on every platform, as the procedures of the registry do.

use proptest::prelude::*;
use sprifed_paper::{COMPARISONS, DP_GCD, DP_SGD, HONEST_GRAD, HONEST_OMP, intercept_of};
use sprifed_recovery::CertifiedProcedure;

use crate::script::{Script, any_case, decisions, differences};

/// Digests of discrete parts and of all numbers, in the order of [`Script::ALL`].
const GOLDEN: [(CertifiedProcedure, [(u64, u64); 6]); 4] = [
    (
        HONEST_OMP,
        [
            (0x9038_3831_fa97_5cd1, 0x7f75_7445_4166_8ea5),
            (0x9038_3831_fa97_5cd1, 0x0c40_0b11_f9e3_b13c),
            (0x9038_3831_fa97_5cd1, 0x65ed_cf13_4a51_6b3f),
            (0xe9f0_4705_ac4a_ac2a, 0x6403_62d1_2a28_a1c4),
            (0xa4a6_b9d5_eb9f_6771, 0x0d28_af27_37d8_14aa),
            (0x9038_3831_fa97_5cd1, 0x9b2f_f004_7f40_fe1d),
        ],
    ),
    (
        HONEST_GRAD,
        [
            (0x2d02_69fa_cab5_e3d3, 0xb6bb_9164_b4f0_afbe),
            (0x2d02_69fa_cab5_e3d3, 0x31ea_dc69_b46b_c073),
            (0x2d02_69fa_cab5_e3d3, 0xad30_c5ad_fd5f_8b4d),
            (0xd7c5_4382_f99f_21dc, 0x2b21_3f3c_7432_aad0),
            (0xa3dd_0ed3_317d_9da6, 0xa4c9_335b_361c_ac8e),
            (0x55f8_b509_8979_4ed0, 0xd3c2_45f4_ce12_d0df),
        ],
    ),
    (
        DP_SGD,
        [
            (0xcea7_b099_75b5_5137, 0xe56f_eaee_560a_c787),
            (0xe3ef_e2af_8519_865f, 0x7dca_01c5_d292_1957),
            (0xcea7_b099_75b5_5137, 0x0089_8e6b_62fc_87d1),
            (0x7175_3f19_0a43_f977, 0x45b9_8e84_dbb4_68ba),
            (0x2a4d_a691_f6b7_5c83, 0x3a50_6adf_0105_8567),
            (0xf1c6_95f4_dceb_d9b4, 0x9650_8d11_3549_1c3a),
        ],
    ),
    (
        DP_GCD,
        [
            (0x2e51_bfa5_eef6_e89d, 0xd5fa_5f47_f365_4425),
            (0x648b_8444_c514_bafd, 0xa46c_5afe_a0fd_84d9),
            (0x648b_8444_c514_bafd, 0x056d_2e74_cf9d_b60a),
            (0x5176_1322_2624_f591, 0x3bf6_f262_7d0e_370d),
            (0x5743_e513_a5a9_c009, 0x0d0f_f9f0_2a3b_d438),
            (0x648b_8444_c514_bafd, 0xc019_730a_9a39_4a5c),
        ],
    ),
];

#[test]
fn every_platform_comes_to_the_same_decisions() {
    let differences = differences(&GOLDEN, intercept_of);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert_eq!(GOLDEN.map(|(procedure, _)| procedure), COMPARISONS);
}

#[test]
fn different_integers_lead_to_different_questions() {
    for procedure in COMPARISONS {
        let intercept = intercept_of(procedure);
        let found = Script::ALL.map(|script| decisions(procedure, script, intercept).1);
        for (index, one) in found.iter().enumerate() {
            assert!(!found[..index].contains(one), "{procedure}, {index}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_integers_make_a_comparison_panic_or_ask_what_is_not_a_number(case in any_case()) {
        for procedure in COMPARISONS {
            case.check(procedure, intercept_of(procedure));
        }
    }
}
