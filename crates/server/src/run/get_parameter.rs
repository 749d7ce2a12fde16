//! `getParameter`: `{getParameter: 1, name: 1}`, or `"*"` for all.

use super::{Call, reply};
use crate::parameter;
use bson::raw::CString;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use command::Reply;
use command::fields::{Fields, Scope};
use error::{Code, Result};

/// What the first field asks for, where it is a document.
#[derive(Default)]
struct Wanted {
    all: bool,
    details: bool,
    /// Only those that can be set at this time: `Some(true)` while running.
    runtime: Option<bool>,
}

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    let body = call.request.body();
    let wanted = match value::elements(body).next().map(|first| first.value()) {
        Some(RawBsonRef::Document(options)) => parse(options)?,
        Some(RawBsonRef::String("*")) => Wanted { all: true, ..Wanted::default() },
        _ => Wanted::default(),
    };
    let mut found = RawDocumentBuf::new();
    for name in parameter::names(call.shared) {
        let settable = parameter::is_settable(call.shared, name);
        let asked = wanted.all || value::elements(body).skip(1).any(|field| field.key == name);
        if !asked || wanted.runtime.is_some_and(|runtime| runtime != settable) {
            continue;
        }
        let (Some(value), Ok(key)) = (parameter::get(call.shared, name), CString::try_from(name))
        else {
            continue;
        };
        if wanted.details {
            let mut details = RawDocumentBuf::new();
            details.append(cstr!("value"), value);
            details.append(cstr!("settableAtRuntime"), settable);
            details.append(cstr!("settableAtStartup"), false);
            found.append(key, details);
        } else {
            found.append(key, value);
        }
    }
    if found.is_empty() {
        return Err(Code::InvalidOptions.error("no option found to get"));
    }
    Ok(reply(found))
}

fn parse(options: &RawDocument) -> Result<Wanted> {
    let mut wanted = Wanted::default();
    let mut fields = Fields::of_document(options, Scope::new("getParameter"));
    while let Some(field) = fields.next()? {
        match field.name() {
            "allParameters" => wanted.all = field.safe_bool()?.unwrap_or(false),
            "showDetails" => wanted.details = field.safe_bool()?.unwrap_or(false),
            "setAt" => wanted.runtime = field.choice(&[("runtime", true), ("startup", false)])?,
            _ => return Err(field.unknown()),
        }
    }
    Ok(wanted)
}
