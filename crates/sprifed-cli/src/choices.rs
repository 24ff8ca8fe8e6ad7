//! Choices of the library as values of options: their names, and what the help says of each.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use sprifed::{ABOUT_AUTO, AUTO, Backend, ColumnScalesRequest, ProcedureRequest};
use sprifed_paper::{Contender, NamedContender};
use sprifed_privacy::{Algorithm, PrivacyUnit, Relation};
use sprifed_recovery::{CertifiedProcedure, InferenceMethod, Outcome};
use sprifed_simulate::Reading;
use sprifed_tables::{ExtraSamples, format_names};

/// A name that is none of the choices; the names are checked before.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is none of the choices")]
struct NoChoice(String);

/// A parser of the values of `all`, each with its name and its help.
fn one_of<T: Copy + Send + Sync + 'static>(
    all: Vec<(&'static str, &'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let values = all.iter().map(|(name, about, _)| {
        let value = PossibleValue::new(*name);
        if about.is_empty() {
            value
        } else {
            value.help(*about)
        }
    });
    PossibleValuesParser::new(values.collect::<Vec<_>>()).try_map(move |found| {
        let known = all.iter().find(|(name, ..)| *name == found);
        known.map(|(.., value)| *value).ok_or(NoChoice(found))
    })
}

/// `names` as a sentence has them: `a, b or c`.
pub(crate) fn listed(names: impl IntoIterator<Item = &'static str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// What the help says of a table.
pub(crate) fn table_help() -> String {
    format!("The table: {}", listed(format_names()))
}

/// What happens to samples that only a second table has.
pub(crate) fn extra_samples() -> impl TypedValueParser<Value = ExtraSamples> {
    let about = |extra| match extra {
        ExtraSamples::Refuse => "The tables are refused",
        ExtraSamples::LeaveOut => "They are left out and counted",
    };
    let all = ExtraSamples::ALL.iter();
    one_of(all.map(|one| (one.text(), about(*one), *one)).collect())
}

/// Whether columns are standardised by private means and scales.
pub(crate) fn column_scales() -> impl TypedValueParser<Value = ColumnScalesRequest> {
    let all = ColumnScalesRequest::ALL.iter();
    one_of(all.map(|one| (one.text(), one.about(), *one)).collect())
}

/// A neighbouring relation.
pub(crate) fn relations() -> impl TypedValueParser<Value = Relation> {
    one_of(vec![
        (
            "zero-out",
            "One record's contribution becomes zero",
            Relation::ZeroOut,
        ),
        (
            "replace-one",
            "One record is replaced by any other",
            Relation::ReplaceOne,
        ),
    ])
}

/// By which records coefficients are estimated.
pub(crate) fn inferences() -> impl TypedValueParser<Value = InferenceMethod> {
    let about = |one| match one {
        InferenceMethod::Selective => {
            "By all records; intervals and p-values allow for the selection"
        }
        InferenceMethod::Split => {
            "By every fourth record, which selects nothing; intervals and p-values are ordinary"
        }
    };
    one_of(
        InferenceMethod::ALL
            .map(|one| (one.name(), about(one), one))
            .to_vec(),
    )
}

/// What a response is.
pub(crate) fn outcomes() -> impl TypedValueParser<Value = Outcome> {
    let about = |one| match one {
        Outcome::Linear => "A number: the linear predictor and an error",
        Outcome::Binary => "Zero or one: the linear predictor is the logarithm of the odds",
        Outcome::Survival => {
            "A time to an event: the linear predictor is the logarithm of the hazard"
        }
    };
    one_of(
        Outcome::ALL
            .map(|one| (one.name(), about(one), one))
            .to_vec(),
    )
}

/// A backend.
pub(crate) fn backends() -> impl TypedValueParser<Value = Backend> {
    let all = Backend::ALL.iter();
    one_of(all.map(|one| (one.text(), one.about(), *one)).collect())
}

/// A unit of privacy.
pub(crate) fn units() -> impl TypedValueParser<Value = PrivacyUnit> {
    one_of(vec![
        ("record", "One record", PrivacyUnit::Record),
        ("client", "All records of one client", PrivacyUnit::Client),
    ])
}

/// How generated numbers are read.
pub(crate) fn readings() -> impl TypedValueParser<Value = Reading> {
    one_of(vec![
        ("clean", "Raw standard normal features", Reading::Clean),
        (
            "paper",
            "Clipped and rescaled as in the paper",
            Reading::Paper,
        ),
    ])
}

/// One of the paper's algorithms.
pub(crate) fn algorithms() -> impl TypedValueParser<Value = Algorithm> {
    one_of(vec![
        ("omp", "", Algorithm::Omp),
        ("grad", "", Algorithm::Grad),
    ])
}

/// `auto`, or one of the procedures that a study may run.
pub(crate) fn procedures() -> impl TypedValueParser<Value = ProcedureRequest> {
    auto_or(CertifiedProcedure::all())
}

fn auto_or(
    all: impl Iterator<Item = CertifiedProcedure>,
) -> impl TypedValueParser<Value = ProcedureRequest> {
    let named = all.map(|one| (one.name(), one.about(), one.into()));
    let auto = (AUTO, ABOUT_AUTO, ProcedureRequest::Auto);
    one_of(core::iter::once(auto).chain(named).collect())
}

/// What trials are to run: a contender, or the procedure that is expected to do best.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ContenderRequest {
    /// The procedure that is expected to do best.
    Auto,
    /// This one.
    Named(NamedContender),
}

/// `auto`, or anything that trials can run.
pub(crate) fn auto_or_contenders() -> impl TypedValueParser<Value = ContenderRequest> {
    let named = Contender::named().map(|one| (one.name, one.about, ContenderRequest::Named(one)));
    let auto = (AUTO, ABOUT_AUTO, ContenderRequest::Auto);
    one_of(core::iter::once(auto).chain(named).collect())
}

/// Anything that trials can run.
pub(crate) fn contenders() -> impl TypedValueParser<Value = NamedContender> {
    let all = Contender::named().map(|named| (named.name, named.about, named));
    one_of(all.collect())
}
