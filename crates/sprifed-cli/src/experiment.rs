//! `experiment`: the paper's tables and figures, regenerated and judged, with a page.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use sprifed_paper::{
    Conditions, Experiment, ExperimentError, ExperimentList, ExperimentsAnswer, Size, catalogue,
    commit, publish_again, run_all,
};
use sprifed_report::table;

use crate::failure::{Explained, Failure};
use crate::output::Output;

/// `experiment`.
#[derive(Args, Debug)]
pub(crate) struct RunExperiments {
    /// Names of experiments, `all`, `list`, or `report`: write the page again from the rows in --out and measure nothing.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Small cells and two trials: done in two minutes, not for conclusions.
    #[arg(long)]
    quick: bool,
    /// Trials of every cell [default: 5 to 10, fewer where they are expensive; 2 with --quick].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    trials: Option<u64>,
    /// The seed of the first trial; trial k uses seed + k.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder for rows, figures and the page. Rows that are already there are not measured again.
    #[arg(long, default_value = "sprifed-paper")]
    out: PathBuf,
    /// The folder with the real data; without it those experiments are skipped.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl RunExperiments {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let all = catalogue();
        if self.names == ["list"] {
            list(&all, output);
            return Ok(());
        }
        let is_report = self.names == ["report"];
        let chosen = if is_report {
            Vec::new()
        } else {
            self.chosen(&all)?
        };
        let conditions = Conditions {
            size: if self.quick { Size::Quick } else { Size::Full },
            trials: self.trials,
            seed: self.seed,
            data: self
                .data
                .clone()
                .map(|folder| require_folder(&folder))
                .transpose()?,
            commit: commit(),
        };
        let start = Instant::now();
        let watch = &mut |number: usize, words: &str| {
            let seconds = start.elapsed().as_secs();
            output.note(&format!(
                "[{seconds:>5} s, {number}/{}] {words}",
                chosen.len()
            ));
        };
        let answer = if is_report {
            publish_again(&self.out, &conditions)
        } else {
            run_all(&chosen, &conditions, &self.out, watch)
        };
        let answer = answer.explained()?;
        output.answer(&answer, |answer| self.to_text(answer));
        Ok(())
    }

    fn chosen(&self, all: &[Experiment]) -> Result<Vec<Experiment>, Failure> {
        if self.names.iter().any(|name| name == "all") {
            return Ok(all.to_vec());
        }
        let find = |name: &String| {
            let found = all.iter().find(|experiment| experiment.name == name);
            found.copied().ok_or_else(|| {
                let message =
                    format!("`{name}` is not an experiment; required: a name of the list, or all");
                let help = "`sprifed experiment list` shows all names";
                Failure::usage("sprifed::experiment::unknown", message, help)
            })
        };
        self.names.iter().map(find).collect()
    }

    fn to_text(&self, answer: &ExperimentsAnswer) -> String {
        let mut verdicts = String::new();
        for experiment in &answer.experiments {
            let (name, outcome) = (experiment.name, experiment.outcome.text());
            verdicts += &format!("{name}: {outcome}\n    {}\n", experiment.verdict);
        }
        let page = self.out.join("report.html");
        format!("{verdicts}\nthe page is in {}", page.display())
    }
}

fn list(all: &[Experiment], output: &Output) {
    output.answer(&ExperimentList::of(all), |_| {
        let mut rows = vec![["name", "what"].map(str::to_owned).to_vec()];
        rows.extend(
            all.iter()
                .map(|one| vec![one.name.to_owned(), one.title.to_owned()]),
        );
        table(&rows)
    });
}

fn require_folder(folder: &Path) -> Result<PathBuf, Failure> {
    if folder.is_dir() {
        return Ok(folder.to_owned());
    }
    let message = format!(
        "`{}` is not a folder; required: one with the data sets",
        folder.display()
    );
    let help = "name the folder with --data, or leave it out to skip the real data";
    Err(Failure::usage(
        "sprifed::experiment::no-data",
        message,
        help,
    ))
}

impl<T> Explained<T> for Result<T, ExperimentError> {
    fn explained(self) -> Result<T, Failure> {
        self.map_err(failure)
    }
}

fn failure(error: ExperimentError) -> Failure {
    let message = error.to_string();
    match error {
        ExperimentError::Data(error) => error.into(),
        ExperimentError::File { .. } => Failure::environment(
            "sprifed::experiment::file",
            message,
            "check the folder, its permissions and the space left",
        ),
        ExperimentError::Rows { .. } | ExperimentError::Shape { .. } => Failure::usage(
            "sprifed::experiment::content",
            message,
            "correct the file or name another folder",
        ),
        _ => Failure::outcome(
            "sprifed::experiment::failed",
            message,
            "what was measured is kept; run again to go on from there",
        ),
    }
}
