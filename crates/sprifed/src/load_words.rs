//! What happened to the records of a table on their way in, for its holder only.

use sprifed_privacy::counted;
use sprifed_schema::SiteReport;
use sprifed_tables::LoadCounts;

/// Which sites have grossly other numbers of records than the schema states, in words; none if no site does.
///
/// # Caller must
/// tell it to the holder of the table only: these counts have no noise.
#[must_use]
pub fn site_words(sites: &[SiteReport]) -> Option<String> {
    let far_off = sites.iter().filter(|site| site.is_far_off());
    let said: Vec<String> = far_off.map(ToString::to_string).collect();
    (!said.is_empty()).then(|| {
        format!(
            "{}; estimates and intervals are wrong where these numbers are grossly wrong",
            said.join("; ")
        )
    })
}

/// What was changed or left out, in words; none if nothing was.
///
/// # Caller must
/// tell it to the holder of the table only: these counts have no noise.
#[must_use]
pub fn counts_words(counts: &LoadCounts) -> Option<String> {
    let parts = [
        (
            counts.clipped_values,
            "value outside its bounds was moved to the nearest bound",
            "values outside their bounds were moved to the nearest bound",
        ),
        (
            counts.missing_values,
            "missing value was replaced as the schema says",
            "missing values were replaced as the schema says",
        ),
        (
            counts.unmatched,
            "record has no row in the table of --phenotypes",
            "records have no row in the table of --phenotypes",
        ),
        (
            counts.extra_samples,
            "sample of --phenotypes belongs to no record and was left out",
            "samples of --phenotypes belong to no record and were left out",
        ),
        (
            counts.dropped_without_response,
            "record without response contributed nothing",
            "records without response contributed nothing",
        ),
        (
            counts.over_cap,
            "record beyond the cap of its client was not used",
            "records beyond the cap of their client were not used",
        ),
    ];
    let said: Vec<String> = parts
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, several)| counted(count, one, several))
        .collect();
    (!said.is_empty()).then(|| said.join("; "))
}
