//! `sprifed-bench secure-sum`: masked sums against what their cipher allows, and against Flower's SecAgg+.

mod figures;
mod flower;
mod primitives;
mod rehearsal;

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use sprifed_privacy::Participation;
use sprifed_report::table;
use sprifed_secure_sum::Parameters;

use crate::cpu_clock;
use crate::error::Error;
use crate::output::Output;
use crate::secure_sum::figures::{Figure, Goals, mask_figures, sum_figures};
use crate::secure_sum::flower::{Flower, Task};
use crate::secure_sum::primitives::Primitives;
use crate::secure_sum::rehearsal::Outcome;
pub(crate) use crate::secure_sum::rehearsal::{Costs, Rehearsal};

/// `sprifed-bench secure-sum`.
#[derive(Args, Debug)]
pub(crate) struct SecureSum {
    /// A Python with the package flwr 1.41.0, to be measured in the same run.
    #[arg(long, value_name = "PYTHON")]
    python: Option<PathBuf>,
    /// How often each measurement is repeated; the median counts. Flower gets a third of them.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Few clients and short vectors, to try the command out: the figures mean nothing.
    #[arg(long)]
    quick: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    clock: &'static str,
    repetitions: u32,
    /// Whether the figures mean anything.
    is_optimised: bool,
    is_quick: bool,
    rows: Vec<Figure>,
    flower: Option<Flower>,
    /// Why Flower was not measured.
    flower_missing: Option<String>,
}

/// A setting to be measured.
struct Setting {
    name: String,
    rehearsal: Rehearsal,
    goals: Goals,
    /// Whether Flower computes the same sum.
    is_compared: bool,
}

/// How large the settings are.
struct Scale {
    few: u32,
    many: u32,
    coordinates: u32,
    /// Of the settings that are compared with Flower.
    neighbours: u32,
    threshold: u32,
}

const FULL: Scale = Scale {
    few: 100,
    many: 600,
    coordinates: 10_000,
    neighbours: 32,
    threshold: 16,
};

const QUICK: Scale = Scale {
    few: 20,
    many: 30,
    coordinates: 100,
    neighbours: 8,
    threshold: 4,
};

const BITS: u32 = 16;

impl SecureSum {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Error> {
        let report = self.measure().map_err(Error::SecureSum)?;
        output.answer(&report, to_text);
        Ok(())
    }

    fn measure(&self) -> Outcome<Report> {
        let scale = if self.quick { QUICK } else { FULL };
        let primitives = Primitives::measure(scale.coordinates, BITS, self.repetitions)?;
        let flower = flower::measure(
            self.python.as_deref(),
            Task {
                n_clients: scale.few,
                coordinates: scale.coordinates,
                // An odd number is what the package asks for, and its own share is one of them.
                shares: scale.neighbours - 1,
                threshold: scale.threshold,
                repetitions: self.repetitions.div_ceil(3),
            },
        );
        let mut rows = mask_figures(primitives);
        for setting in settings(&scale)? {
            let runs = (0..self.repetitions).map(|_| setting.rehearsal.run());
            let runs = runs.collect::<Outcome<Vec<_>>>()?;
            let costs = Costs::medians(&runs).ok_or("no repetitions")?;
            let compared = flower.as_ref().ok().filter(|_| setting.is_compared);
            rows.extend(sum_figures(&setting, &costs, primitives, compared));
        }
        let (flower, flower_missing) = match flower {
            Ok(flower) => (Some(flower), None),
            Err(reason) => (None, Some(reason)),
        };
        Ok(Report {
            clock: cpu_clock::KIND,
            repetitions: self.repetitions,
            is_optimised: !cfg!(debug_assertions),
            is_quick: self.quick,
            rows,
            flower,
            flower_missing,
        })
    }
}

fn settings(scale: &Scale) -> Outcome<Vec<Setting>> {
    let participation =
        |n_clients: u32| Participation::new(n_clients, n_clients - n_clients / 5, n_clients / 20);
    let (few, many) = (participation(scale.few)?, participation(scale.many)?);
    let by_hand = Parameters::assume_sufficient(few, scale.neighbours, scale.threshold)?;
    let setting = |participation: Participation, parameters: Parameters, drops, n_sums| {
        let n_clients = participation.clients();
        let n_dropouts = if drops { n_clients / 10 } else { 0 };
        let name = format!(
            "n={n_clients} p={} k={} t={}, {n_dropouts} drop out, {n_sums} sum{}",
            scale.coordinates,
            parameters.neighbours(),
            parameters.threshold(),
            if n_sums == 1 { "" } else { "s" },
        );
        let rehearsal = Rehearsal {
            participation,
            parameters,
            n_dropouts,
            n_sums,
            coordinates: scale.coordinates,
            bits: BITS,
        };
        (name, rehearsal)
    };
    let chosen = Parameters::choose(few)?;
    let of_few = Goals {
        client_milliseconds: Some(3.0),
        server_milliseconds: Some(40.0),
        upload_kibibytes: Some(24.0),
    };
    let of_many = Goals {
        server_milliseconds: Some(1500.0),
        ..Goals::default()
    };
    let listed = [
        (setting(few, by_hand, false, 1), of_few, true),
        (setting(few, by_hand, false, 12), of_few, true),
        (setting(few, by_hand, true, 12), of_few, false),
        (setting(few, chosen, true, 12), of_few, false),
        (
            setting(many, Parameters::choose(many)?, true, 12),
            of_many,
            false,
        ),
    ];
    Ok(listed
        .into_iter()
        .map(|((name, rehearsal), goals, is_compared)| Setting {
            name,
            rehearsal,
            goals,
            is_compared,
        })
        .collect())
}

fn to_text(report: &Report) -> String {
    let heading = [
        "setting",
        "figure",
        "",
        "unit",
        "limit",
        "goal",
        "within goal",
        "Flower",
        "Flower/ours",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(report.rows.iter().map(|row| {
        let number =
            |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.3}"));
        let verdict = row
            .is_within_goal
            .map(|is_within| if is_within { "yes" } else { "no" });
        vec![
            row.setting.clone(),
            row.figure.to_owned(),
            number(Some(row.value)),
            row.unit.to_owned(),
            number(row.limit),
            row.goal.map_or_else(String::new, |goal| goal.to_string()),
            verdict.unwrap_or_default().to_owned(),
            number(row.flower),
            row.flower_times_ours
                .map_or_else(String::new, |times| format!("{times:.1}")),
        ]
    }));
    let mut text = table(&rows);
    text += &format!(
        "{}; the median of {} repetitions; every sum was checked to be exact\n",
        report.clock, report.repetitions
    );
    text += "the limit: key agreements, key streams and packed bits alone\n";
    match (&report.flower, &report.flower_missing) {
        (Some(flower), _) => {
            text += &format!(
                "Flower: flwr {}, SecAgg+, {} repetitions, no dropouts, its exchange of keys in every sum\n",
                flower.version, flower.repetitions
            );
        }
        (None, reason) => {
            text += &format!(
                "\nFLOWER WAS NOT MEASURED: {}.\nThe figures above are ours only. To compare: pip install flwr==1.41.0 into a \
                 virtual environment and give its Python as --python.\n",
                reason.as_deref().unwrap_or("no reason is known")
            );
        }
    }
    if report.is_quick {
        text += "--quick: a trial of the command, its figures mean nothing\n";
    }
    if !report.is_optimised {
        text += "this build is not optimised, so the figures mean nothing: use --release\n";
    }
    text
}
