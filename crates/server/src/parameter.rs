//! The server's own parameters, as `getParameter` shows them: one row a
//! parameter. None can change while the server runs; those that can belong to
//! the backend.

use crate::backend::{self, ParameterKind, Setting};
use crate::limits::SESSION_TIMEOUT_MINUTES;
use crate::shared::Shared;
use bson::{RawArrayBuf, RawBson, RawBsonRef, rawdoc};
use command::fields::{is_true, safe_i64};
use error::{Code, Result};
use tracing::level_filters::LevelFilter;

/// The most seconds of a parameter, which is shown as an int.
const SECONDS_MAX: u32 = i32::MAX as u32;

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
    let own = TABLE.iter().map(|parameter| parameter.name);
    let mut names: Vec<_> =
        own.chain(shared.status.parameters().iter().map(|it| it.name)).collect();
    names.sort_unstable();
    names
}

pub(crate) fn get(shared: &Shared, name: &str) -> Option<RawBson> {
    match TABLE.iter().find(|parameter| parameter.name == name) {
        Some(parameter) => Some((parameter.get)(shared)),
        None => shared.status.setting(name).map(shown),
    }
}

/// The parameter of a name that can change while the server runs.
pub(crate) fn settable(shared: &Shared, name: &str) -> Option<&'static backend::Parameter> {
    shared.status.parameters().iter().find(|parameter| parameter.name == name)
}

/// A client's value for a parameter, or what is wrong with it.
pub(crate) fn parse(parameter: &backend::Parameter, value: RawBsonRef<'_>) -> Result<Setting> {
    let least = match parameter.kind {
        ParameterKind::Switch => return Ok(Setting::Switch(is_true(value))),
        ParameterKind::Seconds { least } => least,
    };
    let number = safe_i64(value).and_then(|number| u32::try_from(number).ok());
    match number.filter(|seconds| (least..=SECONDS_MAX).contains(seconds)) {
        Some(seconds) => Ok(Setting::Seconds(seconds)),
        None => Err(Code::BadValue.error(format!(
            "Invalid value for parameter {}: it takes a number of seconds from {least} to \
             {SECONDS_MAX}",
            parameter.name
        ))),
    }
}

fn shown(setting: Setting) -> RawBson {
    match setting {
        Setting::Seconds(seconds) => RawBson::Int32(seconds.try_into().unwrap_or(i32::MAX)),
        Setting::Switch(is_on) => RawBson::Boolean(is_on),
    }
}
