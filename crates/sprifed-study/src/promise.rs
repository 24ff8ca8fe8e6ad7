//! What a study promises before it is over, as people read it.

use sprifed_noise::Provenance;
use sprifed_privacy::{ClientsRun, GuaranteeFacts, GuaranteeMoment, GuaranteeTable};

use crate::agreement::{Agreed, Agreement};

impl Agreed {
    /// The guarantee of the study with every repetition that it allows.
    #[must_use]
    pub fn planned_guarantee(&self) -> GuaranteeTable {
        GuaranteeTable::new(&self.guarantee_facts())
    }

    /// What is known of the guarantee before a record is touched.
    pub(crate) fn guarantee_facts(&self) -> GuaranteeFacts {
        let agreement = self.agreement();
        GuaranteeFacts {
            cost: Some(self.ceiling()),
            moment: GuaranteeMoment::Planned,
            is_secret: agreement.noise == Provenance::Cryptographic,
            unit: agreement.plan.unit,
            relation: agreement.plan.relation,
            origin: agreement.plan.origin,
            trustees: names_of(agreement),
            clients: ClientsRun::AsParties,
            several_records: None,
            n_sites: self.agreement().setting.sites.count(),
            currency: None,
            verified_from: Some("receipt.json"),
        }
    }
}

/// The names of the trustees, for the guarantee.
fn names_of(agreement: &Agreement) -> Option<[String; 3]> {
    let trustees = agreement.trustees.as_ref()?;
    Some(trustees.each_ref().map(|entry| entry.name.clone()))
}
