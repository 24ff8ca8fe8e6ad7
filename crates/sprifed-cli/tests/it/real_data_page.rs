//! The tables of the page about real data say what the files of the runs say.

use std::path::Path;
use std::process::Command;

use crate::process::output_of;

#[test]
#[expect(clippy::disallowed_methods, reason = "a test of a script")]
fn the_page_about_real_data_shows_what_its_files_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/real_data");
    let mut check = Command::new("python3");
    check
        .args(["-B", "tables.py", "--check"])
        .current_dir(folder);
    assert!(
        output_of(&mut check).status.success(),
        "write docs/real-data.md again: python3 examples/real_data/tables.py"
    );
}
