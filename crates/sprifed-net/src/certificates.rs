//! Certificates for a study whose parties have none: one authority, one certificate for the coordinator,
//! one for each client.
//!
//! Each makes its own key. A client sends a request, of which the authority takes the public key and nothing else.
//!
//! A user who has certificates gives their paths instead; nothing else asks how they were made.
//! Deliberately absent: revocation. The roster names the exact certificates that may connect, so a
//! certificate is withdrawn by a new roster.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rcgen::{
    BasicConstraints, CertificateParams, CertificateSigningRequestParams, CertifiedIssuer, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose, PublicKeyData,
};
use sprifed_party::{create_private, create_private_folder};
use time::{Duration, OffsetDateTime};
use zeroize::Zeroizing;

use crate::error::NetError;
use crate::roster::Fingerprint;

/// What to issue.
#[derive(Debug, Clone)]
pub struct CertificateOrder {
    /// Where the files go.
    pub folder: PathBuf,
    /// Host names and addresses under which clients reach the coordinator.
    pub coordinator_hosts: Vec<String>,
    /// The clients' names, which also name their files, and their requests in PEM.
    pub clients: Vec<(String, String)>,
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
    /// The clients' certificates, in the order of the order.
    pub clients: Vec<(PathBuf, Fingerprint)>,
}

/// A new TLS key and the request for a certificate for it, both in PEM.
///
/// # Errors
/// If no key can be made.
pub fn request_certificate(name: &str) -> Result<(Zeroizing<String>, String), NetError> {
    let key = KeyPair::generate().map_err(unmade)?;
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name.push(DnType::CommonName, name);
    let request = parameters.serialize_request(&key).map_err(unmade)?;
    let request = request.pem().map_err(unmade)?;
    Ok((Zeroizing::new(key.serialize_pem()), request))
}

/// Makes the authority, the coordinator's key and all certificates. Keys are readable by their owner only; no file
/// is overwritten.
///
/// # Errors
/// If a name cannot name a file, a request is none, a file exists, or the disk refuses.
pub fn issue(order: &CertificateOrder) -> Result<Issued, NetError> {
    let requests = order
        .clients
        .iter()
        .map(|(name, request)| {
            check_name(name)?;
            Ok((name, open_request(name, request)?))
        })
        .collect::<Result<Vec<_>, NetError>>()?;
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
    let key = KeyPair::generate().map_err(unmade)?;
    let coordinator = files(&order.folder, "coordinator");
    let purpose = ExtendedKeyUsagePurpose::ServerAuth;
    create_private(&coordinator.key, key.serialize_pem().as_bytes())?;
    leaf(
        parameters,
        purpose,
        &key,
        &authority,
        &coordinator.certificate,
    )?;
    let clients = requests
        .into_iter()
        .map(|(name, key)| {
            let purpose = ExtendedKeyUsagePurpose::ClientAuth;
            let file = files(&order.folder, name).certificate;
            let fingerprint = leaf(dated(order, name), purpose, &key, &authority, &file)?;
            Ok((file, fingerprint))
        })
        .collect::<Result<_, NetError>>()?;
    Ok(Issued {
        authority: authority_files.certificate,
        coordinator,
        clients,
    })
}

/// Writes a certificate for `key` into `file`.
fn leaf(
    mut parameters: CertificateParams,
    purpose: ExtendedKeyUsagePurpose,
    key: &impl PublicKeyData,
    authority: &CertifiedIssuer<'_, KeyPair>,
    file: &Path,
) -> Result<Fingerprint, NetError> {
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    parameters.extended_key_usages = vec![purpose];
    parameters.use_authority_key_identifier_extension = true;
    let certificate = parameters.signed_by(key, authority).map_err(unmade)?;
    create_private(file, certificate.pem().as_bytes())?;
    Ok(Fingerprint::of(certificate.der()))
}

/// The public key for which `name` requests a certificate, if its owner has signed the request with it.
///
/// Whatever else the request asks for is left out.
fn open_request(name: &str, pem: &str) -> Result<rcgen::PublicKey, NetError> {
    let request = CertificateSigningRequestParams::from_pem(pem);
    let request = request.map_err(|_| NetError::Setting {
        found: format!("the certificate request of {name}"),
        required: "signing request in PEM with a sound signature; ask for the party.json of `study identity`",
    })?;
    Ok(request.public_key)
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
