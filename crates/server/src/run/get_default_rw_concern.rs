//! `getDefaultRWConcern`: the concerns of commands that name none. They are
//! MongoDB's own and cannot be set.

use super::{Call, reply};
use bson::rawdoc;
use command::Reply;
use command::fields::Fields;
use error::Result;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    let mut fields = Fields::of_command(call.request, "getDefaultRWConcern")?;
    while let Some(field) = fields.next()? {
        match field.name() {
            "inMemory" => {
                field.boolean()?;
            }
            _ => return Err(field.unknown()),
        }
    }
    Ok(reply(rawdoc! {
        "defaultReadConcern": { "level": "local" },
        "defaultWriteConcern": { "w": "majority", "wtimeout": 0 },
        "defaultWriteConcernSource": "implicit",
        "defaultReadConcernSource": "implicit",
    }))
}
