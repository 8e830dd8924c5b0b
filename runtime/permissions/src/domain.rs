//! Hosts of web rules and of addresses: parsed as browsers do, compared by label.

use std::net::{Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use crate::wildcard::fits;

/// The host that a rule names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostPattern {
    /// `*`
    Any,
    /// `example.com`
    Exact(String),
    /// `*.example.com`: any depth below, not the name itself.
    Below(String),
    /// `example.*`: a `*` stays within one label.
    Labels(Vec<String>),
}

impl HostPattern {
    /// Reads a pattern; nothing if it can't be a host.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.strip_suffix('.').unwrap_or(text);
        if text == "*" {
            return Some(Self::Any);
        }
        if let Some(rest) = text.strip_prefix("*.")
            && !rest.contains('*')
        {
            return host(rest).map(Self::Below);
        }
        if !text.contains('*') {
            return host(text).map(Self::Exact);
        }
        let text = text.to_ascii_lowercase();
        let labels: Vec<String> = text.split('.').map(str::to_owned).collect();
        let is_label = |it: &String| {
            !it.is_empty()
                && it.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_*".contains(&it))
        };
        labels.iter().all(is_label).then_some(Self::Labels(labels))
    }

    /// Whether a host is meant.
    pub(crate) fn fits(&self, host: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(name) => name == host,
            Self::Below(name) => {
                host.strip_suffix(name.as_str()).is_some_and(|it| it.len() > 1 && it.ends_with('.'))
            }
            Self::Labels(labels) => {
                let hosts = host.split('.');
                let mut pairs = labels.iter().zip(hosts.clone());
                let leads = labels.first().is_some_and(|it| it == "*");
                if leads && hosts.clone().count() > labels.len() {
                    // A leading `*.` is any depth, whatever follows.
                    let skipped = hosts.clone().count() - labels.len();
                    return labels
                        .iter()
                        .skip(1)
                        .zip(hosts.skip(skipped + 1))
                        .all(|(a, b)| fits(a, b));
                }
                labels.len() == hosts.count() && pairs.all(|(label, host)| fits(label, host))
            }
        }
    }
}

/// A host as browsers write it: lower case, punycode, numbers as addresses.
fn host(text: &str) -> Option<String> {
    let host = Host::parse(text).ok()?;
    Some(host.to_string().trim_end_matches('.').to_owned())
}

/// What an address on the web comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The host, in lower case and without a dot at its end.
    pub host: String,
    /// Why a rule that names it by `*`, or not at all, doesn't suffice.
    pub doubt: Option<AddressDoubt>,
}

/// Why an address is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressDoubt {
    /// It is one of this machine or network.
    #[error("its host is on this machine or in this network")]
    Private,
    /// It carries a name or a password.
    #[error("it carries a user name, which can be taken for the host")]
    UserInfo,
}

/// Why an address can't be fetched at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressProblem {
    /// It is no address.
    #[error("`{0}` is no web address: send one like https://example.com/path")]
    Unreadable(String),
    /// It isn't of the web.
    #[error("`{0}:` addresses can't be fetched, only http: and https:")]
    Scheme(String),
}

impl Address {
    /// Reads an address as browsers do.
    ///
    /// # Errors
    ///
    /// Why it can't be fetched.
    pub fn parse(text: &str) -> Result<Self, AddressProblem> {
        let unreadable = || AddressProblem::Unreadable(text.chars().take(200).collect());
        let url = Url::parse(text).map_err(|_| unreadable())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(AddressProblem::Scheme(url.scheme().to_owned()));
        }
        let parsed = url.host().ok_or_else(unreadable)?;
        let is_private = match &parsed {
            Host::Domain(name) => is_local_name(name.trim_end_matches('.')),
            Host::Ipv4(ip) => is_private_v4(*ip),
            Host::Ipv6(ip) => is_private_v6(*ip),
        };
        let host = parsed.to_string().trim_end_matches('.').to_owned();
        if host.is_empty() {
            return Err(unreadable());
        }
        let has_user = !url.username().is_empty() || url.password().is_some();
        let doubt = if has_user {
            Some(AddressDoubt::UserInfo)
        } else {
            is_private.then_some(AddressDoubt::Private)
        };
        Ok(Self { host, doubt })
    }
}

/// Names that never leave the network: RFC 6761, RFC 8375, and those without a dot.
fn is_local_name(name: &str) -> bool {
    const LOCAL: [&str; 7] =
        ["localhost", "local", "internal", "home.arpa", "lan", "intranet", "localdomain"];
    let ends =
        |it: &&str| name.strip_suffix(*it).is_some_and(|it| it.is_empty() || it.ends_with('.'));
    !name.contains('.') || LOCAL.iter().any(ends)
}

fn is_private_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_documentation()
        || matches!((a, b, c), (0, ..) | (100, 64..=127, _) | (192, 0, 0) | (198, 18..=19, _))
        || a >= 240
}

fn is_private_v6(ip: Ipv6Addr) -> bool {
    let segments = ip.segments();
    let embedded = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        is_private_v4(Ipv4Addr::new(a, b, c, d))
    };
    let inner = match segments {
        // Mapped and compatible, NAT64, 6to4: an IPv4 address in another dress.
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            embedded(high, low)
        }
        [0, 0, 0, 0, 0xffff, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => embedded(high, low),
        _ => false,
    };
    inner
        || ip.is_loopback()
        || ip.is_unspecified()
        || ip.is_multicast()
        || segments[0] & 0xfe00 == 0xfc00
        || segments[0] & 0xffc0 == 0xfe80
        || segments[0] & 0xffc0 == 0xfec0
        || segments[..2] == [0x64, 0xff9b] && segments[2] == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_fit_by_label() {
        for (pattern, host, is_fit) in [
            ("example.com", "example.com", true),
            ("EXAMPLE.com.", "example.com", true),
            ("example.com", "a.example.com", false),
            ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "evilexample.com", false),
            ("example.*", "example.org", true),
            ("example.*", "example.evil.org", false),
            ("api-*.example.com", "api-1.example.com", true),
            ("api-*.example.com", "api-1.x.example.com", false),
            ("*", "anything", true),
            ("bücher.example", "xn--bcher-kva.example", true),
            ("*.a*.example", "x.y.ab.example", true),
        ] {
            let pattern = HostPattern::parse(pattern).expect("a pattern");
            assert_eq!(pattern.fits(host), is_fit, "{pattern:?}: {host}");
        }
        for text in ["", "a b", "https://x", "x/y", "ex*..com"] {
            assert_eq!(HostPattern::parse(text), None, "{text}");
        }
    }

    #[test]
    fn an_address_is_read_as_a_browser_reads_it() {
        for (text, host) in [
            ("https://Example.COM./x", "example.com"),
            ("https://example.com@evil.test/", "evil.test"),
            ("https://evil.test#@example.com", "evil.test"),
            ("https://example.com%2eevil.test/", "example.com.evil.test"),
            ("http://2130706433/", "127.0.0.1"),
            ("http://0x7f.1/", "127.0.0.1"),
            ("https://bücher.example/", "xn--bcher-kva.example"),
            ("https:\\\\example.com\\x", "example.com"),
        ] {
            assert_eq!(Address::parse(text).expect("an address").host, host, "{text}");
        }
        for text in ["data:text/html,x", "file:///etc/passwd", "javascript:x", "", "example.com"] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_address_of_this_network_is_doubtful() {
        for text in [
            "http://127.1/",
            "http://[::1]/",
            "http://[::]/",
            "http://0/",
            "http://10.1.2.3/",
            "http://172.31.0.1/",
            "http://192.168.0.1/",
            "http://169.254.169.254/",
            "http://[::ffff:10.0.0.1]/",
            "http://[fd00::1]/",
            "http://[fe80::1]/",
            "http://localhost/",
            "http://a.localhost/",
            "http://metadata.google.internal/",
            "http://printer/",
            "http://100.64.0.1/",
            "http://[64:ff9b::a00:1]/",
            "http://[2002:a00:1::]/",
            "http://localhost./",
        ] {
            let doubt = Address::parse(text).expect("an address").doubt;
            assert_eq!(doubt, Some(AddressDoubt::Private), "{text}");
        }
        assert_eq!(Address::parse("http://8.8.8.8/").expect("an address").doubt, None);
        assert_eq!(Address::parse("http://172.32.0.1/").expect("an address").doubt, None);
    }
}
