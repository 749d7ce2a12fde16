//! `getCmdLineOpts`: how the server was started.

use super::{Call, reply};
use bson::{RawArrayBuf, rawdoc};
use command::Reply;
use error::Result;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    let argv: RawArrayBuf = std::env::args().collect();
    let address = call.shared.address;
    let data = call.shared.options.data.to_string_lossy();
    Ok(reply(rawdoc! {
        "argv": argv,
        "parsed": {
            "net": { "bindIp": address.ip().to_string(), "port": i32::from(address.port()) },
            "storage": { "dbPath": data.as_ref() },
        },
    }))
}
