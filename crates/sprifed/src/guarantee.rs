//! What a fit promises, as a table for people and in numbers.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sprifed_noise::Provenance;
use sprifed_privacy::{
    ApproxDp, ClientsRun, Currency, Delta, GuaranteeFacts, GuaranteeMoment, GuaranteeTable,
    IllegalQuantity, Mu, NoiseOrigin, PrivacyUnit, RangeBound, RecordSpending, Relation, Rho,
    Spending, SumCost,
};

use crate::backend::Backend;

/// Stamped on every output whose noise can be repeated.
const NOT_PRIVATE: &str = "NOT PRIVATE";

/// The guarantee of a fit, as reports and files show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Guarantee {
    mode: Mode,
    unit: PrivacyUnit,
    neighbours: Relation,
    /// Absent if the fit is not private.
    epsilon: Option<f64>,
    delta: f64,
    /// μ of Gaussian DP, if all answers were sums.
    mu: Option<f64>,
    /// ρ of zCDP that everything has together.
    rho: f64,
    /// D: the slack of the discrete noise, contained in epsilon.
    slack: f64,
    /// How likely the protocol of secure sums fails, contained in delta.
    #[serde(default)]
    protocol_failure: f64,
    /// What epsilon would be if the noise were secret; only if it is not.
    nominal_epsilon: Option<f64>,
    /// What a client with several records has, where records are the units; absent where nothing is claimed for it.
    client: Option<ClientGuarantee>,
    /// Who added up the records.
    pub backend: String,
    /// Who added the noise and against whom that protects, as in the statement.
    trust: String,
    provenance: Provenance,
    /// All of it, as people read it.
    pub statement: GuaranteeTable,
}

/// Whether the guarantee holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// It was computed from the noise that is added.
    Certified,
    /// The noise can be repeated.
    NotPrivate,
}

/// What group privacy leaves for a client with several records.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ClientGuarantee {
    most_records: u32,
    mu: Option<f64>,
    rho: f64,
    epsilon: f64,
}

/// What the guarantee is about.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// δ.
    pub delta: Delta,
    /// Which data sets are neighbours.
    pub relation: Relation,
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// The most records that one client can hold; absent where clients are the parties of a study,
    /// each of which holds the records of many.
    pub most_records: Option<u32>,
    /// Who adds the noise.
    pub origin: NoiseOrigin,
}

impl Guarantee {
    /// The guarantee of a whole plan: what it costs was fixed before any record was touched.
    ///
    /// # Errors
    /// When a cost is not a number that can be written down.
    pub fn of(
        spending: &Spending,
        terms: Terms,
        provenance: Provenance,
    ) -> Result<Self, IllegalQuantity> {
        let cost = Cost::of(spending)?;
        let total = spending.to_approx_dp(terms.delta);
        let epsilon = total.map_or(0.0, |total| total.epsilon().get());
        let is_private = provenance == Provenance::Cryptographic;
        let several = terms.most_records.and_then(NonZeroU32::new);
        let several = several.filter(|most| terms.unit == PrivacyUnit::Record && most.get() > 1);
        // The records of one client may be in both parts, and the slack of both would count. Nothing is claimed for them.
        let several = several.filter(|_| !spending.has_two_parts());
        let client = several
            .map(|records| cost.for_client(records, terms.delta))
            .transpose()?
            .flatten();
        let (clients, file) = match terms.most_records {
            // The parties of a study are machines of their own.
            None => (ClientsRun::AsParties, "receipt.json"),
            Some(_) => (ClientsRun::InOneProcess, "MODEL"),
        };
        let statement = GuaranteeTable::new(&GuaranteeFacts {
            cost: total,
            moment: GuaranteeMoment::Final,
            is_secret: is_private,
            unit: terms.unit,
            relation: terms.relation,
            origin: terms.origin,
            trustees: None,
            clients,
            several_records: client.map(|client| (client.most_records, client.epsilon)),
            n_sites: 0,
            currency: Some(cost.currency()),
            verified_from: Some(file),
        });
        Ok(Self {
            mode: if is_private {
                Mode::Certified
            } else {
                Mode::NotPrivate
            },
            unit: terms.unit,
            neighbours: terms.relation,
            epsilon: is_private.then_some(epsilon),
            delta: terms.delta.get(),
            mu: cost.mu.map(Mu::get),
            rho: cost.rho.get(),
            slack: cost.slack,
            protocol_failure: cost.failure,
            nominal_epsilon: (!is_private).then_some(epsilon),
            client,
            backend: Backend::of(terms.origin).text().to_owned(),
            trust: statement.trust(),
            provenance,
            statement,
        })
    }

    /// The same where `backend` adds up, of those whose noise is of the same origin.
    #[must_use]
    pub(crate) fn answered_by(mut self, backend: Backend) -> Self {
        backend.text().clone_into(&mut self.backend);
        self
    }

    /// Says so if there is no guarantee, because the noise can be repeated.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        self.statement.warning().map(str::to_owned)
    }

    /// `NOT PRIVATE` if the noise can be repeated.
    #[must_use]
    pub fn label(&self) -> Option<&'static str> {
        (self.mode == Mode::NotPrivate).then_some(NOT_PRIVATE)
    }

    /// The parts in which two guarantees differ, by the names that files have for them.
    #[must_use]
    pub(crate) fn differences(&self, other: &Self) -> Vec<String> {
        let fields = |guarantee: &Self| match serde_json::to_value(guarantee) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        let theirs = fields(other);
        let differs =
            |(name, value): (String, Value)| (theirs.get(&name) != Some(&value)).then_some(name);
        fields(self).into_iter().filter_map(differs).collect()
    }
}

/// What the costs of a study were added up in.
///
/// # Errors
/// When a cost is not a number that can be written down.
pub(crate) fn currency_of(spending: &Spending) -> Result<Currency, IllegalQuantity> {
    Ok(Cost::of(spending)?.currency())
}

/// What a plan costs, in the currencies that know groups.
#[derive(Clone, Copy, Debug)]
struct Cost {
    mu: Option<Mu>,
    rho: Rho,
    slack: f64,
    failure: f64,
    /// η: see [`RecordSpending::cut_off`].
    cut_off: f64,
}

impl Cost {
    /// # Why
    /// Sums cost μ²/2 [BS16, Prop. 1.6] and choices of range ε cost ε²/8 [CR21, Lemma 3.4]; ρ adds.
    fn of(spending: &Spending) -> Result<Self, IllegalQuantity> {
        let mut parts = spending.parts().map(Self::of_part);
        let first = parts
            .next()
            .unwrap_or_else(|| unreachable!("all records are in one part at least"))?;
        parts.try_fold(first, |dearer, part| Ok(dearer.or_dearer(part?)))
    }

    /// The larger of each number, which both have: a change of one record is one of either part.
    fn or_dearer(self, other: Self) -> Self {
        let mu = self.mu.zip(other.mu);
        let rho = if other.rho.get() > self.rho.get() {
            other.rho
        } else {
            self.rho
        };
        Self {
            mu: mu.map(|(one, other)| if other.get() > one.get() { other } else { one }),
            rho,
            slack: self.slack.max(other.slack),
            failure: self.failure.max(other.failure),
            cut_off: self.cut_off.max(other.cut_off),
        }
    }

    fn of_part(spending: &RecordSpending) -> Result<Self, IllegalQuantity> {
        let sums = spending.sums().map(SumCost::mu).transpose()?;
        let chosen = |(range, count): &(RangeBound, u32)| -> Result<f64, IllegalQuantity> {
            Ok(range.to_rho()?.get() * f64::from(*count))
        };
        let choices = spending
            .selections()
            .iter()
            .map(chosen)
            .sum::<Result<f64, _>>()?;
        let total = sums.map_or(0.0, |mu| mu.to_rho().get()) + choices;
        let rho = Rho::try_from(total * (1.0 + 1e-12))?;
        let slack = spending.sums().map_or(0.0, SumCost::slack);
        Ok(Self {
            mu: sums.filter(|_| spending.selections().is_empty()),
            rho,
            slack,
            failure: spending.failure(),
            cut_off: spending.cut_off(),
        })
    }

    /// What the costs were added up in.
    const fn currency(self) -> Currency {
        match self.mu {
            Some(mu) => Currency::Gaussian(mu),
            None => Currency::Mixed(self.rho),
        }
    }

    /// # Why
    /// k records: k·μ for Gaussian DP [DRS19, Thm 2.14], k²·ρ for zCDP [BS16, Prop. 1.9]. The slack
    /// bounds how far the noise is from Gaussian on any data set, so it enters once, as in [`SumCost`], and
    /// so does the probability that the protocol fails (docs/proofs/protocol_failure.md#3-groups-and-several-studies).
    ///
    /// Clamped noise of trustees differs from what the ε is proved for with probability η on either data set, which adds
    /// (1 + e^ε) η to δ for a group as for one record (docs/proofs/trustees.md#6-what-is-cut-off). With E, the ε at half
    /// of δ, (1 + e^E) η is enough where it is at most the other half. Where it is more, nothing is claimed.
    fn for_client(
        self,
        records: NonZeroU32,
        delta: Delta,
    ) -> Result<Option<ClientGuarantee>, IllegalQuantity> {
        let left = (delta.get() - self.failure) * (1.0 - 1e-15);
        let mu = self.mu.map(|mu| mu.for_group(records));
        let rho = Rho::try_from(self.rho.get() * f64::from(records.get()).powi(2))?;
        let epsilon = |left: f64| -> Result<f64, IllegalQuantity> {
            let delta = Delta::try_from(left * (-self.slack).exp())?;
            let within: ApproxDp =
                mu.map_or_else(|| rho.to_approx_dp(delta), |mu| mu.to_approx_dp(delta));
            Ok(within.epsilon().get() + 2.0 * self.slack)
        };
        let mut cut_off = 0.0;
        if self.cut_off > 0.0 {
            cut_off = (1.0 + epsilon(left / 2.0)?.exp()) * self.cut_off * (1.0 + 1e-12);
            if cut_off > left / 2.0 {
                return Ok(None);
            }
        }
        Ok(Some(ClientGuarantee {
            most_records: records.get(),
            mu: mu.map(Mu::get),
            rho: rho.get(),
            epsilon: epsilon(left - cut_off)?,
        }))
    }
}
