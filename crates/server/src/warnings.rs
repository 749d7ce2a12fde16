//! What a stranger should know about the way the server was started. It stands in the log,
//! and shells show it when they connect (`getLog: "startupWarnings"`).

use crate::shared::now;
use serde_json::json;
use std::net::SocketAddr;

/// The warnings of a server that listens on these addresses, as sentences.
pub(crate) fn of(addresses: impl IntoIterator<Item = SocketAddr>) -> Vec<String> {
    let open = addresses.into_iter().filter(|address| !is_private(*address));
    open.map(|address| {
        format!(
            "{address} can be reached from other machines, and there are no users: anyone there \
             can read and change everything"
        )
    })
    .collect()
}

/// Whether only this machine reaches an address.
pub(crate) fn is_private(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// A warning as a line of MongoDB's log, which is how shells read it.
pub(crate) fn line(warning: &str) -> String {
    let time = now().try_to_rfc3339_string().unwrap_or_default();
    let line = json!({
        "t": { "$date": time }, "s": "W", "c": "CONTROL", "id": 22120, "ctx": "initandlisten",
        "msg": warning, "tags": ["startupWarnings"],
    });
    line.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_other_machines_are_warned_of() {
        let addresses = ["127.0.0.1:1", "127.8.8.8:1", "[::1]:1", "[::ffff:127.0.0.1]:1"];
        assert!(of(addresses.map(|it| it.parse().unwrap())).is_empty());
        let addresses = ["0.0.0.0:1", "[::]:1", "10.0.0.1:1"];
        assert_eq!(of(addresses.map(|it| it.parse().unwrap())).len(), 3);
    }

    #[test]
    fn a_warning_is_a_line_that_shells_read() {
        let line: serde_json::Value = serde_json::from_str(&line("careful")).unwrap();
        assert_eq!(line["msg"], "careful");
        assert!(line["t"]["$date"].is_string(), "{line}");
    }
}
