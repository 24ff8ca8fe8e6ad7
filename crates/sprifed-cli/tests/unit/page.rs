use super::write_addition;
use sprifed_party::{Destination, Overwrite};

#[test]
fn a_page_that_fails_after_the_fit_says_that_the_budget_is_spent() {
    let path = std::env::temp_dir().join(format!("sprifed-page-{}.html", std::process::id()));
    let place = Destination::reserve(&path, Overwrite::Refused, &[]).unwrap();
    std::fs::write(&path, "another program's").unwrap();
    let failure = write_addition(place, "the page", "page").unwrap_err();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "another program's");
    std::fs::remove_file(&path).unwrap();
    assert!(failure.help.contains("IS SPENT"), "{failure}");
    assert!(
        !failure.to_string().contains("nothing was spent"),
        "{failure}"
    );
}
