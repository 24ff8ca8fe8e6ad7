//! `study init`: what all parties agree on, and an invitation for each of them.

use std::path::PathBuf;

use clap::Args;
use sprifed::{Draft, Error, ProcedureRequest, StudyAnswer, host_of};
use sprifed_coordinator::{CoordinatorFolder, NewStudy};
use sprifed_noise::Provenance;
use sprifed_party::{PartyError, PublicParty, PublicTrustee, TWO_SEE, seat_name, spoken_digest};
use sprifed_privacy::{Gates, Relation, counted};
use sprifed_recovery::{Intercept, Keep, Setting};
use sprifed_schema::{Column, DataTerms, Schema, Selection};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Agreed, Agreement, Digest};
use sprifed_tables::{DataError, read_columns, read_schema, read_schema_text};

use super::read;
use crate::choices::{procedures, relations};
use crate::entropy::fresh_bits;
use crate::failure::{Explained as _, Failure};
use crate::output::Output;
use crate::study_arguments::{StatedArguments, WantedArguments};
use crate::table_arguments::{ColumnArguments, TableArguments};

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
    /// The public file of a trustee; three times, for a study in which three trustees choose and add up. Any two of them
    /// together see all contributions.
    #[arg(long, value_name = "trustee.json")]
    trustee: Vec<PathBuf>,
    /// Trustees do not prove to each other that they computed as agreed, and norms of sums are not verified: a trustee that
    /// deviates is not found. It saves computation; policies refuse it unless they say `allow-unproved-gates = true`.
    #[arg(long, requires = "trustee")]
    unproved_gates: bool,
    /// The public bounds, the same for all parties.
    #[arg(long, value_name = "FILE.toml")]
    schema: PathBuf,
    /// A table whose header names the columns; its records are not read.
    #[arg(long, value_name = "FILE.csv")]
    columns: PathBuf,
    #[command(flatten)]
    reading: TableArguments,
    #[command(flatten)]
    chosen: ColumnArguments,
    #[command(flatten)]
    wanted: WantedArguments,
    /// How features are found.
    #[arg(long, default_value = "auto", value_parser = procedures())]
    procedure: ProcedureRequest,
    #[command(flatten)]
    stated: StatedArguments,
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
    /// For how many days the certificates are valid.
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
                    "{:?} is not an address: {found}; `host:port` is required",
                    self.address
                ),
                "give --address as parties can reach it; nothing was made",
            )
        })?;
        let draft = self.draft()?;
        let choice = draft.choice().map_err(illegal)?;
        let columns = draft.columns().map_err(illegal)?.text();
        let choice = format!(
            "{}.{}",
            choice.reason(),
            columns.map_or_else(String::new, |words| format!("\n{words}."))
        );
        let (parties, trustees) = (draft.parties.clone(), draft.trustees.clone());
        let authority = self.authority.as_deref().map(read).transpose()?;
        let key = fresh_bits()?;
        let coordinator = Digest(IdentityKey::from_stored(&key).public());
        let agreement = draft.agreement(coordinator, Digest(fresh_bits()?));
        let agreement = agreement.map_err(illegal)?;
        let agreed = Agreed::new(agreement)?;
        let study = NewStudy {
            agreed: &agreed,
            parties: &parties,
            trustees: &trustees,
            key,
            address: &self.address,
            host,
            authority,
            valid_days: self.valid_days,
        };
        study
            .create(&CoordinatorFolder::new(&self.folder))
            .explained()?;
        self.say(&agreed, &choice, output);
        Ok(())
    }

    fn say(&self, agreed: &Agreed, choice: &str, output: &Output) {
        let agreement = agreed.agreement();
        let planned = agreement.plan.spending().ok();
        let delta = agreement.plan.budget.delta();
        let planned = planned.and_then(|spending| spending.to_approx_dp(delta));
        let answer = StudyAnswer::of(agreed, self.folder.clone());
        output.answer(&answer, |_| {
            let once = planned.map_or("0".to_owned(), |planned| planned.epsilon().shown());
            let once = match agreement.repeats {
                0 => String::new(),
                _ => format!("Without repetitions epsilon would be {once}.\n"),
            };
            let (one, many) = match agreement.trustees {
                Some(_) => ("choice or sum", "choices and sums"),
                None => ("sum", "sums"),
            };
            format!(
                "{}\n\n{once}{choice}\n{}: {} over {}, {}; {}, {}.\n{}\n\
                 purpose           {}\n\
                 coordinator's key {}\n\
                 study             {}\n\
                 in words          {}\n\
                 give each party its folder {}/for-NAME, which holds no secret;\n\
                 they compare key and words with you on the telephone, write into their policies what they agree to, \
                 and start:\n\
                 \x20   sprifed join for-NAME --identity NAME --data TABLE\n\
                 {}you start: sprifed coordinate {} --listen 0.0.0.0:PORT",
                agreed.planned_guarantee(),
                agreement.title,
                agreement.procedure,
                counted(agreement.setting.n_features, "feature", "features"),
                sought_words(&agreement.setting),
                counted(agreement.parties.len(), "party", "parties"),
                counted(agreed.n_steps(), one, many),
                Self::text_of_trustees(agreement),
                agreement.purpose,
                agreement.coordinator,
                agreed.digest(),
                spoken_digest(agreed.digest()),
                self.folder.display(),
                self.orders_for_trustees(agreement),
                self.folder.display(),
            )
        });
    }

    /// Who the trustees are, a line each; empty for secure sums.
    fn text_of_trustees(agreement: &Agreement) -> String {
        let trustees = agreement.trustees.iter().flatten();
        let lines: String = trustees
            .map(|trustee| format!("  trustee {}  {}\n", trustee.identity, trustee.name))
            .collect();
        if lines.is_empty() {
            return lines;
        }
        let gates = agreement.gates.map_or("", Gates::text);
        format!("{lines}  {TWO_SEE}\n  gates {gates}\n")
    }

    /// What the coordinator does with the folders of the trustees; empty for secure sums.
    fn orders_for_trustees(&self, agreement: &Agreement) -> String {
        let trustees = agreement.trustees.iter().flatten();
        let folders = trustees.map(|trustee| format!("for-{}", seat_name(&trustee.name)));
        let folders: Vec<String> = folders.collect();
        if folders.is_empty() {
            return String::new();
        }
        format!(
            "give each trustee its folder in {}: {}; they do the same, and start:\n\
             \x20   sprifed trustee for-{} --identity FOLDER\n",
            self.folder.display(),
            folders.join(", "),
            seat_name("NAME"),
        )
    }

    fn draft(&self) -> Result<Draft, Failure> {
        let parties = self.party.iter().map(|path| PublicParty::read(path));
        let parties = parties.collect::<Result<_, _>>()?;
        let trustees = self.trustee.iter().map(|path| PublicTrustee::read(path));
        let trustees = trustees.collect::<Result<_, _>>()?;
        let name = self.folder.file_name().unwrap_or_default();
        let title = self.title.clone();
        Ok(Draft {
            title: title.unwrap_or_else(|| name.to_string_lossy().into_owned()),
            purpose: self.purpose.clone(),
            parties,
            trustees,
            gates: if self.unproved_gates {
                Gates::Unproved
            } else {
                Gates::Proved
            },
            data: self.data_terms()?,
            sparsity: self.wanted.sparsity,
            exactly: self.wanted.exactly,
            robust: self.wanted.robust,
            epsilon: self.wanted.epsilon,
            delta: self.wanted.delta,
            procedure: self.procedure,
            stated: self.stated.stated(),
            column_scales: self.wanted.column_scales,
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

    /// How records are read: the candidate features come from a header and the schema.
    fn data_terms(&self) -> Result<DataTerms, Failure> {
        let schema = read_schema(&self.schema)?;
        let schema = self.chosen.apply(schema).map_err(DataError::from)?;
        let (columns, always) = self.features(&schema)?;
        let text = read_schema_text(&self.schema)?;
        let markers = columns.iter().filter_map(|column| {
            let marker = column.marker()?;
            Some((column.name.clone(), marker.clone()))
        });
        let markers = markers.collect();
        let features = columns.into_iter().map(|column| column.name).collect();
        let terms = DataTerms::with_always(text, features, always);
        let terms = terms.and_then(|terms| terms.with_markers(markers));
        Ok(terms.map_err(PartyError::from)?)
    }

    /// The columns that are features, from a header and the schema, and those that --always keeps in the model.
    fn features(&self, schema: &Schema) -> Result<(Vec<Column>, Vec<String>), Failure> {
        let columns = read_columns(self.reading.table(&self.columns))?;
        let selection = Selection::choose(&columns, schema).map_err(|problem| {
            Failure::usage(
                "sprifed::study::columns",
                format!(
                    "the columns of `{}` do not fit the schema: {problem}",
                    self.columns.display()
                ),
                "correct the schema or the header as said above; nothing was made",
            )
        })?;
        let features = selection.features.iter().map(|&at| columns[at].clone());
        let features: Vec<Column> = features.collect();
        let names = features.iter().map(|column| &column.name);
        let always = names.filter(|name| schema.is_always(name)).cloned();
        let always = if self.chosen.always.is_empty() {
            Vec::new()
        } else {
            always.collect()
        };
        Ok((features, always))
    }
}

/// Names the options of `study init` where the number of parties is illegal.
fn illegal(error: Error) -> Failure {
    match error {
        Error::NeedsChoices { .. } => Failure::from(error).with_help(
            "give --trustee three times, or choose a procedure that needs sums only; nothing was made",
        ),
        Error::ParticipationOfTrustees => Failure::from(error).with_help(
            "give neither --quorum nor --colluders with --trustee; nothing was made",
        ),
        Error::Participation(_) => Failure::from(error).with_help(
            "give --party once for each party, or correct --quorum or --colluders; nothing was spent",
        ),
        other => other.into(),
    }
}

/// How many features are sought, in words.
fn sought_words(setting: &Setting) -> String {
    match setting.choice {
        Keep::Significant => format!("at most {} kept", setting.sparsity),
        Keep::Exactly => format!("exactly {} kept", setting.sparsity),
    }
}
