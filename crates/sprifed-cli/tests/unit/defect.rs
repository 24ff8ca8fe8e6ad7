use std::process::{Command, Output};

/// Says to the test [`panics_where_it_is_told`] in a process of its own on which thread to panic.
const WHERE: &str = "SPRIFED_TEST_PANIC";

/// The other test of this file runs this one in a process of its own; on its own it does nothing.
#[test]
fn panics_where_it_is_told() {
    let Ok(place) = std::env::var(WHERE) else {
        return;
    };
    super::end_with_the_first_panic();
    let swallowed = match place.as_str() {
        "here" => panic!("a defect\u{1b}[2J"),
        "thread" => std::thread::spawn(|| panic!("a defect")).join().is_err(),
        "pool" => {
            let caught = std::panic::catch_unwind(|| rayon::join(|| (), || panic!("a defect")));
            caught.is_err()
        }
        other => panic!("{WHERE} is {other:?}"),
    };
    // A panic that was caught, as an async runtime does: the process would go on.
    assert!(!swallowed, "the process went on after a panic");
}

#[expect(clippy::disallowed_methods, reason = "a panic ends the process")]
fn panicking(place: &str) -> Output {
    let test = std::env::current_exe().unwrap();
    let mut command = Command::new(test);
    command.args(["--exact", "defect::tests::panics_where_it_is_told"]);
    command.args(["--nocapture", "--test-threads=1"]);
    command.env(WHERE, place).output().unwrap()
}

#[test]
fn a_panic_on_any_thread_ends_the_process_with_its_own_exit_code() {
    for place in ["here", "thread", "pool"] {
        let ended = panicking(place);
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(4), "{place}: {said}");
        assert!(
            said.contains("a defect") && said.contains("defect.rs:"),
            "{place}: {said}"
        );
        assert!(
            said.contains("nothing was sent after this"),
            "{place}: {said}"
        );
        assert!(said.contains("code: sprifed::defect"), "{place}: {said}");
        assert!(!said.contains('\u{1b}'), "{place}: {said:?}");
    }
}
