//! What the program said in one test, without what differs from run to run, to be compared with a snapshot.

use core::fmt;

/// The shortest run of hexadecimal digits that is taken for a digest or a key.
const SHORTEST_DIGEST: usize = 16;

/// What was said, case by case.
pub(crate) struct Transcript {
    hidden: Vec<(String, String)>,
    text: String,
}

impl Transcript {
    /// An empty one, in which the folder of files of this test run has a name of its own.
    pub(crate) fn new() -> Self {
        let mut seen = Self {
            hidden: Vec::new(),
            text: String::new(),
        };
        seen.hide(env!("CARGO_TARGET_TMPDIR"), "[tmp]");
        seen
    }

    /// From now on writes `name` where `found` stands.
    pub(crate) fn hide(&mut self, found: impl Into<String>, name: &str) {
        self.hidden.push((found.into(), name.to_owned()));
    }

    /// From now on hides the word that follows `before` in `said`, behind the same words.
    pub(crate) fn hide_after(&mut self, before: &str, said: &str) {
        let (_, rest) = said.split_once(before).expect("it was said");
        let word = rest.split_whitespace().next().expect("a word follows");
        let word = word.trim_end_matches([',', ';', ':']);
        self.hide(format!("{before}{word}"), &format!("{before}[…]"));
    }

    /// Adds what was said in this case.
    pub(crate) fn add(&mut self, case: impl fmt::Display, said: &str) {
        let heading = format!("--- {case}");
        let mut entry = format!("{}\n{}\n", heading.trim_end(), said.trim_end());
        for (found, name) in &self.hidden {
            entry = entry.replace(found, name);
        }
        self.text += &without_digests(&entry);
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// `text` with the length of each digest in its place. Digits behind a decimal point are no digest.
fn without_digests(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        shown += &rest[..start];
        rest = &rest[start..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric());
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        let is_digest = word.len() >= SHORTEST_DIGEST
            && word.bytes().all(|byte| byte.is_ascii_hexdigit())
            && !shown.ends_with('.');
        if is_digest {
            shown += &format!("[{} digits]", word.len());
        } else {
            shown += word;
        }
        rest = after;
    }
    shown + rest
}

#[test]
fn a_transcript_hides_names_and_digests_and_nothing_else() {
    let mut seen = Transcript::new();
    seen.hide("/data/one", "[one]");
    seen.hide_after("it had ", "it had 43, but");
    let digest = "0123456789abcdef".repeat(4);
    seen.add(
        "first",
        &format!("/data/one/study-{} {digest}!\n", &digest[..16]),
    );
    seen.add(
        "second",
        "it had 43; epsilon = 0.1234567890123456789, 43 features: deadbeef",
    );
    assert_eq!(
        seen.to_string(),
        "--- first\n[one]/study-[16 digits] [64 digits]!\n\
         --- second\nit had […]; epsilon = 0.1234567890123456789, 43 features: deadbeef\n"
    );
}
