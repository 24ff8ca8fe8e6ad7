//! How a party or a trustee reaches the coordinator: address, proxy, certificates, patience.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use sprifed::host_of;
use sprifed_net::{
    ClientConfig, Identity, LogLevel, Persistence, certificate_name, check_client_tls, start_logs,
};
use sprifed_party::{Invitation, InvitationFolder};
use sprifed_study::Agreed;

use super::unusable;
use crate::failure::{Explained as _, Failure};

/// The options of a process that connects to a coordinator.
#[derive(Args, Debug)]
pub(super) struct ConnectionArguments {
    /// Another address of the coordinator than the invitation says: `host:port`.
    #[arg(long)]
    address: Option<String>,
    /// A proxy to connect through, such as http://proxy:3128.
    #[arg(long)]
    proxy: Option<String>,
    /// One's own certificate, instead of the one in the invitation's folder.
    #[arg(long, value_name = "FILE.pem", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// Its key, instead of tls.key in the identity folder.
    #[arg(long, value_name = "FILE.key", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// Give up after so many seconds without contact [default: never].
    #[arg(long, value_name = "SECONDS")]
    give_up_after: Option<u64>,
    /// Log more.
    #[arg(long)]
    verbose: bool,
}

/// A way to the coordinator that was checked.
#[derive(Debug)]
pub(super) struct Connection {
    /// Where the coordinator is.
    pub(super) address: String,
    config: ClientConfig,
    verbose: bool,
}

impl ConnectionArguments {
    /// The way to the coordinator of the invitation in `folder`, for `mine`, whose TLS key is in the file `key`. `names`
    /// are all names that the coordinator's certificates may bear.
    ///
    /// # Errors
    /// When a certificate is of another organisation than `mine`, the authority or the address cannot be used.
    pub(super) fn connection(
        &self,
        folder: &InvitationFolder,
        (invitation, agreed): (&Invitation, &Agreed),
        key: PathBuf,
        (mine, names): (&str, &[String]),
    ) -> Result<Connection, Failure> {
        let certificate = self.tls_certificate.clone();
        let identity = Identity {
            certificate: certificate.unwrap_or_else(|| folder.certificate()),
            key: self.tls_key.clone().unwrap_or(key),
        };
        refuse_other_seat(&identity, mine, names)?;
        folder.refuse_other_authority(invitation)?;
        check_client_tls(&identity, &folder.authority()).explained()?;
        let address = self.reachable(folder, invitation)?;
        Ok(Connection {
            config: ClientConfig {
                coordinator: format!("https://{address}"),
                identity,
                authorities: folder.authority(),
                proxy: self.proxy.clone(),
                persistence: Persistence {
                    give_up_after: self.give_up_after.map(Duration::from_secs),
                    ..Persistence::default()
                },
                largest_notice: agreed.largest_notice(),
            },
            address,
            verbose: self.verbose,
        })
    }

    /// Where the coordinator is: as it signed, or as this process was told.
    fn reachable(
        &self,
        folder: &InvitationFolder,
        invitation: &Invitation,
    ) -> Result<String, Failure> {
        let address = self.address.as_ref().unwrap_or(&invitation.reach.address);
        match host_of(address) {
            Ok(_) => Ok(address.clone()),
            Err(found) => Err(unusable(
                &folder.document(),
                &format!("{address:?} is no address: {found}"),
                "an invitation, or --address, with `host:port`",
            )),
        }
    }
}

impl Connection {
    /// Starts the logs of the process and returns how it connects.
    pub(super) fn begin(&self) -> &ClientConfig {
        start_logs(if self.verbose {
            LogLevel::Debug
        } else {
            LogLevel::Info
        });
        &self.config
    }
}

/// A certificate that bears one name behind the identity of another is a mix-up of folders, and the coordinator would
/// refuse every message. A certificate that bears none of the `names` is the owner's own.
fn refuse_other_seat(tls: &Identity, mine: &str, names: &[String]) -> Result<(), Failure> {
    let path = &tls.certificate;
    let Some(found) = certificate_name(path).explained()? else {
        return Ok(());
    };
    if found == mine || !names.contains(&found) {
        return Ok(());
    }
    Err(Failure::usage(
        "sprifed::study::other-seat",
        format!(
            "the certificate `{}` is that of {found:?}, but the identity is that of {mine:?}",
            path.display()
        ),
        "use the folder that was made for this identity; nothing was sent or spent",
    ))
}
