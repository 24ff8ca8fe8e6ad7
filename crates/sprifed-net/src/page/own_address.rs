//! The names under which the page answers. A web site of others can make a browser ask a loopback address under a
//! name of its own (DNS rebinding) and read the answer; it cannot make the browser say another `Host`.

use std::net::{IpAddr, SocketAddr};

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};

#[cfg(test)]
mod tests;

/// Where the page listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OwnAddress(pub(super) SocketAddr);

impl OwnAddress {
    /// Whether a request with this target and these headers was meant for the page.
    pub(super) fn is_asked(self, target: &Uri, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return false;
        };
        let in_target = target.authority().map(Authority::as_str);
        in_target.is_none_or(|name| self.is_called(name))
            && host.to_str().is_ok_and(|name| self.is_called(name))
    }

    /// Whether `name`, as `host` or `host:port`, is the page.
    fn is_called(self, name: &str) -> bool {
        let Ok(authority) = name.parse::<Authority>() else {
            return false;
        };
        let has_port = authority.as_str().len() > authority.host().len();
        let port = if has_port {
            authority.port_u16()
        } else {
            Some(80)
        };
        if name.contains('@') || port != Some(self.0.port()) {
            return false;
        }
        let host = authority.host();
        if host.eq_ignore_ascii_case("localhost") {
            return true;
        }
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host.parse::<IpAddr>()
            .is_ok_and(|address| self.is_at(address.to_canonical()))
    }

    /// An address is no name that others could point here: where the page listens on all of them, each is its own.
    fn is_at(self, address: IpAddr) -> bool {
        let own = self.0.ip().to_canonical();
        address.is_loopback() || own.is_unspecified() || address == own
    }
}
