use std::fs;
use std::path::Path;

use sprifed_net::{
    CertificateOrder, Fingerprint, Identity, NetError, certificate_name, check_client_tls,
    fingerprint, issue, request_certificate,
};
use sprifed_party::PartyError;

fn order(name: &str, clients: &[&str]) -> CertificateOrder {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    CertificateOrder {
        folder,
        coordinator_hosts: vec!["study.example.org".to_owned(), "192.0.2.7".to_owned()],
        clients: clients
            .iter()
            .map(|name| ((*name).to_owned(), request_certificate(name).unwrap().1))
            .collect(),
        valid_days: 30,
    }
}

#[test]
fn the_fingerprint_of_the_file_is_the_one_in_the_roster() {
    let issued = issue(&order("issued", &["north", "south"])).unwrap();
    let [(north, of_north), (_, of_south)] = &issued.clients[..] else {
        panic!("{issued:?}");
    };
    assert_eq!(fingerprint(north).unwrap(), *of_north);
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
    // The authority's and the coordinator's: no client's key is here.
    assert_eq!(n_keys, 2);
}

#[test]
fn nothing_is_overwritten() {
    let order = order("twice", &["north"]);
    let issued = issue(&order).unwrap();
    let key = fs::read(&issued.coordinator.key).unwrap();
    assert!(matches!(
        issue(&order),
        Err(NetError::Party(PartyError::File { .. }))
    ));
    assert_eq!(fs::read(&issued.coordinator.key).unwrap(), key);
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

#[test]
fn a_certificate_is_for_the_key_of_its_request_alone() {
    let mut order = order("requested", &[]);
    let (north, north_request) = request_certificate("north").unwrap();
    let (south, south_request) = request_certificate("south").unwrap();
    // A request may ask for another name: the authority decides.
    order.clients = vec![
        ("north".to_owned(), north_request.clone()),
        ("south".to_owned(), south_request),
    ];
    let issued = issue(&order).unwrap();
    let certificate = issued.clients[0].0.clone();
    assert_eq!(
        certificate_name(&certificate).unwrap().as_deref(),
        Some("north")
    );
    let check = |key: &str| {
        let path = order.folder.join("tried.key");
        fs::write(&path, key).unwrap();
        let certificate = certificate.clone();
        let identity = Identity {
            certificate,
            key: path,
        };
        check_client_tls(&identity, &issued.authority)
    };
    check(&north).unwrap();
    assert!(matches!(check(&south), Err(NetError::Tls(_))));
}

#[test]
fn a_request_that_was_changed_or_is_none_is_refused() {
    let (_, request) = request_certificate("north").unwrap();
    let mut changed = request.clone().into_bytes();
    let middle = changed.len() / 2;
    changed[middle] = if changed[middle] == b'A' { b'B' } else { b'A' };
    let certificate = fs::read_to_string(issue(&order("no_request", &[])).unwrap().authority);
    for wrong in [
        String::new(),
        "north".to_owned(),
        String::from_utf8(changed).unwrap(),
        certificate.unwrap(),
    ] {
        let mut order = order("wrong_requests", &[]);
        order.clients = vec![("north".to_owned(), wrong.clone())];
        let error = issue(&order).unwrap_err();
        assert!(error.to_string().contains("of north"), "{wrong}: {error}");
        assert!(fs::metadata(&order.folder).is_err(), "something was made");
    }
}
