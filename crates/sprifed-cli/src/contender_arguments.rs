//! What trials and audits can run, as values of options: the registry, the comparisons and the references.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use sprifed_paper::{Contender, NamedContender};
use sprifed_recovery::UnknownProcedure;

/// Anything that trials can run.
pub(crate) fn contenders() -> impl TypedValueParser<Value = NamedContender> {
    let value = |named: NamedContender| PossibleValue::new(named.name).help(named.about);
    PossibleValuesParser::new(Contender::named().map(value)).try_map(|found| {
        let mut all = Contender::named();
        all.find(|named| named.name == found)
            .ok_or(UnknownProcedure { found })
    })
}
