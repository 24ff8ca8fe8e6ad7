//! Procedures as values of options: names and help come from the registry.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use sprifed_recovery::CertifiedProcedure;

/// One of the procedures that a study may run.
pub(crate) fn registered() -> impl TypedValueParser<Value = CertifiedProcedure> {
    parser(CertifiedProcedure::all())
}

/// One of those that need sums only.
pub(crate) fn on_sums() -> impl TypedValueParser<Value = CertifiedProcedure> {
    parser(CertifiedProcedure::on_sums())
}

fn parser(
    procedures: impl Iterator<Item = CertifiedProcedure>,
) -> impl TypedValueParser<Value = CertifiedProcedure> {
    let value = |one: CertifiedProcedure| PossibleValue::new(one.name()).help(one.about());
    PossibleValuesParser::new(procedures.map(value)).try_map(|found| found.parse())
}
