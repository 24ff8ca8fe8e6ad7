use sprifed_privacy::{Delta, Epsilon, Relation};
use sprifed_query::FeatureSet;
use sprifed_recovery::test_support::{budget, legal_setting};
use sprifed_recovery::{ColumnScales, Intercept, Outcome};

use sprifed_secure_sum::IdentityKey;
use sprifed_trustees::TrusteeId;

use super::*;
use crate::party_key::PartyKey;
use crate::trustee_key::TrusteeKey;

#[derive(Clone, Copy, Debug)]
pub(crate) struct TestStudy {
    pub(crate) parties: u32,
    pub(crate) quorum: u32,
    pub(crate) units: u32,
    pub(crate) features: u32,
    pub(crate) repeats: u32,
    pub(crate) procedure: CertifiedProcedure,
    /// Said of studies with trustees.
    pub(crate) gates: Gates,
}

impl Default for TestStudy {
    fn default() -> Self {
        Self {
            parties: 3,
            quorum: 0,
            units: 1,
            features: 30,
            repeats: 0,
            procedure: CertifiedProcedure::SIEVE,
            gates: Gates::Proved,
        }
    }
}

/// An agreement of parties whose keys are derived from `PartyKey::simulated(5, 0)`.
pub(crate) fn agreement(test: TestStudy) -> Agreement {
    let quorum = if test.quorum == 0 {
        test.parties
    } else {
        test.quorum
    };
    let participation = Participation::new(test.parties, quorum, 1).expect("legal");
    let setting = Setting {
        n_records: test.parties * test.units,
        n_features: test.features,
        sparsity: 2,
        budget: budget(60.0, 1e-6),
        origin: NoiseOrigin::Shares(participation),
        feature_bound: 2.0,
        ..legal_setting()
    };
    let key = PartyKey::simulated(5, 0);
    let party = |id: u32| Party {
        name: format!("party {id}"),
        identity: Digest(key.of_party(id).identity().public()),
        units: test.units,
    };
    Agreement {
        format: FORMAT,
        title: "a test".to_owned(),
        purpose: "testing".to_owned(),
        nonce: Digest([7; 32]),
        coordinator: Digest(PartyKey::simulated(6, 0).identity().public()),
        procedure: test.procedure,
        procedure_version: test.procedure.version(),
        plan: test.procedure.plan(&setting).expect("a plan"),
        setting,
        parties: (0..test.parties).map(party).collect(),
        trustees: None,
        gates: None,
        repeats: test.repeats,
        noise: Provenance::Simulated,
        data: None,
    }
}

pub(crate) fn agreed(test: TestStudy) -> Arc<Agreed> {
    Arc::new(Agreed::new(agreement(test)).expect("legal"))
}

#[test]
fn the_document_is_read_back_with_the_digest_of_its_bytes() {
    let agreement = agreement(TestStudy::default());
    let document = agreement.to_document();
    let read = Agreed::read(&document).expect("legal");
    assert_eq!(*read.agreement(), agreement);
    assert_eq!(
        read.digest(),
        Agreed::new(agreement).expect("legal").digest()
    );
    let mut other = document.clone();
    other.push(b'\n');
    assert_eq!(
        Agreed::read(&other).map(drop),
        Err(IllegalAgreement::Reformatted)
    );
}

#[test]
fn contradictions_are_refused_and_named() {
    let legal = agreement(TestStudy::default());
    let refuse = |change: fn(&mut Agreement)| {
        let mut changed = legal.clone();
        change(&mut changed);
        Agreed::new(changed).expect_err("refused").to_string()
    };
    type Change = fn(&mut Agreement);
    let cases: [(&str, Change); 6] = [
        ("format 9", |a| a.format = 9),
        ("number of parties", |a| drop(a.parties.pop())),
        ("zero for", |a| {
            a.parties.iter_mut().for_each(|p| p.units = 0)
        }),
        ("trusted curator", |a| a.plan.origin = NoiseOrigin::Curator),
        ("planned for", |a| a.setting.relation = Relation::ReplaceOne),
        ("identity key of an earlier", |a| {
            let first = a.parties[0].identity;
            a.parties[1].identity = first;
        }),
    ];
    for (word, change) in cases {
        let found = refuse(change);
        assert!(found.contains(word), "{found:?} does not say {word:?}");
    }
}

#[test]
fn a_delta_that_the_protocol_uses_up_is_refused_with_the_least() {
    for (parties, least) in [(3, "5.422e-20"), (50, "4.548e-13")] {
        let mut changed = agreement(TestStudy {
            parties,
            ..TestStudy::default()
        });
        let budget = ApproxDp::new(
            changed.plan.budget.epsilon(),
            Delta::try_from(1e-30).expect("legal"),
        );
        (changed.plan.budget, changed.setting.budget) = (budget, budget);
        let refused = Agreed::new(changed).expect_err("refused").to_string();
        assert!(refused.contains("delta is 1e-30"), "{refused}");
        assert!(refused.contains(least), "{refused}");
    }
}

const SCHEMA: &str =
    "[response]\nname = \"y\"\nlower = 0\nupper = 1\n[features]\nlower = 0\nupper = 1\n";

fn terms(schema: &str, features: Vec<String>) -> DataTerms {
    DataTerms::new(schema.to_owned(), features).expect("terms")
}

#[test]
fn no_party_agrees_to_a_model_that_it_does_not_get() {
    for (rest, asked) in [
        ("always = [\"x\"]\n", "always in the model"),
        (
            "[record]\nsite-effects = true\n",
            "the list of sites with intercepts of their own",
        ),
    ] {
        let mut changed = agreement(TestStudy::default());
        changed.data = Some(terms(&format!("{SCHEMA}{rest}"), vec!["x".to_owned()]));
        let refused = Agreed::new(changed).expect_err("refused").to_string();
        assert!(refused.contains(asked), "{refused}");
    }
}

#[test]
fn the_outcome_is_that_of_the_schema() {
    let binary = "[response]\nname = \"y\"\noutcome = \"binary\"\nlevels = [0, 1]\n[features]\nlower = 0\nupper = 1\n";
    let asking = |schema: &str, outcome: Outcome| {
        let mut changed = agreement(TestStudy::default());
        changed.setting = Setting {
            n_features: 3,
            outcome,
            intercept: Intercept::Estimated,
            response_bound: 1.0,
            ..changed.setting
        };
        changed.plan = changed.procedure.plan(&changed.setting).expect("a plan");
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        changed.data = Some(terms(schema, names));
        Agreed::new(changed).map_err(|error| error.to_string())
    };
    let agreed = asking(binary, Outcome::Binary).expect("legal");
    assert_eq!(agreed.agreement.setting.outcome, Outcome::Binary);
    for (schema, outcome, required) in [
        (SCHEMA, Outcome::Binary, "linear, as the schema says"),
        (binary, Outcome::Linear, "binary, as the schema says"),
    ] {
        let refused = asking(schema, outcome).expect_err("refused");
        assert!(
            refused.contains("the outcome") && refused.contains(required),
            "{refused}"
        );
    }
}

#[test]
fn private_scales_are_of_the_columns_that_the_schema_leaves_without_public_ones() {
    let names = ["x", "arm", "dose"].map(str::to_owned).to_vec();
    let rest =
        "[feature.arm]\nlevels = [\"a\", \"b\"]\n[feature.dose]\nlower = 0\nupper = 9\nscale = 2\n";
    let asking = |columns: &[u32], bound: f64| {
        let mut changed = agreement(TestStudy::default());
        let columns = FeatureSet::only(columns);
        changed.setting.column_scales = ColumnScales::new(&columns, bound).expect("one run");
        changed.setting.feature_scale = None;
        changed.setting.intercept = Intercept::Estimated;
        changed.plan = changed.procedure.plan(&changed.setting).expect("a plan");
        changed.data = Some(terms(&format!("{SCHEMA}{rest}"), names.clone()));
        Agreed::new(changed).map(drop)
    };
    // Bounds from 0 to 1 are one on each side of their middle.
    assert_eq!(asking(&[0], 1.0), Ok(()));
    let others = [vec![0, 1], vec![1], vec![2]].map(|columns| (columns, 1.0));
    for (columns, bound) in others.into_iter().chain([(vec![0], 2.0)]) {
        let refused = asking(&columns, bound).expect_err("refused").to_string();
        assert!(refused.contains("columns with private scales"), "{refused}");
    }
}

#[test]
fn text_that_could_deceive_a_reader_is_refused_in_every_field() {
    type Change = fn(&mut Agreement, String);
    let places: [(&str, Change); 5] = [
        ("the title", |a, text| a.title = text),
        ("the purpose", |a, text| a.purpose = text),
        ("a party's name", |a, text| a.parties[1].name = text),
        ("the plan's procedure", |a, text| a.plan.procedure = text),
        ("the name of a feature", |a, text| {
            a.data = Some(terms(SCHEMA, vec!["x".to_owned(), text]));
        }),
    ];
    let evil = [
        "\u{1b}[2J",
        "\u{7}",
        "a\u{0}b",
        "\u{9b}1m",
        "\u{202e}txt",
        "\u{200b}",
        "\u{2028}",
        "\u{feff}",
        "\n",
    ];
    for (place, change) in places {
        for text in evil {
            let mut changed = agreement(TestStudy::default());
            change(&mut changed, format!("north {text}"));
            let refused = Agreed::new(changed).expect_err("refused").to_string();
            assert!(refused.starts_with(place), "{refused}");
            assert!(
                refused.chars().all(|character| !character.is_control()),
                "the refusal itself shows it: {refused:?}"
            );
        }
    }
    let long: [(&str, Change); 3] = [
        ("the title", |a, text| a.title = text),
        ("the purpose", |a, text| a.purpose = text),
        ("a party's name", |a, text| a.parties[1].name = text),
    ];
    for (place, change) in long {
        for text in ["x".repeat(201), String::new()] {
            let mut changed = agreement(TestStudy::default());
            change(&mut changed, text);
            let refused = Agreed::new(changed).expect_err("refused").to_string();
            assert!(refused.starts_with(place), "{refused}");
            assert!(refused.len() < 400, "{refused}");
        }
    }
    let mut plain = agreement(TestStudy::default());
    plain.title = "Herzstudie Süd, 心臓".to_owned();
    let lines = SCHEMA.replace('\n', "\t\r\n");
    plain.data = Some(terms(&lines, vec!["x".to_owned()]));
    Agreed::new(plain.clone()).expect("legal");
    for hidden in ["\u{202e}", "\u{200b}", "\u{feff}"] {
        let schema = format!("{SCHEMA}# comment {hidden}\n");
        plain.data = Some(terms(&schema, vec!["x".to_owned()]));
        let refused = Agreed::new(plain.clone()).expect_err("refused").to_string();
        assert!(refused.starts_with("the schema"), "{refused}");
    }
}

#[test]
fn too_many_repetitions_are_refused_at_once() {
    let mut many = agreement(TestStudy::default());
    many.repeats = u32::MAX;
    let refused = Agreed::new(many).expect_err("refused").to_string();
    assert!(refused.contains("at most 4096"), "{refused}");
}

#[test]
fn a_plan_that_trusts_every_party_is_refused() {
    let mut trusting = agreement(TestStudy::default());
    let origin = NoiseOrigin::Shares(Participation::new(3, 3, 0).expect("legal"));
    trusting.plan.origin = origin;
    trusting.setting.origin = origin;
    let refused = Agreed::new(trusting).expect_err("refused").to_string();
    assert!(refused.contains("number of colluders"), "{refused}");
}

#[test]
fn a_plan_above_its_budget_is_refused() {
    let mut dear = agreement(TestStudy::default());
    let small = ApproxDp::new(
        Epsilon::try_from(1.0).expect("legal"),
        dear.plan.budget.delta(),
    );
    dear.plan.budget = small;
    dear.setting.budget = small;
    let refused = Agreed::new(dear).expect_err("refused").to_string();
    assert!(refused.contains("at most the budget of 1"), "{refused}");
}

#[test]
fn a_plan_with_choices_is_refused() {
    let argmax = agreement(TestStudy {
        procedure: CertifiedProcedure::ARGMAX,
        ..TestStudy::default()
    });
    let refused = Agreed::new(argmax).expect_err("refused");
    assert!(
        matches!(refused, IllegalAgreement::Choice { .. }),
        "{refused}"
    );
}

#[test]
fn repetitions_raise_the_ceiling_and_have_sums_of_their_own() {
    let once = agreed(TestStudy::default());
    let twice = agreed(TestStudy {
        repeats: 1,
        ..TestStudy::default()
    });
    assert!(twice.ceiling().epsilon() > once.ceiling().epsilon());
    let steps = u32::try_from(once.n_steps()).expect("small");
    assert_eq!(once.n_sums(), steps);
    assert_eq!(twice.n_sums(), 2 * steps);
    assert_eq!(twice.sum_number(1, 1), Some(steps + 1));
    assert_eq!(twice.step_of(steps + 1), Some((1, 1)));
    assert_eq!(once.sum_number(0, 1), None);
    assert_eq!(once.step_of(steps), None);
}

#[test]
fn a_plan_whose_grid_holds_no_integers_is_refused() {
    for steps in [0.0, -1.0, 1e-40, 1e300, f64::NAN] {
        let mut wrong = agreement(TestStudy::default());
        if let Some(PlannedStep::Sum(sum)) = wrong.plan.steps.last_mut() {
            sum.blocks[0].steps = steps;
        }
        let refused = Agreed::new(wrong).expect_err("refused").to_string();
        assert!(refused.contains("integers for one unit"), "{refused}");
    }
}

/// An agreement with three trustees whose keys are derived from [`trustee_key`].
pub(crate) fn agreement_of_trustees(test: TestStudy) -> Agreement {
    let masked = agreement(TestStudy {
        procedure: CertifiedProcedure::SIEVE,
        ..test
    });
    let setting = Setting {
        origin: NoiseOrigin::Trustees,
        budget: budget(20.0, 1e-6),
        ..masked.setting
    };
    Agreement {
        procedure: test.procedure,
        procedure_version: test.procedure.version(),
        plan: test.procedure.plan(&setting).expect("a plan"),
        setting,
        trustees: Some(trustees()),
        gates: Some(test.gates),
        ..masked
    }
}

pub(crate) fn trustees() -> [TrusteeEntry; 3] {
    [0, 1, 2].map(|place| {
        let (key, identity) = (trustee_key(place), trustee_identity(place));
        let entry = key.entry(&format!("trustee {place}"), &identity);
        entry.expect("not enrolled")
    })
}

pub(crate) fn trustee_identity(place: u8) -> IdentityKey {
    IdentityKey::from_stored(&[90 + place; 32])
}

/// The key of a trustee before the first step.
pub(crate) fn trustee_key(place: u8) -> TrusteeKey {
    TrusteeKey::simulated(80, place)
}

fn argmax_of_trustees() -> Agreement {
    agreement_of_trustees(TestStudy {
        procedure: CertifiedProcedure::ARGMAX,
        ..TestStudy::default()
    })
}

#[test]
fn choices_are_agreed_on_with_trustees_and_read_back() {
    let agreement = argmax_of_trustees();
    let read = Agreed::read(&agreement.to_document()).expect("legal");
    assert_eq!(*read.agreement(), agreement);
    assert!(read.study().is_none() && read.participation().is_none());
    let trustees = read.trustees().expect("trustees");
    for (place, trustee) in (0..).zip(TrusteeId::ALL) {
        let identity = Digest(trustee_identity(place).public());
        assert_eq!(trustees.place_of(&identity), Some(trustee));
        assert_eq!(trustees.at_seat(trustees.seat(trustee)), Some(trustee));
    }
    assert_eq!(trustees.at_seat(ClientId(2)), None);
    assert_eq!(trustees.at_seat(ClientId(6)), None);
    assert!(trustees.step(read.n_steps() - 1).is_some());
    assert!(read.largest_message() > trustees.largest_upload());
}

#[test]
fn trustees_that_are_missing_forged_or_two_of_one_are_refused() {
    let refuse = |change: fn(&mut Agreement, &mut [TrusteeEntry; 3])| {
        let mut changed = argmax_of_trustees();
        let mut entries = trustees();
        change(&mut changed, &mut entries);
        changed.trustees = changed.trustees.map(|_| entries);
        Agreed::new(changed).expect_err("refused").to_string()
    };
    type Change = fn(&mut Agreement, &mut [TrusteeEntry; 3]);
    let cases: [(&str, Change); 8] = [
        ("proof of gates is missing", |a, _| a.gates = None),
        ("missing", |a, _| (a.trustees, a.gates) = (None, None)),
        ("identity key of an earlier", |_, t| {
            t[1].identity = t[0].identity
        }),
        ("name or study key", |_, t| t[2].key = t[0].key.clone()),
        ("name or study key", |_, t| t[2].name = t[0].name.clone()),
        ("\"other\" is not signed", |_, t| {
            t[2].name = "other".to_owned()
        }),
        ("not signed", |_, t| t[1].signature.0[3] ^= 1),
        ("a trustee's name", |_, t| t[0].name.push('\u{202e}')),
    ];
    for (word, change) in cases {
        let found = refuse(change);
        assert!(found.contains(word), "{found:?} does not say {word:?}");
    }
    let mut needless = agreement(TestStudy::default());
    needless.gates = Some(Gates::Unproved);
    let refused = Agreed::new(needless.clone())
        .expect_err("refused")
        .to_string();
    assert!(refused.contains("proof of gates is there"), "{refused}");
    needless.trustees = Some(trustees());
    let refused = Agreed::new(needless).expect_err("refused").to_string();
    assert!(refused.contains("list of trustees"), "{refused}");
}
