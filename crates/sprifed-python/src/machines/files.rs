//! What is read from the disk: files, keys of 64 hexadecimal digits, and tables.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use sprifed_party::PartyTable;
use sprifed_secure_sum::ClientId;
use sprifed_study::{Agreed, Digest};
use sprifed_tables::read_table;
use zeroize::Zeroizing;

use super::failure::Failure;

pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(Failure::file("read", path))
}

/// What `path` holds, or nothing if there is no such file.
pub(super) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::file("read", path)(error)),
    }
}

/// A key of 64 hexadecimal digits.
pub(super) fn read_key(path: &Path) -> Result<Zeroizing<[u8; 32]>, Failure> {
    let text = Zeroizing::new(read(path)?);
    parse_key(&path.display().to_string(), &String::from_utf8_lossy(&text))
}

/// The key that `text` spells.
pub(super) fn parse_key(what: &str, text: &str) -> Result<Zeroizing<[u8; 32]>, Failure> {
    // The text is not repeated in the message: it may be most of a key.
    let key = Digest::try_from(text.trim().to_owned())
        .map_err(|_| Failure::unusable(what, "no key", "a key of 64 hexadecimal digits"))?;
    Ok(Zeroizing::new(key.0))
}

/// The table at `path` for the party `me`; it is not read yet.
pub(super) fn party_table(path: &Path, agreed: &Arc<Agreed>, me: ClientId) -> PartyTable {
    let own = path.to_owned();
    let read = move |schema: &_| read_table(&own, schema);
    PartyTable::new(&path.display().to_string(), agreed, me, read)
}
