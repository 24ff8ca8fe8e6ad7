//! A connection that says what it likes, with a client's certificate or any other.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use sprifed_net::Identity;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A connection after its handshake, as far as the client can tell.
pub(crate) struct Raw(TlsStream<TcpStream>);

impl Raw {
    /// Connects with this certificate, or without any.
    pub(crate) async fn connect(
        address: SocketAddr,
        authority: &Path,
        identity: Option<&Identity>,
    ) -> std::io::Result<Self> {
        let certificates = |path: &Path| {
            let pem = fs::read(path).unwrap();
            let all = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
            all.unwrap()
        };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates(authority));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(roots);
        let config = match identity {
            Some(identity) => {
                let key = PrivateKeyDer::from_pem_slice(&fs::read(&identity.key).unwrap()).unwrap();
                let chain = certificates(&identity.certificate);
                builder.with_client_auth_cert(chain, key).unwrap()
            }
            None => builder.with_no_client_auth(),
        };
        let stream = TcpStream::connect(address).await?;
        let name = ServerName::from(address.ip());
        let connector = TlsConnector::from(Arc::new(config));
        Ok(Self(connector.connect(name, stream).await?))
    }

    pub(crate) async fn say(&mut self, text: &str) -> std::io::Result<()> {
        self.0.write_all(text.as_bytes()).await?;
        self.0.flush().await
    }

    /// All that is answered until the other side closes; an error if it breaks off.
    pub(crate) async fn hear(mut self) -> std::io::Result<String> {
        let mut received = Vec::new();
        let ended = self.0.read_to_end(&mut received).await;
        match ended {
            Err(error) if received.is_empty() => Err(error),
            _ => Ok(String::from_utf8_lossy(&received).into_owned()),
        }
    }

    /// Says one request, which asks to close afterwards, and hears the answer.
    pub(crate) async fn post(mut self, path: &str, body: &str) -> std::io::Result<String> {
        let n_bytes = body.len();
        self.say(&format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {n_bytes}\r\n\r\n{body}"
        ))
        .await?;
        self.hear().await
    }
}
