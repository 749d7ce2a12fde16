//! `replSetGetStatus`: the status of a set of one. Without a set it fails as it does on a
//! mongos, which gives no code.

use super::{Call, reply};
use crate::replica_set::{CONFIG_VERSION, Member, OpTime, TERM};
use crate::shared::{Shared, now};
use bson::{RawDocumentBuf, rawdoc};
use command::Reply;
use error::Result;

const PRIMARY: i32 = 1;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    if let Some(member) = &call.shared.member {
        return Ok(reply(status(call.shared, member)));
    }
    let body = rawdoc! {
        "info": "mongos",
        "ok": 0.0,
        "errmsg": "replSetGetStatus is not supported through mongos",
    };
    Ok(Reply::new(body))
}

fn status(shared: &Shared, member: &Member) -> RawDocumentBuf {
    let last = OpTime::last(shared);
    rawdoc! {
        "set": member.set.as_str(),
        "date": now(),
        "myState": PRIMARY,
        "term": TERM,
        "syncSourceHost": "",
        "syncSourceId": -1,
        "heartbeatIntervalMillis": 2_000_i64,
        "majorityVoteCount": 1,
        "writeMajorityCount": 1,
        "votingMembersCount": 1,
        "writableVotingMembersCount": 1,
        "optimes": {
            "lastCommittedOpTime": last.document(),
            "lastCommittedWallTime": last.date(),
            "readConcernMajorityOpTime": last.document(),
            "appliedOpTime": last.document(),
            "durableOpTime": last.document(),
            "lastAppliedWallTime": last.date(),
            "lastDurableWallTime": last.date(),
        },
        "members": [{
            "_id": 0,
            "name": member.host.as_str(),
            "health": 1.0,
            "state": PRIMARY,
            "stateStr": "PRIMARY",
            "uptime": shared.started.elapsed().as_secs() as i64,
            "optime": last.document(),
            "optimeDate": last.date(),
            "lastAppliedWallTime": last.date(),
            "lastDurableWallTime": last.date(),
            "syncSourceHost": "",
            "syncSourceId": -1,
            "infoMessage": "",
            "configVersion": CONFIG_VERSION,
            "configTerm": TERM as i32,
            "self": true,
            "lastHeartbeatMessage": "",
        }],
    }
}
