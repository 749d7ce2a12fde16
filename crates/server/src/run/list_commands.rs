//! `listCommands`: the command table.

use super::{Call, reply};
use bson::raw::CString;
use bson::{RawDocumentBuf, cstr, rawdoc};
use command::Reply;
use error::Result;

pub(super) fn run(_: &mut Call<'_>) -> Result<Reply> {
    let mut commands = RawDocumentBuf::new();
    for command in command::table::COMMANDS {
        let Ok(name) = CString::try_from(command.name) else { continue };
        commands.append(
            name,
            rawdoc! {
                "help": command.help,
                "requiresAuth": false,
                "secondaryOk": true,
                "adminOnly": command.admin_only,
            },
        );
    }
    let mut body = RawDocumentBuf::new();
    body.append(cstr!("commands"), commands);
    Ok(reply(body))
}
