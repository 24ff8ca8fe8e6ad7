//! What a trustee tells the coordinator about an attempt, for clients to check.

use sprifed_crypto::codec::{DecodeError, Reader, Writer};
use sprifed_crypto::identity::ClientId;

use crate::attempt_id::{AttemptId, VERSION};
use crate::set::{Counted, Statement, outcome_digest};
use crate::step::Output;
use crate::trustee_id::TrusteeId;

/// An outcome with the signature of one trustee. A client goes on only with those of all three.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeReport {
    /// Which attempt.
    pub attempt: AttemptId,
    /// Whose report.
    pub trustee: TrusteeId,
    /// The digest of the set.
    pub set: [u8; 32],
    /// Whose numbers are in it, and whose were left out.
    pub clients: Counted,
    /// What came out.
    pub output: Output,
    /// The trustee's signature.
    pub signature: [u8; 64],
}

impl OutcomeReport {
    /// Whether the trustee with this identity signed the report.
    #[must_use]
    pub fn is_signed(&self, identity: &[u8; 32]) -> bool {
        Statement::Outcome.is_signed(identity, &self.digest(), &self.signature)
    }

    /// What the trustee signed.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        outcome_digest(&self.attempt, &self.set, &self.clients, &self.output)
    }

    /// The bytes on the wire.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.put(&[VERSION]);
        self.attempt.write(&mut writer);
        writer.put(&[self.trustee.share()]).put(&self.set);
        for list in [&self.clients.inside, &self.clients.outside] {
            writer.len(list.len());
            for client in list {
                writer.number(client.0);
            }
        }
        match &self.output {
            Output::Index(index) => {
                writer.put(&[1]).number(*index);
            }
            Output::Sums(sums) => {
                writer.put(&[2]).len(sums.len());
                for sum in sums {
                    writer.put(&sum.to_le_bytes());
                }
            }
        }
        writer.put(&self.signature).finish()
    }

    /// The report with these bytes.
    ///
    /// # Errors
    /// When there is none.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        reader.version(VERSION)?;
        let list =
            |reader: &mut Reader<'_>| reader.list(4, |reader| Ok(ClientId(reader.number()?)));
        let report = Self {
            attempt: AttemptId::read(&mut reader)?,
            trustee: TrusteeId::new(reader.byte()?)
                .ok_or(DecodeError::Unknown { what: "a trustee" })?,
            set: reader.array()?,
            clients: Counted {
                inside: list(&mut reader)?,
                outside: list(&mut reader)?,
            },
            output: match reader.byte()? {
                1 => Output::Index(reader.number()?),
                2 => {
                    Output::Sums(reader.list(8, |reader| Ok(i64::from_le_bytes(reader.array()?)))?)
                }
                _ => return Err(DecodeError::Unknown { what: "an output" }),
            },
            signature: reader.array()?,
        };
        reader.end()?;
        Ok(report)
    }
}
