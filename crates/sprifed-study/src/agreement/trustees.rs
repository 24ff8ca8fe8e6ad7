//! The three trustees of an agreement: who they are, and the keys that others agree on secrets with.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sprifed_privacy::Gates;
use sprifed_secure_sum::{ClientId, IdentityKey, Roster, is_signed_statement};
use sprifed_trustees::{PairingPublic, Step, TrusteeId, Upload, count, count_proof};

use super::{Agreement, IllegalAgreement};
use crate::hexadecimal::{Digest, NotHexadecimal, Signature};
use crate::trustee_step::step_with;

/// What a trustee's signature for its study key is about.
const STUDY_KEY: &str = "trustees: study key";

/// The public half of a trustee's keys for one study: X25519 and ML-KEM-768, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StudyKey(pub PairingPublic);

impl From<StudyKey> for String {
    fn from(key: StudyKey) -> Self {
        hex::encode(key.0.to_bytes())
    }
}

impl TryFrom<String> for StudyKey {
    type Error = NotHexadecimal;

    fn try_from(text: String) -> Result<Self, NotHexadecimal> {
        let bytes = hex::decode(&text).ok();
        let key = bytes.and_then(|bytes| PairingPublic::from_bytes(&bytes));
        key.map(Self).ok_or_else(|| NotHexadecimal {
            found: text.chars().take(80).collect(),
            required: 2 * PairingPublic::BYTES,
        })
    }
}

impl JsonSchema for StudyKey {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "StudyKey".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": format!("^[0-9a-f]{{{}}}$", 2 * PairingPublic::BYTES),
        })
    }
}

/// One trustee of an agreement. Its file for `study init` has the same content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrusteeEntry {
    /// Its name for people.
    pub name: String,
    /// The public half of its identity key.
    pub identity: Digest,
    /// Its keys for this study. They are made for one study and erased with it.
    pub key: StudyKey,
    /// Its signature for its name and these keys.
    pub signature: Signature,
}

impl TrusteeEntry {
    /// The entry of the trustee with this identity.
    #[must_use]
    pub fn new(name: &str, identity: &IdentityKey, key: PairingPublic) -> Self {
        let digest = signed_digest(name, &key);
        Self {
            name: name.to_owned(),
            identity: Digest(identity.public()),
            signature: Signature(identity.sign_statement(STUDY_KEY, &digest)),
            key: StudyKey(key),
        }
    }

    /// Whether the trustee itself signed the entry.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        let digest = signed_digest(&self.name, &self.key.0);
        is_signed_statement(&self.identity.0, STUDY_KEY, &digest, &self.signature.0)
    }
}

fn signed_digest(name: &str, key: &PairingPublic) -> [u8; 32] {
    Sha256::new_with_prefix(b"sprifed: trustee")
        .chain_update((name.len() as u64).to_le_bytes())
        .chain_update(name)
        .chain_update(key.to_bytes())
        .finalize()
        .into()
}

/// Three different trustees, each with keys of its own that it signed.
///
/// A party or the coordinator may be a trustee too, with another certificate.
pub(super) fn check_entries(trustees: &[TrusteeEntry; 3]) -> Result<(), IllegalAgreement> {
    let contradiction = |what, found: String, required: &str| IllegalAgreement::Contradiction {
        what,
        found,
        required: required.to_owned(),
    };
    Roster::new(&trustees.each_ref().map(|entry| entry.identity.0)).map_err(|error| {
        contradiction(
            "the identity keys of the trustees",
            error.to_string(),
            "three different keys",
        )
    })?;
    let [first, second, third] = trustees;
    for (one, other) in [(first, second), (first, third), (second, third)] {
        if one.key == other.key || one.name == other.name {
            let found = format!("the same for {:?} and {:?}", one.name, other.name);
            return Err(contradiction(
                "the name or study key of two trustees",
                found,
                "one of its own for each",
            ));
        }
    }
    match trustees.iter().find(|entry| !entry.is_signed()) {
        None => Ok(()),
        Some(entry) => Err(IllegalAgreement::TrusteeKey {
            name: entry.name.clone(),
        }),
    }
}

/// The trustees of an agreement, and what they compute.
#[derive(Clone, Debug)]
pub struct AgreedTrustees {
    entries: Box<[TrusteeEntry; 3]>,
    gates: Gates,
    steps: Vec<Arc<Step>>,
    largest_upload: usize,
    n_parties: u32,
}

impl AgreedTrustees {
    pub(super) fn new(
        entries: [TrusteeEntry; 3],
        gates: Gates,
        agreement: &Agreement,
    ) -> Result<Self, IllegalAgreement> {
        let units: Vec<u32> = agreement.parties.iter().map(|party| party.units).collect();
        let plan = &agreement.plan;
        let mut steps = Vec::with_capacity(plan.steps.len());
        let mut largest_upload = 0;
        let n_parties = u32::try_from(units.len()).unwrap_or(u32::MAX);
        for planned in &plan.steps {
            let step = step_with(gates, plan, planned, &units)?;
            for client in (0..n_parties).map(ClientId) {
                let bytes = Upload::encoded_len(&step, client);
                largest_upload = largest_upload.max(bytes.unwrap_or(0));
            }
            steps.push(Arc::new(step));
        }
        Ok(Self {
            entries: Box::new(entries),
            gates,
            steps,
            largest_upload,
            n_parties,
        })
    }

    /// The three, in order.
    #[must_use]
    pub const fn entries(&self) -> &[TrusteeEntry; 3] {
        &self.entries
    }

    /// Whether they prove their gates before they open anything.
    #[must_use]
    pub const fn gates(&self) -> Gates {
        self.gates
    }

    /// Their public identities.
    #[must_use]
    pub fn identities(&self) -> [[u8; 32]; 3] {
        self.entries.each_ref().map(|entry| entry.identity.0)
    }

    /// The keys of one of them.
    #[must_use]
    pub fn key(&self, trustee: TrusteeId) -> &PairingPublic {
        let [first, second, third] = &*self.entries;
        let entry = match trustee.share() {
            0 => first,
            1 => second,
            _ => third,
        };
        &entry.key.0
    }

    /// Which trustee has this identity.
    #[must_use]
    pub fn place_of(&self, identity: &Digest) -> Option<TrusteeId> {
        let mut trustees = TrusteeId::ALL.iter().zip(&*self.entries);
        let found = trustees.find(|(_, entry)| entry.identity == *identity);
        found.map(|(trustee, _)| *trustee)
    }

    /// What they compute in a step.
    #[must_use]
    pub fn step(&self, step: usize) -> Option<&Arc<Step>> {
        self.steps.get(step)
    }

    /// The number of a trustee among all that the coordinator speaks with: after the last party.
    #[must_use]
    pub const fn seat(&self, trustee: TrusteeId) -> ClientId {
        ClientId(self.n_parties + trustee.share() as u32)
    }

    /// The trustee with this number.
    #[must_use]
    pub fn at_seat(&self, seat: ClientId) -> Option<TrusteeId> {
        let place = seat.0.checked_sub(self.n_parties)?;
        TrusteeId::new(u8::try_from(place).ok()?)
    }

    /// The most bytes of an honest client's upload.
    #[must_use]
    pub const fn largest_upload(&self) -> usize {
        self.largest_upload
    }

    /// The most bytes of one frame between two trustees: all gates of a layer, a part of a proof, or all openings.
    #[must_use]
    pub fn largest_frame(&self) -> usize {
        let clients: Vec<ClientId> = (0..self.n_parties).map(ClientId).collect();
        let frames = self.steps.iter().map(|step| {
            let circuits = step.circuit(&clients).into_iter();
            let circuits = circuits.chain(step.norm_circuit(&clients));
            let gates = circuits.map(|circuit| {
                let proof = count_proof(&circuit).longest_frame;
                count(&circuit).longest_frame.max(proof)
            });
            let gates = gates.max().unwrap_or(0);
            // Noise is dealt, and sums are opened, in as many planes as they have bits.
            let planes = u64::from(step.noise_bits()) * u64::from(step.lanes().div_ceil(64)) * 8;
            usize::try_from(gates.max(planes)).unwrap_or(usize::MAX)
        });
        frames.max().unwrap_or(0)
    }
}
