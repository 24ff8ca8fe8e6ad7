use super::OwnAddress;

fn is_called(address: &str, name: &str) -> bool {
    OwnAddress(address.parse().unwrap()).is_called(name)
}

#[test]
fn the_page_answers_to_loopback_and_to_where_it_listens() {
    for name in [
        "localhost:8080",
        "LocalHost:8080",
        "127.0.0.1:8080",
        "127.9.9.9:8080",
        "[::1]:8080",
        "[::ffff:127.0.0.1]:8080",
    ] {
        assert!(is_called("127.0.0.1:8080", name), "{name}");
    }
    assert!(is_called("127.0.0.1:80", "localhost"));
    assert!(is_called("192.0.2.7:8080", "192.0.2.7:8080"));
    assert!(is_called("[2001:db8::7]:8080", "[2001:DB8:0::7]:8080"));
    assert!(is_called("0.0.0.0:8080", "192.0.2.7:8080"));
}

#[test]
fn the_page_answers_to_nothing_else() {
    for name in [
        "",
        ":8080",
        "x",
        "localhost",
        "localhost:",
        "localhost:8081",
        "localhost:08080x",
        "localhost.:8080",
        "localhost.example:8080",
        "rebound.example:8080",
        "127.0.0.1.example:8080",
        "127.1:8080",
        "0x7f000001:8080",
        "192.0.2.7:8080",
        "0.0.0.0:8080",
        "[::]:8080",
        "me@localhost:8080",
        "localhost:8080@rebound.example:8080",
        "rebound.example:8080, localhost:8080",
    ] {
        assert!(!is_called("127.0.0.1:8080", name), "{name}");
    }
    assert!(!is_called("0.0.0.0:8080", "rebound.example:8080"));
    assert!(!is_called("192.0.2.7:8080", "192.0.2.8:8080"));
}
