//! Where parties reach a coordinator: `host:port`, checked before anything is made for it.

use std::net::{Ipv4Addr, Ipv6Addr};

#[cfg(test)]
mod tests;

/// The host of `address`, as a certificate names it.
///
/// # Errors
/// With what is wrong, if it is not a host and a port from 1 to 65535.
pub fn host_of(address: &str) -> Result<String, String> {
    let Some((host, port)) = address.rsplit_once(':') else {
        return Err("it has no port".to_owned());
    };
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit())
        && port.parse::<u16>().is_ok_and(|port| port > 0);
    if !is_port {
        return Err(format!("{port:?} is not a port from 1 to 65535"));
    }
    if let Some(inner) = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
    {
        let known = inner.parse::<Ipv6Addr>();
        return known
            .map(|known| known.to_string())
            .map_err(|_| format!("{inner:?} is no IPv6 address"));
    }
    if host.parse::<Ipv4Addr>().is_ok() || is_name(host) {
        return Ok(host.to_owned());
    }
    Err(format!(
        "{host:?} is not a host name, an IPv4 address or an IPv6 address in brackets"
    ))
}

/// Labels of letters, digits, `-` and `_`, at least one of which is no number.
fn is_name(host: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(is_plain)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let is_number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
    host.len() <= 253 && host.split('.').all(is_label) && !host.split('.').all(is_number)
}
