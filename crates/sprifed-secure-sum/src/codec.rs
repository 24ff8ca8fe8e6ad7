//! Reading and writing bytes: lengths are checked before anything is allocated.

use crate::client_set::ClientSet;
use crate::study::VERSION;

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The message ends too early, or says it is longer than it is.
    #[error("the message ends before its content does")]
    Truncated,
    /// There are bytes after the end.
    #[error("the message has {found} bytes after its end")]
    Trailing {
        /// Bytes too many.
        found: usize,
    },
    /// The message is of another version.
    #[error("the message is of version {found}, but version {required} is required")]
    Version {
        /// The version of the message.
        found: u8,
        /// The version of this program.
        required: u8,
    },
    /// A tag or set that no encoder writes.
    #[error("the message contains {what} that does not exist")]
    Unknown {
        /// What it is.
        what: &'static str,
    },
}

/// What is left of a message.
pub(crate) struct Reader<'m> {
    rest: &'m [u8],
}

impl<'m> Reader<'m> {
    pub(crate) const fn new(message: &'m [u8]) -> Self {
        Self { rest: message }
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Result<&'m [u8], DecodeError> {
        let (bytes, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or(DecodeError::Truncated)?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        self.bytes(N)?
            .try_into()
            .map_err(|_| DecodeError::Truncated)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, DecodeError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    /// Reads the version, which must be the current one.
    pub(crate) fn version(&mut self) -> Result<(), DecodeError> {
        match self.byte()? {
            VERSION => Ok(()),
            found => Err(DecodeError::Version {
                found,
                required: VERSION,
            }),
        }
    }

    pub(crate) fn number(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn sized(&mut self) -> Result<&'m [u8], DecodeError> {
        let len = self.number()? as usize;
        self.bytes(len)
    }

    /// A list of things that take at least `least` bytes each.
    pub(crate) fn list<T>(
        &mut self,
        least: usize,
        mut read: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let count = self.number()? as usize;
        if count
            .checked_mul(least)
            .is_none_or(|total| total > self.rest.len())
        {
            return Err(DecodeError::Truncated);
        }
        (0..count).map(|_| read(self)).collect()
    }

    pub(crate) fn clients(&mut self) -> Result<ClientSet, DecodeError> {
        let n_clients = self.number()?;
        let bits = self.bytes(n_clients.div_ceil(8) as usize)?;
        ClientSet::from_bytes(n_clients, bits).ok_or(DecodeError::Unknown { what: "a set" })
    }

    pub(crate) const fn end(self) -> Result<(), DecodeError> {
        match self.rest.len() {
            0 => Ok(()),
            found => Err(DecodeError::Trailing { found }),
        }
    }
}

/// A message in the making.
#[derive(Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn put(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    pub(crate) fn number(&mut self, number: u32) -> &mut Self {
        self.put(&number.to_le_bytes())
    }

    pub(crate) fn len(&mut self, len: usize) -> &mut Self {
        self.number(u32::try_from(len).unwrap_or(u32::MAX))
    }

    pub(crate) fn sized(&mut self, bytes: &[u8]) -> &mut Self {
        self.len(bytes.len()).put(bytes)
    }

    pub(crate) fn clients(&mut self, clients: &ClientSet) -> &mut Self {
        self.number(clients.n_clients()).put(clients.as_bytes())
    }

    pub(crate) fn finish(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.bytes)
    }
}
