//! A study between machines once more in one process, with the noise of its trustees.

use std::fs;
use std::sync::Arc;

use serde_json::Value;
use sprifed_party::{PartyTable, read_file};
use sprifed_query::{Part, RecordSource as _};
use sprifed_secure_sum::ClientId;
use sprifed_study::{
    Agreed, EmbeddedTrustees, RecordStore as _, Released, TrusteeKey, present_as_in,
};

use super::stage::{Stage, json_at};

/// The keys of the three trustees, before a study has begun with them.
pub(super) fn keys_of_trustees(stage: &Stage) -> [TrusteeKey; 3] {
    [0, 1, 2].map(|trustee| {
        let offers = fs::read_dir(stage.trustee_folder(trustee).join("offers")).unwrap();
        let file = offers.map(|entry| entry.unwrap().path()).next().unwrap();
        TrusteeKey::from_stored(&fs::read_to_string(file).unwrap()).unwrap()
    })
}

/// The model of the study that is over, from the same attempts, keys and parties in each step.
pub(super) fn fit_again(stage: &Stage, keys: [TrusteeKey; 3]) -> Value {
    let agreement = serde_json::from_value(stage.invitation()["agreement"].clone()).unwrap();
    let agreed = Arc::new(Agreed::new(agreement).unwrap());
    let transcript = read_file(&stage.study().join("result/transcript.json")).unwrap();
    let released: Vec<Released> = serde_json::from_slice(&transcript).unwrap();
    let parties = 0..agreed.roster().n_clients();
    let tables: Vec<PartyTable> = parties
        .map(|party| PartyTable::in_file(&stage.table(party), &agreed, ClientId(party)))
        .collect();
    let records = tables.iter().map(|table| {
        let records = table.open().unwrap();
        Part::of(records, 0..records.n_units())
    });
    let study = EmbeddedTrustees::again(
        records.collect(),
        &agreed,
        keys,
        agreed.opened_steps(&released),
        present_as_in(&released),
    );
    let agreement = agreed.agreement();
    let procedure = agreement.procedure;
    let fit = procedure.run(&agreement.setting, &mut study.unwrap(), |_| ());
    serde_json::to_value(fit.unwrap()).unwrap()
}

/// The model in the receipt.
pub(super) fn fit_of(stage: &Stage) -> Value {
    json_at(&stage.study().join("result/receipt.json"))["receipt"]["fit"].clone()
}
