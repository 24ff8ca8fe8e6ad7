//! `study rehearse`: all parties of a study in one process, with noise that protects no record.

use std::path::PathBuf;

use clap::Args;
use sprifed::RehearsalAnswer;
use sprifed_coordinator::CoordinatorFolder;
use sprifed_noise::Provenance;
use sprifed_party::{PartyRecords, PartyTable, terms_of};
use sprifed_secure_sum::ClientId;
use sprifed_study::{Embedded, PartyKey, all_present};

use crate::failure::Failure;
use crate::output::Output;

/// `study rehearse`.
#[derive(Args, Debug)]
pub(crate) struct Rehearse {
    /// The folder of the study, made with --simulate-noise.
    folder: PathBuf,
    /// The table of each party, in the order of the roster.
    #[arg(long, required = true)]
    data: Vec<PathBuf>,
    /// The seed from which the identities of the parties were made.
    #[arg(long)]
    seed: u64,
}

impl Rehearse {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let (_, agreed) = CoordinatorFolder::new(&self.folder).study()?;
        let agreement = agreed.agreement();
        let refuse = |message: String, help: &str| {
            Failure::usage("sprifed::study::rehearsal", message, help)
        };
        if agreement.noise != Provenance::Simulated {
            let help = "make a study with `study init --simulate-noise` to rehearse";
            return Err(refuse("this study protects its records".to_owned(), help));
        }
        if self.data.len() != agreement.parties.len() {
            let (found, required) = (self.data.len(), agreement.parties.len());
            let message = format!("{found} tables are given, but {required} parties take part");
            return Err(refuse(message, "give --data once for each party"));
        }
        let tables = (0..).map(ClientId).zip(&self.data);
        let records = tables.map(|(party, path)| {
            let table = PartyTable::in_file(path, &agreed, party);
            Ok(table.read()?.0.clone())
        });
        let records: Vec<PartyRecords> = records.collect::<Result<_, Failure>>()?;
        let key = PartyKey::simulated(self.seed, 0);
        let help = "use the seed and places of `study identity --simulate`";
        let mut study = Embedded::open(
            std::sync::Arc::clone(&agreed),
            &key,
            records,
            Box::new(all_present),
        )
        .map_err(|error| refuse(error.to_string(), help))?;
        let fit = agreement
            .procedure
            .run_on_sums(&agreement.setting, &mut study, |_| ())
            .map_err(|error| {
                Failure::outcome(
                    "sprifed::study::no-model",
                    error.to_string(),
                    "this was a rehearsal",
                )
            })?;
        let names = terms_of(agreement)?.features();
        let name = |(feature, _): &(u32, f64)| names.get(*feature as usize).cloned();
        let chosen: Vec<String> = fit.model.terms.iter().filter_map(name).collect();
        let answer = RehearsalAnswer {
            label: "NOT PRIVATE",
            features: chosen,
            fit,
            ledger: study.ledger().record(),
            survivors: study.survivors(),
        };
        output.answer(&answer, |answer| {
            format!(
                "NOT PRIVATE: a rehearsal. {} features were chosen: {}",
                answer.features.len(),
                answer.features.join(", ")
            )
        });
        Ok(())
    }
}
