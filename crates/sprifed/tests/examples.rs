//! The examples run, and find what they say.

#[path = "../examples/embedded_study.rs"]
mod embedded_study;
#[path = "../examples/fit_a_table.rs"]
mod fit_a_table;
#[path = "../examples/plan_before_data.rs"]
mod plan_before_data;

use sprifed::Proof;

#[test]
fn a_table_is_fitted() {
    let model = fit_a_table::fit().unwrap();
    assert_eq!(model.support(), ["age"]);
    assert_eq!(model.label.as_deref(), Some("NOT PRIVATE"));
    assert!(
        (model.features[0].coefficient - 1.5).abs() < 0.5,
        "{model:?}"
    );
    fit_a_table::main().unwrap();
}

#[test]
fn a_study_is_planned_before_there_are_data() {
    let plan = plan_before_data::plan().unwrap();
    assert!(plan.guarantee.epsilon.unwrap().get() <= 4.0);
    assert_eq!(plan.secure_sums.as_ref().unwrap().clients, 20);
    let forecast = plan.forecast.unwrap();
    assert!(forecast.rows[0].recovered_share.mean > 0.0);
    plan_before_data::main().unwrap();
}

#[test]
fn an_embedded_study_is_verified_and_a_changed_one_refused() {
    let file = embedded_study::run().unwrap();
    assert!(matches!(embedded_study::verify(&file), Ok(Proof::Model(_))));
    let forged = file.replacen("\"mu\":", "\"mu\": 0.001, \"was\":", 1);
    assert_ne!(forged, file);
    embedded_study::verify(&forged).unwrap_err();
    embedded_study::main().unwrap();
}
