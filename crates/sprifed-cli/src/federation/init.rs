//! `study init`: what all parties agree on, and an invitation for each of them.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use sprifed_data::{PrivacyUnit as DataUnit, Schema, read_columns, read_schema};
use sprifed_net::{CertificateOrder, issue};
use sprifed_noise::Provenance;
use sprifed_privacy::{ApproxDp, Delta, Epsilon, NoiseOrigin, Participation, PrivacyUnit};
use sprifed_recovery::{CertifiedProcedure, Intercept, Setting};
use sprifed_study::{Agreed, Agreement, Digest, FORMAT, Party};

use super::identity::{PublicParty, check_name, make_folder, write_identity};
use super::invitation::Invitation;
use super::read;
use super::terms::DataTerms;
use crate::account::parse_quantity;
use crate::entropy::fresh_bits;
use crate::failure::Failure;
use crate::files::create_private;
use crate::fit::{has_public_scale, recommended_delta};
use crate::output::Output;
use crate::study_arguments::RelationName;

/// `study init`.
#[derive(Args, Debug)]
pub(crate) struct Init {
    /// The folder of the study, which must not exist; its name is the study's.
    folder: PathBuf,
    /// What the study is about [default: the folder's name].
    #[arg(long)]
    title: Option<String>,
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
    #[arg(long, default_value = "grad", value_parser = parse_procedure)]
    procedure: CertifiedProcedure,
    /// Which data sets the guarantee makes indistinguishable.
    #[arg(long, value_enum, default_value = "zero-out")]
    neighbours: RelationName,
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
    /// For how many days the certificates are good.
    #[arg(long, default_value_t = 365)]
    valid_days: u16,
    /// NOT PRIVATE: parties take their noise from seeds, for rehearsals.
    #[arg(long)]
    simulate_noise: bool,
}

fn parse_procedure(text: &str) -> Result<CertifiedProcedure, String> {
    let known = [CertifiedProcedure::Grad, CertifiedProcedure::Sieve];
    let found = known.into_iter().find(|known| known.to_string() == text);
    found.ok_or_else(|| format!("{text:?} is not `grad` or `sieve`, which secure sums can answer"))
}

impl Init {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let parties = self.parties()?;
        let schema = read_schema(&self.schema)?;
        refuse_client_column(&schema)?;
        let terms = DataTerms {
            schema: String::from_utf8_lossy(&read(&self.schema)?).into_owned(),
            features: self.features(&schema)?,
        };
        let host = self.address.rsplit_once(':').map(|(host, _)| host);
        let host = host.filter(|host| !host.is_empty()).ok_or_else(|| {
            Failure::usage(
                "sprifed::study::address",
                format!("{:?} is no address; `host:port` is required", self.address),
                "give --address as parties can reach it",
            )
        })?;
        if self.folder.exists() {
            return Err(Failure::usage(
                "sprifed::file::exists",
                format!("`{}` is there already", self.folder.display()),
                "choose another folder; a study is never replaced",
            ));
        }
        let coordinator_bits = fresh_bits()?;
        let identity = sprifed_secure_sum::IdentityKey::from_stored(&coordinator_bits);
        let agreement = self.agreement(&schema, &terms, &parties, identity.public())?;
        let agreed = Agreed::new(agreement)?;
        make_folder(&self.folder)?;
        write_identity(&self.folder.join("coordinator.key"), coordinator_bits)?;
        let invitation = Invitation::sign(&agreed, &identity, &self.address);
        let text = serde_json::to_string_pretty(&invitation).unwrap_or_default() + "\n";
        create_private(&self.folder.join("invitation.json"), &text)?;
        let issued = issue(&CertificateOrder {
            folder: self.folder.join("tls"),
            coordinator_hosts: vec![host.trim_matches(['[', ']']).to_owned()],
            clients: parties.iter().map(|party| party.name.clone()).collect(),
            valid_days: self.valid_days,
        })?;
        let mut fingerprints = Vec::new();
        for (party, (files, fingerprint)) in parties.iter().zip(&issued.clients) {
            let folder = self.folder.join(format!("for-{}", party.name));
            make_folder(&folder)?;
            create_private(&folder.join("invitation.json"), &text)?;
            move_file(&files.certificate, &folder.join("tls.pem"))?;
            move_file(&files.key, &folder.join("tls.key"))?;
            let authority = String::from_utf8_lossy(&read(&issued.authority)?).into_owned();
            create_private(&folder.join("authority.pem"), &authority)?;
            fingerprints.push(fingerprint.to_string());
        }
        let roster = json!({ "certificates": fingerprints });
        create_private(&self.folder.join("roster.json"), &format!("{roster:#}\n"))?;
        self.say(&agreed, output);
        Ok(())
    }

    fn say(&self, agreed: &Agreed, output: &Output) {
        let agreement = agreed.agreement();
        let planned = agreement.plan.spending().ok();
        let delta = agreement.plan.budget.delta();
        let planned = planned.and_then(|spending| spending.to_approx_dp(delta));
        let answer = json!({
            "label": self.simulate_noise.then_some("NOT PRIVATE"),
            "study": agreed.digest(), "folder": self.folder, "title": agreement.title,
            "coordinator": agreement.coordinator, "parties": agreement.parties,
            "features": agreement.setting.n_features, "records": agreement.setting.n_records,
            "sums": agreed.n_steps(), "epsilon": planned.map(ApproxDp::epsilon),
            "largest_epsilon": agreed.ceiling().epsilon(), "delta": delta,
            "quorum": agreed.participation().quorum(),
            "colluders": agreed.participation().colluders(),
        });
        output.answer(&answer, |answer| {
            format!(
                "{}{}: {} features, {} parties, {} sums.\n\
                 ({:.4}, {delta})-DP for each {} under {}, at most {:.4} with all repetitions; the noise will \
                 be added by {}.\n\n\
                 coordinator's key {}\n\
                 give each party its folder {}/for-NAME, by a way that you both trust;\n\
                 they compare the coordinator's key, add it to their policy, and start:\n\
                 \x20   sprifed join for-NAME --identity NAME --data TABLE\n\
                 you start: sprifed coordinate {} --listen 0.0.0.0:PORT",
                if self.simulate_noise {
                    "NOT PRIVATE, a rehearsal with repeatable noise: "
                } else {
                    ""
                },
                agreement.title,
                agreement.setting.n_features,
                agreement.parties.len(),
                agreed.n_steps(),
                answer["epsilon"].as_f64().unwrap_or(f64::NAN),
                agreement.plan.unit.words(),
                agreement.plan.relation.words(),
                agreed.ceiling().epsilon().get(),
                agreed.participation().words(),
                agreement.coordinator,
                self.folder.display(),
                self.folder.display(),
            )
        });
    }

    fn parties(&self) -> Result<Vec<PublicParty>, Failure> {
        let parties: Vec<PublicParty> = self
            .party
            .iter()
            .map(|path| PublicParty::read(path))
            .collect::<Result<_, _>>()?;
        let mut names = std::collections::BTreeSet::new();
        for party in &parties {
            check_name(&party.name)?;
            if party.simulated && !self.simulate_noise {
                return Err(Failure::usage(
                    "sprifed::study::rehearsal-key",
                    format!(
                        "{} was made from a seed that anybody can repeat",
                        party.name
                    ),
                    "ask for an identity made without --simulate, or add --simulate-noise for a rehearsal",
                ));
            }
            if !names.insert(&party.name) {
                return Err(Failure::usage(
                    "sprifed::study::two-parties",
                    format!(
                        "two parties are called {:?}; each needs its own name",
                        party.name
                    ),
                    "ask one of them to choose another name",
                ));
            }
        }
        Ok(parties)
    }

    /// The candidate features, from a header and the schema.
    fn features(&self, schema: &Schema) -> Result<Vec<String>, Failure> {
        let columns = read_columns(&self.columns)?;
        let report = sprifed_data::check_columns(schema, &columns);
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

    fn agreement(
        &self,
        schema: &Schema,
        terms: &DataTerms,
        parties: &[PublicParty],
        coordinator: [u8; 32],
    ) -> Result<Agreement, Failure> {
        let unit = match schema.unit() {
            DataUnit::Client => PrivacyUnit::Client,
            _ => PrivacyUnit::Record,
        };
        let n_parties = u32::try_from(parties.len()).unwrap_or(u32::MAX);
        let units = |party: &PublicParty| match unit {
            PrivacyUnit::Record => party.records,
            PrivacyUnit::Client => 1,
        };
        let n_records = parties.iter().map(units).fold(0, u32::saturating_add);
        let quorum = self.quorum.unwrap_or(n_parties - n_parties / 10);
        let colluders = self.colluders.unwrap_or((n_parties / 20).max(1));
        let participation = Participation::new(n_parties, quorum, colluders)?;
        let delta = self
            .delta
            .map_or_else(|| recommended_delta(f64::from(n_records)), Ok)?;
        let mapping = terms.mapping(schema)?;
        let setting = Setting {
            n_records,
            n_features: u32::try_from(terms.features.len()).unwrap_or(u32::MAX),
            sparsity: self.sparsity,
            budget: ApproxDp::new(self.epsilon, delta),
            relation: self.neighbours.relation(),
            unit,
            origin: NoiseOrigin::Shares(participation),
            response_bound: mapping.response_bound(),
            feature_bound: mapping.feature_bound(),
            feature_scale: mapping
                .features()
                .iter()
                .all(has_public_scale)
                .then_some(1.0),
            intercept: Intercept::Estimated,
        };
        let name = self.folder.file_name().unwrap_or_default();
        let title = self
            .title
            .clone()
            .unwrap_or_else(|| name.to_string_lossy().into_owned());
        let party = |party: &PublicParty| Party {
            name: party.name.clone(),
            identity: party.identity,
            units: units(party),
        };
        Ok(Agreement {
            format: FORMAT,
            title,
            nonce: Digest(fresh_bits()?),
            coordinator: Digest(coordinator),
            procedure: self.procedure,
            plan: self.procedure.plan(&setting)?,
            setting,
            parties: parties.iter().map(party).collect(),
            repeats: self.repeats,
            noise: if self.simulate_noise {
                Provenance::Simulated
            } else {
                Provenance::Cryptographic
            },
            data: serde_json::to_value(terms).unwrap_or_default(),
        })
    }
}

/// Between parties the party is the client.
fn refuse_client_column(schema: &Schema) -> Result<(), Failure> {
    let Some(column) = schema.client() else {
        return Ok(());
    };
    Err(Failure::usage(
        "sprifed::study::client-column",
        format!(
            "the schema names the client column `{column}`, but in a study between parties each party is one client"
        ),
        "remove `client` and `max_per_client` from the schema; `unit` stays",
    ))
}

fn move_file(from: &Path, to: &Path) -> Result<(), Failure> {
    std::fs::rename(from, to).map_err(|error| {
        Failure::environment(
            "sprifed::file::unwritable",
            format!("`{}` can not be moved: {error}", from.display()),
            "check the folder and start with another one",
        )
    })
}
