//! What `cargo metadata` says about our own crates.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::error::XtaskError;

/// Our crates, what they depend on, and the layers they are meant to form.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// Lowest layer first.
    pub(crate) order: Vec<Vec<String>>,
    /// Crates that do no I/O and read neither a clock nor an entropy source.
    pub(crate) pure: Vec<String>,
    /// The crates of the workspace.
    pub(crate) packages: Vec<Package>,
}

/// One crate of the workspace.
#[derive(Debug)]
pub(crate) struct Package {
    /// Its package name.
    pub(crate) name: String,
    /// The text of its manifest, to find lines in.
    pub(crate) manifest: String,
    /// What it depends on.
    pub(crate) dependencies: Vec<Dependency>,
}

/// One dependency, of our own or from outside.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Dependency {
    /// The package name, also when the manifest renames it.
    pub(crate) name: String,
    /// When it is needed.
    #[serde(deserialize_with = "need")]
    pub(crate) kind: Need,
}

/// When a dependency is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// To build the crate itself.
    Build,
    /// Only to test it.
    Tests,
}

impl Workspace {
    /// Asks cargo, without touching the network or the lock file.
    pub(crate) fn load(root: &Path) -> Result<Self, XtaskError> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let failed = |reason: String| XtaskError::Command {
            command: format!("{} metadata", cargo.to_string_lossy()),
            reason,
        };
        let output = Command::new(&cargo)
            .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
            .current_dir(root)
            .output()
            .map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let metadata: Metadata =
            serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))?;
        let packages = metadata
            .packages
            .into_iter()
            .map(PackageMetadata::read)
            .collect::<Result<_, _>>()?;
        let Layers { order, pure } = metadata.metadata.layers;
        Ok(Self {
            order,
            pure,
            packages,
        })
    }

    /// Whether `name` is one of our crates.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.packages.iter().any(|package| package.name == name)
    }
}

impl Package {
    /// The line of the manifest that asks for `dependency`, counted from one.
    pub(crate) fn line_of(&self, dependency: &str) -> usize {
        let asks = |line: &str| {
            line.trim_start()
                .strip_prefix(dependency)
                .is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
        };
        self.manifest
            .lines()
            .position(asks)
            .map_or(1, |index| index + 1)
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<PackageMetadata>,
    metadata: WorkspaceTable,
}

#[derive(Deserialize)]
struct WorkspaceTable {
    layers: Layers,
}

#[derive(Deserialize)]
struct Layers {
    order: Vec<Vec<String>>,
    pure: Vec<String>,
}

#[derive(Deserialize)]
struct PackageMetadata {
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

impl PackageMetadata {
    fn read(self) -> Result<Package, XtaskError> {
        let Self {
            name,
            manifest_path,
            dependencies,
        } = self;
        let manifest = fs::read_to_string(&manifest_path).map_err(|source| XtaskError::File {
            path: manifest_path.into(),
            source,
        })?;
        Ok(Package {
            name,
            manifest,
            dependencies,
        })
    }
}

fn need<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Need, D::Error> {
    let kind = Option::<String>::deserialize(input)?;
    Ok(if kind.as_deref() == Some("dev") {
        Need::Tests
    } else {
        Need::Build
    })
}

#[cfg(test)]
mod tests {
    use super::{Dependency, Need};

    #[test]
    fn a_build_dependency_is_needed_to_build() {
        let needs = |text| {
            serde_json::from_str::<Dependency>(text)
                .expect("well-formed")
                .kind
        };
        assert_eq!(needs(r#"{"name": "a", "kind": null}"#), Need::Build);
        assert_eq!(needs(r#"{"name": "a", "kind": "build"}"#), Need::Build);
        assert_eq!(needs(r#"{"name": "a", "kind": "dev"}"#), Need::Tests);
    }
}
