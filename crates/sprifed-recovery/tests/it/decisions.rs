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
            (0x2a33_0fa1_41b8_65c5, 0x392e_811b_f65a_2c9c),
            (0xd5d9_8ad6_4612_6993, 0x631f_b37c_e341_a35e),
            (0x8e86_19dc_f6f8_786e, 0xce6d_db1f_e3db_06a9),
            (0xf428_cd3e_3e0d_414d, 0xd81a_11e8_e070_b7f3),
            (0x02fa_b6ff_2413_7a85, 0x03e8_bb45_7939_6148),
            (0x344a_519e_8ae1_7293, 0xf6e4_ef15_cf6d_b9aa),
        ],
    ),
    (
        CertifiedProcedure::SIEVE,
        [
            (0x5246_fdfd_82e4_f92d, 0x7c12_692b_1cff_ba20),
            (0xf5a5_8a57_679f_a9b1, 0x4fe0_001c_baac_93a5),
            (0x51b8_9e90_4ea2_45be, 0x9a5a_129e_66ea_e3b6),
            (0x4572_6743_2824_bcab, 0xb290_be28_e571_0a33),
            (0xef1b_c125_eb3b_3eba, 0x9b98_0dac_f82a_5e03),
            (0x0e25_b1f5_a966_2ad1, 0xdc73_d465_47fa_64e2),
        ],
    ),
    (
        CertifiedProcedure::ARGMAX,
        [
            (0x451c_846b_4c70_90cc, 0x08c3_bbae_1666_ad1b),
            (0x451c_846b_4c70_90cc, 0x9c52_5940_1e18_98a7),
            (0x451c_846b_4c70_90cc, 0x3380_d71d_87b5_c9cf),
            (0x451c_846b_4c70_90cc, 0xf9e7_f9f4_808a_932d),
            (0x451c_846b_4c70_90cc, 0x6a11_483f_034b_1307),
            (0x451c_846b_4c70_90cc, 0x2d4b_04d0_6ad0_ec43),
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
