//! Where tests keep their files for the time that they run: in memory, where there is enough of it.
//!
//! Every role of a study syncs its state before it sends, several times for each sum, so that tests of studies mostly wait for
//! the disk. No test cuts the power.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Linux keeps files in memory.
const MEMORY: &str = "/dev/shm";

/// Kibibytes that must be free there; a run of all tests writes far less.
const ENOUGH: u64 = 1 << 20;

/// The variable that names the folder for temporary files.
const VARIABLE: &str = "TMPDIR";

/// A folder for temporary files that goes when this goes; none where the usual one is to be used.
#[derive(Debug)]
pub(crate) struct TestFolder(Option<PathBuf>);

impl TestFolder {
    /// A new folder in memory, unless the user names another place or there is too little.
    pub(crate) fn make() -> Self {
        let is_wanted = env::var_os(VARIABLE).is_none();
        let is_wanted = is_wanted && free_kibibytes(MEMORY).is_some_and(|free| free >= ENOUGH);
        Self(is_wanted.then(|| Path::new(MEMORY)).and_then(new_folder))
    }

    /// Lets `command` keep its temporary files here.
    pub(crate) fn lend_to<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        if let Some(path) = &self.0 {
            command.env(VARIABLE, path);
        }
        command
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// A new folder of this process in `place`; none if there cannot be one.
fn new_folder(place: &Path) -> Option<PathBuf> {
    let path = place.join(format!("sprifed-tests-{}", std::process::id()));
    fs::create_dir(&path).ok().map(|()| path)
}

/// How much more can be written at `place`; none where the system does not say.
fn free_kibibytes(place: &str) -> Option<u64> {
    let asked = Command::new("df").args(["-P", "-k", place]).output().ok()?;
    free_in(&String::from_utf8_lossy(&asked.stdout))
}

/// The fourth column of the second line.
fn free_in(table: &str) -> Option<u64> {
    let line = table.lines().nth(1)?;
    line.split_whitespace().nth(3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{TestFolder, VARIABLE, free_in, new_folder};

    #[test]
    fn free_space_is_the_fourth_column() {
        let table = "Filesystem 1024-blocks Used Available Capacity Mounted on\ntmpfs 65536 16 65520 1% /dev/shm\n";
        assert_eq!(free_in(table), Some(65_520));
        assert_eq!(free_in("Filesystem\n"), None);
        assert_eq!(free_in(""), None);
    }

    #[test]
    fn a_lent_folder_is_there_until_the_end_and_no_longer() {
        let path = new_folder(&std::env::temp_dir()).expect("a folder");
        assert!(new_folder(&std::env::temp_dir()).is_none(), "it is taken");
        let folder = TestFolder(Some(path.clone()));
        let mut command = Command::new("sprifed");
        let given: Vec<_> = folder.lend_to(&mut command).get_envs().collect();
        assert_eq!(given, [(VARIABLE.as_ref(), Some(path.as_os_str()))]);
        std::fs::write(path.join("state"), "kept").expect("written");
        drop(folder);
        assert!(std::fs::read(path.join("state")).is_err());
        assert_eq!(
            TestFolder(None).lend_to(&mut command).get_envs().count(),
            1,
            "without a folder nothing is set"
        );
    }
}
