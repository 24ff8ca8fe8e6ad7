//! How clients and trustees come to the secrets of a study: one signed message of each, before the
//! first step.
//!
//! The agreement has the trustees' study keys. A client encapsulates to each of them, and of two
//! trustees the first one to the second. A coordinator that changes, swaps or leaves out a message
//! leaves a client or the study out; it learns nothing.

use sha2::{Digest as _, Sha256};
use sprifed_crypto::codec::{DecodeError, Reader, Writer};
use sprifed_crypto::kem::CIPHERTEXT_BYTES;
use sprifed_secure_sum::{ClientId, IdentityKey, is_signed_statement};
use sprifed_trustees::{Chain, PairingKeys, PairingPublic, TrusteeId};

use crate::agreement::{Agreed, AgreedTrustees};

/// What the signatures are about.
const CLIENT: &str = "trustees: enrolment";
const TRUSTEE: &str = "trustees: pairing";

type Ciphertext = [u8; CIPHERTEXT_BYTES];

/// A client's message: its keys for the study, and what it encapsulated to each trustee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientEnrolment {
    client: ClientId,
    public: PairingPublic,
    ciphertexts: Box<[Ciphertext; 3]>,
    signature: [u8; 64],
}

/// A trustee's message: what it encapsulated to the trustees after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrusteeEnrolment {
    trustee: TrusteeId,
    ciphertexts: Vec<Ciphertext>,
    signature: [u8; 64],
}

impl ClientEnrolment {
    /// The message of `client`, and its chains with the three trustees.
    pub(crate) fn new(
        agreed: &Agreed,
        client: ClientId,
        identity: &IdentityKey,
        keys: &PairingKeys,
    ) -> Option<(Self, [Chain; 3])> {
        let trustees = agreed.trustees()?;
        let initiate = |trustee| {
            let identity = identity_of(trustees, trustee);
            keys.initiate(&agreed.digest().0, trustees.key(trustee), &identity)
        };
        let [first, second, third] = TrusteeId::ALL;
        let (first, second, third) = (initiate(first)?, initiate(second)?, initiate(third)?);
        let mut enrolment = Self {
            client,
            public: keys.public().clone(),
            ciphertexts: Box::new([first.0, second.0, third.0]),
            signature: [0; 64],
        };
        enrolment.signature = identity.sign_statement(CLIENT, &enrolment.digest(agreed));
        Some((enrolment, [first.1, second.1, third.1]))
    }

    /// Whose it is.
    pub(crate) const fn client(&self) -> ClientId {
        self.client
    }

    fn digest(&self, agreed: &Agreed) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(b"sprifed: enrolment")
            .chain_update(agreed.digest().0)
            .chain_update(self.client.0.to_le_bytes())
            .chain_update(self.public.to_bytes());
        for ciphertext in &*self.ciphertexts {
            hash.update(ciphertext);
        }
        hash.finalize().into()
    }

    /// Whether the client of the agreement signed it.
    pub(crate) fn is_signed(&self, agreed: &Agreed) -> bool {
        let key = agreed.roster().key(self.client);
        key.is_some_and(|key| {
            let digest = self.digest(agreed);
            is_signed_statement(&key.to_bytes(), CLIENT, &digest, &self.signature)
        })
    }

    /// The chain that `me` has with the client; `None` if the client did not sign.
    pub(crate) fn chain(
        &self,
        agreed: &Agreed,
        me: TrusteeId,
        keys: &PairingKeys,
    ) -> Option<Chain> {
        let identity = agreed.roster().key(self.client)?.to_bytes();
        let ciphertext = self.ciphertexts.get(me.place())?;
        self.is_signed(agreed).then_some(())?;
        keys.respond(&agreed.digest().0, &self.public, &identity, ciphertext)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.number(self.client.0).put(&self.public.to_bytes());
        for ciphertext in &*self.ciphertexts {
            writer.put(ciphertext);
        }
        writer.put(&self.signature).finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let enrolment = Self {
            client: ClientId(reader.number()?),
            public: PairingPublic::from_bytes(reader.bytes(PairingPublic::BYTES)?).ok_or(
                DecodeError::Unknown {
                    what: "a study key",
                },
            )?,
            ciphertexts: Box::new([reader.array()?, reader.array()?, reader.array()?]),
            signature: reader.array()?,
        };
        reader.end()?;
        Ok(enrolment)
    }
}

impl TrusteeEnrolment {
    /// The message of `me`.
    pub(crate) fn new(
        agreed: &Agreed,
        me: TrusteeId,
        identity: &IdentityKey,
        keys: &PairingKeys,
    ) -> Option<Self> {
        let trustees = agreed.trustees()?;
        let later = TrusteeId::ALL.into_iter().filter(|other| *other > me);
        let initiate = |other| {
            let identity = identity_of(trustees, other);
            let started = keys.initiate(&agreed.digest().0, trustees.key(other), &identity);
            started.map(|(ciphertext, _)| ciphertext)
        };
        let mut enrolment = Self {
            trustee: me,
            ciphertexts: later.map(initiate).collect::<Option<_>>()?,
            signature: [0; 64],
        };
        enrolment.signature = identity.sign_statement(TRUSTEE, &enrolment.digest(agreed));
        Some(enrolment)
    }

    /// Whose it is.
    pub(crate) const fn trustee(&self) -> TrusteeId {
        self.trustee
    }

    fn digest(&self, agreed: &Agreed) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(b"sprifed: pairing of trustees")
            .chain_update(agreed.digest().0)
            .chain_update([self.trustee.share()]);
        for ciphertext in &self.ciphertexts {
            hash.update(ciphertext);
        }
        hash.finalize().into()
    }

    /// Whether the trustee of the agreement signed it.
    pub(crate) fn is_signed(&self, agreed: &Agreed) -> bool {
        agreed.trustees().is_some_and(|trustees| {
            let (identity, digest) = (identity_of(trustees, self.trustee), self.digest(agreed));
            is_signed_statement(&identity, TRUSTEE, &digest, &self.signature)
        })
    }

    /// What it encapsulated to `to`; `None` for a trustee before it.
    fn ciphertext(&self, to: TrusteeId) -> Option<&Ciphertext> {
        let place = to.place().checked_sub(self.trustee.place() + 1)?;
        self.ciphertexts.get(place)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer
            .put(&[self.trustee.share()])
            .len(self.ciphertexts.len());
        for ciphertext in &self.ciphertexts {
            writer.put(ciphertext);
        }
        writer.put(&self.signature).finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let trustee = TrusteeId::new(reader.byte()?);
        let enrolment = Self {
            trustee: trustee.ok_or(DecodeError::Unknown { what: "a trustee" })?,
            ciphertexts: reader.list(CIPHERTEXT_BYTES, Reader::array)?,
            signature: reader.array()?,
        };
        reader.end()?;
        Ok(enrolment)
    }
}

/// The chain that `me` has with another trustee, of whom `theirs` is the message.
pub(crate) fn link(
    agreed: &Agreed,
    me: TrusteeId,
    keys: &PairingKeys,
    theirs: &TrusteeEnrolment,
) -> Option<Chain> {
    let (trustees, other) = (agreed.trustees()?, theirs.trustee);
    theirs.is_signed(agreed).then_some(())?;
    let (public, identity) = (trustees.key(other), identity_of(trustees, other));
    let study = &agreed.digest().0;
    if me < other {
        return keys
            .initiate(study, public, &identity)
            .map(|(_, chain)| chain);
    }
    keys.respond(study, public, &identity, theirs.ciphertext(me)?)
}

fn identity_of(trustees: &AgreedTrustees, trustee: TrusteeId) -> [u8; 32] {
    let [first, second, third] = trustees.identities();
    match trustee.share() {
        0 => first,
        1 => second,
        _ => third,
    }
}
