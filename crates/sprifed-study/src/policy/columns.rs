//! Which columns a party lets a study use.

/// Whether `name` is the name that `pattern` spells, in which `*` matches any characters, or none.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut left) = name.strip_prefix(first) else {
        return false;
    };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    // Each part is matched at its first place, so that the rest is as long as possible.
    for part in middle.split('*') {
        let Some(place) = left.find(part) else {
            return false;
        };
        left = left.get(place + part.len()..).unwrap_or_default();
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_matches_any_characters() {
        for (pattern, name) in [
            ("age", "age"),
            ("*", ""),
            ("*", "anything"),
            ("m*", "m"),
            ("m*", "m51"),
            ("*_lab", "crp_lab"),
            ("a*b*c", "abc"),
            ("a*b*c", "a-b-b-c"),
            ("a**c", "abc"),
            ("lab_*_2024", "lab_crp_2024"),
            ("é*", "été"),
            ("a*", "a*b"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("", "a"),
            ("age", "age2"),
            ("age", "Age"),
            ("m*", "xm"),
            ("*m", "mx"),
            ("a*b*c", "acb"),
            ("ab*ba", "aba"),
            ("a*b*b", "ab"),
            ("m?", "m1"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
