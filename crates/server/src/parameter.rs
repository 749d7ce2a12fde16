//! The server's own parameters, as `getParameter` shows them: one row a
//! parameter. Of these only the level of the log can change while the server
//! runs; the others that can belong to the backend.

use crate::backend::{self, ParameterKind, Setting};
use crate::limits::SESSION_TIMEOUT_MINUTES;
use crate::shared::Shared;
use bson::{RawArrayBuf, RawBson, RawBsonRef, rawdoc};
use command::fields::{is_true, safe_i64};
use error::{Code, Result};
use tracing::level_filters::LevelFilter;

/// The most that a parameter may be, which is shown as an int.
const NUMBER_MAX: u32 = i32::MAX as u32;

/// How much the log tells, of all components and by component.
const LOG_LEVEL: &str = "logLevel";
const LOG_COMPONENTS: &str = "logComponentVerbosity";
/// The highest level that MongoDB's log has.
const VERBOSITY_MAX: i64 = 5;

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
    row(LOG_COMPONENTS, |_| rawdoc! { "verbosity": verbosity() }.into()),
    row(LOG_LEVEL, |_| verbosity().into()),
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

/// A change of a parameter that a client wants and may have.
pub(crate) enum Change {
    Backend(&'static str, Setting),
    Verbosity(i32),
}

impl Change {
    pub fn make(self, shared: &Shared) {
        match self {
            Change::Backend(name, setting) => shared.status.set(name, setting),
            Change::Verbosity(verbosity) => {
                if let Some(set) = shared.options.set_verbosity {
                    set(verbosity);
                }
            }
        }
    }
}

/// Whether a parameter can change while the server runs.
pub(crate) fn is_settable(shared: &Shared, name: &str) -> bool {
    let is_log = matches!(name, LOG_LEVEL | LOG_COMPONENTS);
    of_backend(shared, name).is_some() || (is_log && shared.options.set_verbosity.is_some())
}

/// What a client's value for a parameter that can change means, or what is wrong with it.
pub(crate) fn change(shared: &Shared, name: &str, value: RawBsonRef<'_>) -> Result<Change> {
    match of_backend(shared, name) {
        Some(parameter) => Ok(Change::Backend(parameter.name, parse(parameter, value)?)),
        None => parse_verbosity(name, value).map(Change::Verbosity),
    }
}

fn of_backend(shared: &Shared, name: &str) -> Option<&'static backend::Parameter> {
    shared.status.parameters().iter().find(|parameter| parameter.name == name)
}

fn parse(parameter: &backend::Parameter, value: RawBsonRef<'_>) -> Result<Setting> {
    let (least, unit) = match parameter.kind {
        ParameterKind::Switch => return Ok(Setting::Switch(is_true(value))),
        ParameterKind::Number { least, unit } => (least, unit),
    };
    let number = safe_i64(value).and_then(|number| u32::try_from(number).ok());
    match number.filter(|number| (least..=NUMBER_MAX).contains(number)) {
        Some(number) => Ok(Setting::Number(number)),
        None => Err(Code::BadValue.error(format!(
            "Invalid value for parameter {}: it takes a number of {unit} from {least} to \
             {NUMBER_MAX}",
            parameter.name
        ))),
    }
}

/// The one level that the log has. Components have none of their own.
fn parse_verbosity(name: &str, value: RawBsonRef<'_>) -> Result<i32> {
    let level = match value {
        RawBsonRef::Document(levels) if name == LOG_COMPONENTS => {
            let mut fields = value::elements(levels);
            let only = fields.next().filter(|field| field.key == "verbosity");
            if only.is_none() || fields.next().is_some() {
                return Err(Code::BadValue.error(
                    "the log has one level for all components; set 'verbosity' and no other",
                ));
            }
            only.and_then(|field| safe_i64(field.value()))
        }
        _ if name == LOG_COMPONENTS => None,
        value => safe_i64(value),
    };
    match level.filter(|level| (0..=VERBOSITY_MAX).contains(level)) {
        Some(level) => Ok(level as i32),
        None => Err(Code::BadValue.error(format!(
            "Invalid value for parameter {name}: the level of the log is a number from 0 to \
             {VERBOSITY_MAX}"
        ))),
    }
}

fn shown(setting: Setting) -> RawBson {
    match setting {
        Setting::Number(number) => RawBson::Int32(number.try_into().unwrap_or(i32::MAX)),
        Setting::Switch(is_on) => RawBson::Boolean(is_on),
    }
}
