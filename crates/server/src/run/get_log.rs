//! `getLog`: the last lines of the log, and the warnings of the start.

use super::{Call, reply};
use crate::warnings;
use bson::{RawArrayBuf, RawBsonRef, rawdoc};
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
        "global" => {
            let (written, lines) = call.shared.options.recent_lines.read();
            let written = i32::try_from(written).unwrap_or(i32::MAX);
            let lines: RawArrayBuf = lines.into_iter().collect();
            Ok(reply(rawdoc! { "totalLinesWritten": written, "log": lines }))
        }
        "startupWarnings" => {
            let warnings = &call.shared.warnings;
            let lines: RawArrayBuf =
                warnings.iter().map(|it| warnings::line(it)).collect::<RawArrayBuf>();
            let written = i32::try_from(warnings.len()).unwrap_or(i32::MAX);
            Ok(reply(rawdoc! { "totalLinesWritten": written, "log": lines }))
        }
        _ => Err(Code::OperationFailed.error(format!("No log named '{name}'"))),
    }
}
