//! One violated rule, where it is, and what to do about it.

use std::fmt;

/// A violated rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: Option<usize>,
    problem: String,
    remedy: String,
}

impl Finding {
    /// A rule broken by the file at `path` as a whole.
    pub(crate) fn in_file(
        path: impl Into<String>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            path: path.into(),
            line: None,
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// The same finding, at line `line`, counted from one.
    pub(crate) fn at_line(self, line: usize) -> Self {
        Self {
            line: Some(line),
            ..self
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            problem,
            remedy,
        } = self;
        match line {
            Some(line) => writeln!(f, "{path}:{line}: {problem}")?,
            None => writeln!(f, "{path}: {problem}")?,
        }
        writeln!(f, "    {remedy}")
    }
}

/// What a check found, and what it wants the reader to know besides.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Violations: any of them fails the check.
    pub(crate) findings: Vec<Finding>,
    /// Remarks that fail nothing.
    pub(crate) notes: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        for finding in &self.findings {
            write!(f, "{finding}")?;
        }
        writeln!(f, "{} findings", self.findings.len())
    }
}

#[cfg(test)]
mod tests {
    use super::Finding;

    #[test]
    fn a_finding_says_where_and_what_to_do() {
        let finding = Finding::in_file("a.rs", "is too long", "split it").at_line(7);
        assert_eq!(finding.to_string(), "a.rs:7: is too long\n    split it\n");
    }
}
