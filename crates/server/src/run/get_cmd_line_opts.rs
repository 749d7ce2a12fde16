//! `getCmdLineOpts`: how the server was started.

use super::{Call, reply};
use bson::{RawArrayBuf, cstr, rawdoc};
use command::Reply;
use error::Result;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    let argv: RawArrayBuf = std::env::args().collect();
    let address = call.shared.address;
    let mut parsed = rawdoc! {
        "net": { "bindIp": address.ip().to_string(), "port": i32::from(address.port()) },
    };
    if let Some(data) = call.shared.status.data() {
        parsed.append(cstr!("storage"), rawdoc! { "dbPath": data.to_string_lossy().as_ref() });
    }
    if let Some(member) = &call.shared.member {
        parsed.append(cstr!("replication"), rawdoc! { "replSet": member.set.as_str() });
    }
    if call.shared.options.test_commands {
        // Where clients look for it.
        parsed.append(cstr!("setParameter"), rawdoc! { "enableTestCommands": "1" });
    }
    Ok(reply(rawdoc! { "argv": argv, "parsed": parsed }))
}
