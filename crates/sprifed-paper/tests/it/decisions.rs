//! The comparisons decide the same on every platform, as the procedures of the registry do.

use proptest::prelude::*;
use sprifed_paper::{COMPARISONS, DP_GCD, DP_IHT, DP_SGD, HONEST_GRAD, HONEST_OMP, intercept_of};
use sprifed_recovery::CertifiedProcedure;

use crate::script::{Script, any_case, decisions, differences};

/// Digests of discrete parts and of all numbers, in the order of [`Script::ALL`].
const GOLDEN: [(CertifiedProcedure, [(u64, u64); 6]); 5] = [
    (
        HONEST_OMP,
        [
            (0x9038_3831_fa97_5cd1, 0xd1f8_e8af_bd98_0e48),
            (0x9038_3831_fa97_5cd1, 0xa685_00ec_f7a4_c908),
            (0x9038_3831_fa97_5cd1, 0x997e_0b2a_7436_d11c),
            (0xe9f0_4705_ac4a_ac2a, 0x32bb_b1bf_8525_6859),
            (0xa4a6_b9d5_eb9f_6771, 0x2826_e10f_4dae_90c4),
            (0x9038_3831_fa97_5cd1, 0xe271_3743_4db7_36a6),
        ],
    ),
    (
        HONEST_GRAD,
        [
            (0x2d02_69fa_cab5_e3d3, 0xecde_5a41_2430_5999),
            (0x2d02_69fa_cab5_e3d3, 0x80e8_bed0_aaab_074d),
            (0x2d02_69fa_cab5_e3d3, 0x65ea_cc34_481d_71d4),
            (0xd7c5_4382_f99f_21dc, 0x9eb0_62bc_a1ea_6b7c),
            (0xa3dd_0ed3_317d_9da6, 0xecbd_6bbc_d8ae_1b22),
            (0x55f8_b509_8979_4ed0, 0x320a_183f_6aa2_383e),
        ],
    ),
    (
        DP_SGD,
        [
            (0xfae1_91c0_0b52_2dd1, 0x3cfd_73b3_f6a3_a17b),
            (0x0f8d_6f19_e5a1_2849, 0xab62_b730_e85e_8ffa),
            (0xfae1_91c0_0b52_2dd1, 0x80d1_14c4_5cdb_eb06),
            (0x674b_fe72_8b80_3cad, 0xa7b4_0443_8edc_f42e),
            (0x9428_789e_0a18_a0ad, 0x2739_e40d_6a08_5084),
            (0x91d6_1ecc_0756_158f, 0x64e8_616b_ed16_9b91),
        ],
    ),
    (
        DP_GCD,
        [
            (0x5080_48af_f164_2e37, 0x96a0_50b1_bcc3_8aaf),
            (0x93e5_916c_49f5_bebb, 0xbdbc_4221_b196_b209),
            (0x93e5_916c_49f5_bebb, 0x7979_e913_cc42_0da8),
            (0x02ba_d566_e30c_3643, 0x6269_7967_74ab_3591),
            (0xf36d_0d2e_7350_9ccf, 0xb97c_dead_a468_eb4a),
            (0x3e06_65a8_a8d3_43d3, 0xa193_acad_c497_678c),
        ],
    ),
    (
        DP_IHT,
        [
            (0xfd47_eb7e_eb1e_9ef0, 0xc1a0_cb22_2790_df8d),
            (0xb0d3_41c3_e374_2c14, 0x674a_6ed5_53f9_5745),
            (0xfe2a_fd3e_f68a_a050, 0xdc30_8bd1_72a6_c1a7),
            (0x9cbf_a810_3084_7611, 0xbdba_8369_8ea8_347b),
            (0x45dd_2587_8e4e_b326, 0x9567_d1a2_43d8_b462),
            (0x775b_4437_0beb_09ab, 0xd94a_2cc9_309e_c868),
        ],
    ),
];

#[test]
fn every_platform_comes_to_the_same_decisions() {
    let differences = differences(&GOLDEN, intercept_of, 0);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert_eq!(GOLDEN.map(|(procedure, _)| procedure), COMPARISONS);
}

#[test]
fn different_integers_lead_to_different_questions() {
    for procedure in COMPARISONS {
        let intercept = intercept_of(procedure);
        let found = Script::ALL.map(|script| decisions(procedure, script, intercept, 0).1);
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
            case.check(procedure, intercept_of(procedure), false);
        }
    }
}
