//! A stretch of a chromosome, by which genetic markers are chosen: where a marker lies is public.

use crate::marker::Marker;

/// A chromosome, or a stretch of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    text: String,
    chromosome: String,
    /// The first and the last position; absent for the whole chromosome.
    ends: Option<(u64, u64)>,
}

impl Region {
    /// The region that `text` names: `6`, or `6:25000000-35000000` with both ends inside.
    ///
    /// # Errors
    /// With what is required, if it is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let required = || {
            "must be a chromosome, such as 6, or a stretch of one, such as 6:25000000-35000000"
                .to_owned()
        };
        let (chromosome, ends) = match text.rsplit_once(':') {
            None => (text, None),
            Some((chromosome, ends)) => {
                let ends = ends.split_once('-').and_then(|(first, last)| {
                    let ends: (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
                    (ends.0 <= ends.1).then_some(ends)
                });
                (chromosome, Some(ends.ok_or_else(required)?))
            }
        };
        if chromosome.trim().is_empty() {
            return Err(required());
        }
        Ok(Self {
            text: text.to_owned(),
            chromosome: chromosome.to_owned(),
            ends,
        })
    }

    /// The region as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the marker lies inside; one whose position is not known lies in no stretch.
    #[must_use]
    pub fn holds(&self, marker: &Marker) -> bool {
        marker.chromosome == self.chromosome
            && self.ends.is_none_or(|(first, last)| {
                marker
                    .position
                    .is_some_and(|position| (first..=last).contains(&position))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::{Marker, Region};

    fn marker(chromosome: &str, position: Option<u64>) -> Marker {
        Marker {
            chromosome: chromosome.to_owned(),
            position,
            effect_allele: "A".to_owned(),
            other_allele: "G".to_owned(),
        }
    }

    #[test]
    fn a_region_has_both_its_ends() {
        let region = Region::parse("6:100-200").expect("a region");
        let holds = |chromosome, position| region.holds(&marker(chromosome, position));
        assert!(holds("6", Some(100)) && holds("6", Some(200)));
        assert!(!holds("6", Some(99)) && !holds("6", Some(201)));
        assert!(!holds("16", Some(150)) && !holds("6", None));
        let whole = Region::parse("6").expect("a region");
        assert!(whole.holds(&marker("6", None)) && !whole.holds(&marker("X", Some(1))));
    }

    #[test]
    fn what_is_no_region_is_refused() {
        for text in ["", ":1-2", "6:", "6:1", "6:2-1", "6:a-b", "6:-5-7", "6:1-"] {
            assert!(Region::parse(text).is_err(), "{text}");
        }
    }
}
