//! Making a study: the coordinator's folder, and one for each party.

use std::fs;
use std::path::Path;

use sprifed_net::{CertificateOrder, Issued, issue};
use sprifed_party::{
    Invitation, InvitationFolder, PartyError, PublicParty, PublicTrustee, Reach, create_private,
    create_private_folder, read_file, seat_names,
};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Agreed, Digest};

use crate::error::CoordinatorError;
use crate::folder::CoordinatorFolder;
use crate::roster::RosterFile;
use crate::whole_folder::create_whole;

/// A study that is about to be written down.
#[derive(Debug)]
pub struct NewStudy<'a> {
    /// What all parties agree on.
    pub agreed: &'a Agreed,
    /// Its parties, in the order of the agreement.
    pub parties: &'a [PublicParty],
    /// Its trustees, in the order of the agreement; none in a study of secure sums.
    pub trustees: &'a [PublicTrustee],
    /// The coordinator's signing key, whose public half the agreement names.
    pub key: [u8; 32],
    /// Where parties will reach the coordinator: `host:port`.
    pub address: &'a str,
    /// The host in it, for the certificate.
    pub host: String,
    /// The authority of the coordinator's own TLS certificate, if it has one.
    pub authority: Option<Vec<u8>>,
    /// For how many days the certificates are good.
    pub valid_days: u16,
}

impl NewStudy<'_> {
    /// Writes the study into `folder`, whole or not at all.
    ///
    /// # Errors
    /// When the folder is there already, a party's request for a certificate cannot be used, or the disk refuses.
    pub fn create(self, folder: &CoordinatorFolder) -> Result<(), CoordinatorError> {
        create_whole(folder.path(), |path| {
            let folder = CoordinatorFolder::new(path);
            let order = self.order(&folder)?;
            let key = format!("{}\n", Digest(self.key));
            create_private(&folder.identity_key(), key.as_bytes())?;
            self.fill(&folder, &order)
        })
    }

    fn order(&self, folder: &CoordinatorFolder) -> Result<CertificateOrder, PartyError> {
        let parties = self.parties.iter().map(PublicParty::certificate_request);
        let trustees = self.trustees.iter().map(PublicTrustee::certificate_request);
        let names = seat_names(self.agreed.agreement()).into_iter();
        let requests = names.zip(parties.chain(trustees));
        let requests = requests.map(|(name, request)| Ok((name, request?.to_owned())));
        Ok(CertificateOrder {
            folder: folder.tls(),
            coordinator_hosts: vec![self.host.clone()],
            clients: requests.collect::<Result<_, PartyError>>()?,
            valid_days: self.valid_days,
        })
    }

    fn fill(
        self,
        folder: &CoordinatorFolder,
        order: &CertificateOrder,
    ) -> Result<(), CoordinatorError> {
        let issued = issue(order)?;
        let names = seat_names(self.agreed.agreement());
        let n_parties = self.parties.len();
        let invitation = self.invite(&issued)?;
        let text = invitation.to_json();
        create_private(&folder.invitation(), text.as_bytes())?;
        let mut certificates = Vec::new();
        for (name, (certificate, fingerprint)) in names.iter().zip(&issued.clients) {
            let given: InvitationFolder = folder.invitation_of(name);
            create_private_folder(given.path())?;
            create_private(&given.document(), text.as_bytes())?;
            move_file(certificate, &given.certificate())?;
            create_private(&given.authority(), invitation.reach.authority.as_bytes())?;
            certificates.push(fingerprint.to_string());
        }
        let trustees = certificates.split_off(n_parties.min(certificates.len()));
        let roster = RosterFile {
            certificates,
            trustees,
        };
        Ok(create_private(
            &folder.roster_file(),
            roster.to_text().as_bytes(),
        )?)
    }

    fn invite(self, issued: &Issued) -> Result<Invitation, PartyError> {
        let authority = self
            .authority
            .map_or_else(|| read_file(&issued.authority), Ok)?;
        let reach = Reach {
            address: self.address.to_owned(),
            authority: String::from_utf8_lossy(&authority).into_owned(),
        };
        let identity = IdentityKey::from_stored(&self.key);
        Ok(Invitation::sign(self.agreed, &identity, reach))
    }
}

fn move_file(from: &Path, to: &Path) -> Result<(), PartyError> {
    fs::rename(from, to).map_err(PartyError::file("move", from))
}
