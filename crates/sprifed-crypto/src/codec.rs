//! Reading and writing bytes: lengths are checked before anything is allocated.

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
#[derive(Debug)]
pub struct Reader<'m> {
    rest: &'m [u8],
}

impl<'m> Reader<'m> {
    /// The whole message.
    #[must_use]
    pub const fn new(message: &'m [u8]) -> Self {
        Self { rest: message }
    }

    /// The next `len` bytes.
    ///
    /// # Errors
    /// When the message ends before.
    pub fn bytes(&mut self, len: usize) -> Result<&'m [u8], DecodeError> {
        let (bytes, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or(DecodeError::Truncated)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// The next bytes, as many as the array has.
    ///
    /// # Errors
    /// When the message ends before.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        self.bytes(N)?
            .try_into()
            .map_err(|_| DecodeError::Truncated)
    }

    /// The next byte.
    ///
    /// # Errors
    /// When the message ends before.
    pub fn byte(&mut self) -> Result<u8, DecodeError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    /// Reads the version, which must be `required`.
    ///
    /// # Errors
    /// When it is another one.
    pub fn version(&mut self, required: u8) -> Result<(), DecodeError> {
        match self.byte()? {
            found if found == required => Ok(()),
            found => Err(DecodeError::Version { found, required }),
        }
    }

    /// The next number, little-endian.
    ///
    /// # Errors
    /// When the message ends before.
    pub fn number(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// The next bytes, with their length before them.
    ///
    /// # Errors
    /// When the message ends before.
    pub fn sized(&mut self) -> Result<&'m [u8], DecodeError> {
        let len = self.number()? as usize;
        self.bytes(len)
    }

    /// A list of things that take at least `least` bytes each.
    ///
    /// # Errors
    /// When the message ends before.
    pub fn list<T>(
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

    /// Nothing is left.
    ///
    /// # Errors
    /// When something is.
    pub const fn end(self) -> Result<(), DecodeError> {
        match self.rest.len() {
            0 => Ok(()),
            found => Err(DecodeError::Trailing { found }),
        }
    }
}

/// A message in the making.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Appends bytes.
    pub fn put(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// The next number, little-endian.
    ///
    /// # Errors
    /// When the message ends before.
    /// Appends a number, little-endian.
    pub fn number(&mut self, number: u32) -> &mut Self {
        self.put(&number.to_le_bytes())
    }

    /// Appends a length.
    pub fn len(&mut self, len: usize) -> &mut Self {
        self.number(u32::try_from(len).unwrap_or(u32::MAX))
    }

    /// The next bytes, with their length before them.
    ///
    /// # Errors
    /// When the message ends before.
    /// Appends bytes after their length.
    pub fn sized(&mut self, bytes: &[u8]) -> &mut Self {
        self.len(bytes.len()).put(bytes)
    }

    /// The message.
    pub fn finish(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.bytes)
    }
}
