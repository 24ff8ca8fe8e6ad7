//! `join`: one party takes part in a study with its own table, by its own policy.
//!
//! The order of things is the point: invitation, policy and lifetime ledger come before the table.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use sprifed_net::{
    ClientConfig, ClientEnded, ClientLoop, Identity, LogLevel, Persistence, Refused,
    certificate_name, check_client_tls, start_logs,
};
use sprifed_noise::Provenance;
use sprifed_party::{
    Cost, CountedJournal, Invitation, Journal as _, LifetimeLedger, LifetimeLine, SqliteJournal,
    study_homes, terms_of,
};
use sprifed_secure_sum::{ClientId, IdentityKey};
use sprifed_study::{Agreed, Derivation, Digest, PartyKey, PartyReceipt, StudyParty};
use zeroize::Zeroizing;

use super::identity::{TLS_KEY, make_folder, read_identity, read_public_party};
use super::invitation_folder::{
    InvitationFolder, party_table, read_invitation, refuse_other_authority,
};
use super::leave::refuse_left;
use super::party_ledger::{
    json_of_totals, ledger_place, n_unprotected, read_policy, study_folder, words_of_totals,
};
use super::party_machine::{PartyMachine, read_journal};
use super::{read, unusable, words_of_features};
use crate::entropy::fresh_bits;
use crate::failure::{Explained as _, Failure};
use crate::files::create_private;
use crate::fit::note_counts;
use crate::ledger::{configured_ledger, note_unmarked};
use crate::model::software;
use crate::output::Output;
use sprifed::host_of;

/// `join`.
#[derive(Args, Debug)]
pub(crate) struct Join {
    /// The folder `for-NAME` that the coordinator gave this party.
    invitation: PathBuf,
    /// The folder that `study identity` made.
    #[arg(long, value_name = "FOLDER")]
    pub(super) identity: PathBuf,
    /// The party's table.
    #[arg(long, value_name = "FILE")]
    pub(super) data: PathBuf,
    /// What the party agrees to [default: policy.toml in the identity folder]; refused if the folder has a
    /// data-protection officer's key.
    #[arg(long, value_name = "FILE.toml")]
    pub(super) policy: Option<PathBuf>,
    /// The folder of the ledger that accounts for the table [default: SPRIFED_LEDGER, or the identity folder].
    #[arg(long, value_name = "FOLDER")]
    pub(super) ledger: Option<PathBuf>,
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
        let folder = InvitationFolder(self.invitation.clone());
        let (invitation, agreed) = read_invitation(&folder.document())?;
        let agreed = Arc::new(agreed);
        let identity = read_identity(&self.identity.join("identity.key"))?;
        let me = place_of(&agreed, &identity)?;
        let tls = self.tls(&folder);
        refuse_other_seat(&tls, &agreed, me)?;
        refuse_other_authority(&folder, &invitation)?;
        check_client_tls(&tls, &folder.authority()).explained()?;
        let address = self.reachable(&folder, &invitation)?;
        self.refuse_rehearsal_key(&agreed)?;
        refuse_underivable(&agreed)?;
        if self.check {
            return self.say_check(&agreed, me, &address, output);
        }
        self.refuse_other_terms(&agreed, me)?;
        let policy = read_policy(&self.identity, self.policy.as_deref())?;
        let columns = terms_of(agreed.agreement())?.columns();
        let own = Digest(identity.public());
        let place = ledger_place(&self.identity, self.ledger.as_deref())?;
        let mut lifetime = place.open_for(&study_homes(&self.identity)).explained()?;
        let others: Vec<PathBuf> = configured_ledger().into_iter().collect();
        place
            .require_own(&lifetime, &self.data, &others)
            .explained()?;
        refuse_left(&study_folder(&self.identity, agreed.digest()))?;
        let study = agreed.digest().to_string();
        let admitted = lifetime
            .admit(&policy, &agreed, own, &columns)
            .explained()?;
        let admission = admitted.map_err(|forbidden| {
            Failure::outcome(
                "sprifed::policy::refused",
                format!("this party does not take part: {forbidden}"),
                "talk to the coordinator, or change the policy; `join --check` says more; no record was opened, \
                 nothing was spent",
            )
        })?;
        if !admission.is_known {
            let line = LifetimeLine::of(&agreed);
            lifetime.require_limit(&line).explained()?;
        }
        Self::say_terms(
            &agreed,
            admission.spent_elsewhere,
            n_unprotected(lifetime.lines()),
            output,
        );
        let bound = place.bind(&lifetime, &self.data, &others).explained()?;
        note_unmarked(&bound, &self.data, output);
        let is_known = admission.is_known;
        let state = study_folder(&self.identity, agreed.digest());
        make_folder(&state)?;
        keep_invitation(&folder, &state)?;
        let config = self.config(&folder, &agreed, (tls, address), &state);
        if is_known {
            refuse_lost_state(&config.state)?;
        }
        // First the journal, then the key, then the ledger: whoever has a later one without an
        // earlier one has lost it.
        let mut journal = SqliteJournal::open(&config.state, &study).explained()?;
        // The key of a study that is over was erased, and is not needed to deliver the receipt again.
        let is_over = journal.end().explained()?.is_some();
        let key = if is_over {
            None
        } else {
            Some(self.party_key(&agreed, me, &state.join(KEY), is_known)?)
        };
        let line = LifetimeLine::of(&agreed).over(bound.data);
        lifetime.reserve(&line).explained()?;
        // Other studies of this party need it too; no other process joins this one while its journal is open.
        drop(lifetime);
        let table = party_table(&self.data, &agreed, me);
        // A table that can not be used is found before a sum is charged, while the user is there.
        let read = table.read();
        if read.is_err() && !is_known {
            let mut lifetime = place.open().explained()?;
            lifetime.withdraw(&study).explained()?;
            // Nothing was sent: what lies there is no study.
            let _ = std::fs::remove_dir_all(&state);
        }
        let (_, counts) = read?;
        let journal = CountedJournal::of(journal, &config.state, &place, &study).explained()?;
        note_counts(&counts, output);
        start_logs(if self.verbose {
            LogLevel::Debug
        } else {
            LogLevel::Info
        });
        let member = Arc::clone(&agreed);
        // A key that is stored is read anew for every start: the file alone knows what was erased.
        let stored = state.join(KEY);
        let simulated = key.filter(|key| key.provenance() == Provenance::Simulated);
        let factory = move |entries: Vec<Vec<u8>>| {
            let journal = read_journal(&entries)?;
            let (agreed, identity) = (Arc::clone(&member), identity.clone());
            let over = || Refused::for_good("the study is over for this party");
            let key = match &simulated {
                Some(key) => key.clone(),
                None if is_over => return Err(over()),
                None => stored_key(&stored, &agreed)
                    .map_err(|failure| Refused::because(failure.to_string()))?,
            };
            let table = table.clone();
            StudyParty::join(agreed, me, identity, key, table, &journal, &software())
                .map(PartyMachine::new)
                .map_err(|declined| Refused::because(declined.to_string()))
        };
        let taking_part =
            ClientLoop::open_with_journal(config, Box::new(journal), factory).explained()?;
        match taking_part.run_until_signal().explained()? {
            ClientEnded::Interrupted => {
                output.interrupted();
                Ok(())
            }
            ClientEnded::Finished { success, files } => {
                let mut lifetime = place.open().explained()?;
                self.finish(success, &files, &study, &mut lifetime, output)
            }
        }
    }

    fn finish(
        &self,
        success: bool,
        files: &[PathBuf],
        study: &str,
        lifetime: &mut LifetimeLedger,
        output: &Output,
    ) -> Result<(), Failure> {
        let path = files.iter().find(|path| path.ends_with("receipt.json"));
        let receipt = path.map(|path| read(path)).transpose()?.unwrap_or_default();
        let receipt: PartyReceipt = serde_json::from_slice(&receipt)
            .map_err(|error| unusable(Path::new("receipt.json"), &error, "a receipt"))?;
        let document = &receipt.study.receipt;
        let spent = receipt.statement.ledger.spent;
        let cost = Cost::charged(spent, document.guarantee.delta);
        lifetime.settle(study, cost).explained()?;
        if !success {
            return Err(Failure::outcome(
                "sprifed::study::no-model",
                format!("the study ended without a model: {}", document.ending),
                "the receipt says what this party was charged",
            ));
        }
        let lines = lifetime.lines();
        let features = words_of_features(document)?;
        let is_protected = document.guarantee.noise == Provenance::Cryptographic;
        let answer = json!({
            "guarantee": document.guarantee, "protected": is_protected,
            "charged_epsilon": is_protected.then_some(cost.epsilon),
            "totals": json_of_totals(lines), "files": files,
        });
        output.answer(&answer, |_| {
            let files: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
            let charged = if is_protected {
                let charged = cost.epsilon.shown();
                format!("this party was charged epsilon = {charged}")
            } else {
                "the study PROTECTED NOBODY and is in no total".to_owned()
            };
            format!(
                "{}\n\n{features}{charged}\n{}\n{}",
                document.guarantee.statement,
                words_of_totals(lines),
                files.join("\n")
            )
        });
        Ok(())
    }

    /// The certificate that the coordinator issued with the key that this party made, or another pair.
    fn tls(&self, folder: &InvitationFolder) -> Identity {
        let certificate = self.tls_certificate.clone();
        let key = self.tls_key.clone();
        Identity {
            certificate: certificate.unwrap_or_else(|| folder.certificate()),
            key: key.unwrap_or_else(|| self.identity.join(TLS_KEY)),
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
        (identity, address): (Identity, String),
        state: &Path,
    ) -> ClientConfig {
        ClientConfig {
            study: agreed.digest().to_string(),
            coordinator: format!("https://{address}"),
            identity,
            authorities: folder.authority(),
            state: state.join("state.sqlite"),
            secret: Some(state.join(KEY)),
            artefacts: state.to_owned(),
            proxy: self.proxy.clone(),
            persistence: Persistence {
                give_up_after: self.give_up_after.map(Duration::from_secs),
                ..Persistence::default()
            },
            largest_notice: agreed.largest_notice(),
        }
    }

    /// The seat must be the one that this party asked for.
    pub(super) fn refuse_other_terms(&self, agreed: &Agreed, me: ClientId) -> Result<(), Failure> {
        let public = read_public_party(&self.identity.join("party.json"))?;
        let seat = agreed.agreement().parties.get(me.0 as usize);
        seat.and_then(|seat| public.refuses(seat, agreed.agreement().plan.unit)).map_or(Ok(()), |problem| {
            Err(Failure::outcome(
                "sprifed::study::other-seat",
                format!("this party does not take part: {problem}"),
                "ask the coordinator for a study with your party.json as it is; nothing was spent",
            ))
        })
    }

    /// A key that anybody can repeat protects nobody.
    fn refuse_rehearsal_key(&self, agreed: &Agreed) -> Result<(), Failure> {
        let public = read_public_party(&self.identity.join("party.json"))?;
        if !public.simulated || agreed.agreement().noise == Provenance::Simulated {
            return Ok(());
        }
        Err(Failure::usage(
            "sprifed::study::rehearsal-key",
            "this identity was made from a seed for rehearsals, but the study protects its records"
                .to_owned(),
            "make a new identity without --simulate and send its party.json to the coordinator; nothing was spent",
        ))
    }

    /// The secret of this party in this study: drawn once, then read back.
    fn party_key(
        &self,
        agreed: &Agreed,
        me: ClientId,
        path: &Path,
        is_known: bool,
    ) -> Result<PartyKey, Failure> {
        match (agreed.agreement().noise, self.simulate_noise) {
            (Provenance::Simulated, Some(seed)) => Ok(PartyKey::simulated(seed, 0).of_member(me.0)),
            (Provenance::Cryptographic, None) => {
                if !path.exists() {
                    // With new masks, old confirmations would count for a second vector of the same
                    // sum (THREAT_MODEL.md, A12).
                    if is_known {
                        return Err(state_lost(path));
                    }
                    let key = PartyKey::assume_fresh_entropy(fresh_bits()?);
                    if let Some(stored) = key.split(agreed.n_steps()).to_stored() {
                        create_private(path, &stored)?;
                    }
                }
                stored_key(path, agreed)
            }
            (Provenance::Simulated, None) => Err(Failure::usage(
                "sprifed::study::rehearsal",
                "this study is a rehearsal with repeatable noise, but no seed was given".to_owned(),
                "add --simulate-noise SEED, and only if the records need no protection",
            )),
            (Provenance::Cryptographic, Some(_)) => Err(Failure::usage(
                "sprifed::study::not-a-rehearsal",
                "--simulate-noise was given, but this study protects its records".to_owned(),
                "remove --simulate-noise; nothing was spent",
            )),
        }
    }

    fn say_terms(agreed: &Agreed, spent: Cost, unprotected: usize, output: &Output) {
        let agreement = agreed.agreement();
        let is_protected = agreement.noise == Provenance::Cryptographic;
        let (unit, relation) = (agreement.plan.unit.words(), agreement.plan.relation.words());
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
    let mine = mine.map_or("nobody", String::as_str);
    Err(Failure::usage(
        "sprifed::study::other-seat",
        format!(
            "the certificate `{}` is that of {found:?}, but the identity is that of {mine:?}",
            path.display()
        ),
        "join with the folder for-NAME that was made for this identity; nothing was sent or spent",
    ))
}

/// A study whose questions can not be derived would reserve a budget and ask nothing.
fn refuse_underivable(agreed: &Arc<Agreed>) -> Result<(), Failure> {
    let derived = Derivation::begin(Arc::clone(agreed));
    derived.map(drop).map_err(|error| {
        Failure::outcome(
            "sprifed::study::underivable",
            format!("the questions of this study can not be derived: {error}"),
            "ask the coordinator for a study that `sprifed study init` of this version wrote; nothing was spent",
        )
    })
}

/// What was agreed on stays beside what came of it.
fn keep_invitation(folder: &InvitationFolder, state: &Path) -> Result<(), Failure> {
    let kept = InvitationFolder(state.to_owned()).document();
    if kept.exists() {
        return Ok(());
    }
    let document = read(&folder.document())?;
    create_private(&kept, &String::from_utf8_lossy(&document))
}

/// Without its journal a party would answer sums a second time (THREAT_MODEL.md, A11).
fn refuse_lost_state(journal: &Path) -> Result<(), Failure> {
    if journal.exists() {
        Ok(())
    } else {
        Err(state_lost(journal))
    }
}

fn state_lost(path: &Path) -> Failure {
    Failure::outcome(
        "sprifed::study::state-lost",
        format!(
            "this party has joined this study before, but `{}` is gone",
            path.display()
        ),
        "restore all of its folder as it was last, or make another study; what was charged stays charged",
    )
}

/// The file with the secret of this party in a study.
pub(super) const KEY: &str = "party.key";

/// The key of this study as it is on the disk.
fn stored_key(path: &Path, agreed: &Agreed) -> Result<PartyKey, Failure> {
    let bytes = Zeroizing::new(read(path)?);
    let unreadable =
        |error: &dyn core::fmt::Display| unusable(path, error, "the key of this study");
    let text = core::str::from_utf8(&bytes).map_err(|error| unreadable(&error))?;
    PartyKey::from_stored(text, agreed.n_steps()).map_err(|error| unreadable(&error))
}

/// Where this identity is in the roster.
fn place_of(agreed: &Agreed, identity: &IdentityKey) -> Result<ClientId, Failure> {
    let public = Digest(identity.public());
    agreed.place_of(&public).ok_or_else(|| {
        Failure::outcome(
            "sprifed::study::not-invited",
            format!("the study does not invite the identity {public}"),
            "send party.json to the coordinator, who makes a study with it; nothing was spent",
        )
    })
}
