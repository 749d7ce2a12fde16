//! `replSetGetStatus`: fails as it does on a mongos, which gives no code.

use super::Call;
use bson::rawdoc;
use command::Reply;
use error::Result;

pub(super) fn run(_: &mut Call<'_>) -> Result<Reply> {
    let body = rawdoc! {
        "info": "mongos",
        "ok": 0.0,
        "errmsg": "replSetGetStatus is not supported through mongos",
    };
    Ok(Reply { body })
}
