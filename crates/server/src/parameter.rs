//! The server's own parameters, as `getParameter` shows them: one row a
//! parameter. None can change while the server runs; those that can belong to
//! the backend.

use crate::limits::SESSION_TIMEOUT_MINUTES;
use crate::shared::Shared;
use bson::{RawArrayBuf, RawBson, rawdoc};
use tracing::level_filters::LevelFilter;

struct Parameter {
    name: &'static str,
    get: fn(&Shared) -> RawBson,
}

const fn row(name: &'static str, get: fn(&Shared) -> RawBson) -> Parameter {
    Parameter { name, get }
}

const TABLE: &[Parameter] = &[
    row("authenticationMechanisms", |_| RawArrayBuf::new().into()),
    row("enableTestCommands", |shared| shared.options.test_commands.into()),
    row("featureCompatibilityVersion", |_| rawdoc! { "version": "8.2" }.into()),
    row("localLogicalSessionTimeoutMinutes", |_| SESSION_TIMEOUT_MINUTES.into()),
    row("logComponentVerbosity", |_| rawdoc! { "verbosity": verbosity() }.into()),
    row("logLevel", |_| verbosity().into()),
    row("maxBSONDepth", |_| (wire::DEPTH_MAX as i32).into()),
    row("networkMessageCompressors", |_| RawBson::String("snappy,zstd,zlib".to_owned())),
    row("quiet", |_| false.into()),
    row("requireApiVersion", |_| false.into()),
];

/// How much the log tells, in MongoDB's numbers.
fn verbosity() -> i32 {
    match LevelFilter::current() {
        LevelFilter::TRACE => 2,
        LevelFilter::DEBUG => 1,
        _ => 0,
    }
}

/// All parameters by name, the backend's included.
pub(crate) fn names(shared: &Shared) -> Vec<&'static str> {
    let mut names: Vec<_> = TABLE.iter().map(|parameter| parameter.name).collect();
    names.extend(shared.status.parameters());
    names.sort_unstable();
    names
}

pub(crate) fn get(shared: &Shared, name: &str) -> Option<RawBson> {
    match TABLE.iter().find(|parameter| parameter.name == name) {
        Some(parameter) => Some((parameter.get)(shared)),
        None => shared.status.parameter(name),
    }
}

/// Whether a parameter can change while the server runs.
pub(crate) fn is_settable(shared: &Shared, name: &str) -> bool {
    shared.status.parameters().contains(&name)
}
