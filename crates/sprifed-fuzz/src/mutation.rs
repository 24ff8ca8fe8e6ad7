//! Changes of an input that are likely to reach further than random bytes; the same number gives the same changes.

use serde_json::Value;

/// How inputs of a target are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Byte by byte.
    Bytes,
    /// Value by value of a JSON document, and now and then byte by byte.
    Json,
    /// Word by word, and now and then byte by byte.
    Text,
}

/// Inputs longer than this are cut.
const LONGEST: usize = 1 << 17;

const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "-1",
    "2",
    "255",
    "256",
    "65535",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "-9223372036854775808",
    "0.5",
    "-0.0",
    "1e-320",
    "1e308",
    "-1e308",
    "1e17",
    "4503599627370497.5",
    "1e-9",
];

const WORDS: [&str; 12] = [
    "nan",
    "inf",
    "-inf",
    "true",
    "false",
    "[]",
    "{}",
    "\"\"",
    "null",
    "\"\\u0000\"",
    "[[1]]",
    "=",
];

/// A stream of changes.
#[derive(Debug)]
pub(crate) struct Mutator(u64);

impl Mutator {
    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, or 0.
    #[expect(clippy::cast_possible_truncation, reason = "below a usize")]
    fn below(&mut self, end: usize) -> usize {
        (self.next() % (end.max(1) as u64)) as usize
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A change of one of `inputs`, the later ones more often.
    pub(crate) fn changed(&mut self, kind: Kind, inputs: &[Vec<u8>]) -> Vec<u8> {
        let place = self.below(inputs.len()).max(self.below(inputs.len()));
        let Some(base) = inputs.get(place) else {
            return Vec::new();
        };
        let by_byte = self.below(8) == 0;
        let mut changed = match kind {
            Kind::Json if !by_byte => self.json(base),
            Kind::Text if !by_byte => self.text(base),
            _ => self.bytes(base, inputs),
        };
        changed.truncate(LONGEST);
        changed
    }

    fn bytes(&mut self, base: &[u8], inputs: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = base.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            let end = (at + 1 + self.below(8)).min(bytes.len());
            match self.below(8) {
                0 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
                1 if !bytes.is_empty() => bytes[at] = self.one_of(&[0, 1, 2, 127, 128, 255]),
                2 => bytes.insert(at, self.next().to_le_bytes()[0]),
                3 => drop(bytes.drain(at..end)),
                4 => {
                    let part = bytes[at..end].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, part);
                }
                5 => {
                    let other = &inputs[self.below(inputs.len())];
                    let from = self.below(other.len());
                    bytes.truncate(at);
                    bytes.extend_from_slice(&other[from..]);
                }
                6 => bytes.truncate(at),
                _ if !bytes.is_empty() => bytes[at] = self.next().to_le_bytes()[0],
                _ => {}
            }
        }
        bytes
    }

    /// Replaces a run of letters and digits by a number or a word of another kind.
    fn text(&mut self, base: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(base).into_owned();
        let is_word = |letter: char| letter.is_alphanumeric() || "+-._".contains(letter);
        let mut words: Vec<(usize, usize)> = Vec::new();
        for (at, letter) in text.char_indices() {
            match words.last_mut() {
                Some((_, end)) if *end == at && is_word(letter) => *end = at + letter.len_utf8(),
                _ if is_word(letter) => words.push((at, at + letter.len_utf8())),
                _ => {}
            }
        }
        let Some((from, to)) = words.get(self.below(words.len())).copied() else {
            return base.to_vec();
        };
        let new = match self.below(4) {
            0 => self.one_of(&WORDS).to_owned(),
            1 => {
                let (from, to) = words[self.below(words.len())];
                text[from..to].to_owned()
            }
            2 => String::new(),
            _ => self.one_of(&NUMBERS).to_owned(),
        };
        [&text[..from], &new, &text[to..]].concat().into_bytes()
    }

    fn json(&mut self, base: &[u8]) -> Vec<u8> {
        let Ok(mut document) = serde_json::from_slice::<Value>(base) else {
            return self.text(base);
        };
        for _ in 0..=self.below(3) {
            let n_nodes = count(&document);
            let mut donor = self.below(n_nodes);
            let donated = node(&mut document, &mut donor).cloned().unwrap_or_default();
            let mut at = self.below(n_nodes);
            if let Some(node) = node(&mut document, &mut at) {
                self.change_node(node, donated);
            }
        }
        serde_json::to_vec_pretty(&document).unwrap_or_default()
    }

    fn change_node(&mut self, node: &mut Value, donated: Value) {
        match node {
            Value::Array(items) if self.below(4) > 0 => {
                let at = self.below(items.len());
                match self.below(4) {
                    0 if !items.is_empty() => drop(items.remove(at)),
                    1 if !items.is_empty() => items.insert(at, items[at].clone()),
                    2 if !items.is_empty() => items.swap(0, at),
                    _ => items.push(donated),
                }
            }
            Value::Object(fields) if self.below(4) > 0 => {
                let names: Vec<String> = fields.keys().cloned().collect();
                let name = names.get(self.below(names.len())).cloned();
                match (self.below(3), name) {
                    (0, Some(name)) => drop(fields.remove(&name)),
                    (1, Some(name)) => drop(fields.insert(name, donated)),
                    _ => drop(fields.insert("another".to_owned(), donated)),
                }
            }
            Value::String(text) if self.below(2) == 0 => {
                *text = String::from_utf8_lossy(&self.text(text.as_bytes())).into_owned();
            }
            Value::Number(number) if self.below(2) == 0 => {
                let near = number.as_f64().unwrap_or(0.0);
                let near = self.one_of(&[near + 1.0, near - 1.0, near * 2.0, -near, near / 2.0]);
                let whole = number.as_i64().and_then(|whole| {
                    let step = self.one_of(&[1, -1, whole]);
                    whole.checked_add(step)
                });
                *node = whole.map_or_else(|| Value::from(near), Value::from);
            }
            _ => {
                *node = match self.below(5) {
                    0 => donated,
                    1 => Value::Null,
                    2 => Value::from("x".repeat(1 << self.below(12))),
                    3 => serde_json::from_str(self.one_of(&WORDS)).unwrap_or_default(),
                    _ => serde_json::from_str(self.one_of(&NUMBERS)).unwrap_or_default(),
                }
            }
        }
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// The node that comes after `before` others, in the order in which they are written.
fn node<'a>(value: &'a mut Value, before: &mut usize) -> Option<&'a mut Value> {
    if *before == 0 {
        return Some(value);
    }
    *before -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| node(item, before)),
        Value::Object(fields) => fields.values_mut().find_map(|item| node(item, before)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Mutator};

    #[test]
    fn the_same_number_makes_the_same_changes() {
        let seed = vec![br#"{"a": [1, 2.5, "x"], "b": {"c": null}}"#.to_vec()];
        for kind in [Kind::Bytes, Kind::Json, Kind::Text] {
            let changes = |number| -> Vec<Vec<u8>> {
                let mut mutator = Mutator::new(number);
                (0..500).map(|_| mutator.changed(kind, &seed)).collect()
            };
            assert_eq!(changes(1), changes(1));
            assert_ne!(changes(1), changes(2));
            let others = changes(1).into_iter().filter(|input| *input != seed[0]);
            assert!(others.count() > 400, "{kind:?}");
        }
    }

    #[test]
    fn inputs_of_any_length_are_changed() {
        for seeds in [vec![], vec![vec![]], vec![vec![7]], vec![b"[]".to_vec()]] {
            let mut mutator = Mutator::new(3);
            for kind in [Kind::Bytes, Kind::Json, Kind::Text] {
                (0..500).for_each(|_| drop(mutator.changed(kind, &seeds)));
            }
        }
    }
}
