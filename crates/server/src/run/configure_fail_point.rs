//! `configureFailPoint`: `{configureFailPoint: name, mode: …, data: {…}}`.

use super::{Call, reply};
use crate::fail_points::Mode;
use bson::{RawBsonRef, RawDocumentBuf, rawdoc};
use command::Reply;
use command::fields::Fields;
use command::refused::not_found;
use error::{Code, Result};

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    let Some(points) = &call.shared.fail_points else {
        return Err(not_found("configureFailPoint"));
    };
    let name = super::first_string(call.request)?;
    let (mut mode, mut data) = (None, RawDocumentBuf::new());
    let mut fields = Fields::of_command(call.request, "configureFailPoint")?;
    while let Some(field) = fields.next()? {
        match (field.name(), field.value()) {
            ("mode", value) => mode = Some(Mode::parse(value)?),
            ("data", RawBsonRef::Document(given)) => data = given.to_owned(),
            ("data", _) => {
                return Err(Code::TypeMismatch.error("the 'data' option must be a JSON object"));
            }
            _ => return Err(field.unknown()),
        }
    }
    let Some(mode) = mode else {
        return Err(
            Code::IllegalOperation.error("When setting a failpoint, you must supply a 'mode'")
        );
    };
    let count = points.configure(name, mode, data)?;
    Ok(reply(rawdoc! { "count": count as i64 }))
}
