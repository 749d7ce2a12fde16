//! `connectionStatus`: who is logged in on this connection. Nobody, until there
//! are users.

use super::{Call, reply};
use bson::{RawArrayBuf, cstr, rawdoc};
use command::Reply;
use command::fields::Fields;
use error::Result;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    let mut privileges = false;
    let mut fields = Fields::of_command(call.request, "connectionStatus")?;
    while let Some(field) = fields.next()? {
        match field.name() {
            "showPrivileges" => privileges = field.boolean()?.unwrap_or(false),
            _ => return Err(field.unknown()),
        }
    }
    let mut auth = rawdoc! { "authenticatedUsers": [], "authenticatedUserRoles": [] };
    if privileges {
        auth.append(cstr!("authenticatedUserPrivileges"), RawArrayBuf::new());
    }
    Ok(reply(rawdoc! { "authInfo": auth }))
}
