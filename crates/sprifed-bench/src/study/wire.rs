//! Bytes on the loopback device: what the coordinator and the parties sent each other, TLS and TCP included.

use std::fs;

/// All bytes that the loopback device has carried, where the system has `/proc`. Other programs' bytes count too.
pub(super) fn carried() -> Option<u64> {
    of_devices(&fs::read_to_string("/proc/self/net/dev").ok()?)
}

/// A byte on loopback is both sent and received; this is the number received.
fn of_devices(text: &str) -> Option<u64> {
    let loopback = |line: &str| line.trim_start().strip_prefix("lo:").map(str::to_owned);
    let numbers = text.lines().find_map(loopback)?;
    numbers.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::of_devices;

    #[test]
    fn bytes_are_those_that_the_loopback_device_received() {
        let text = "Inter-|   Receive                |  Transmit\n face |bytes    packets errs|bytes\n  \
                    eth0: 99 3 0 99\n    lo: 1234567     890    0  7\n";
        assert_eq!(of_devices(text), Some(1_234_567));
        assert_eq!(of_devices("eth0: 5 1\n"), None);
    }
}
