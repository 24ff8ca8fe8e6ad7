//! Certificates for a study whose partners have none: one authority, one certificate for the coordinator,
//! one for each client.
//!
//! Whoever has certificates already gives their paths instead; nothing else asks how they were made.
//! Deliberately absent: revocation. The roster names the exact certificates that may connect, so a
//! certificate is withdrawn by a new roster.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};
use time::{Duration, OffsetDateTime};

use crate::error::NetError;
use crate::private_files::{create_private, create_private_folder};
use crate::roster::Fingerprint;

/// What to issue.
#[derive(Debug, Clone)]
pub struct CertificateOrder {
    /// Where the files go.
    pub folder: PathBuf,
    /// Host names and addresses under which clients reach the coordinator.
    pub coordinator_hosts: Vec<String>,
    /// The clients' names, which also name their files.
    pub clients: Vec<String>,
    /// For how many days, from one day ago on, because clocks differ.
    pub valid_days: u16,
}

/// A certificate and its key as PEM files; the certificate may be followed by its chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// What was issued.
#[derive(Debug, Clone)]
pub struct Issued {
    /// The authority's certificate: clients trust it and no other, the coordinator too.
    pub authority: PathBuf,
    /// The coordinator's.
    pub coordinator: Identity,
    /// The clients', in the order of the order.
    pub clients: Vec<(Identity, Fingerprint)>,
}

/// Makes keys and certificates. Keys are readable by their owner only; no file is overwritten.
///
/// # Errors
/// If a name can not name a file, a file exists, or the disk refuses.
pub fn issue(order: &CertificateOrder) -> Result<Issued, NetError> {
    for name in &order.clients {
        check_name(name)?;
    }
    create_private_folder(&order.folder)?;

    let key = KeyPair::generate().map_err(unmade)?;
    let mut parameters = dated(order, "sprifed study authority");
    parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let authority_key = key.serialize_pem();
    let authority = CertifiedIssuer::self_signed(parameters, key).map_err(unmade)?;
    let authority_files = files(&order.folder, "authority");
    create_private(&authority_files.key, authority_key.as_bytes())?;
    create_private(&authority_files.certificate, authority.pem().as_bytes())?;

    let mut parameters = dated(order, "coordinator");
    parameters.subject_alt_names = CertificateParams::new(order.coordinator_hosts.clone())
        .map_err(unmade)?
        .subject_alt_names;
    let purpose = ExtendedKeyUsagePurpose::ServerAuth;
    let (coordinator, _) = leaf(order, parameters, purpose, "coordinator", &authority)?;
    let clients = order
        .clients
        .iter()
        .map(|name| {
            let purpose = ExtendedKeyUsagePurpose::ClientAuth;
            leaf(order, dated(order, name), purpose, name, &authority)
        })
        .collect::<Result<_, _>>()?;
    Ok(Issued {
        authority: authority_files.certificate,
        coordinator,
        clients,
    })
}

fn leaf(
    order: &CertificateOrder,
    mut parameters: CertificateParams,
    purpose: ExtendedKeyUsagePurpose,
    name: &str,
    authority: &CertifiedIssuer<'_, KeyPair>,
) -> Result<(Identity, Fingerprint), NetError> {
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    parameters.extended_key_usages = vec![purpose];
    parameters.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate().map_err(unmade)?;
    let certificate = parameters.signed_by(&key, authority).map_err(unmade)?;
    let files = files(&order.folder, name);
    create_private(&files.key, key.serialize_pem().as_bytes())?;
    create_private(&files.certificate, certificate.pem().as_bytes())?;
    Ok((files, Fingerprint::of(certificate.der())))
}

fn dated(order: &CertificateOrder, name: &str) -> CertificateParams {
    let now = OffsetDateTime::from(SystemTime::now());
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.not_before = now - Duration::DAY;
    parameters.not_after = now + Duration::days(i64::from(order.valid_days));
    parameters
}

fn files(folder: &Path, name: &str) -> Identity {
    Identity {
        certificate: folder.join(format!("{name}.pem")),
        key: folder.join(format!("{name}.key")),
    }
}

fn check_name(name: &str) -> Result<(), NetError> {
    let is_plain = name
        .chars()
        .all(|character| character.is_ascii_alphanumeric() || "-_".contains(character));
    if is_plain && !name.is_empty() && !["authority", "coordinator"].contains(&name) {
        return Ok(());
    }
    Err(NetError::Setting {
        found: name.to_owned(),
        required: "name of letters, digits, `-` and `_` other than `authority` and `coordinator`",
    })
}

fn unmade(error: rcgen::Error) -> NetError {
    NetError::Tls(error.to_string())
}
