//! What a party is told of a study, for people to read.

use sprifed_privacy::{counted, shown_cost};
use sprifed_study::Digest;

use super::EndedPart;
use super::check::{CheckAnswer, InvitedParty, InvitedTrustee};
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

/// What a study is, as a party and a trustee are told alike.
#[derive(Clone, Copy, Debug)]
pub struct StudyHeading<'a> {
    /// Whether the noise is secret.
    pub protected: bool,
    /// What the study is called.
    pub title: &'a str,
    /// What its result is for.
    pub purpose: &'a str,
    /// The digest of the agreement in words.
    pub words: &'a str,
    /// The digest of the agreement.
    pub study: Digest,
    /// The coordinator's key.
    pub coordinator: Digest,
    /// Where the coordinator is.
    pub address: &'a str,
}

impl StudyHeading<'_> {
    /// The lines under the status.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.protected {
            lines.push("NOT PROTECTED: the noise of this study is simulated".to_owned());
        }
        lines.push(format!("Study        {}", self.title));
        lines.push(format!("Purpose      {}", self.purpose));
        lines.push(format!("In words     {}", self.words));
        lines.push(format!("Digest       {}", self.study));
        lines.push(format!(
            "Coordinator  {}  at {}",
            self.coordinator, self.address
        ));
        lines
    }
}

/// The first lines of a check: whether a study is allowed. `allowed` says what that means if no `problems` stand against it.
#[must_use]
pub fn permission_lines(problems: &[String], allowed: &str) -> Vec<String> {
    if problems.is_empty() {
        return vec![format!("Allowed      yes: {allowed}")];
    }
    let problems = problems
        .iter()
        .map(|problem| format!("             - {problem}"));
    std::iter::once("Allowed      NO".to_owned())
        .chain(problems)
        .collect()
}

/// The roles of one kind under their `heading`, one key a line.
#[must_use]
pub fn key_lines(heading: &str, keys: impl IntoIterator<Item = String>) -> Vec<String> {
    let headings = std::iter::once(heading).chain(std::iter::repeat(""));
    let lines = headings.zip(keys);
    lines
        .map(|(heading, key)| format!("{heading:<13}{key}"))
        .collect()
}

/// The key `identity` of the role that the agreement calls `name` and the policy `known_as`; `this` role is the one that asks.
#[must_use]
pub fn key_text(
    identity: Digest,
    name: &str,
    known_as: Option<&str>,
    this: Option<&str>,
) -> String {
    let note = match (this, known_as) {
        (Some(role), _) => format!("  (this {role})"),
        (None, None) => "  (NOT IN THE POLICY)".to_owned(),
        (None, Some(known)) if known != name => format!("  (in the policy: {known})"),
        (None, Some(_)) => String::new(),
    };
    format!("{identity}  {name}{note}")
}

impl EndedPart {
    /// How it ended, and what it counts with.
    #[must_use]
    pub fn text(&self) -> String {
        let how = if self.left {
            "this party has left this study and answers nothing more in it"
        } else {
            "this party's part in this study has ended"
        };
        let Some((epsilon, delta)) = self.epsilon.zip(self.delta) else {
            return format!("{how}; its noise was simulated, so it is in no total");
        };
        let (epsilon, delta) = (epsilon.shown(), delta.shown());
        if self.settled {
            format!("{how}; it counts with epsilon = {epsilon} at delta = {delta}")
        } else {
            format!(
                "{how}; it counts with the most it can cost, epsilon = {epsilon} at delta = {delta}, until `join` runs \
                 once more"
            )
        }
    }
}

fn check_text(answer: &CheckAnswer) -> String {
    let mut lines = match answer.problems.as_slice() {
        [ended] if answer.ended.is_some() => vec![format!("Ended        {ended}")],
        problems => permission_lines(
            problems,
            "the policy allows this study and the table can be read",
        ),
    };
    let heading = StudyHeading {
        protected: answer.protected,
        title: &answer.title,
        purpose: &answer.purpose,
        words: &answer.words,
        study: answer.study,
        coordinator: answer.coordinator,
        address: &answer.address,
    };
    lines.extend(heading.lines());
    lines.extend(key_lines(
        "Parties",
        answer.parties.iter().map(text_of_party),
    ));
    let trustees = answer.trustees.iter();
    let trustees = trustees.map(
        |InvitedTrustee {
             name,
             identity,
             is_known,
         }| { key_text(*identity, name, is_known.then_some(name), None) },
    );
    lines.extend(key_lines("Trustees", trustees));
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
    let this = party.is_this_party.then_some("party");
    key_text(party.identity, &party.name, party.known_as.as_deref(), this)
}

fn part_text(part: &PartAnswer) -> String {
    let mut text = format!("\n{} ({})\n", part.title, part.state);
    if let Some(agreed) = &part.agreed {
        text += &format!(
            "  agreed: {} over {}, {}, {}, at most epsilon = {} at delta = {} for \
             each {} under {}\n  coordinator {}\n",
            agreed.procedure,
            counted(agreed.features, "feature", "features"),
            counted(agreed.parties, "party", "parties"),
            agreed.steps_text(),
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
