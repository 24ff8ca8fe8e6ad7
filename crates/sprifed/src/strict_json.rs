//! JSON that says one thing to every reader: no key stands twice, and nothing is in it that was not read.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::Serialize;
use serde_json::Value;

/// The value that `text` spells.
///
/// # Why
/// Of a key that stands twice some readers believe the first and some the last.
///
/// # Errors
/// When it is not JSON, or an object in it has a key twice.
pub fn parse_strictly(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str::<UniqueKeys>(text)?;
    serde_json::from_str(text)
}

/// What `read` has and `known`, made of it, has not: its path.
///
/// # Why
/// Readers skip fields that they do not know; whoever looks at the file does not.
pub(crate) fn unknown_part(read: &Value, known: &impl Serialize) -> Option<String> {
    let known = serde_json::to_value(known).unwrap_or_default();
    difference(read, &known, &mut String::new())
}

fn difference(read: &Value, known: &Value, path: &mut String) -> Option<String> {
    let parts: Vec<(String, &Value, Option<&Value>)> = match (read, known) {
        (Value::Object(read), Value::Object(known)) => {
            let part = |(key, value): (&String, _)| (key.clone(), value, known.get(key));
            read.iter().map(part).collect()
        }
        (Value::Array(read), Value::Array(known)) => {
            let part = |(place, value): (usize, _)| (place.to_string(), value, known.get(place));
            read.iter().enumerate().map(part).collect()
        }
        _ if read == known => return None,
        // A whole number may be spelled without a point.
        (Value::Number(read), Value::Number(known))
            if known.is_f64() && read.as_f64() == known.as_f64() =>
        {
            return None;
        }
        _ => return Some(path.clone()),
    };
    for (name, read, known) in parts {
        let length = path.len();
        path.push('/');
        path.push_str(&name);
        let Some(known) = known else {
            return Some(path.clone());
        };
        let found = difference(read, known, path);
        if found.is_some() {
            return found;
        }
        path.truncate(length);
    }
    None
}

/// Any JSON in which no object has a key twice.
struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = fields.next_key::<String>()? {
            fields.next_value::<Self>()?;
            if let Some(twice) = keys.replace(key) {
                return Err(A::Error::custom(format!("the key {twice:?} stands twice")));
            }
        }
        Ok(self)
    }
}
