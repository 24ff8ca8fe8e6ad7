//! Comparisons of one vector, and the rule that none of its expectations is passed over.

use std::collections::BTreeSet;
use std::fmt::Display;

use num_rational::BigRational;

use crate::vector::{BadVector, Vector, exact, number};

/// What has been compared so far, and what did not agree.
#[derive(Debug)]
pub(crate) struct Verdict<'a> {
    vector: &'a Vector,
    seen: BTreeSet<String>,
    complaints: Vec<String>,
    reference_fault: Option<&'static str>,
}

impl<'a> Verdict<'a> {
    pub(crate) const fn new(vector: &'a Vector) -> Self {
        Self {
            vector,
            seen: BTreeSet::new(),
            complaints: Vec::new(),
            reference_fault: None,
        }
    }

    /// The expected number under `key`, which thereby counts as looked at.
    pub(crate) fn expected(&mut self, key: &str) -> Result<f64, BadVector> {
        self.seen.insert(key.to_owned());
        number(self.vector.expected.get(key)).ok_or_else(|| BadVector::Field(key.to_owned()))
    }

    /// |found − expected| ≤ tolerance·|expected|.
    pub(crate) fn relative(
        &mut self,
        key: &str,
        found: f64,
        tolerance: f64,
    ) -> Result<(), BadVector> {
        let slack = |expected: f64| tolerance * expected.abs();
        self.within(key, found, slack)
    }

    /// |found − expected| ≤ tolerance.
    pub(crate) fn absolute(
        &mut self,
        key: &str,
        found: f64,
        tolerance: f64,
    ) -> Result<(), BadVector> {
        self.within(key, found, |_| tolerance)
    }

    /// |found − expected| ≤ slack(expected).
    fn within(
        &mut self,
        key: &str,
        found: f64,
        slack: impl FnOnce(f64) -> f64,
    ) -> Result<(), BadVector> {
        let expected = self.expected(key)?;
        self.require(key, found, expected, slack(expected));
        Ok(())
    }

    /// An upper bound: exactly never below what is expected, and above it by at most a relative
    /// `tolerance` or the smallest double.
    pub(crate) fn upper_bound(
        &mut self,
        key: &str,
        found: f64,
        tolerance: f64,
    ) -> Result<(), BadVector> {
        let expected = exact(self.vector.expected.get(key));
        let expected = expected.ok_or_else(|| BadVector::Field(key.to_owned()))?;
        if BigRational::from_float(found).is_none_or(|found| found < expected) {
            self.complain(format!("{key}: found {found:e}, which is below {expected}"));
        }
        let expected = self.expected(key)?;
        let most = expected * (1.0 + tolerance) + f64::from_bits(1);
        self.not_above(key, found, most);
        Ok(())
    }

    /// The same integer or fraction.
    pub(crate) fn exactly(&mut self, key: &str, found: &BigRational) -> Result<(), BadVector> {
        self.seen.insert(key.to_owned());
        let expected = exact(self.vector.expected.get(key));
        let expected = expected.ok_or_else(|| BadVector::Field(key.to_owned()))?;
        if &expected != found {
            self.complain(format!("{key}: found {found}, expected exactly {expected}"));
        }
        Ok(())
    }

    /// The same text or truth value.
    pub(crate) fn same(&mut self, key: &str, found: impl Display) -> Result<(), BadVector> {
        self.seen.insert(key.to_owned());
        let expected = self.vector.expected.get(key);
        let expected = expected.ok_or_else(|| BadVector::Field(key.to_owned()))?;
        let required = expected
            .as_str()
            .map_or_else(|| expected.to_string(), str::to_owned);
        if required != found.to_string() {
            self.complain(format!("{key}: found {found}, expected {required}"));
        }
        Ok(())
    }

    /// |found − expected| ≤ tolerance, for an expectation inside a list or an object.
    pub(crate) fn require(&mut self, what: &str, found: f64, expected: f64, tolerance: f64) {
        let near = expected.is_finite() && (found - expected).abs() <= tolerance;
        #[expect(clippy::float_cmp, reason = "equal infinities have no difference")]
        if !near && found != expected {
            self.complain(format!(
                "{what}: found {found:e}, expected {expected:e} within {tolerance:e}"
            ));
        }
    }

    /// A direction in which a certified number may not err.
    pub(crate) fn not_below(&mut self, what: &str, found: f64, least: f64) {
        if found.is_nan() || found < least {
            self.complain(format!(
                "{what}: found {found:e}, which must not be below {least:e}"
            ));
        }
    }

    /// The other direction.
    pub(crate) fn not_above(&mut self, what: &str, found: f64, most: f64) {
        if found.is_nan() || found > most {
            self.complain(format!(
                "{what}: found {found:e}, which must not be above {most:e}"
            ));
        }
    }

    /// Marks an expectation as compared by other means, or as prose.
    pub(crate) fn looked_at(&mut self, key: &str) {
        self.seen.insert(key.to_owned());
    }

    /// Says that the vector's value contradicts the vector's own formula, so that the formula was
    /// judged instead. Such vectors are counted and reported.
    pub(crate) fn reference_is_at_fault(&mut self, why: &'static str) {
        self.reference_fault = Some(why);
    }

    pub(crate) const fn reference_fault(&self) -> Option<&'static str> {
        self.reference_fault
    }

    pub(crate) fn complain(&mut self, complaint: String) {
        self.complaints.push(complaint);
    }

    pub(crate) fn is_passed(&self) -> bool {
        self.complaints.is_empty() && self.overlooked().next().is_none()
    }

    pub(crate) fn into_complaints(self) -> Vec<String> {
        let overlooked = self
            .overlooked()
            .map(|key| format!("{key}: expected, but not compared"));
        let overlooked: Vec<String> = overlooked.collect();
        let mut complaints = self.complaints;
        complaints.extend(overlooked);
        complaints
    }

    fn overlooked(&self) -> impl Iterator<Item = &String> {
        self.vector
            .expected
            .keys()
            .filter(|key| !self.seen.contains(*key))
    }
}
