//! `join`: one party takes part in a study with its own table, by its own policy.
//!
//! The order of things is the point: invitation, policy and lifetime ledger come before the table.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use sprifed::party_files;
use sprifed_net::{ClientEnded, ClientLoop};
use sprifed_noise::Provenance;
use sprifed_party::{
    Admission, Application, Finished, InvitationFolder, JoinAnswer, LifetimeLine, PartyFolder,
    PartyRuntime, PartyTable, Seat, SqliteStore, StudyFolder, TotalsAnswer, look_for_ledger,
    seat_names,
};
use sprifed_privacy::counted;
use sprifed_study::{Agreed, PartyReceipt};

use super::check::say_check;
use super::connection::ConnectionArguments;
use super::party_ledger::ledger_place;
use super::{listed, model_and_text, read, unusable};
use crate::entropy::entropy;
use crate::failure::{Explained as _, Failure};
use crate::fit::note_counts;
use crate::ledger::{configured_ledger, note_unmarked};
use crate::model::software;
use crate::output::Output;
use crate::table_arguments::TableArguments;

/// `join`.
#[derive(Args, Debug)]
pub(crate) struct Join {
    /// The folder `for-NAME` that the coordinator gave this party.
    invitation: PathBuf,
    /// The folder that `study identity` made.
    #[arg(long, value_name = "FOLDER")]
    identity: PathBuf,
    /// The party's table.
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    #[command(flatten)]
    reading: TableArguments,
    /// What the party agrees to [default: policy.toml in the identity folder]; refused if the folder has a
    /// data-protection officer's key.
    #[arg(long, value_name = "FILE.toml")]
    policy: Option<PathBuf>,
    /// The folder of the ledger that accounts for the table [default: SPRIFED_LEDGER, or the identity folder].
    #[arg(long, value_name = "FOLDER")]
    ledger: Option<PathBuf>,
    #[command(flatten)]
    connection: ConnectionArguments,
    /// Say who takes part, what the study is for and would cost, and everything that is not allowed; check the table,
    /// and stop. Nothing is sent or spent; exit code 1 if something is not allowed.
    #[arg(long)]
    check: bool,
    /// NOT PRIVATE: take masks and noise from this seed; only for studies that say so.
    #[arg(long, value_name = "SEED")]
    simulate_noise: Option<u64>,
}

impl Join {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let invited = InvitationFolder::new(&self.invitation);
        let (invitation, agreed) = invited.invitation()?;
        let agreed = Arc::new(agreed);
        let party = PartyFolder::new(&self.identity);
        let identity = party.identity()?;
        let place = ledger_place(&party, self.ledger.as_deref())?;
        let other_ledgers: Vec<PathBuf> = configured_ledger().into_iter().collect();
        let folder = StudyFolder::in_home(party.path(), agreed.digest());
        let application = Application {
            party: &party,
            agreed: &agreed,
            identity: &identity,
            folder: &folder,
            state: &folder.database(),
            data: &self.data,
            phenotypes: self.reading.phenotypes(),
            ledger: &place,
            other_ledgers: &other_ledgers,
            policy: self.policy.as_deref(),
            marks_again: true,
        };
        let me = application.seat().explained()?;
        let names = seat_names(agreed.agreement());
        let mine = names.get(me.0 as usize).map_or("", String::as_str);
        let connection = self.connection.connection(
            &invited,
            (&invitation, &agreed),
            party.tls_key(),
            (mine, &names),
        )?;
        if self.check {
            let address = &connection.address;
            return say_check(
                &application,
                self.reading.table(&self.data),
                address,
                output,
            );
        }
        let admitted = application.apply().explained()?;
        Self::say_terms(&agreed, &admitted.admission, output);
        let is_known = admitted.admission.is_known;
        folder.begin(&read(&invited.document())?)?;
        let mut store = SqliteStore::open(&folder, agreed.digest()).explained()?;
        let bound = admitted
            .enter(&mut store, self.simulate_noise, entropy)
            .explained()?;
        if let Some(bound) = bound {
            note_unmarked(&bound, &self.data, output);
        }
        let table = PartyTable::in_file(self.reading.table(&self.data), &agreed, me);
        // A table that cannot be used is found before a sum is charged, while the user is there.
        let read = table.read();
        if read.is_err() && !is_known {
            application.withdraw().explained()?;
        }
        note_counts(&read.explained()?.1, output);
        let seat = Seat {
            agreed: Arc::clone(&agreed),
            me,
            identity,
            seed: self.simulate_noise,
            folder: folder.clone(),
            software: software(),
            files: party_files,
        };
        let runtime = PartyRuntime::new(seat, table.clone(), store, Some(place.clone()));
        let runtime = runtime.explained()?;
        let taking_part = ClientLoop::open(connection.begin(), runtime).explained()?;
        match taking_part.run_until_signal().explained()? {
            ClientEnded::Interrupted => {
                output.interrupted();
                Ok(())
            }
            ClientEnded::Finished(ended) => {
                let view = look_for_ledger(place.folder(), &party.homes()).explained()?;
                finish(
                    &agreed,
                    &ended,
                    &folder,
                    view.unwrap_or_default().lines(),
                    output,
                )
            }
        }
    }

    fn say_terms(agreed: &Agreed, admission: &Admission, output: &Output) {
        let (spent, unprotected) = (admission.spent_elsewhere, admission.n_unprotected);
        let agreement = agreed.agreement();
        let is_protected = agreement.noise == Provenance::Cryptographic;
        let (unit, relation) = (agreement.plan.unit.text(), agreement.plan.relation.text());
        let mut note = format!(
            "{}{}: {} over {}, {}, at most epsilon = {} at delta = {} for each {unit} under \
             {relation}; this party's other studies of that kind cost epsilon = {} at delta = {}",
            if is_protected {
                ""
            } else {
                "NOT PROTECTED, the noise is simulated: "
            },
            agreement.title,
            agreement.procedure,
            counted(agreement.setting.n_features, "feature", "features"),
            counted(agreement.parties.len(), "party", "parties"),
            agreed.ceiling().epsilon().shown(),
            agreed.ceiling().delta().shown(),
            spent.epsilon.shown(),
            spent.delta.shown(),
        );
        if unprotected > 0 {
            let studies = counted(unprotected, "study", "studies");
            note += &format!("; in no total: {studies} with simulated noise");
        }
        output.note(&note);
    }
}

/// Says how the study ended for this party; the ledger has `lines`.
fn finish(
    agreed: &Agreed,
    ended: &Finished,
    folder: &StudyFolder,
    lines: &[LifetimeLine],
    output: &Output,
) -> Result<(), Failure> {
    let path = folder.receipt();
    let receipt: PartyReceipt = serde_json::from_slice(&read(&path)?)
        .map_err(|error| unusable(&path, &error, "a receipt"))?;
    let document = &receipt.study.receipt;
    let spent = receipt.statement.ledger.spent;
    let cost = agreed.cost_of(spent);
    let (Some((model, found)), true) = (model_and_text(document)?, ended.success) else {
        return Err(Failure::outcome(
            "sprifed::study::no-model",
            format!("the study ended without a model: {}", document.ending),
            "the receipt says what this party was charged",
        ));
    };
    let is_protected = document.guarantee.noise == Provenance::Cryptographic;
    let answer = JoinAnswer {
        status: model.status_name(),
        alarm: model.alarm(),
        guarantee: document.guarantee.clone(),
        protected: is_protected,
        charged_epsilon: is_protected.then_some(cost.epsilon),
        totals: TotalsAnswer::of(lines),
        files: ended.files.clone(),
    };
    output.answer(&answer, |answer| {
        let charged = if is_protected {
            let epsilon = cost.epsilon.shown();
            format!("the ledger counts epsilon = {epsilon} for this study")
        } else {
            "the study PROTECTED NO RECORD and is in no total".to_owned()
        };
        format!(
            "{found}{charged}\n{}\n{}",
            answer.totals.text(),
            listed(&answer.files)
        )
    });
    Ok(())
}
