//! The messages of the coordinator. A client checks all of them.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::client_set::ClientSet;
use crate::codec::{DecodeError, Reader, Writer};
use crate::identity::ClientId;
use crate::message::Ciphertext;
use crate::signed::SignedMessage;
use crate::study::VERSION;

/// A message of the coordinator to one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The signed keys of those neighbours that published some.
    Directory {
        /// In the order of the neighbours' slots.
        keys: Vec<Arc<SignedMessage>>,
    },
    /// Which neighbours have agreed, and what the smaller of them encapsulated.
    Ciphertexts {
        /// In the order of the neighbours' slots; nothing from those that are larger.
        neighbours: Vec<(ClientId, Option<Arc<Ciphertext>>)>,
    },
    /// The clients that take part from now on, and the bundles that neighbours sent.
    Bundles {
        /// All clients whose shares arrived.
        sharers: ClientSet,
        /// By neighbour, in the order of slots.
        bundles: Vec<(ClientId, Arc<Vec<u8>>)>,
    },
    /// Whose uploads are in the sum.
    Survivors {
        /// Which sum.
        sum: u32,
        /// All clients whose uploads arrived in time.
        survivors: Arc<ClientSet>,
    },
    /// Enough clients confirmed the same set.
    Certificate {
        /// Which sum.
        sum: u32,
        /// Their signatures.
        certificate: Arc<Certificate>,
        /// The tags that surviving neighbours sent with their uploads.
        tags: Vec<(ClientId, [u8; 16])>,
    },
}

/// Signatures of clients for one survivor set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Signers, ascending, and their signatures.
    pub signatures: Vec<(ClientId, [u8; 64])>,
}

impl Notice {
    /// The bytes on the wire.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.put(&[VERSION]);
        match self {
            Self::Directory { keys } => {
                writer.put(&[1]).len(keys.len());
                for message in keys {
                    writer.put(&message.encode());
                }
            }
            Self::Ciphertexts { neighbours } => {
                writer.put(&[2]).len(neighbours.len());
                for (client, ciphertext) in neighbours {
                    writer.number(client.0);
                    writer.put(&[u8::from(ciphertext.is_some())]);
                    if let Some(ciphertext) = ciphertext {
                        ciphertext.write(&mut writer);
                    }
                }
            }
            Self::Bundles { sharers, bundles } => {
                sharers.write(writer.put(&[3]));
                writer.len(bundles.len());
                for (client, bundle) in bundles {
                    writer.number(client.0).sized(bundle);
                }
            }
            Self::Survivors { sum, survivors } => {
                survivors.write(writer.put(&[4]).number(*sum));
            }
            Self::Certificate {
                sum,
                certificate,
                tags,
            } => {
                writer
                    .put(&[5])
                    .number(*sum)
                    .len(certificate.signatures.len());
                for (client, signature) in &certificate.signatures {
                    writer.number(client.0).put(signature);
                }
                writer.len(tags.len());
                for (client, tag) in tags {
                    writer.number(client.0).put(tag);
                }
            }
        }
        writer.finish()
    }

    /// The digest of a notice of the exchange of keys: of the signed messages that it passes on.
    pub(crate) fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(b"sprifed secure sum: notice");
        hash.update([VERSION]);
        match self {
            Self::Directory { keys } => {
                for message in keys {
                    hash.update(message.sender.0.to_le_bytes());
                    hash.update(message.signature);
                }
            }
            Self::Ciphertexts { neighbours } => {
                for (client, ciphertext) in neighbours {
                    hash.update(client.0.to_le_bytes());
                    hash.update(ciphertext.as_ref().map_or([0; 64], |sent| sent.signature));
                }
            }
            Self::Bundles { .. } | Self::Survivors { .. } | Self::Certificate { .. } => {
                hash.update(self.encode());
            }
        }
        hash.finalize().into()
    }

    /// The notice with these bytes.
    ///
    /// # Errors
    /// When there is none.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        reader.version(VERSION)?;
        let notice = match reader.byte()? {
            1 => Self::Directory {
                keys: reader.list(78, |reader| SignedMessage::read(reader).map(Arc::new))?,
            },
            2 => Self::Ciphertexts {
                neighbours: reader.list(5, |reader| {
                    let client = ClientId(reader.number()?);
                    let ciphertext = match reader.byte()? {
                        0 => None,
                        1 => Some(Arc::new(Ciphertext::read(reader)?)),
                        _ => {
                            return Err(DecodeError::Unknown {
                                what: "a ciphertext",
                            });
                        }
                    };
                    Ok((client, ciphertext))
                })?,
            },
            3 => Self::Bundles {
                sharers: ClientSet::read(&mut reader)?,
                bundles: reader.list(8, |reader| {
                    Ok((
                        ClientId(reader.number()?),
                        Arc::new(reader.sized()?.to_vec()),
                    ))
                })?,
            },
            4 => Self::Survivors {
                sum: reader.number()?,
                survivors: Arc::new(ClientSet::read(&mut reader)?),
            },
            5 => Self::Certificate {
                sum: reader.number()?,
                certificate: Arc::new(Certificate {
                    signatures: reader.list(68, |reader| {
                        Ok((ClientId(reader.number()?), reader.array()?))
                    })?,
                }),
                tags: reader.list(20, |reader| {
                    Ok((ClientId(reader.number()?), reader.array()?))
                })?,
            },
            _ => return Err(DecodeError::Unknown { what: "a notice" }),
        };
        reader.end()?;
        Ok(notice)
    }
}
