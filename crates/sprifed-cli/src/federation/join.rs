//! `join`: one party takes part in a study with its own table, by its own policy.
//!
//! The order of things is the point: invitation, policy and lifetime ledger come before the table.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use sprifed::{host_of, party_files};
use sprifed_net::{
    ClientConfig, ClientEnded, ClientLoop, Identity, LogLevel, Persistence, certificate_name,
    check_client_tls, start_logs,
};
use sprifed_noise::Provenance;
use sprifed_party::{
    Admission, Application, Cost, Finished, Invitation, InvitationFolder, JoinAnswer, LifetimeLine,
    PartyError, PartyFolder, PartyRuntime, PartyTable, Seat, SqliteStore, StudyFolder,
    TotalsAnswer, look_for_ledger,
};
use sprifed_secure_sum::ClientId;
use sprifed_study::{Agreed, PartyReceipt};

use super::check::say_check;
use super::party_ledger::{ledger_place, text_of_totals};
use super::{read, text_of_features, unusable};
use crate::entropy::fresh_bits;
use crate::failure::{Explained as _, Failure};
use crate::fit::note_counts;
use crate::ledger::{configured_ledger, note_unmarked};
use crate::model::software;
use crate::output::Output;

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
    /// What the party agrees to [default: policy.toml in the identity folder]; refused if the folder has a
    /// data-protection officer's key.
    #[arg(long, value_name = "FILE.toml")]
    policy: Option<PathBuf>,
    /// The folder of the ledger that accounts for the table [default: SPRIFED_LEDGER, or the identity folder].
    #[arg(long, value_name = "FOLDER")]
    ledger: Option<PathBuf>,
    /// Another address of the coordinator than the invitation says: `host:port`.
    #[arg(long)]
    address: Option<String>,
    /// A proxy to connect through, such as http://proxy:3128.
    #[arg(long)]
    proxy: Option<String>,
    /// The party's own certificate, instead of the one in the invitation's folder.
    #[arg(long, value_name = "FILE.pem", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// Its key, instead of tls.key in the identity folder.
    #[arg(long, value_name = "FILE.key", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// Give up after so many seconds without contact [default: never].
    #[arg(long, value_name = "SECONDS")]
    give_up_after: Option<u64>,
    /// Say who takes part, what the study is for and would cost, and everything that is not allowed; check the table,
    /// and stop. Nothing is sent or spent; exit code 1 if something is not allowed.
    #[arg(long)]
    check: bool,
    /// NOT PRIVATE: take masks and noise from this seed; only for studies that say so.
    #[arg(long, value_name = "SEED")]
    simulate_noise: Option<u64>,
    /// Log more.
    #[arg(long)]
    verbose: bool,
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
            ledger: &place,
            other_ledgers: &other_ledgers,
            policy: self.policy.as_deref(),
            marks_again: true,
        };
        let me = application.seat().explained()?;
        let tls = self.tls(&invited, &party);
        refuse_other_seat(&tls, &agreed, me)?;
        invited.refuse_other_authority(&invitation)?;
        check_client_tls(&tls, &invited.authority()).explained()?;
        let address = self.reachable(&invited, &invitation)?;
        if self.check {
            return say_check(&application, &address, output);
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
        let table = PartyTable::in_file(&self.data, &agreed, me);
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
        start_logs(if self.verbose {
            LogLevel::Debug
        } else {
            LogLevel::Info
        });
        let config = self.config(&invited, &agreed, tls, &address);
        let taking_part = ClientLoop::open(&config, runtime).explained()?;
        match taking_part.run_until_signal().explained()? {
            ClientEnded::Interrupted => {
                output.interrupted();
                Ok(())
            }
            ClientEnded::Finished(ended) => {
                let view = look_for_ledger(place.folder(), &party.homes()).explained()?;
                finish(&ended, &folder, view.unwrap_or_default().lines(), output)
            }
        }
    }

    /// The certificate that the coordinator issued with the key that this party made, or another pair.
    fn tls(&self, folder: &InvitationFolder, party: &PartyFolder) -> Identity {
        let certificate = self.tls_certificate.clone();
        let key = self.tls_key.clone();
        Identity {
            certificate: certificate.unwrap_or_else(|| folder.certificate()),
            key: key.unwrap_or_else(|| party.tls_key()),
        }
    }

    /// Where the coordinator is: as it signed, or as this party was told.
    fn reachable(
        &self,
        folder: &InvitationFolder,
        invitation: &Invitation,
    ) -> Result<String, Failure> {
        let address = self.address.as_ref().unwrap_or(&invitation.reach.address);
        match host_of(address) {
            Ok(_) => Ok(address.clone()),
            Err(found) => Err(unusable(
                &folder.document(),
                &format!("{address:?} is no address: {found}"),
                "an invitation, or --address, with `host:port`",
            )),
        }
    }

    fn config(
        &self,
        folder: &InvitationFolder,
        agreed: &Agreed,
        identity: Identity,
        address: &str,
    ) -> ClientConfig {
        ClientConfig {
            coordinator: format!("https://{address}"),
            identity,
            authorities: folder.authority(),
            proxy: self.proxy.clone(),
            persistence: Persistence {
                give_up_after: self.give_up_after.map(Duration::from_secs),
                ..Persistence::default()
            },
            largest_notice: agreed.largest_notice(),
        }
    }

    fn say_terms(agreed: &Agreed, admission: &Admission, output: &Output) {
        let (spent, unprotected) = (admission.spent_elsewhere, admission.n_unprotected);
        let agreement = agreed.agreement();
        let is_protected = agreement.noise == Provenance::Cryptographic;
        let (unit, relation) = (agreement.plan.unit.text(), agreement.plan.relation.text());
        let mut note = format!(
            "{}{}: {} over {} features, {} parties, at most epsilon = {} at delta = {} for each {unit} under \
             {relation}; this party's other studies of that kind cost epsilon = {} at delta = {}",
            if is_protected {
                ""
            } else {
                "NOT PROTECTED, the noise is simulated: "
            },
            agreement.title,
            agreement.procedure,
            agreement.setting.n_features,
            agreement.parties.len(),
            agreed.ceiling().epsilon().shown(),
            agreed.ceiling().delta().shown(),
            spent.epsilon.shown(),
            spent.delta.shown(),
        );
        if unprotected > 0 {
            note += &format!("; {unprotected} studies with simulated noise are in no total");
        }
        output.note(&note);
    }
}

/// A certificate that names one party behind the identity of another is a mix-up of folders, and the
/// coordinator would refuse every message. A certificate that names no party is the party's own.
fn refuse_other_seat(tls: &Identity, agreed: &Agreed, me: ClientId) -> Result<(), Failure> {
    let path = &tls.certificate;
    let Some(found) = certificate_name(path).explained()? else {
        return Ok(());
    };
    let parties = &agreed.agreement().parties;
    let mine = parties.get(me.0 as usize).map(|party| &party.name);
    let is_of_another = mine != Some(&found) && parties.iter().any(|party| party.name == found);
    if !is_of_another {
        return Ok(());
    }
    let mine = mine.map_or("no party", String::as_str);
    Err(Failure::usage(
        "sprifed::study::other-seat",
        format!(
            "the certificate `{}` is that of {found:?}, but the identity is that of {mine:?}",
            path.display()
        ),
        "join with the folder for-NAME that was made for this identity; nothing was sent or spent",
    ))
}

/// Says how the study ended for this party; the ledger has `lines`.
fn finish(
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
    let cost = Cost::charged(spent, document.guarantee.delta);
    if !ended.success {
        return Err(Failure::outcome(
            "sprifed::study::no-model",
            format!("the study ended without a model: {}", document.ending),
            "the receipt says what this party was charged",
        ));
    }
    let features = text_of_features(document)?;
    let is_protected = document.guarantee.noise == Provenance::Cryptographic;
    let answer = JoinAnswer {
        guarantee: document.guarantee.clone(),
        protected: is_protected,
        charged_epsilon: is_protected.then_some(cost.epsilon),
        totals: TotalsAnswer::of(lines),
        files: ended.files.clone(),
    };
    output.answer(&answer, |answer| {
        let files = answer.files.iter();
        let files: Vec<String> = files.map(|file| file.display().to_string()).collect();
        let charged = if is_protected {
            let charged = cost.epsilon.shown();
            format!("this party was charged epsilon = {charged}")
        } else {
            "the study PROTECTED NO RECORD and is in no total".to_owned()
        };
        format!(
            "{}\n\n{features}{charged}\n{}\n{}",
            document.guarantee.statement,
            text_of_totals(lines),
            files.join("\n")
        )
    });
    Ok(())
}

/// Fresh secret bytes, for the party's key.
fn entropy() -> Result<[u8; 32], PartyError> {
    fresh_bits().map_err(|failure| PartyError::NoEntropy {
        reason: failure.message,
    })
}
