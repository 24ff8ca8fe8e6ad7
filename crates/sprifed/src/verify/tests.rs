use std::ops::ControlFlow;

use serde_json::{Value, json};
use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{ApproxDp, Epsilon, Ledger, Relation, Spending};
use sprifed_recovery::{CertifiedProcedure, InferenceMethod, Keep};
use sprifed_schema::Schema;
use sprifed_study::PartyKey;
use sprifed_tables::read_csv;

use crate::backend::BackendRequest;
use crate::column_choice::ColumnScalesRequest;
use crate::guarantee::{Guarantee, Terms};
use crate::model::Model;
use crate::procedure_choice::Stated;
use crate::run::{Run, Secret, rows_of};
use crate::study::{Request, Study};
use crate::{Document, Proof};

const SCHEMA: &str =
    "[response]\nname = \"y\"\nlower = -2\nupper = 2\n[features]\nlower = -1\nupper = 1\n";

/// The file of a fit of 200 records, split over this many clients.
pub(crate) fn fitted(clients: Option<usize>, secret: Secret) -> Value {
    let mut text = String::from("a,b,c,y\n");
    for record in 0..200 {
        let value = f64::from(record % 7) / 3.5 - 1.0;
        let (b, c, y) = (-value / 2.0, f64::from(record % 2), 1.5 * value);
        text += &format!("{value},{b},{c},{y}\n");
    }
    let schema = Schema::parse(SCHEMA).unwrap();
    let table = read_csv(text.as_bytes(), &schema).unwrap();
    let backend = secret.backend();
    let request = Request {
        sparsity: 1,
        keep: Keep::Exactly,
        robust: false,
        inference: InferenceMethod::Selective,
        epsilon: Epsilon::try_from(3.0).unwrap(),
        delta: None,
        procedure: CertifiedProcedure::GRAD.into(),
        stated: Stated::NOTHING,
        column_scales: ColumnScalesRequest::Never,
        neighbours: Relation::ZeroOut,
        backend: BackendRequest {
            backend,
            quorum: None,
            colluders: None,
        },
        clients,
    };
    let study = Study::prepare(&request, &schema, table.outline()).unwrap();
    let guarantee = study.guarantee(secret.provenance()).unwrap();
    let rows = rows_of(&table);
    let watch = &mut |_| ControlFlow::Continue(());
    let Run { outcome, receipt } = study.run(&rows, secret, watch).unwrap();
    let model = study.to_model(&outcome.unwrap(), guarantee, receipt, Vec::new());
    serde_json::to_value(&model).unwrap()
}

pub(crate) fn secret_noise() -> Secret {
    Secret::Curator(NoiseGenerator::assume_fresh_entropy([7; 32]).into())
}

/// The statement that was computed, or the message of the refusal.
fn verified(model: &Value) -> Result<String, String> {
    let document = Document::parse(&model.to_string(), "the file");
    match document.and_then(|document| document.verify("the file")) {
        Ok(Proof::Model(guarantee)) => Ok(guarantee.statement.to_string()),
        Ok(_) => panic!("a model is no study"),
        Err(error) => Err(error.to_string()),
    }
}

/// The refusal of `model` after `change`.
#[track_caller]
fn refused(model: &Value, change: impl FnOnce(&mut Value)) -> String {
    let mut forged = model.clone();
    change(&mut forged);
    assert_ne!(&forged, model);
    verified(&forged).unwrap_err()
}

#[test]
fn what_fits_write_is_believed() {
    let parties = Secret::Parties(PartyKey::simulated(1, 0));
    let trustees = Secret::Trustees(PartyKey::simulated(1, 0));
    let fresh = Secret::Trustees(PartyKey::assume_fresh_entropy([7; 32]));
    let seeded = Secret::Curator(NoiseGenerator::simulated(1).into());
    for (clients, secret) in [
        (None, secret_noise()),
        (Some(20), secret_noise()),
        (Some(7), secret_noise()),
        (None, seeded),
        (Some(20), parties),
        (Some(20), trustees),
        (None, fresh),
    ] {
        let model = fitted(clients, secret);
        assert_eq!(
            verified(&model).as_deref(),
            Ok(model["guarantee"]["statement"].as_str().unwrap())
        );
    }
}

#[test]
fn simulated_noise_is_not_called_certified() {
    let model = fitted(None, Secret::Curator(NoiseGenerator::simulated(1).into()));
    let certify = |model: &mut Value| {
        let guarantee = &mut model["guarantee"];
        guarantee["mode"] = json!("certified");
        guarantee["provenance"] = json!("cryptographic");
        guarantee["epsilon"] = guarantee["nominal_epsilon"].take();
        // What the same fit with secret noise says.
        let secret = &fitted(None, secret_noise())["guarantee"];
        guarantee["statement"] = secret["statement"].clone();
        guarantee["trust"] = secret["trust"].clone();
    };
    let without = refused(&model, |model| {
        certify(model);
        model["receipts"] = json!([]);
    });
    assert!(without.contains("the receipts: found 0"), "{without}");
    assert!(refused(&model, certify).contains("the guarantee: found another"));
    let labelled = refused(&model, |model| {
        certify(model);
        model["receipts"][0]["provenance"] = json!("cryptographic");
    });
    assert!(
        labelled.contains("the label: found NOT PRIVATE"),
        "{labelled}"
    );
    let unlabelled = refused(&model, |model| model["label"] = Value::Null);
    assert!(unlabelled.contains("the label"), "{unlabelled}");
}

#[test]
fn relation_unit_delta_and_backend_are_those_of_plan_and_ledger() {
    let model = fitted(None, secret_noise());
    let statement = model["guarantee"]["statement"].as_str().unwrap();
    for (key, value) in [
        ("neighbours", json!("replace-one")),
        ("unit", json!("client")),
        ("delta", json!(1e-9)),
        ("backend", json!("secure-sum")),
        ("backend", json!("cloud")),
    ] {
        let message = refused(&model, |model| model["guarantee"][key] = value.clone());
        assert!(message.contains(key), "{message}");
        assert!(!message.contains("epsilon = "), "{message}");
        assert!(!message.contains(statement), "{message}");
    }
    let plan = refused(&model, |model| {
        model["plan"]["relation"] = json!("replace-one")
    });
    assert!(plan.contains("the relation of the plan"), "{plan}");
    let unit = refused(&model, |model| model["plan"]["unit"] = json!("client"));
    assert!(unit.contains("the unit of the plan"), "{unit}");
    let budget = refused(&model, |model| {
        model["plan"]["budget"]["epsilon"] = json!(2.0);
    });
    assert!(budget.contains("the budget of the plan"), "{budget}");
}

#[test]
fn every_line_of_the_ledger_is_a_step_of_the_plan() {
    let model = fitted(None, secret_noise());
    let lines = |model: &mut Value| {
        model["receipts"][0]["ledger"]["entries"]
            .as_array_mut()
            .unwrap()
            .clone()
    };
    let before = lines(&mut model.clone());
    assert!(before.len() > 1);
    let set = |model: &mut Value, lines: Vec<Value>| {
        model["receipts"][0]["ledger"]["entries"] = Value::from(lines);
    };
    let moved = refused(&model, |model| {
        let mut lines = lines(model);
        lines.rotate_left(1);
        set(model, lines);
    });
    assert!(moved.contains("the ledger"), "{moved}");
    let renamed = refused(&model, |model| {
        model["receipts"][0]["ledger"]["entries"][0]["statement"] = json!("something");
    });
    assert!(renamed.contains("in line 1"), "{renamed}");
    let planned = refused(&model, |model| {
        let steps = model["plan"]["steps"].as_array_mut().unwrap();
        steps.pop();
    });
    assert!(
        planned.contains("something else than was planned"),
        "{planned}"
    );
    let twice = refused(&model, |model| {
        let receipt = model["receipts"][0].clone();
        model["receipts"].as_array_mut().unwrap().push(receipt);
    });
    assert!(twice.contains("the receipts: found 2"), "{twice}");
}

#[test]
fn what_a_client_with_several_records_has_is_not_left_out() {
    let key = || PartyKey::simulated(1, 0);
    let by_backend = [
        secret_noise(),
        Secret::Parties(key()),
        Secret::Trustees(key()),
    ];
    for secret in by_backend {
        let model = fitted(Some(20), secret);
        assert_eq!(model["most_records"], 10);
        assert_eq!(model["guarantee"]["client"]["most_records"], 10);
        let dropped = refused(&model, |model| model["guarantee"]["client"] = Value::Null);
        assert!(dropped.contains("client"), "{dropped}");
        let one = refused(&model, |model| {
            model["guarantee"]["client"] = Value::Null;
            model["most_records"] = json!(1);
        });
        assert!(one.contains("at least 10"), "{one}");
        refused(&model, |model| {
            model["guarantee"]["client"] = Value::Null;
            model["most_records"] = Value::Null;
        });
    }
}

/// The noise of trustees is no curator's, and a step of theirs that is asked again is charged again.
#[test]
fn a_model_by_trustees_says_so_and_nothing_else_is_believed() {
    let model = fitted(
        None,
        Secret::Trustees(PartyKey::assume_fresh_entropy([7; 32])),
    );
    let statement = model["guarantee"]["statement"].as_str().unwrap();
    for words in [
        "three trustees",
        "any two of them together",
        "in one process",
    ] {
        assert!(statement.contains(words), "{statement}");
    }
    assert_eq!(model["guarantee"]["backend"], "trustees");
    refused(&model, |model| {
        model["guarantee"]["backend"] = json!("curator");
    });
    refused(&model, |model| model["plan"]["origin"] = json!("curator"));
    refused(&model, |model| model["most_records"] = Value::Null);
    refused(&model, |model| {
        let entry = model["receipts"][0]["ledger"]["entries"][0].clone();
        let entries = model["receipts"][0]["ledger"]["entries"].as_array_mut();
        entries.unwrap().insert(0, entry);
    });
}

#[test]
fn the_clients_are_those_of_the_plan() {
    let model = fitted(Some(20), Secret::Parties(PartyKey::simulated(1, 0)));
    let message = refused(&model, |model| model["n_clients"] = json!(200));
    assert!(message.contains("as many as the plan has"), "{message}");
}

/// A model of a study whose first sum was asked for twice, and what its ledger came to.
fn repeated_sum() -> (Model, Ledger) {
    let fitted = fitted(Some(20), Secret::Parties(PartyKey::simulated(1, 0)));
    let mut model: Model = serde_json::from_value(fitted).unwrap();
    model.most_records = None;
    let record = &mut model.receipts[0].ledger;
    record.budget = ApproxDp::new(Epsilon::try_from(9.0).unwrap(), record.budget.delta());
    record.entries.insert(0, record.entries[0].clone());
    let costs = record
        .entries
        .iter()
        .map(|entry| entry.line.expense(record.relation));
    let spending = costs.fold(Spending::default(), |spending, cost| {
        spending.and(cost.unwrap()).unwrap()
    });
    let total = spending.to_approx_dp(record.budget.delta());
    record.spent = total.map(ApproxDp::epsilon);
    let ledger = Ledger::replay(record).unwrap();
    (model, ledger)
}

fn promised(model: &Model, spending: &Spending) -> Guarantee {
    let terms = Terms {
        delta: model.plan.budget.delta(),
        relation: model.plan.relation,
        unit: model.plan.unit,
        most_records: model.most_records,
        origin: model.plan.origin,
    };
    Guarantee::of(spending, terms, model.receipts[0].provenance).unwrap()
}

#[test]
fn a_repeated_sum_of_a_study_is_in_what_is_promised() {
    let (mut model, ledger) = repeated_sum();
    model.guarantee = promised(&model, ledger.spending());
    let verify = |model: &Model| Document::Model(Box::new(model.clone())).verify("the file");
    assert!(verify(&model).is_ok(), "{:?}", verify(&model));
    let mut cheaper = model.clone();
    cheaper.guarantee = promised(&model, &model.plan.spending().unwrap());
    let message = verify(&cheaper).unwrap_err().to_string();
    assert!(
        message.contains("the guarantee: found another"),
        "{message}"
    );
    let mut on_one_machine = model;
    on_one_machine.most_records = Some(10);
    on_one_machine.guarantee = promised(&on_one_machine, ledger.spending());
    let message = verify(&on_one_machine).unwrap_err().to_string();
    assert!(message.contains("in line 2"), "{message}");
}

#[test]
fn what_only_some_readers_see_is_refused() {
    let model = fitted(None, secret_noise());
    let added: [fn(&mut Value); 3] = [
        |model| model["approved_by"] = json!("the board"),
        |model| model["plan"]["note"] = json!("half of it"),
        |model| model["guarantee"]["epsilon_in_truth"] = json!(0.1),
    ];
    let names = ["approved_by", "note", "epsilon_in_truth"];
    for (change, name) in added.into_iter().zip(names) {
        let message = refused(&model, change);
        let words = format!("unknown field `{name}`");
        assert!(message.contains(&words), "{message}");
    }
    // Whole numbers may be spelled without a point, as some writers do.
    let mut plain = model.clone();
    plain["response"]["upper"] = json!(2);
    assert!(model["response"]["upper"] == json!(2.0) && verified(&plain).is_ok());
    for key in ["\"upper\":", "\"epsilon\":"] {
        let text = model.to_string();
        let twice = text.replacen(key, &format!("{key}0.5,{key}"), 1);
        assert_ne!(twice, text);
        let failure = Document::parse(&twice, "the file").unwrap_err();
        assert!(
            failure.to_string().contains("duplicate field"),
            "{failure:?}"
        );
        assert!(Model::parse(&twice, "the file").is_err());
    }
}
