//! The server as the primary of a replica set of one, for clients whose URI names a set.

use crate::StartError;
use crate::shared::Shared;
use bson::{DateTime, RawDocumentBuf, Timestamp, oid::ObjectId, rawdoc};
use std::net::{IpAddr, SocketAddr};

/// The set has had one election, won by its one member.
pub(crate) const TERM: i64 = 1;
pub(crate) const CONFIG_VERSION: i32 = 1;
/// MongoDB writes the term into the last bytes of an election's id.
const ELECTION_ID: [u8; 12] = [0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, TERM as u8];
/// Longer names are mistakes.
const NAME_BYTES_MAX: usize = 128;

/// The set that the server is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplicaSet {
    pub name: String,
    /// `host:port` under which clients reach the server; by default where it listens.
    pub advertise: Option<String>,
}

/// The set's one member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub set: String,
    /// `host:port`.
    pub host: String,
}

impl ReplicaSet {
    /// The member that listens on `address`, as `listen` asked for.
    pub(crate) fn member(&self, listen: &str, address: SocketAddr) -> Result<Member, StartError> {
        check_name(&self.name)?;
        let host = match &self.advertise {
            Some(advertise) => checked(advertise)?,
            None => listened(listen, address)?,
        };
        Ok(Member { set: self.name.clone(), host })
    }
}

impl Member {
    pub fn election_id() -> ObjectId {
        ObjectId::from_bytes(ELECTION_ID)
    }

    /// The fields of `hello` that a member of a set has.
    pub fn hello(&self, shared: &Shared) -> RawDocumentBuf {
        let mut fields = self.identity();
        let last = OpTime::last(shared);
        fields.append(
            bson::cstr!("lastWrite"),
            rawdoc! {
                "opTime": last.document(),
                "lastWriteDate": last.date(),
                "majorityOpTime": last.document(),
                "majorityWriteDate": last.date(),
            },
        );
        fields
    }

    /// Which set and member this is.
    pub fn identity(&self) -> RawDocumentBuf {
        rawdoc! {
            "hosts": [self.host.as_str()],
            "setName": self.set.as_str(),
            "setVersion": CONFIG_VERSION,
            "secondary": false,
            "primary": self.host.as_str(),
            "me": self.host.as_str(),
            "electionId": Member::election_id(),
        }
    }
}

/// The time of a write, as the commands of a set show it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpTime(Timestamp);

impl OpTime {
    /// That of the last commit.
    pub fn last(shared: &Shared) -> OpTime {
        OpTime(shared.status.cluster_time().unwrap_or(Timestamp { time: 0, increment: 0 }))
    }

    pub fn document(self) -> RawDocumentBuf {
        rawdoc! { "ts": self.0, "t": TERM }
    }

    pub fn date(self) -> DateTime {
        DateTime::from_millis(i64::from(self.0.time) * 1000)
    }
}

fn check_name(name: &str) -> Result<(), StartError> {
    let is_odd = |c: char| c.is_control() || matches!(c, '/' | ',' | ' ');
    if name.is_empty() || name.len() > NAME_BYTES_MAX || name.contains(is_odd) {
        return Err(StartError::new(format!(
            "'{}' cannot be the name of a replica set; give --replica-set a name such as rs0",
            name.escape_debug()
        )));
    }
    Ok(())
}

fn checked(advertise: &str) -> Result<String, StartError> {
    let is_host = |host: &str| match host.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && !host.contains(|c: char| "/,:@[] ".contains(c)),
    };
    let is_wildcard = |host: &str| {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_unspecified())
    };
    match advertise.rsplit_once(':') {
        Some((host, port))
            if is_host(host)
                && !is_wildcard(host)
                && port.parse::<u16>().is_ok_and(|it| it > 0) =>
        {
            Ok(advertise.to_owned())
        }
        _ => Err(StartError::new(format!(
            "'{}' is no address that clients could connect to; give --advertise a host and a port, \
             such as db.example.com:27017",
            advertise.escape_debug()
        ))),
    }
}

/// The address that the server listens on, by the name it was given and the port it got.
fn listened(listen: &str, address: SocketAddr) -> Result<String, StartError> {
    if address.ip().to_canonical().is_unspecified() {
        return Err(StartError::new(format!(
            "{address} stands for every address of this machine, and clients of a replica set are \
             sent to one; name it with --advertise HOST:PORT"
        )));
    }
    match listen.rsplit_once(':') {
        Some((host, _)) if !host.is_empty() => Ok(format!("{host}:{}", address.port())),
        _ => Ok(address.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(advertise: Option<&str>, listen: &str, address: &str) -> Option<String> {
        let set = ReplicaSet { name: "rs0".to_owned(), advertise: advertise.map(str::to_owned) };
        set.member(listen, address.parse().unwrap()).ok().map(|member| member.host)
    }

    #[test]
    fn clients_are_sent_where_the_server_listens() {
        let listens = |listen, address| host(None, listen, address).unwrap_or_default();
        assert_eq!(listens("127.0.0.1:0", "127.0.0.1:4711"), "127.0.0.1:4711");
        assert_eq!(listens("localhost:0", "127.0.0.1:4711"), "localhost:4711");
        assert_eq!(listens("[::1]:27017", "[::1]:27017"), "[::1]:27017");
        assert_eq!(listens("0.0.0.0:1", "0.0.0.0:1"), "");
        assert_eq!(listens("[::]:1", "[::]:1"), "");
    }

    #[test]
    fn or_to_the_address_that_is_named() {
        for (advertise, taken) in [
            ("db.example.com:27017", true),
            ("[2001:db8::1]:27017", true),
            ("10.0.0.7:1", true),
            ("db", false),
            ("db:", false),
            (":27017", false),
            ("db:0", false),
            ("db:x", false),
            ("db:70000", false),
            ("a,b:1", false),
            ("2001:db8::1:27017", false),
            ("0.0.0.0:27017", false),
            ("[::]:27017", false),
        ] {
            let found = host(Some(advertise), "0.0.0.0:1", "0.0.0.0:1");
            assert_eq!(found.as_deref(), taken.then_some(advertise), "{advertise}");
        }
    }

    #[test]
    fn a_set_has_a_name() {
        for (name, taken) in [("rs0", true), ("my-set_1", true), ("", false), ("a/b", false)] {
            assert_eq!(check_name(name).is_ok(), taken, "{name}");
        }
        assert!(check_name(&"x".repeat(129)).is_err());
    }
}
