//! The categories among the candidates of a planned study that are to be picked together.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::counted;
use sprifed_recovery::{CertifiedProcedure, Groups, Setting};
use sprifed_schema::{Coding, Schema};

/// The categories among the candidates that are to be picked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlannedCategories {
    /// How many there are.
    pub count: u32,
    /// How many columns they have together.
    pub columns: u32,
    /// Whether each is picked as one and counts as one feature; otherwise each of its columns is a candidate of its own.
    pub picked_as_one: bool,
}

impl PlannedCategories {
    /// Those of `setting`, as `procedure` picks them; none if no category has more than one column.
    pub(super) fn of(setting: &Setting, procedure: CertifiedProcedure) -> Option<Self> {
        let groups = &setting.groups;
        (!groups.is_empty()).then(|| Self {
            count: groups.count(),
            columns: groups.columns(),
            picked_as_one: procedure.picks_groups(),
        })
    }

    /// How `procedure` picks them.
    pub(super) fn text(self, procedure: CertifiedProcedure) -> String {
        let found = format!(
            "{} with {} columns {} to be picked together",
            counted(self.count, "category", "categories"),
            self.columns,
            if self.count == 1 { "is" } else { "are" },
        );
        match self.picked_as_one {
            true => format!(
                "{found}: all columns of a category enter the model or none, and they count as one feature. The forecast takes each \
                 column for a feature: categories need more records than it says.\n\n"
            ),
            false => format!(
                "{found}, but {procedure} sees sums: each column is a candidate of its own. argmax picks a category as one.\n\n"
            ),
        }
    }
}

/// The categories among the candidates that `schema` names, one after the other behind the features of every model, the
/// widest first.
pub(super) fn groups_of(schema: &Schema) -> Groups {
    let named = schema
        .named_features()
        .filter(|name| !schema.is_always(name));
    let mut widths: Vec<u32> = named
        .filter_map(|name| schema.coding_of(name))
        .filter(|coding| matches!(coding, Coding::Levels(levels) if levels.is_together()))
        .filter_map(|coding| u32::try_from(coding.width()).ok())
        .collect();
    widths.sort_by_key(|width| core::cmp::Reverse(*width));
    let mut end = u32::try_from(schema.n_always()).unwrap_or(u32::MAX);
    let groups = widths.into_iter().map(|width| {
        let start = end;
        end = start.saturating_add(width);
        start..end
    });
    // A category has at most 101 columns, so there are no more widths than runs.
    Groups::of(groups.collect::<Vec<_>>()).unwrap_or(Groups::NONE)
}
