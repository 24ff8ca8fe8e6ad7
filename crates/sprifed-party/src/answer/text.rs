//! What a party is told of a study, for people to read.

use sprifed_privacy::{counted, shown_cost};

use super::check::{CheckAnswer, InvitedParty};
use super::status::PartAnswer;

/// How many columns are named to a person.
const SHOWN: usize = 8;

/// What a person should know who relies on trustees.
pub const TWO_SEE: &str = "Any two of them together see all contributions.";

impl CheckAnswer {
    /// Status first, then what the study is, costs, and what to compare by telephone.
    #[must_use]
    pub fn text(&self) -> String {
        check_text(self)
    }
}

impl PartAnswer {
    /// What was agreed, and what it cost.
    #[must_use]
    pub fn text(&self) -> String {
        part_text(self)
    }
}

fn check_text(answer: &CheckAnswer) -> String {
    let mut lines = Vec::new();
    match answer.problems.as_slice() {
        [] => lines.push(
            "Allowed      yes: the policy allows this study and the table can be read".to_owned(),
        ),
        [ended] if answer.ended.is_some() => lines.push(format!("Ended        {ended}")),
        problems => {
            lines.push("Allowed      NO".to_owned());
            let problem = |problem: &String| format!("             - {problem}");
            lines.extend(problems.iter().map(problem));
        }
    }
    if !answer.protected {
        lines.push("NOT PROTECTED: the noise of this study is simulated".to_owned());
    }
    lines.push(format!("Study        {}", answer.title));
    lines.push(format!("Purpose      {}", answer.purpose));
    lines.push(format!("In words     {}", answer.words));
    lines.push(format!("Digest       {}", answer.study));
    lines.push(format!(
        "Coordinator  {}  at {}",
        answer.coordinator, answer.address
    ));
    for (place, party) in answer.parties.iter().enumerate() {
        let heading = if place == 0 { "Parties" } else { "" };
        lines.push(format!("{heading:<13}{}", text_of_party(party)));
    }
    for (place, trustee) in answer.trustees.iter().enumerate() {
        let heading = if place == 0 { "Trustees" } else { "" };
        let note = if trustee.is_known {
            ""
        } else {
            "  (NOT IN THE POLICY)"
        };
        let (key, name) = (trustee.identity, &trustee.name);
        lines.push(format!("{heading:<13}{key}  {name}{note}"));
    }
    if !answer.trustees.is_empty() {
        lines.push(format!("             {TWO_SEE}"));
    }
    if let Some(gates) = answer.gates {
        lines.push(format!("Gates        {}", gates.text()));
    }
    let columns = &answer.columns;
    let shown = columns.get(..SHOWN.min(columns.len())).unwrap_or_default();
    let more = if columns.len() > SHOWN { ", …" } else { "" };
    lines.push(format!(
        "Columns      {}: {}{more} (all in the answer in JSON)",
        columns.len(),
        shown.join(", ")
    ));
    if let Some(table) = &answer.table {
        lines.push(format!(
            "Table        {}: {}",
            table.file.display(),
            counted(table.units, "privacy unit", "privacy units")
        ));
    }
    let opened = answer.quorum.map_or_else(
        || "choices and sums of any number of parties, opened by all three trustees".to_owned(),
        |quorum| format!("sums of at least {quorum} parties"),
    );
    lines.push(format!(
        "Method       {} over {}, {opened}",
        answer.procedure,
        counted(answer.features, "feature", "features"),
    ));
    lines.push(format!(
        "Cost         at most epsilon = {} at delta = {} for each {} under {}",
        answer.largest_epsilon.shown(),
        answer.delta.shown(),
        answer.unit.text(),
        answer.neighbours.text()
    ));
    lines.push(format!(
        "Spent        epsilon = {} at delta = {} in this party's other studies of that kind",
        answer.spent_elsewhere.epsilon.shown(),
        answer.spent_elsewhere.delta.shown()
    ));
    if answer.unprotected_studies != 0 {
        lines.push(format!(
            "             in no total: {} with simulated noise",
            counted(answer.unprotected_studies, "study", "studies")
        ));
    }
    let (whose, whom) = if answer.trustees.is_empty() {
        ("each party's key", "the coordinator and the parties")
    } else {
        (
            "the key of each party and of each trustee",
            "the coordinator, the parties and the trustees",
        )
    };
    lines.push(format!(
        "Telephone    Compare the words, and {whose}, with {whom}"
    ));
    lines.join("\n")
}

fn text_of_party(party: &InvitedParty) -> String {
    let InvitedParty { name, identity, .. } = party;
    let note = match (party.is_this_party, &party.known_as) {
        (true, _) => "  (this party)".to_owned(),
        (false, None) => "  (NOT IN THE POLICY)".to_owned(),
        (false, Some(known)) if known != name => format!("  (in the policy: {known})"),
        (false, Some(_)) => String::new(),
    };
    format!("{identity}  {name}{note}")
}

fn part_text(part: &PartAnswer) -> String {
    let mut text = format!("\n{} ({})\n", part.title, part.state);
    if let Some(agreed) = &part.agreed {
        text += &format!(
            "  agreed: {} over {}, {} parties, {}, at most epsilon = {} at delta = {} for \
             each {} under {}\n  coordinator {}\n",
            agreed.procedure,
            counted(agreed.features, "feature", "features"),
            agreed.parties,
            counted(agreed.sums, "sum", "sums"),
            agreed.largest_epsilon.shown(),
            agreed.delta.shown(),
            part.unit.text(),
            part.neighbours.text(),
            agreed.coordinator,
        );
    }
    let counted = part.epsilon_counted.zip(part.delta_counted);
    let counted = counted.map(|(epsilon, delta)| (epsilon.shown(), delta.shown()));
    text += &match (counted, part.epsilon_spent) {
        (None, _) => {
            "  NOT PROTECTED: its noise is simulated and no epsilon bounds it\n".to_owned()
        }
        (Some((epsilon, delta)), Some(spent)) => format!(
            "  spent epsilon = {}; counted {epsilon} at delta = {delta}{}\n",
            shown_cost(spent),
            if part.settled {
                ""
            } else {
                ", the most it can cost"
            },
        ),
        (Some((epsilon, delta)), None) => {
            format!("  counted epsilon = {epsilon} at delta = {delta}\n")
        }
    };
    text + "\n"
}
