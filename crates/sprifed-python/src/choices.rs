//! Names of choices, as the command line types them.

use sprifed::{Backend, ProcedureRequest};
use sprifed_paper::Contender;
use sprifed_privacy::Relation;
use sprifed_recovery::{CertifiedProcedure, InferenceMethod};

use crate::error::Refusal;

/// The one of `all` whose name is `found`.
fn named<T: Copy>(
    what: &'static str,
    found: &str,
    all: &[T],
    name: impl Fn(T) -> String,
) -> Result<T, Refusal> {
    if let Some(chosen) = all.iter().find(|choice| name(**choice) == found) {
        return Ok(*chosen);
    }
    Err(Refusal::Choice {
        what,
        found: found.to_owned(),
        names: all.iter().map(|choice| name(*choice)).collect(),
    })
}

/// The procedure of this name that a study may run, or `auto`.
pub(crate) fn procedure(found: &str) -> Result<ProcedureRequest, Refusal> {
    let all = CertifiedProcedure::all().map(ProcedureRequest::from);
    let all: Vec<ProcedureRequest> = core::iter::once(ProcedureRequest::Auto)
        .chain(all)
        .collect();
    named("procedure", found, &all, |one| one.to_string())
}

/// What trials look for a model with: a procedure, a comparison, or a reference without noise.
pub(crate) fn contender(found: &str) -> Result<Contender, Refusal> {
    let has_plan_or_no_noise = |contender: &Contender| match contender {
        Contender::Certified(_) | Contender::NonPrivate(_) => true,
        Contender::Paper(_) | Contender::PaperDpSgd | Contender::PaperDpGcd => false,
    };
    let all: Vec<Contender> = Contender::named()
        .map(|named| named.contender)
        .filter(has_plan_or_no_noise)
        .collect();
    named("procedure", found, &all, Contender::name)
}

/// The neighbouring relation of this name.
pub(crate) fn neighbours(found: &str) -> Result<Relation, Refusal> {
    let all = [Relation::ZeroOut, Relation::ReplaceOne];
    let name = |relation: Relation| match relation {
        Relation::ZeroOut => "zero-out".to_owned(),
        Relation::ReplaceOne => "replace-one".to_owned(),
    };
    named("neighbours", found, &all, name)
}

/// By which records coefficients are estimated.
pub(crate) fn inference(found: &str) -> Result<InferenceMethod, Refusal> {
    named("inference", found, &InferenceMethod::ALL, |one| {
        one.name().to_owned()
    })
}

/// The backend of this name.
pub(crate) fn backend(found: &str) -> Result<Backend, Refusal> {
    named("backend", found, Backend::ALL, |backend| {
        backend.text().to_owned()
    })
}
