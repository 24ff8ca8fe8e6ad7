//! TLS of both sides: version 1.3, one provider, and no trust but in the authorities that are given.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::certificates::Identity;
use crate::common_name::common_name;
use crate::error::NetError;
use crate::roster::Fingerprint;

/// A coordinator that talks only to holders of a certificate of `authorities`.
pub(crate) fn coordinator(
    identity: &Identity,
    authorities: &Path,
) -> Result<ServerConfig, NetError> {
    let roots = Arc::new(roots(authorities)?);
    let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider())
        .build()
        .map_err(|error| NetError::Tls(error.to_string()))?;
    let (chain, key) = read(identity)?;
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .and_then(|builder| {
            builder
                .with_client_cert_verifier(verifier)
                .with_single_cert(chain, key)
        })
        .map_err(|error| NetError::Tls(error.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// A client that trusts a coordinator of `authorities` only.
pub(crate) fn client(identity: &Identity, authorities: &Path) -> Result<ClientConfig, NetError> {
    let roots = roots(authorities)?;
    let (chain, key) = read(identity)?;
    ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .and_then(|builder| {
            builder
                .with_root_certificates(roots)
                .with_client_auth_cert(chain, key)
        })
        .map_err(|error| NetError::Tls(error.to_string()))
}

/// Checks that a client can connect with this certificate, key and authority, as far as it can tell alone.
///
/// # Errors
/// If a file cannot be read, or the key is not that of the certificate.
pub fn check_client_tls(identity: &Identity, authorities: &Path) -> Result<(), NetError> {
    client(identity, authorities).map(drop)
}

/// The fingerprint of the first certificate in a PEM file, for the roster.
///
/// # Errors
/// If the file cannot be read or holds no certificate.
pub fn fingerprint(certificate: &Path) -> Result<Fingerprint, NetError> {
    let chain = certificates(certificate)?;
    Ok(Fingerprint::of(&chain[0]))
}

/// The common name of the first certificate in a PEM file, if it has one.
///
/// # Errors
/// If the file cannot be read or holds no certificate.
pub fn certificate_name(certificate: &Path) -> Result<Option<String>, NetError> {
    let chain = certificates(certificate)?;
    Ok(common_name(&chain[0]))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn roots(authorities: &Path) -> Result<RootCertStore, NetError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(authorities)? {
        roots
            .add(certificate)
            .map_err(|error| NetError::Certificate {
                path: authorities.to_owned(),
                found: format!("a certificate that cannot be an authority ({error})"),
                required: "an authority's certificate",
            })?;
    }
    Ok(roots)
}

fn read(
    identity: &Identity,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), NetError> {
    let chain = certificates(&identity.certificate)?;
    let path = &identity.key;
    let pem = std::fs::read(path).map_err(NetError::file("read", path))?;
    let key = PrivateKeyDer::from_pem_slice(&pem).map_err(|_| NetError::Certificate {
        path: path.clone(),
        found: "no private key".to_owned(),
        required: "one private key in PEM",
    })?;
    Ok((chain, key))
}

/// At least one certificate.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, NetError> {
    let pem = std::fs::read(path).map_err(NetError::file("read", path))?;
    let found = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    match found {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(NetError::Certificate {
            path: path.to_owned(),
            found: "no certificate".to_owned(),
            required: "one or more certificates in PEM",
        }),
        Err(error) => Err(NetError::Certificate {
            path: path.to_owned(),
            found: format!("damaged PEM ({error})"),
            required: "one or more certificates in PEM",
        }),
    }
}
