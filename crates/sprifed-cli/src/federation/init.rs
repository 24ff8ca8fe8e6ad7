//! `study init`: what all parties agree on, and an invitation for each of them.

use std::path::PathBuf;

use clap::Args;
use sprifed::{Draft, Error, StudyAnswer, host_of};
use sprifed_coordinator::{CoordinatorFolder, NewStudy};
use sprifed_noise::Provenance;
use sprifed_party::{PartyError, PublicParty, spoken_digest};
use sprifed_privacy::{Delta, Epsilon, Relation};
use sprifed_recovery::{CertifiedProcedure, Intercept};
use sprifed_schema::{DataTerms, Schema};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Agreed, Digest};
use sprifed_tables::{read_columns, read_schema};

use super::read;
use crate::account::parse_quantity;
use crate::choices::{procedures_on_sums, relations};
use crate::entropy::fresh_bits;
use crate::failure::{Explained as _, Failure};
use crate::output::Output;

/// `study init`.
#[derive(Args, Debug)]
pub(crate) struct Init {
    /// The folder of the study, which must not exist; its name is the study's.
    folder: PathBuf,
    /// What the study is about [default: the folder's name].
    #[arg(long)]
    title: Option<String>,
    /// What the result is for, in one line; the parties' policies accept purposes word for word.
    #[arg(long)]
    purpose: String,
    /// The public file of a party; once for each.
    #[arg(long, required = true, value_name = "party.json")]
    party: Vec<PathBuf>,
    /// The public bounds, the same for all parties.
    #[arg(long, value_name = "FILE.toml")]
    schema: PathBuf,
    /// A table whose header names the columns; its records are not read.
    #[arg(long, value_name = "FILE.csv")]
    columns: PathBuf,
    /// How many features are chosen.
    #[arg(long)]
    sparsity: u32,
    /// The privacy budget.
    #[arg(long, value_parser = parse_quantity::<Epsilon>, allow_hyphen_values = true)]
    epsilon: Epsilon,
    /// The delta of the budget [default: the smaller of 1e-6 and 1/(10 n)].
    #[arg(long, value_parser = parse_quantity::<Delta>, allow_hyphen_values = true)]
    delta: Option<Delta>,
    /// How features are found.
    #[arg(long, default_value = "grad", value_parser = procedures_on_sums())]
    procedure: CertifiedProcedure,
    /// Which data sets the guarantee makes indistinguishable.
    #[arg(long, value_parser = relations(), default_value = "zero-out")]
    neighbours: Relation,
    /// A sum of fewer parties is never opened [default: nine tenths of them].
    #[arg(long)]
    quorum: Option<u32>,
    /// How many parties may tell others their shares of the noise [default: a twentieth of them, at
    /// least one].
    #[arg(long)]
    colluders: Option<u32>,
    /// How many failed sums may be repeated in all; each repetition costs privacy again.
    #[arg(long, default_value_t = 0)]
    repeats: u32,
    /// Where parties will reach the coordinator: `host:port`.
    #[arg(long)]
    address: String,
    /// The authority of the coordinator's own TLS certificate, if `coordinate` will use one; the parties trust it
    /// instead of the authority that is made for the study.
    #[arg(long, value_name = "FILE.pem")]
    authority: Option<PathBuf>,
    /// For how many days the certificates are good.
    #[arg(long, default_value_t = 365)]
    valid_days: u16,
    /// NOT PRIVATE: parties take their noise from seeds, for rehearsals.
    #[arg(long)]
    simulate_noise: bool,
}

impl Init {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let host = host_of(&self.address).map_err(|found| {
            Failure::usage(
                "sprifed::study::address",
                format!(
                    "{:?} is no address: {found}; `host:port` is required",
                    self.address
                ),
                "give --address as parties can reach it; nothing was made",
            )
        })?;
        let draft = self.draft()?;
        let parties = draft.parties.clone();
        let authority = self.authority.as_deref().map(read).transpose()?;
        let key = fresh_bits()?;
        let coordinator = Digest(IdentityKey::from_stored(&key).public());
        let agreement = draft.agreement(coordinator, Digest(fresh_bits()?));
        let agreement = agreement.map_err(|error| match error {
            Error::Participation(_) => Failure::from(error).with_help(
                "give --party once for each party, or correct --quorum or --colluders; nothing was spent",
            ),
            other => other.into(),
        })?;
        let agreed = Agreed::new(agreement)?;
        let study = NewStudy {
            agreed: &agreed,
            parties: &parties,
            key,
            address: &self.address,
            host,
            authority,
            valid_days: self.valid_days,
        };
        study
            .create(&CoordinatorFolder::new(&self.folder))
            .explained()?;
        self.say(&agreed, output);
        Ok(())
    }

    fn say(&self, agreed: &Agreed, output: &Output) {
        let agreement = agreed.agreement();
        let planned = agreement.plan.spending().ok();
        let delta = agreement.plan.budget.delta();
        let planned = planned.and_then(|spending| spending.to_approx_dp(delta));
        let answer = StudyAnswer::of(agreed, self.folder.clone());
        output.answer(&answer, |_| {
            let once = planned.map_or("0".to_owned(), |planned| planned.epsilon().shown());
            format!(
                "{}\n\nWithout a repetition the sums cost epsilon = {once}.\n{}: {} over {} features, {} parties, {} sums.\n\n\
                 purpose           {}\n\
                 coordinator's key {}\n\
                 study             {}\n\
                 in words          {}\n\
                 give each party its folder {}/for-NAME, which holds no secret;\n\
                 they compare key and words with you on the telephone, add what they agree to to their policies, \
                 and start:\n\
                 \x20   sprifed join for-NAME --identity NAME --data TABLE\n\
                 you start: sprifed coordinate {} --listen 0.0.0.0:PORT",
                agreed.planned_guarantee(),
                agreement.title,
                agreement.procedure,
                agreement.setting.n_features,
                agreement.parties.len(),
                agreed.n_steps(),
                agreement.purpose,
                agreement.coordinator,
                agreed.digest(),
                spoken_digest(agreed.digest()),
                self.folder.display(),
                self.folder.display(),
            )
        });
    }

    fn draft(&self) -> Result<Draft, Failure> {
        let parties = self.party.iter().map(|path| PublicParty::read(path));
        let parties = parties.collect::<Result<_, _>>()?;
        let name = self.folder.file_name().unwrap_or_default();
        let title = self.title.clone();
        Ok(Draft {
            title: title.unwrap_or_else(|| name.to_string_lossy().into_owned()),
            purpose: self.purpose.clone(),
            parties,
            data: self.data_terms()?,
            sparsity: self.sparsity,
            epsilon: self.epsilon,
            delta: self.delta,
            procedure: self.procedure,
            neighbours: self.neighbours,
            quorum: self.quorum,
            colluders: self.colluders,
            repeats: self.repeats,
            intercept: Intercept::Estimated,
            noise: if self.simulate_noise {
                Provenance::Simulated
            } else {
                Provenance::Cryptographic
            },
        })
    }

    fn data_terms(&self) -> Result<DataTerms, Failure> {
        let features = self.features(&read_schema(&self.schema)?)?;
        let schema = String::from_utf8_lossy(&read(&self.schema)?).into_owned();
        Ok(DataTerms::new(schema, features).map_err(PartyError::from)?)
    }

    /// The candidate features, from a header and the schema.
    fn features(&self, schema: &Schema) -> Result<Vec<String>, Failure> {
        let columns = read_columns(&self.columns)?;
        let report = sprifed_schema::check_columns(schema, &columns);
        if !report.is_usable() {
            return Err(Failure::usage(
                "sprifed::study::columns",
                format!(
                    "the columns of `{}` do not fit the schema",
                    self.columns.display()
                ),
                "run `sprifed schema check SCHEMA COLUMNS` and mend what it names",
            ));
        }
        let response = schema.response().name();
        let is_feature = |name: &str| {
            name != response && !schema.excludes(name) && schema.units_of(name).is_some()
        };
        let names = columns.into_iter().map(|column| column.name);
        Ok(names.filter(|name| is_feature(name)).collect())
    }
}
