//! Checks text from other parties that people will read: it must not control a terminal or hide
//! from a reader.

use sprifed_schema::DataTerms;

use crate::agreement::{Agreement, IllegalAgreement};

/// The longest title, in characters.
const LONGEST_TITLE: usize = 200;

/// The longest name of a party, in characters.
const LONGEST_NAME: usize = 100;

/// The most characters of a refused text that are shown.
const SHOWN: usize = 40;

/// Refuses an agreement whose texts are too long, empty, or more than plain text.
pub(crate) fn check_texts(agreement: &Agreement) -> Result<(), IllegalAgreement> {
    check_line("the title", &agreement.title, LONGEST_TITLE)?;
    check_line("the purpose", &agreement.purpose, LONGEST_TITLE)?;
    for party in &agreement.parties {
        check_line("a party's name", &party.name, LONGEST_NAME)?;
    }
    for trustee in agreement.trustees.iter().flatten() {
        check_line("a trustee's name", &trustee.name, LONGEST_NAME)?;
    }
    check_line(
        "the plan's procedure",
        &agreement.plan.procedure,
        LONGEST_TITLE,
    )?;
    agreement.data.as_ref().map_or(Ok(()), check_data)
}

fn check_line(what: &'static str, text: &str, longest: usize) -> Result<(), IllegalAgreement> {
    let length = text.chars().count();
    if length == 0 || length > longest {
        return Err(IllegalAgreement::Contradiction {
            what,
            found: format!("{length} characters long"),
            required: format!("1 to {longest}"),
        });
    }
    check_characters(what, text, is_deceiving)
}

/// The text of a schema has lines; the name of a feature has not.
fn check_data(data: &DataTerms) -> Result<(), IllegalAgreement> {
    let in_document =
        |character: char| !matches!(character, '\n' | '\r' | '\t') && is_deceiving(character);
    check_characters("the schema", data.schema_text(), in_document)?;
    let bounds = data.bounds_text().unwrap_or_default();
    check_characters("the bounds file", bounds, in_document)?;
    let mut names = data.features().iter();
    names.try_for_each(|name| check_characters("the name of a feature", name, is_deceiving))
}

fn check_characters(
    what: &'static str,
    text: &str,
    is_forbidden: impl Fn(char) -> bool,
) -> Result<(), IllegalAgreement> {
    if !text.chars().any(is_forbidden) {
        return Ok(());
    }
    let shown: String = text.chars().take(SHOWN).collect();
    Err(IllegalAgreement::Contradiction {
        what,
        // As ASCII, so that the message does not contain the refused characters.
        found: format!("\"{}\"", shown.escape_default()),
        required: "text without control characters and invisible ones".to_owned(),
    })
}

/// Control characters, and those that are invisible or turn the direction of what follows.
fn is_deceiving(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}
