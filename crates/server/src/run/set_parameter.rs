//! `setParameter`: `{setParameter: 1, name: value}`. All are checked before the
//! first is set; the reply's `was` is the first one's old value.

use super::{Call, reply};
use crate::parameter;
use bson::{RawDocumentBuf, cstr};
use command::Reply;
use command::fields::Fields;
use error::{Code, Result};

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    let mut changes = Vec::new();
    let mut fields = Fields::of_command(call.request, "setParameter")?;
    while let Some(field) = fields.next()? {
        let name = field.name();
        if parameter::get(call.shared, name).is_none() {
            return Err(Code::InvalidOptions.error(format!(
                "attempted to set unrecognized parameter [{name}], use help:true to see options "
            )));
        }
        if !parameter::is_settable(call.shared, name) {
            return Err(
                Code::IllegalOperation.error(format!("not allowed to change [{name}] at runtime"))
            );
        }
        changes.push((name.to_owned(), parameter::change(call.shared, name, field.value())?));
    }
    let Some((first, _)) = changes.first() else {
        return Err(
            Code::InvalidOptions.error("no option found to set, use help:true to see options ")
        );
    };
    let was = parameter::get(call.shared, first);
    for (_, change) in changes {
        change.make(call.shared);
    }
    let mut body = RawDocumentBuf::new();
    if let Some(was) = was {
        body.append(cstr!("was"), was);
    }
    Ok(reply(body))
}
