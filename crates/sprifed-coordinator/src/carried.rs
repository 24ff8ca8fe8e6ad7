//! A study whose parties another program reaches. Its trustees, if it has any, connect as to `sprifed coordinate`.

use std::net::SocketAddr;
use std::sync::Arc;

use sprifed_net::{CarriedStudy, Identity, Limits, PartyId, Refused, RosterEntry};
use sprifed_party::seat_names;
use sprifed_study::Agreed;

use crate::error::CoordinatorError;
use crate::folder::CoordinatorFolder;
use crate::machine::StudyMachine;

impl CoordinatorFolder {
    /// The study, with the same machine and the same state file as if the parties connected. Its trustees are served at
    /// `listen`; in a study without trustees there is no socket.
    ///
    /// # Errors
    /// As [`machine`](Self::machine) and [`roster`](Self::roster), or when the state or the address is in use.
    pub fn carried(
        &self,
        agreed: &Arc<Agreed>,
        listen: SocketAddr,
    ) -> Result<CarriedStudy<StudyMachine>, CoordinatorError> {
        let roster = self.carried_roster(agreed)?;
        let machine = self.machine(agreed)?;
        let limits = Limits {
            largest_message: agreed.largest_message(),
            ..Limits::default()
        };
        let (state, study) = (self.state(), agreed.digest().to_string());
        let factory = || Ok::<_, Refused>(machine);
        let mut study = CarriedStudy::open((&state, &study), roster, limits, factory)?;
        // The state is there, and no party was asked anything yet.
        self.begin()?;
        if agreed.trustees().is_some() {
            let tls = self.tls();
            let identity = Identity {
                certificate: tls.join("coordinator.pem"),
                key: tls.join("coordinator.key"),
            };
            study.listen(listen, &identity, &tls.join("authority.pem"))?;
        }
        Ok(study)
    }

    /// The seats of the study; only trustees have certificates.
    fn carried_roster(&self, agreed: &Agreed) -> Result<Vec<RosterEntry>, CoordinatorError> {
        let agreement = agreed.agreement();
        let n_parties = agreement.parties.len();
        let mut roster = match agreed.trustees() {
            Some(_) => self.roster(agreed)?,
            None => Vec::new(),
        };
        roster.drain(..n_parties.min(roster.len()));
        let names = seat_names(agreement).into_iter().take(n_parties);
        roster.extend((0..).zip(names).map(|(id, name)| RosterEntry {
            party: PartyId(id),
            name,
            certificate: None,
        }));
        Ok(roster)
    }
}
