//! `replSetGetConfig`: the configuration of a set of one.

use super::{Call, reply};
use crate::replica_set::{CONFIG_VERSION, Member, TERM};
use bson::{RawDocumentBuf, cstr, rawdoc};
use command::Reply;
use command::fields::is_true;
use error::{Code, Result};

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    let Some(member) = &call.shared.member else {
        return Err(Code::CommandNotFound.error(
            "no such command: 'replSetGetConfig' is not supported, as there is no replica set; \
             start the server with --replica-set",
        ));
    };
    let mut body = rawdoc! { "config": config(member) };
    let status = value::element::get(call.request.body(), "commitmentStatus");
    if status.is_some_and(|status| is_true(status.value())) {
        body.append(cstr!("commitmentStatus"), true);
    }
    Ok(reply(body))
}

fn config(member: &Member) -> RawDocumentBuf {
    rawdoc! {
        "_id": member.set.as_str(),
        "version": CONFIG_VERSION,
        "term": TERM as i32,
        "members": [{
            "_id": 0,
            "host": member.host.as_str(),
            "arbiterOnly": false,
            "buildIndexes": true,
            "hidden": false,
            "priority": 1,
            "tags": {},
            "secondaryDelaySecs": 0_i64,
            "votes": 1,
        }],
        "protocolVersion": 1_i64,
        "writeConcernMajorityJournalDefault": true,
        "settings": {
            "chainingAllowed": true,
            "heartbeatIntervalMillis": 2_000,
            "heartbeatTimeoutSecs": 10,
            "electionTimeoutMillis": 10_000,
            "getLastErrorModes": {},
            "getLastErrorDefaults": { "w": 1, "wtimeout": 0 },
            "replicaSetId": Member::election_id(),
        },
    }
}
