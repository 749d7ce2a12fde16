//! The commands that the server answers by itself: one file a command, one row
//! in the table.

mod build_info;
mod configure_fail_point;
mod connection_status;
mod features;
mod get_cmd_line_opts;
mod get_default_rw_concern;
mod get_log;
mod get_parameter;
pub(crate) mod hello;
mod host_info;
mod is_master;
mod isdbgrid;
mod list_commands;
mod logout;
mod ping;
mod repl_set_get_config;
mod repl_set_get_status;
mod server_status;
mod set_parameter;
pub(crate) mod wait_for_fail_point;
mod whatsmyuri;

pub(crate) use build_info::{GIT_VERSION, VERSION};

use crate::session::Session;
use crate::shared::Shared;
use command::{Reply, Request};
use error::{Code, Result};
use std::time::Duration;

/// A command that is being run.
pub(crate) struct Call<'a> {
    pub shared: &'a Shared,
    pub session: &'a mut Session,
    pub request: &'a Request,
    /// The client would take a stream of replies.
    pub exhaust: bool,
}

type Run = fn(&mut Call<'_>) -> Result<Reply>;
type Wait = fn(&Call<'_>) -> Result<Option<Duration>>;

pub(crate) struct Row {
    pub name: &'static str,
    pub run: Run,
    /// How long the client wants to wait before the command runs.
    pub wait: Option<Wait>,
}

const fn row(name: &'static str, run: Run) -> Row {
    Row { name, run, wait: None }
}

/// Alphabetical by bytes.
const TABLE: &[Row] = &[
    row("buildInfo", build_info::run),
    row("configureFailPoint", configure_fail_point::run),
    row("connectionStatus", connection_status::run),
    row("features", features::run),
    row("getCmdLineOpts", get_cmd_line_opts::run),
    row("getDefaultRWConcern", get_default_rw_concern::run),
    row("getLog", get_log::run),
    row("getParameter", get_parameter::run),
    Row { name: "hello", run: hello::run, wait: Some(hello::wait) },
    row("hostInfo", host_info::run),
    Row { name: "isMaster", run: is_master::run, wait: Some(hello::wait) },
    row("isdbgrid", isdbgrid::run),
    row("listCommands", list_commands::run),
    row("logout", logout::run),
    row("ping", ping::run),
    row("replSetGetConfig", repl_set_get_config::run),
    row("replSetGetStatus", repl_set_get_status::run),
    row("serverStatus", server_status::run),
    row("setParameter", set_parameter::run),
    row("waitForFailPoint", wait_for_fail_point::run),
    row("whatsmyuri", whatsmyuri::run),
];

pub(crate) fn find(name: &str) -> Option<&'static Row> {
    let place = TABLE.binary_search_by_key(&name, |row| row.name).ok()?;
    TABLE.get(place)
}

/// Whether the server answers a command without its backend.
pub fn answers(name: &str) -> bool {
    find(name).is_some()
}

/// The command's first field, which is a name.
fn first_string(request: &Request) -> Result<&str> {
    let first = value::elements(request.body()).next();
    first.and_then(|first| first.value().as_str()).ok_or_else(|| {
        Code::TypeMismatch.error(format!("{} takes the name of a fail point", request.name()))
    })
}

/// Appends every field of a document.
fn append_all(body: &mut bson::RawDocumentBuf, fields: &bson::RawDocument) {
    for field in value::elements(fields) {
        if let Ok(name) = bson::raw::CString::try_from(field.key) {
            body.append(name, field.value());
        }
    }
}

/// A reply that is nothing but `ok`.
fn ok() -> Reply {
    reply(bson::RawDocumentBuf::new())
}

/// A reply of these fields, and `ok`.
fn reply(mut body: bson::RawDocumentBuf) -> Reply {
    body.append(bson::cstr!("ok"), 1.0);
    Reply::new(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_so_that_commands_are_found() {
        assert!(TABLE.is_sorted_by_key(|row| row.name));
        assert!(find("ping").is_some());
        assert!(find("Hello").is_none());
    }

    #[test]
    fn rows_go_by_the_names_of_the_command_table() {
        for row in TABLE {
            assert_eq!(command::command(row.name).map(|command| command.name), Some(row.name));
        }
    }
}
