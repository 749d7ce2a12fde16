//! `listCommands`: the command table.

use super::{Call, reply};
use bson::raw::CString;
use bson::{RawArrayBuf, RawDocumentBuf, cstr, rawdoc};
use command::Reply;
use error::Result;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    let mut commands = RawDocumentBuf::new();
    let with_tests = call.shared.options.test_commands;
    for command in command::table::COMMANDS.iter().filter(|it| with_tests || !it.for_tests) {
        let Ok(name) = CString::try_from(command.name) else { continue };
        let versions: RawArrayBuf = command.stable.then_some("1").into_iter().collect();
        commands.append(
            name,
            rawdoc! {
                "help": command.help,
                "requiresAuth": !command.before_auth,
                "secondaryOk": true,
                "adminOnly": command.admin_only,
                "apiVersions": versions,
                "deprecatedApiVersions": [],
            },
        );
    }
    let mut body = RawDocumentBuf::new();
    body.append(cstr!("commands"), commands);
    Ok(reply(body))
}
