//! `getLog`: log lines kept in memory. None are: the log goes to stderr, and
//! there are no warnings at startup.

use super::{Call, reply};
use bson::{RawBsonRef, rawdoc};
use command::Reply;
use error::{Code, Result};

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    let Some(first) = value::elements(call.request.body()).next() else {
        return Err(Code::TypeMismatch.error("Argument to getLog must be of type String"));
    };
    let RawBsonRef::String(name) = first.value() else {
        return Err(Code::TypeMismatch.error(format!(
            "Argument to getLog must be of type String; found type {}",
            command::fields::type_name(first.kind)
        )));
    };
    match name {
        "*" => Ok(reply(rawdoc! { "names": ["global", "startupWarnings"] })),
        "global" | "startupWarnings" => Ok(reply(rawdoc! { "totalLinesWritten": 0, "log": [] })),
        _ => Err(Code::OperationFailed.error(format!("No log named '{name}'"))),
    }
}
