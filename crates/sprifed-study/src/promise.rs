//! What a study promises before it is over, as people read it.

use sprifed_noise::Provenance;
use sprifed_privacy::{ClientsRun, GuaranteeFacts, GuaranteeMoment, GuaranteeTable, NamedTrustees};

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
            trustees: named_trustees(agreement),
            clients: ClientsRun::AsParties,
            several_records: None,
            n_sites: self.agreement().setting.sites.count(),
            currency: None,
            verified_from: Some("receipt.json"),
        }
    }
}

/// The trustees, for the guarantee.
fn named_trustees(agreement: &Agreement) -> Option<NamedTrustees> {
    let trustees = agreement.trustees.as_ref()?;
    Some(NamedTrustees {
        names: trustees.each_ref().map(|entry| entry.name.clone()),
        gates: agreement.gates?,
    })
}
