//! What a study promises before it is over.

use sprifed_noise::Provenance;
use sprifed_study::Agreed;

/// The guarantee of the study with all repetitions, in one sentence; or that it gives none.
pub(super) fn planned_guarantee(agreed: &Agreed) -> String {
    let plan = &agreed.agreement().plan;
    let (unit, relation) = (plan.unit.text(), plan.relation.text());
    no_guarantee(agreed).unwrap_or_else(|| {
        format!(
            "at most ({}, {})-DP for each {unit} under {relation}; the noise is added by {}",
            agreed.ceiling().epsilon().shown(),
            agreed.ceiling().delta().shown(),
            agreed.participation().text(),
        )
    })
}

/// Says that the study protects no record, if its noise is simulated.
pub(super) fn no_guarantee(agreed: &Agreed) -> Option<String> {
    (agreed.agreement().noise == Provenance::Simulated).then(|| {
        format!(
            "NOT PRIVATE: the noise of this study is simulated. A reader who knows the seeds can take it off, so it \
             protects no record against anyone. With secret noise the study would cost at most epsilon = {} at \
             delta = {}",
            agreed.ceiling().epsilon().shown(),
            agreed.ceiling().delta().shown(),
        )
    })
}
