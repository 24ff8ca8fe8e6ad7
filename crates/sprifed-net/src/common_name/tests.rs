use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};

use super::*;

fn certificate(names: &[(DnType, &str)]) -> Vec<u8> {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = DistinguishedName::new();
    for (kind, value) in names {
        parameters.distinguished_name.push(kind.clone(), *value);
    }
    let key = KeyPair::generate().expect("a key");
    let certificate = parameters.self_signed(&key).expect("a certificate");
    certificate.der().to_vec()
}

#[test]
fn the_name_is_found_among_others_or_not_at_all() {
    let found = certificate(&[
        (DnType::OrganizationName, "coordinator"),
        (DnType::CommonName, "north"),
        (DnType::LocalityName, "south"),
    ]);
    assert_eq!(common_name(&found).as_deref(), Some("north"));
    let nameless = certificate(&[(DnType::OrganizationName, "north")]);
    assert_eq!(common_name(&nameless), None);
}

#[test]
fn damaged_certificates_have_no_name_and_do_no_harm() {
    let whole = certificate(&[(DnType::CommonName, "north")]);
    for length in 0..whole.len() {
        assert_eq!(common_name(&whole[..length]), None, "{length} bytes");
    }
    for place in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[place] ^= 0xFF;
        let _ = common_name(&damaged);
    }
}
