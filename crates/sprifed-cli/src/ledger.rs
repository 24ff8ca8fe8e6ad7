//! `ledger …`: what was spent, as text, as a log for others, and whether a log is to be believed.

mod fit_entry;
mod restart;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;
use sprifed_party::{
    AuditLog, Bound, Cost, LEDGER, LedgerAnswer, LedgerPlace, LedgerView, LineAnswer, LogAnswer,
    create_private_text, ledger_beside, look_for_ledger,
};
use sprifed_privacy::{ApproxDp, Delta, Epsilon, counted};
use sprifed_study::Digest;

pub(crate) use self::fit_entry::{FitEntry, LedgerArguments};
use crate::account::parse_quantity;
use crate::entropy::fresh_bits;
use crate::failure::{Explained as _, Failure};
use crate::output::Output;

/// The environment variable that names the folder of the ledger.
const VARIABLE: &str = "SPRIFED_LEDGER";

/// `ledger …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Every study and fit in a ledger, and what they cost together.
    ///
    /// Example: sprifed ledger show north
    Show(Show),
    /// Writes a ledger as an audit log: one signed entry a line, which any reader can check.
    ///
    /// Example: sprifed ledger export north --out north-ledger.jsonl
    Export(Export),
    /// Checks chain, signatures and totals of an audit log, or of a ledger; exit code 1 with the first problem.
    ///
    /// Example: sprifed ledger verify north-ledger.jsonl --key 5b1f…
    Verify(Verify),
    /// Sets what everything in a ledger may cost together; a study or fit that would pass it is refused.
    ///
    /// Example: sprifed ledger limit north --epsilon 10 --delta 1e-5
    Limit(Limit),
    /// Begins a new ledger in the place of one that is lost or damaged, with all that is known of it.
    ///
    /// It reads the lost ledger as far as it can, and every study-… folder: a study with a receipt counts with what it
    /// cost, any other with the most it can cost. This party takes no further part in these studies. Restore the ledger
    /// instead, if there is a copy of ledger.sqlite and ledger.head in their latest state.
    ///
    /// Example: sprifed ledger restart north --spent-epsilon 1.5 --spent-delta 1e-6
    Restart(restart::RestartLedger),
}

/// `ledger show`.
#[derive(Args, Debug)]
pub(crate) struct Show {
    /// The folder of the ledger: that of a party, or the one that `fit --ledger` was given [default: SPRIFED_LEDGER].
    folder: Option<PathBuf>,
}

/// `ledger export`.
#[derive(Args, Debug)]
pub(crate) struct Export {
    /// The folder of the ledger [default: SPRIFED_LEDGER].
    folder: Option<PathBuf>,
    /// Where the log goes.
    #[arg(long, value_name = "FILE.jsonl")]
    out: PathBuf,
}

/// `ledger verify`.
#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// An audit log, or the folder of a ledger.
    path: PathBuf,
    /// The identity key that must have signed everything: 64 hexadecimal digits. May be given several times.
    #[arg(long, value_name = "HEX", value_parser = parse_key)]
    key: Vec<Digest>,
}

/// `ledger limit`.
#[derive(Args, Debug)]
pub(crate) struct Limit {
    /// The folder of the ledger [default: SPRIFED_LEDGER].
    folder: Option<PathBuf>,
    /// The most that everything may cost together, for each unit and relation.
    #[arg(long, value_parser = parse_quantity::<Epsilon>)]
    epsilon: Epsilon,
    /// The largest delta of everything together.
    #[arg(long, value_parser = parse_quantity::<Delta>)]
    delta: Delta,
}

/// An audit log that was written.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LogWritten<'a> {
    /// Where.
    file: &'a Path,
    /// How many entries it has.
    entries: usize,
}

/// A limit that was set.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LimitAnswer {
    /// What everything may cost together.
    limit: Cost,
}

/// Carries out `task`.
pub(crate) fn run(task: &Task, output: &Output) -> Result<(), Failure> {
    match task {
        Task::Show(request) => request.run(output),
        Task::Export(request) => request.run(output),
        Task::Verify(request) => request.run(output),
        Task::Limit(request) => request.run(output),
        Task::Restart(request) => request.run(output),
    }
}

/// The folder of the ledger that the environment names.
pub(crate) fn configured_ledger() -> Option<PathBuf> {
    let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
    named.map(PathBuf::from)
}

/// Says so if another ledger over the same table would not be noticed.
pub(crate) fn note_unmarked(bound: &Bound, table: &Path, output: &Output) {
    if let Some(why) = &bound.unmarked {
        output.note(&format!(
            "no mark could be put beside `{}` ({why}): another ledger over the same table will not be noticed. Set {VARIABLE} \
             for every program that works with it",
            table.display()
        ));
    }
}

/// Refuses to score the table at `path`, which `option` names, if a ledger accounts for it.
///
/// # Errors
/// When a ledger does, or a mark beside the table cannot be read.
pub(crate) fn refuse_accounted(path: &Path, option: &str, help: &str) -> Result<(), Failure> {
    let Some(ledger) = ledger_beside(path).explained()? else {
        return Ok(());
    };
    Err(Failure::usage(
        "sprifed::score::accounted",
        format!(
            "{option} asks for a score without noise of `{}`, which is accounted for in the ledger of `{}`; such a \
             score is a release that no ledger counts",
            path.display(),
            ledger.display()
        ),
        help,
    ))
}

/// The folder that was named, by the command or by the environment.
fn named(folder: Option<&Path>) -> Result<PathBuf, Failure> {
    let folder = folder.map(Path::to_owned).or_else(configured_ledger);
    folder.ok_or_else(|| {
        Failure::usage(
            "sprifed::ledger::none",
            "no ledger was named; a folder with a ledger is required".to_owned(),
            "name the folder, or set SPRIFED_LEDGER",
        )
    })
}

/// The ledger that was named, with the key of its folder.
fn place_of(folder: Option<&Path>) -> Result<LedgerPlace, Failure> {
    LedgerPlace::of_owner(&named(folder)?, fresh_bits)
}

/// What the ledger that was named says. Nothing is written.
fn look_into(folder: Option<&Path>) -> Result<LedgerView, Failure> {
    let path = named(folder)?;
    let view = look_for_ledger(&path, &[]).explained()?;
    view.ok_or_else(|| {
        Failure::usage(
            "sprifed::ledger::none",
            format!("there is no ledger at `{}`", path.display()),
            "name the folder of a party, or the one that `fit --ledger` was given",
        )
    })
}

fn parse_key(text: &str) -> Result<Digest, String> {
    Digest::try_from(text.to_owned()).map_err(|error| error.to_string())
}

impl Show {
    fn run(&self, output: &Output) -> Result<(), Failure> {
        let view = look_into(self.folder.as_deref())?;
        output.answer(&LedgerAnswer::from(&view), |answer| {
            let limit = view.limit().map_or_else(String::new, |limit| {
                format!(
                    "\nlimit: epsilon = {} at delta = {} for each unit and relation",
                    limit.epsilon.shown(),
                    limit.delta.shown()
                )
            });
            format!(
                "{}{}\n{}{limit}",
                restarted(answer.restarted),
                LineAnswer::table(&answer.lines),
                answer.totals.text()
            )
        });
        Ok(())
    }
}

impl Export {
    fn run(&self, output: &Output) -> Result<(), Failure> {
        look_into(self.folder.as_deref())?;
        let log = place_of(self.folder.as_deref())?.to_log().explained()?;
        create_private_text(&self.out, &log)?;
        let n_entries = log.lines().count().saturating_sub(1);
        let answer = LogWritten {
            file: &self.out,
            entries: n_entries,
        };
        output.answer(&answer, |_| {
            let entries = counted(n_entries, "entry", "entries");
            format!(
                "{entries} in {}; `sprifed ledger verify` checks them",
                self.out.display()
            )
        });
        Ok(())
    }
}

impl Verify {
    fn run(&self, output: &Output) -> Result<(), Failure> {
        let is_ledger = self.path.is_dir() || self.path.ends_with(LEDGER);
        let text = if is_ledger {
            look_into(Some(&self.path))?;
            place_of(Some(&self.path))?.to_log().explained()?
        } else {
            let bytes = crate::federation::read(&self.path)?;
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let log = AuditLog::read(&text, &self.key).map_err(|problem| {
            Failure::outcome(
                "sprifed::ledger::not-believed",
                format!("`{}` is not to be believed: {problem}", self.path.display()),
                "ask its owner for a new export; do not rely on its totals",
            )
        })?;
        let answer = LogAnswer::of(&log, !self.key.is_empty());
        output.answer(&answer, |answer| {
            let signers: Vec<String> = answer.signers.iter().map(Digest::to_string).collect();
            let trust = if self.key.is_empty() {
                "\nno --key was given: compare the keys with those you know"
            } else {
                ""
            };
            format!(
                "verified: {}, whole and signed, as of {}\nsigned by {}{trust}\n{}{}",
                counted(log.n_entries(), "entry", "entries"),
                log.time(),
                signers.join(", "),
                restarted(log.is_restarted()),
                answer.totals.text()
            )
        });
        Ok(())
    }
}

impl Limit {
    fn run(&self, output: &Output) -> Result<(), Failure> {
        let mut ledger = place_of(self.folder.as_deref())?.open().explained()?;
        let limit: Cost = ApproxDp::new(self.epsilon, self.delta).into();
        ledger.set_limit(limit).explained()?;
        output.answer(&LimitAnswer { limit }, |_| {
            format!(
                "everything in this ledger may cost epsilon = {} at delta = {}, for each unit and relation",
                limit.epsilon.shown(),
                limit.delta.shown()
            )
        });
        Ok(())
    }
}

/// What a reader of totals should know of a ledger that took the place of another.
const fn restarted(is_restarted: bool) -> &'static str {
    if is_restarted {
        "restarted after an earlier ledger was lost: the totals hold what was known of it, and what its owner stated\n"
    } else {
        ""
    }
}
