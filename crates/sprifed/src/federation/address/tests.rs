use super::host_of;

#[test]
fn hosts_and_ports_are_taken() {
    for (address, host) in [
        ("localhost:1", "localhost"),
        ("coordinator.example.org:8443", "coordinator.example.org"),
        ("my_host-2:65535", "my_host-2"),
        ("192.0.2.7:8443", "192.0.2.7"),
        ("[2001:db8::1]:8443", "2001:db8::1"),
    ] {
        assert_eq!(host_of(address).as_deref(), Ok(host));
    }
}

#[test]
fn everything_else_is_refused() {
    for address in [
        "",
        ":",
        ":8443",
        "host",
        "host:",
        "host:0",
        "host:65536",
        "host:+1",
        "host: 1",
        "ho st:1",
        "host\n:1",
        "host\u{1b}[2J:1",
        "https://host:1",
        "host:1/path",
        "host/path:1",
        "user@host:1",
        "h\u{f6}st:1",
        "-host:1",
        "a..b:1",
        "300.1.1.1:1",
        "::1:8443",
        "[::g]:1",
        "[::1:1",
    ] {
        assert!(host_of(address).is_err(), "{address:?}");
    }
}
