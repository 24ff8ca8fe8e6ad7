//! `study status` of a party's folder: what was agreed, what this study and all studies have cost.

use std::path::Path;

use sprifed_party::{
    AgreedTerms, LifetimeLine, PartAnswer, PartyFolder, PartyStatusAnswer, Standing, StoredPart,
    StudyFolder, TotalsAnswer, look_for_ledger,
};
use sprifed_privacy::shown_cost;
use sprifed_study::{Agreed, PartyReceipt, charged_by};

use super::party_ledger::{ledger_place, text_of_totals};
use super::{read, unusable};
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

/// One study of a party.
struct Part {
    line: LifetimeLine,
    agreed: Option<Agreed>,
    /// ε by the party's own journal.
    spent: Option<f64>,
    answered: usize,
    ending: Option<String>,
    has_left: bool,
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
    let mut parts = Vec::new();
    for line in lines {
        let found = folders.iter().find(|folder| folder.is_of(&line.study));
        if party.path() == folder || asked.is_of(&line.study) {
            parts.push(Part::read(line, found)?);
        }
    }
    let answer = PartyStatusAnswer {
        party: public.name,
        studies: parts.iter().map(Part::answer).collect(),
        totals: TotalsAnswer::of(lines),
    };
    output.answer(&answer, |answer| {
        let studies: String = parts.iter().map(Part::text).collect();
        format!("party {}\n{studies}{}", answer.party, text_of_totals(lines))
    });
    Ok(())
}

impl Part {
    fn read(line: &LifetimeLine, folder: Option<&StudyFolder>) -> Result<Self, Failure> {
        let mut part = Self {
            line: line.clone(),
            agreed: None,
            spent: None,
            answered: 0,
            ending: None,
            has_left: line.standing == Standing::Left,
        };
        let Some(folder) = folder else {
            return Ok(part);
        };
        if folder.invitation().exists() {
            part.agreed = Some(folder.read_invitation()?.1);
        }
        if folder.database().exists() {
            let stored = folder.look_into().explained()?;
            part.look_into(&stored.unwrap_or_default())?;
        }
        let receipt = folder.receipt();
        if receipt.exists() {
            let document: PartyReceipt = serde_json::from_slice(&read(&receipt)?)
                .map_err(|error| unusable(&receipt, &error, "a receipt"))?;
            part.ending = Some(document.study.receipt.ending);
        }
        Ok(part)
    }

    fn look_into(&mut self, stored: &StoredPart) -> Result<(), Failure> {
        let damaged = |reason: String| {
            Failure::environment(
                "sprifed::study::journal",
                format!(
                    "the journal of {:?} cannot be used: {reason}",
                    self.line.title
                ),
                "restore the folder as it was last",
            )
        };
        self.has_left |= stored.has_left();
        if let Some(agreed) = &self.agreed {
            let ledger = charged_by(agreed, &stored.lines)
                .map_err(|declined| damaged(declined.to_string()))?;
            self.answered = ledger.record().entries.len();
            self.spent = Some(ledger.spent().map_or(0.0, |spent| spent.epsilon().get()));
        }
        Ok(())
    }

    /// Where this study stands.
    fn state(&self) -> String {
        match (&self.ending, &self.agreed) {
            (Some(ending), _) => format!("over: {ending}"),
            (None, _) if self.has_left && !self.line.is_settled() => {
                "left, but not settled: run `study leave` again".to_owned()
            }
            (None, _) if self.has_left => "left: this party answers nothing more".to_owned(),
            (None, Some(agreed)) if self.answered > 0 => {
                format!("{} of {} sums answered", self.answered, agreed.n_steps())
            }
            (None, Some(_)) => "joined, no sum answered yet".to_owned(),
            (None, None) => "its folder is not here".to_owned(),
        }
    }

    fn answer(&self) -> PartAnswer {
        let cost = self.line.protected_cost();
        PartAnswer {
            study: self.line.study.clone(),
            title: self.line.title.clone(),
            unit: self.line.kind.unit,
            neighbours: self.line.kind.neighbours,
            protected: cost.is_some(),
            agreed: self.agreed.as_ref().map(AgreedTerms::from),
            state: self.state(),
            sums_answered: self.answered,
            left: self.has_left,
            epsilon_spent: self.spent.filter(|_| cost.is_some()),
            epsilon_counted: cost.map(|cost| cost.epsilon),
            delta_counted: cost.map(|cost| cost.delta),
            settled: self.line.is_settled(),
        }
    }

    fn text(&self) -> String {
        let mut text = format!("\n{} ({})\n", self.line.title, self.state());
        if let Some(agreed) = &self.agreed {
            let agreement = agreed.agreement();
            text += &format!(
                "  agreed: {} over {} features, {} parties, {} sums, at most epsilon = {} at delta = {} for \
                 each {} under {}\n  coordinator {}\n",
                agreement.procedure,
                agreement.setting.n_features,
                agreement.parties.len(),
                agreed.n_steps(),
                agreed.ceiling().epsilon().shown(),
                agreed.ceiling().delta().shown(),
                agreement.plan.unit.text(),
                agreement.plan.relation.text(),
                agreement.coordinator,
            );
        }
        text += &match (self.line.protected_cost(), self.spent) {
            (None, _) => {
                "  NOT PROTECTED: its noise is simulated and no epsilon bounds it\n".to_owned()
            }
            (Some(cost), Some(spent)) => format!(
                "  spent epsilon = {}; counted {} at delta = {}{}\n",
                shown_cost(spent),
                cost.epsilon.shown(),
                cost.delta.shown(),
                if self.line.is_settled() {
                    ""
                } else {
                    ", the most it can cost"
                },
            ),
            (Some(cost), None) => format!(
                "  counted epsilon = {} at delta = {}\n",
                cost.epsilon.shown(),
                cost.delta.shown()
            ),
        };
        text + "\n"
    }
}
