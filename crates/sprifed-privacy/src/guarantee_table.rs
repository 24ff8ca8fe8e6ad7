//! A guarantee as people read it: a table of labelled rows.
//!
//! This is the one place where a guarantee is put into words. Reports, pages and receipts show these
//! rows; none of them computes a number again.

use core::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gates::Gates;
use crate::neighbours::{PrivacyUnit, Relation};
use crate::participation::Participation;
use crate::quantity::{ApproxDp, Mu, Rho};
use crate::shown::{counted, shown_cost, shown_delta};
use crate::sum_plan::NoiseOrigin;

#[cfg(test)]
mod tests;

/// The width of the column of labels in text.
const LABEL_WIDTH: usize = 10;

/// What a row of a [`GuaranteeTable`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuaranteeLabel {
    /// ε, δ, unit and relation; or that there is no guarantee.
    Privacy,
    /// What ε and δ would be if the noise were secret.
    Nominal,
    /// What ε and δ say of probabilities.
    Means,
    /// What a client with several records has.
    Client,
    /// Who added the noise.
    Noise,
    /// Against which readers the guarantee holds.
    Holds,
    /// Which sums are opened.
    Opened,
    /// Which means of sites are released.
    Sites,
    /// What the reader must know besides.
    Note,
    /// The currency, and how to recompute the numbers.
    Details,
}

impl GuaranteeLabel {
    /// All labels, in the order of the rows.
    const ALL: [Self; 10] = [
        Self::Privacy,
        Self::Nominal,
        Self::Means,
        Self::Client,
        Self::Noise,
        Self::Holds,
        Self::Opened,
        Self::Sites,
        Self::Note,
        Self::Details,
    ];

    /// The label as it is shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Privacy => "Privacy",
            Self::Nominal => "Nominal",
            Self::Means => "Means",
            Self::Client => "Client",
            Self::Noise => "Noise",
            Self::Holds => "Holds",
            Self::Opened => "Opened",
            Self::Sites => "Sites",
            Self::Note => "Note",
            Self::Details => "Details",
        }
    }
}

/// Where the clients of a study compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientsRun {
    /// One process simulates all of them.
    InOneProcess,
    /// Each of them is a party with a machine of its own.
    AsParties,
}

/// Whether a guarantee is about what was released or about what may be released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuaranteeMoment {
    /// Everything was released.
    Final,
    /// The most that the plan allows, with every repetition of a sum.
    Planned,
}

/// The currency in which costs were added up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Currency {
    /// Gaussian DP: only sums were released.
    Gaussian(Mu),
    /// The privacy loss of choices and sums together; ρ of zCDP alone is shown.
    Mixed(Rho),
}

/// The three trustees of a study between machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTrustees {
    /// Their names, in order.
    pub names: [String; 3],
    /// Whether they prove their gates.
    pub gates: Gates,
}

/// What a [`GuaranteeTable`] tells.
#[derive(Clone, Debug, PartialEq)]
pub struct GuaranteeFacts {
    /// ε at δ; absent if nothing was released.
    pub cost: Option<ApproxDp>,
    /// Whether this is the end.
    pub moment: GuaranteeMoment,
    /// Whether the noise is secret. If it is not, there is no guarantee.
    pub is_secret: bool,
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// Which data sets are neighbours.
    pub relation: Relation,
    /// Who adds the noise.
    pub origin: NoiseOrigin,
    /// The trustees that deal it, where the study names them.
    pub trustees: Option<NamedTrustees>,
    /// Where the clients compute.
    pub clients: ClientsRun,
    /// The most records of one client and the ε that it has at the same δ, where records are the
    /// units.
    pub several_records: Option<(u32, f64)>,
    /// How many sites have an intercept of their own.
    pub n_sites: usize,
    /// In which currency costs were added up.
    pub currency: Option<Currency>,
    /// The file from which `sprifed verify` computes the numbers again.
    pub verified_from: Option<&'static str>,
}

/// A guarantee as labelled rows. The text form ([`fmt::Display`], and strings in files) has one row
/// in each line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct GuaranteeTable {
    rows: Vec<(GuaranteeLabel, String)>,
}

/// A text that is not that of a [`GuaranteeTable`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the guarantee does not begin with the label of a row")]
pub struct IllegalGuaranteeText {
    /// Counted from 1.
    pub line: usize,
}

impl GuaranteeTable {
    /// The rows that say `facts`.
    #[must_use]
    pub fn new(facts: &GuaranteeFacts) -> Self {
        let mut rows = facts.privacy();
        if let Some((most_records, epsilon)) = facts.several_records {
            let delta = facts.cost.map_or(0.0, |cost| cost.delta().get());
            let epsilon = shown_cost(epsilon);
            let delta = shown_delta(delta);
            let would = if facts.is_secret { "" } else { "would be " };
            let text = format!(
                "{would}epsilon = {epsilon}, delta = {delta} for a client with up to {most_records} records"
            );
            rows.push((GuaranteeLabel::Client, text));
        }
        rows.extend(facts.trust());
        if facts.n_sites > 0 {
            let text = format!(
                "a noisy mean of each of the {} sites is released",
                facts.n_sites
            );
            rows.push((GuaranteeLabel::Sites, text));
        }
        rows.extend(facts.note().map(|text| (GuaranteeLabel::Note, text)));
        rows.extend(facts.details().map(|text| (GuaranteeLabel::Details, text)));
        Self { rows }
    }

    /// Labels and texts, in order.
    pub fn rows(&self) -> impl Iterator<Item = (GuaranteeLabel, &str)> {
        self.rows
            .iter()
            .map(|(label, text)| (*label, text.as_str()))
    }

    /// The text of the row with this label.
    #[must_use]
    pub fn text(&self, label: GuaranteeLabel) -> Option<&str> {
        self.rows()
            .find(|(known, _)| *known == label)
            .map(|(_, text)| text)
    }

    /// Who added the noise and against whom the guarantee holds, in one line.
    #[must_use]
    pub fn trust(&self) -> String {
        let labels = [
            GuaranteeLabel::Noise,
            GuaranteeLabel::Holds,
            GuaranteeLabel::Opened,
            GuaranteeLabel::Note,
        ];
        let named = |(label, text): (GuaranteeLabel, &str)| match label {
            GuaranteeLabel::Holds => format!("holds {text}"),
            GuaranteeLabel::Opened => format!("opened {text}"),
            _ => text.to_owned(),
        };
        let rows = self.rows().filter(|(label, _)| labels.contains(label));
        rows.map(named).collect::<Vec<_>>().join("; ")
    }

    /// The text that says that there is no guarantee, if there is none.
    #[must_use]
    pub fn warning(&self) -> Option<&str> {
        self.text(GuaranteeLabel::Privacy)
            .filter(|text| text.starts_with(NOT_PRIVATE))
    }
}

/// How the first row begins if there is no guarantee.
const NOT_PRIVATE: &str = "NOT PRIVATE";

impl GuaranteeFacts {
    fn privacy(&self) -> Vec<(GuaranteeLabel, String)> {
        let claim = self.cost.map(|cost| self.claim(cost));
        if !self.is_secret {
            let warning = format!(
                "{NOT_PRIVATE}: the noise comes from a seed that can be repeated, so it protects no record"
            );
            let mut rows = vec![(GuaranteeLabel::Privacy, warning)];
            rows.extend(claim.map(|claim| {
                (
                    GuaranteeLabel::Nominal,
                    format!("with secret noise: {claim}"),
                )
            }));
            return rows;
        }
        match (self.cost, claim) {
            (Some(cost), Some(claim)) => vec![
                (GuaranteeLabel::Privacy, claim),
                (GuaranteeLabel::Means, self.meaning(cost)),
            ],
            _ => vec![(
                GuaranteeLabel::Privacy,
                "nothing was released, so no privacy was spent".to_owned(),
            )],
        }
    }

    fn claim(&self, cost: ApproxDp) -> String {
        let most = match self.moment {
            GuaranteeMoment::Final => "",
            GuaranteeMoment::Planned => "at most ",
        };
        format!(
            "{most}epsilon = {}, delta = {} for each {} ({})",
            cost.epsilon().shown(),
            cost.delta().shown(),
            self.unit.text(),
            self.relation.text()
        )
    }

    fn meaning(&self, cost: ApproxDp) -> String {
        let what = match self.unit {
            PrivacyUnit::Record => "one record",
            PrivacyUnit::Client => match self.clients {
                ClientsRun::InOneProcess => "all records of one client",
                ClientsRun::AsParties => "all records of one party",
            },
        };
        let change = match self.relation {
            Relation::ZeroOut => format!("Blanking {what}"),
            Relation::ReplaceOne => format!("Replacing {what} by any other"),
        };
        let epsilon = cost.epsilon().shown();
        let power = if epsilon.contains('e') {
            format!("e^({epsilon})")
        } else {
            format!("e^{epsilon}")
        };
        format!(
            "{change} changes the probability of any result by at most a factor {power}, plus {}.",
            cost.delta().shown()
        )
    }

    /// The rows about who added the noise, and whom that protects against.
    fn trust(&self) -> Vec<(GuaranteeLabel, String)> {
        let participation = match self.origin {
            NoiseOrigin::Curator => {
                let noise = "added by a trusted curator who holds all records";
                let holds = "against every reader of the result; the curator sees all records";
                let mut rows = vec![(GuaranteeLabel::Noise, noise.to_owned())];
                if self.is_secret {
                    rows.push((GuaranteeLabel::Holds, holds.to_owned()));
                }
                return rows;
            }
            NoiseOrigin::Trustees => return self.trust_in_trustees(),
            NoiseOrigin::Shares(participation) => participation,
        };
        let (one, many) = self.roles();
        let noise = format!(
            "added by the {} {many}, one share each",
            participation.clients()
        );
        let opened = format!("only sums of at least {} {many}", participation.quorum());
        let mut rows = vec![(GuaranteeLabel::Noise, noise)];
        if self.is_secret {
            rows.push((GuaranteeLabel::Holds, holds(participation, one, many)));
        }
        rows.push((GuaranteeLabel::Opened, opened));
        rows
    }

    fn trust_in_trustees(&self) -> Vec<(GuaranteeLabel, String)> {
        let noise = "dealt by three trustees, one share each, of which two suffice";
        let names = self.trustees.as_ref();
        let names = names.map_or_else(String::new, |all| format!(" {}", all.names.join(", ")));
        let gates = self.trustees.as_ref().map(|all| all.gates);
        let conduct = match gates {
            None => "",
            Some(Gates::Proved) => ", whatever it sends",
            Some(Gates::Unproved) => " if it follows the protocol",
        };
        let holds = format!(
            "against every reader with bounded computing power, including the coordinator together with one of the \
             trustees{names}{conduct}; any two of them together see all contributions"
        );
        let opened = match gates {
            None => "only sums with noise and the indices of choices",
            Some(Gates::Proved) => {
                "only sums with noise, the indices of choices, and which parties left the norm of a sum; each only after \
                 all three trustees checked how it was computed"
            }
            Some(Gates::Unproved) => {
                "only sums with noise and the indices of choices, if all trustees follow the protocol"
            }
        };
        let mut rows = vec![(GuaranteeLabel::Noise, noise.to_owned())];
        if self.is_secret {
            rows.push((GuaranteeLabel::Holds, holds));
        }
        rows.push((GuaranteeLabel::Opened, opened.to_owned()));
        rows
    }

    fn note(&self) -> Option<String> {
        match (self.moment, self.origin, self.clients) {
            (GuaranteeMoment::Planned, ..) => Some(
                "This is a plan. It counts every repetition that is allowed, and so does the receipt."
                    .to_owned(),
            ),
            (GuaranteeMoment::Final, NoiseOrigin::Shares(_), ClientsRun::InOneProcess) => Some(
                "This run simulated all clients in one process; that process saw all records."
                    .to_owned(),
            ),
            (GuaranteeMoment::Final, NoiseOrigin::Trustees, ClientsRun::InOneProcess) => Some(
                "This run simulated all clients and trustees in one process; that process saw all records."
                    .to_owned(),
            ),
            _ => None,
        }
    }

    fn details(&self) -> Option<String> {
        let currency = self.currency.map(|currency| match currency {
            Currency::Gaussian(mu) => format!("Gaussian DP, mu = {}", mu.shown()),
            Currency::Mixed(rho) => format!(
                "privacy loss of choices and sums together; rho = {} by zCDP alone",
                rho.shown()
            ),
        });
        let verified = self
            .verified_from
            .map(|file| format!("sprifed verify {file} recomputes it"));
        let parts: Vec<String> = currency.into_iter().chain(verified).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// One of those who add noise, and several.
    const fn roles(&self) -> (&'static str, &'static str) {
        match self.clients {
            ClientsRun::InOneProcess => ("client", "clients"),
            ClientsRun::AsParties => ("party", "parties"),
        }
    }
}

/// Against whom shares of noise protect. A reader who adds noise knows its own share.
fn holds(participation: Participation, one: &str, many: &str) -> String {
    if participation.colluders() == 0 {
        return format!(
            "against every reader with bounded computing power who knows no {one}'s noise, including the \
             coordinator; not against a {one}, which knows its own noise"
        );
    }
    let known = counted(participation.colluders(), one, many);
    format!(
        "against every reader with bounded computing power who knows the noise of at most {known}, including the \
         coordinator (a {one} knows its own noise)"
    )
}

impl fmt::Display for GuaranteeTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (label, text)) in self.rows().enumerate() {
            let end = if place == 0 { "" } else { "\n" };
            write!(formatter, "{end}{:<LABEL_WIDTH$}{text}", label.name())?;
        }
        Ok(())
    }
}

impl From<GuaranteeTable> for String {
    fn from(table: GuaranteeTable) -> Self {
        table.to_string()
    }
}

impl TryFrom<String> for GuaranteeTable {
    type Error = IllegalGuaranteeText;

    fn try_from(text: String) -> Result<Self, IllegalGuaranteeText> {
        let row = |(place, line): (usize, &str)| {
            let illegal = IllegalGuaranteeText { line: place + 1 };
            let (name, text) = line.split_once(' ').ok_or_else(|| illegal.clone())?;
            let label = GuaranteeLabel::ALL
                .into_iter()
                .find(|label| label.name() == name)
                .ok_or(illegal)?;
            Ok((label, text.trim_start_matches(' ').to_owned()))
        };
        let rows = text.lines().enumerate().map(row);
        Ok(Self {
            rows: rows.collect::<Result<_, _>>()?,
        })
    }
}
