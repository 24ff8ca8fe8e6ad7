//! The files of the project, read once, so that every check is a function of its input.
//!
//! A check over a value in memory can be shown a bad sample; a check over a folder cannot.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use crate::error::XtaskError;

/// Every file of the project by its path from the root, with `/` between the parts.
#[derive(Debug, Default)]
pub(crate) struct Repository {
    files: BTreeMap<String, Vec<u8>>,
}

impl Repository {
    /// Reads the files that git tracks or would track; without git, all but build output.
    pub(crate) fn load(root: &Path) -> Result<Self, XtaskError> {
        let paths = match listed_by_git(root) {
            Some(paths) => paths,
            None => walked(root)?,
        };
        let mut files = BTreeMap::new();
        for path in paths {
            let full = root.join(&path);
            match fs::read(&full) {
                Ok(bytes) => files.insert(path, bytes),
                // Deleted in the work tree but still in the index: it is gone.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(source) => return Err(XtaskError::File { path: full, source }),
            };
        }
        Ok(Self { files })
    }

    /// A repository of these files only.
    #[cfg(test)]
    pub(crate) fn sample<const N: usize>(files: [(&str, &str); N]) -> Self {
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        Self {
            files: BTreeMap::from(files),
        }
    }

    /// All files, in order of path.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files
            .iter()
            .map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    /// All files that are text, in order of path.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files()
            .filter_map(|(path, bytes)| Some((path, str::from_utf8(bytes).ok()?)))
    }

    /// All texts whose name ends in one of `extensions`.
    pub(crate) fn texts_ending(&self, extensions: &[&str]) -> impl Iterator<Item = (&str, &str)> {
        self.texts()
            .filter(|(path, _)| extensions.iter().any(|end| path.ends_with(end)))
    }

    /// The text at `path`.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        str::from_utf8(self.files.get(path)?).ok()
    }

    /// Each crate folder under `crates/` with the text of its manifest.
    pub(crate) fn crates(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter_map(|(path, text)| {
            let folder = path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
            (!folder.contains('/')).then_some((folder, text))
        })
    }
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    let listing = String::from_utf8(output.stdout).ok()?;
    let paths: Vec<String> = listing
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect();
    (!paths.is_empty()).then_some(paths)
}

fn walked(root: &Path) -> Result<Vec<String>, XtaskError> {
    let mut paths = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let full = root.join(&folder);
        let entries =
            fs::read_dir(&full).map_err(|source| XtaskError::File { path: full, source })?;
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if BUILD_OUTPUT.contains(&name.as_str()) {
                continue;
            }
            let path = if folder.is_empty() {
                name
            } else {
                format!("{folder}/{name}")
            };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() => paths.push(path),
                _ => {}
            }
        }
    }
    Ok(paths)
}

const BUILD_OUTPUT: [&str; 5] = [".git", ".venv", "__pycache__", "sprifed-demo", "target"];

#[cfg(test)]
mod tests {
    use super::{Repository, listed_by_git, walked};

    #[test]
    fn both_ways_of_listing_find_this_file() {
        let root = crate::root();
        let this = "crates/xtask/src/repository.rs".to_owned();
        assert!(walked(&root).expect("the root is a folder").contains(&this));
        if let Some(paths) = listed_by_git(&root) {
            assert!(paths.contains(&this));
        }
    }

    #[test]
    fn only_folders_directly_under_crates_are_crates() {
        let repository = Repository::sample([
            ("Cargo.toml", ""),
            ("crates/one/Cargo.toml", "a"),
            ("crates/one/tests/inner/Cargo.toml", "b"),
        ]);
        assert_eq!(repository.crates().collect::<Vec<_>>(), [("one", "a")]);
    }
}
