//! `study status` of a party's folder: what was agreed, what this study and all studies have cost.

use std::path::Path;

use sprifed_party::{
    PartAnswer, PartyFolder, PartyStatusAnswer, StudyFolder, TotalsAnswer, look_for_ledger,
};

use super::party_ledger::ledger_place;
use crate::failure::{Explained as _, Failure};
use crate::output::Output;

/// Whether `folder` is that of a party, or of one study of a party.
pub(super) fn is_of_party(folder: &Path) -> bool {
    PartyFolder::new(folder).is_party() || party_of(folder).is_some()
}

/// The party in one of whose studies `folder` is.
pub(super) fn party_of(folder: &Path) -> Option<PartyFolder> {
    let party = PartyFolder::new(folder.parent()?);
    let is_study = party.is_party() && StudyFolder::new(folder).database().exists();
    is_study.then_some(party)
}

/// Says where a party stands.
pub(super) fn say(folder: &Path, ledger: Option<&Path>, output: &Output) -> Result<(), Failure> {
    let party = party_of(folder).unwrap_or_else(|| PartyFolder::new(folder));
    let public = party.public()?;
    let place = ledger_place(&party, ledger)?;
    let view = look_for_ledger(place.folder(), &party.homes()).explained()?;
    let view = view.unwrap_or_default();
    let lines = view.lines();
    let folders = StudyFolder::all_in(party.path()).explained()?;
    let asked = StudyFolder::new(folder);
    let mut studies = Vec::new();
    for line in lines {
        let found = folders.iter().find(|folder| folder.is_of(&line.study));
        if party.path() == folder || asked.is_of(&line.study) {
            studies.push(PartAnswer::read(line, found).explained()?);
        }
    }
    let answer = PartyStatusAnswer {
        party: public.name,
        studies,
        totals: TotalsAnswer::of(lines),
    };
    output.answer(&answer, |answer| {
        let studies: String = answer.studies.iter().map(PartAnswer::text).collect();
        format!("party {}\n{studies}{}", answer.party, answer.totals.text())
    });
    Ok(())
}
