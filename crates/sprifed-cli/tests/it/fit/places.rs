//! Where a fit writes: names that cannot be written, inputs, and what is no file.

use super::table::Folder;
use crate::command::{Ended, answer, run};

/// Fits into `out` with a ledger.
fn fit(folder: &Folder, out: &str, options: &[&str]) -> Ended {
    let [data, schema, ledger] =
        ["data.csv", "schema.toml", "ledger"].map(|name| folder.path(name));
    let fixed = ["fit", &data, "--schema", &schema, "--ledger", &ledger];
    let asked = ["--sparsity", "3", "--epsilon", "3", "--json", "--out", out];
    run(fixed.iter().chain(&asked).chain(options))
}

fn code_of(ended: &Ended) -> String {
    let code = &ended.json()["error"]["code"];
    code.as_str().unwrap_or_default().to_owned()
}

/// Whether a fit was entered into the ledger.
fn is_entered(folder: &Folder) -> bool {
    let ledger = folder.path("ledger");
    let is_there = std::path::Path::new(&ledger).exists();
    let lines = || answer(&format!("ledger show {ledger}"))["lines"].take();
    is_there && lines().as_array().is_some_and(|lines| !lines.is_empty())
}

#[cfg(unix)]
#[test]
fn a_name_that_cannot_be_written_is_refused_before_anything_is_spent() {
    let folder = Folder::new("places");
    std::os::unix::fs::symlink("nowhere", folder.path("link.json")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path("socket")).unwrap();
    let files = folder.files();
    let long = "m".repeat(300);
    for (name, force, code) in [
        ("link.json", false, "sprifed::file::exists"),
        ("data.csv/", true, "sprifed::file::not-a-name"),
        ("new/", false, "sprifed::file::not-a-name"),
        (long.as_str(), false, "sprifed::file::unwritable"),
        ("socket", true, "sprifed::file::not-a-file"),
        ("data.csv", true, "sprifed::file::is-input"),
        ("absent/model.json", false, "sprifed::file::unwritable"),
    ] {
        let forced: &[&str] = if force { &["--force"] } else { &[] };
        let ended = fit(&folder, &folder.path(name), forced);
        assert_eq!(code_of(&ended), code, "{name}: {}", ended.stderr);
        assert!(!ended.stderr.contains(".part"), "{}", ended.stderr);
        assert!(!is_entered(&folder), "{name}");
        assert_eq!(folder.files(), files, "{name}");
    }
}

#[test]
fn the_page_never_takes_the_place_of_the_model() {
    let folder = Folder::new("page_place");
    std::fs::create_dir(folder.path("sub")).unwrap();
    for report in ["model.json", "./model.json", "sub/../model.json"] {
        let report = folder.path(report);
        let ended = fit(
            &folder,
            &folder.path("model.json"),
            &["--report", &report, "--force"],
        );
        assert_eq!(code_of(&ended), "sprifed::file::is-input", "{report}");
        assert!(!is_entered(&folder), "{report}");
    }
}

#[test]
fn inputs_of_other_commands_are_not_overwritten_even_with_force() {
    let folder = Folder::new("inputs");
    let [data, model] = ["data.csv", "model.json"].map(|name| folder.path(name));
    let ended = fit(&folder, &model, &[]);
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let before = [folder.read("data.csv"), folder.read("model.json")];
    for arguments in [
        ["predict", &model, &data, "--out", &data],
        ["predict", &model, &data, "--out", &model],
        ["schema", "draft", &data, "--out", &data],
    ] {
        let ended = run(arguments.iter().chain(&["--force", "--json"]));
        assert_eq!(code_of(&ended), "sprifed::file::is-input", "{arguments:?}");
    }
    assert_eq!([folder.read("data.csv"), folder.read("model.json")], before);
}

#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = Folder::new("permissions");
    let out = folder.path("schema-draft.toml");
    folder.write("schema-draft.toml", "");
    std::fs::set_permissions(&out, std::fs::Permissions::from_mode(0o600)).unwrap();
    let data = folder.path("data.csv");
    let ended = run(["schema", "draft", &data, "--out", &out, "--force"]);
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let mode = std::fs::metadata(&out).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
