use std::fs;
use std::path::Path;

use sprifed_net::{CertificateOrder, Fingerprint, NetError, fingerprint, issue};

fn order(name: &str, clients: &[&str]) -> CertificateOrder {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    CertificateOrder {
        folder,
        coordinator_hosts: vec!["study.example.org".to_owned(), "192.0.2.7".to_owned()],
        clients: clients.iter().map(|name| (*name).to_owned()).collect(),
        valid_days: 30,
    }
}

#[test]
fn the_fingerprint_of_the_file_is_the_one_in_the_roster() {
    let issued = issue(&order("issued", &["north", "south"])).unwrap();
    let [(north, of_north), (_, of_south)] = &issued.clients[..] else {
        panic!("{issued:?}");
    };
    assert_eq!(fingerprint(&north.certificate).unwrap(), *of_north);
    assert_ne!(of_north, of_south);
    assert_eq!(
        of_north.to_string().parse::<Fingerprint>().unwrap(),
        *of_north
    );
}

#[test]
fn a_fingerprint_is_read_with_colons_and_refused_when_cut() {
    let digits = "ab".repeat(32);
    let colons = ["AB"; 32].join(":");
    let read = |text: &str| text.parse::<Fingerprint>();
    assert_eq!(read(&digits).unwrap(), read(&colons).unwrap());
    for wrong in [
        "",
        "ab",
        &digits[1..],
        &format!("{digits}0"),
        &digits.replace('a', "g"),
    ] {
        assert!(
            matches!(read(wrong), Err(NetError::Setting { .. })),
            "{wrong}"
        );
    }
}

#[cfg(unix)]
#[test]
fn keys_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let issued = issue(&order("modes", &["north"])).unwrap();
    let folder = issued.authority.parent().unwrap();
    let mut n_keys = 0;
    for file in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if file
            .path()
            .extension()
            .is_some_and(|extension| extension == "key")
        {
            n_keys += 1;
            let mode = file.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file:?}");
        }
    }
    assert_eq!(n_keys, 3);
}

#[test]
fn nothing_is_overwritten() {
    let order = order("twice", &["north"]);
    let issued = issue(&order).unwrap();
    let key = fs::read(&issued.clients[0].0.key).unwrap();
    assert!(matches!(issue(&order), Err(NetError::File { .. })));
    assert_eq!(fs::read(&issued.clients[0].0.key).unwrap(), key);
}

#[test]
fn names_that_are_no_file_names_are_refused() {
    for name in [
        "",
        "../north",
        "a/b",
        "coordinator",
        "authority",
        "north.key",
    ] {
        let error = issue(&order("names", &[name])).unwrap_err();
        assert!(matches!(error, NetError::Setting { .. }), "{name}: {error}");
    }
}
