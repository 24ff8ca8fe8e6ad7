use super::*;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("read");
    let name = |entry: io::Result<fs::DirEntry>| {
        let name = entry.expect("an entry").file_name();
        name.to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_only_if_the_user_says_so_and_nothing_hidden_stays() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join("model.json");
    let new = Destination::reserve(&path, Overwrite::Refused, &[]).expect("free");
    // A process that is killed here leaves nothing.
    assert_eq!(names(home.path()), [""; 0]);
    new.write("one").expect("written");
    assert_eq!(names(home.path()), ["model.json"]);
    let taken = Destination::reserve(&path, false.into(), &[]);
    assert!(matches!(taken, Err(DestinationError::Exists { .. })));
    let unused = Destination::reserve(&path, true.into(), &[]).expect("forced");
    drop(unused);
    assert_eq!(names(home.path()), ["model.json"]);
    let forced = Destination::reserve(&path, Overwrite::Forced, &[]).expect("forced");
    forced.write("two").expect("written");
    assert_eq!(fs::read_to_string(&path).expect("read"), "two");
}

#[test]
fn a_name_that_was_taken_meanwhile_is_left_alone() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join("page.html");
    let place = Destination::reserve(&path, Overwrite::Refused, &[]).expect("free");
    fs::write(&path, "another program's").expect("written");
    let taken = place.write("the page");
    assert_eq!(taken, Err(DestinationError::exists(&path)));
    assert_eq!(
        fs::read_to_string(&path).expect("read"),
        "another program's"
    );
    assert_eq!(names(home.path()), ["page.html"]);
}

#[test]
fn inputs_folders_and_places_without_a_folder_are_refused() {
    let home = tempfile::tempdir().expect("a folder");
    let data = home.path().join("data.csv");
    let reserve = |path: &Path| Destination::reserve(path, Overwrite::Forced, &[&data]);
    // Neither is there yet, and the two spellings are one file.
    let other = home.path().join(".").join("data.csv");
    let input = reserve(&other).expect_err("the input");
    assert_eq!(input.code(), "sprifed::file::is-input");
    // Some file systems take these for one name.
    let capital = reserve(&home.path().join("DATA.csv")).expect_err("the input");
    assert_eq!(capital.code(), "sprifed::file::is-input");
    let folder = reserve(home.path()).expect_err("a folder");
    assert_eq!(folder.code(), "sprifed::file::not-a-name");
    let nowhere = reserve(&home.path().join("absent/model.json")).expect_err("no folder");
    assert_eq!(nowhere.code(), "sprifed::file::unwritable");
    assert!(!nowhere.to_string().contains(".part"), "{nowhere}");
    assert_eq!(names(home.path()), [""; 0]);
}

#[test]
fn what_is_written_beside_a_file_takes_a_free_name() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join("model.json");
    for expected in ["model.json.spent.json", "model.json.spent-2.json"] {
        let beside = write_beside(&path, "spent", expected).expect("written");
        assert_eq!(beside, home.path().join(expected));
        assert_eq!(fs::read_to_string(beside).expect("read"), expected);
    }
}

#[test]
fn a_private_text_replaces_nothing_not_even_a_link_that_leads_nowhere() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join("log.jsonl");
    create_private_text(&path, "one").expect("written");
    let again = create_private_text(&path, "two");
    assert_eq!(again, Err(DestinationError::exists(&path)));
    assert_eq!(fs::read_to_string(&path).expect("read"), "one");
    #[cfg(unix)]
    {
        let link = home.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).expect("a link");
        let linked = create_private_text(&link, "three");
        assert_eq!(linked, Err(DestinationError::exists(&link)));
    }
    let nowhere = create_private_text(&home.path().join("absent/log"), "").expect_err("no folder");
    assert_eq!(nowhere.code(), "sprifed::file::unwritable");
}
