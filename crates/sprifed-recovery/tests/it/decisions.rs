//! Parties on different processors run the same procedure on the same released integers. They
//! must come to the same questions: the digests below were computed once, and every platform has to
//! find them again.

use proptest::prelude::*;
use sprifed_privacy::Relation;
use sprifed_recovery::{CertifiedProcedure, Intercept, Setting};

use crate::script::{Decisions, Integers, decide, setting, unknown};

/// What the integers of a script look like.
#[derive(Clone, Copy, Debug)]
enum Script {
    /// Nothing but zeros.
    Zeros,
    /// All values equal: every comparison is a tie.
    Equal,
    /// Values of the same size and alternating signs: ties of absolute values.
    Alternating,
    /// A few values stand out of small noise.
    Signal,
    /// Noise far larger than any sum of records.
    Huge,
    /// The largest and smallest integers.
    Extreme,
}

impl Script {
    const ALL: [Self; 6] = [
        Self::Zeros,
        Self::Equal,
        Self::Alternating,
        Self::Signal,
        Self::Huge,
        Self::Extreme,
    ];

    fn integers(self, seed: u64, step: usize, size: usize) -> Vec<i64> {
        let mut draws = Integers(seed.wrapping_mul(1000) + step as u64);
        let value = |index: usize| match self {
            Self::Zeros => 0,
            Self::Equal => 12_345,
            Self::Alternating => [777, -777][index % 2],
            Self::Signal if index % 17 == 3 => 40_000 + draws.within(500),
            Self::Signal => draws.within(500),
            Self::Huge => draws.within(1 << 62),
            Self::Extreme => [i64::MAX, i64::MIN, 0, i64::MIN + 1][(draws.next() % 4) as usize],
        };
        (0..size).map(value).collect()
    }
}

/// Decisions for two settings, one of which asks for all it can.
fn decisions(procedure: CertifiedProcedure, script: Script) -> (u64, u64) {
    let run = |setting: &Setting, seed: u64| -> Decisions {
        decide(
            procedure,
            setting,
            |step, size| script.integers(seed, step, size),
            |step, candidates| (step * 7919 + 13) % candidates,
        )
    };
    let mut found = run(&setting(), 1);
    if may_have_an_intercept(procedure) {
        let setting = unknown(Setting {
            relation: Relation::ReplaceOne,
            n_records: 900,
            ..setting()
        });
        let second = run(&setting, 2);
        found.discrete.extend(second.discrete);
        found.numbers.extend(second.numbers);
    }
    found.digests()
}

fn may_have_an_intercept(procedure: CertifiedProcedure) -> bool {
    !matches!(
        procedure,
        CertifiedProcedure::HonestOmp | CertifiedProcedure::HonestGrad
    )
}

/// Digests of discrete parts and of all numbers, in the order of [`Script::ALL`].
const GOLDEN: [(CertifiedProcedure, [(u64, u64); 6]); 7] = [
    (
        CertifiedProcedure::Grad,
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
        CertifiedProcedure::Sieve,
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
        CertifiedProcedure::Argmax,
        [
            (0x509c_a03c_11c6_040a, 0x38e5_0c88_42e2_306a),
            (0x509c_a03c_11c6_040a, 0xb57b_4192_4274_9020),
            (0x509c_a03c_11c6_040a, 0x1ed1_96db_6cab_3217),
            (0x509c_a03c_11c6_040a, 0x824b_55c0_4703_15d3),
            (0x509c_a03c_11c6_040a, 0xbe06_97e3_4886_decf),
            (0x509c_a03c_11c6_040a, 0x2c90_c829_cda5_e0a9),
        ],
    ),
    (
        CertifiedProcedure::HonestOmp,
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
        CertifiedProcedure::HonestGrad,
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
        CertifiedProcedure::DpSgd,
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
        CertifiedProcedure::DpGcd,
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
    let mut differences = Vec::new();
    for (procedure, expected) in GOLDEN {
        for (script, expected) in Script::ALL.into_iter().zip(expected) {
            let found = decisions(procedure, script);
            if found != expected {
                let (discrete, numbers) = found;
                differences.push(format!(
                    "{procedure}, {script:?}: (0x{discrete:016x}, 0x{numbers:016x}); discrete \
                     part {}",
                    if discrete == expected.0 {
                        "equal"
                    } else {
                        "DIFFERENT"
                    }
                ));
            }
        }
    }
    assert!(
        differences.is_empty(),
        "this platform, or this version, decides differently; if the procedure was changed on \
         purpose, raise its version and store the new digests:\n{}",
        differences.join("\n")
    );
    assert_eq!(
        GOLDEN.map(|(procedure, _)| procedure),
        CertifiedProcedure::ALL
    );
}

#[test]
fn different_integers_lead_to_different_questions() {
    for procedure in CertifiedProcedure::ALL {
        let found = Script::ALL.map(|script| decisions(procedure, script).1);
        for (index, one) in found.iter().enumerate() {
            assert!(!found[..index].contains(one), "{procedure}, {index}");
        }
    }
}

fn any_integer() -> impl Strategy<Value = i64> {
    prop_oneof![
        Just(0),
        Just(i64::MAX),
        Just(i64::MIN),
        -3i64..=3,
        -100_000i64..=100_000,
        any::<i64>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_integers_make_a_procedure_panic_or_ask_what_is_not_a_number(
        pool in prop::collection::vec(any_integer(), 97),
        indices in prop::collection::vec(any::<prop::sample::Index>(), 12),
        stride in 1usize..97,
        n_records in prop_oneof![Just(2u32), 3u32..2000, Just(u32::MAX)],
        n_features in 2u32..40,
        sparsity in 1u32..6,
        bounds in (-29i32..=29, -29i32..=29, -29i32..=29),
        known_scale in any::<bool>(),
        intercept in any::<bool>(),
    ) {
        for procedure in CertifiedProcedure::ALL {
            let with_intercept = intercept && may_have_an_intercept(procedure);
            let setting = Setting {
                n_records,
                n_features,
                sparsity: sparsity.min(n_features - 1),
                response_bound: 10f64.powi(bounds.0),
                feature_bound: 10f64.powi(bounds.1),
                feature_scale: known_scale.then_some(10f64.powi(bounds.2)),
                intercept: if with_intercept { Intercept::Estimated } else { Intercept::Absent },
                ..setting()
            };
            let run = || decide(
                procedure,
                &setting,
                |step, size| (0..size).map(|k| pool[(k * stride + step * 31) % pool.len()]).collect(),
                |step, candidates| indices[step % indices.len()].index(candidates),
            );
            prop_assert_eq!(run(), run());
        }
    }
}
