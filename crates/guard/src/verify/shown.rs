//! `_id`s and figures in replies. An `_id` may be as long as a document, and many of
//! them would not fit in a reply.

use crate::adopt::Over;
use bson::{RawBson, RawBsonRef};
use error::Error;
use value::DocumentWriter;

/// The longest `_id` that is shown as it is.
pub const SHOWN_ID_BYTES_MAX: usize = 16 * 1024;

/// Appends an `_id`, or the start of a long one as text.
pub fn append_id(out: &mut DocumentWriter, name: &str, id: RawBsonRef<'_>) {
    match bytes(id) > SHOWN_ID_BYTES_MAX {
        true => out.append_str(name, &value::text::short(id)),
        false => out.append(name, id),
    }
}

/// An `_id`, or the start of a long one as text.
pub fn shown_id(id: RawBsonRef<'_>) -> RawBson {
    match bytes(id) > SHOWN_ID_BYTES_MAX {
        true => RawBson::String(value::text::short(id)),
        false => id.into(),
    }
}

/// Appends a figure, as an int where it is small enough.
pub fn append_count(out: &mut DocumentWriter, name: &str, count: u64) {
    match i32::try_from(count) {
        Ok(count) => out.append_i32(name, count),
        Err(_) => out.append_i64(name, i64::try_from(count).unwrap_or(i64::MAX)),
    }
}

/// Appends the documents that are over a bound, and what they are over.
pub fn append_over(out: &mut DocumentWriter, over: &[(RawBson, Over)]) {
    out.begin_array("over");
    for (id, over) in over {
        out.begin_next_document();
        append_id(out, "_id", id.as_raw_bson_ref());
        over.write(out);
        out.end();
    }
    out.end();
}

/// Appends how many documents have failed, and those that are listed with their reasons.
pub fn append_failed(out: &mut DocumentWriter, failures: u64, listed: &[(RawBson, Error)]) {
    append_count(out, "failures", failures);
    out.begin_array("failed");
    for (id, error) in listed {
        out.begin_next_document();
        append_id(out, "_id", id.as_raw_bson_ref());
        out.append_i32("code", error.code().number());
        out.append_str("errmsg", error.message());
        out.end();
    }
    out.end();
}

/// The size of what can be long.
fn bytes(id: RawBsonRef<'_>) -> usize {
    match id {
        RawBsonRef::String(text) | RawBsonRef::Symbol(text) => text.len(),
        RawBsonRef::JavaScriptCode(code) => code.len(),
        RawBsonRef::JavaScriptCodeWithScope(code) => code.code.len() + code.scope.as_bytes().len(),
        RawBsonRef::Binary(binary) => binary.bytes.len(),
        RawBsonRef::Document(document) => document.as_bytes().len(),
        RawBsonRef::Array(array) => array.as_bytes().len(),
        RawBsonRef::RegularExpression(regex) => regex.pattern.as_str().len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_id_is_shown_by_its_start() {
        let (long, short) = ("x".repeat(SHOWN_ID_BYTES_MAX + 1), "y".repeat(SHOWN_ID_BYTES_MAX));
        let mut out = DocumentWriter::new();
        append_id(&mut out, "a", RawBsonRef::String(&long));
        append_id(&mut out, "b", RawBsonRef::String(&short));
        let shown = out.finish();
        assert!(shown.get_str("a").unwrap().starts_with("\"xxx"));
        assert!(shown.get_str("a").unwrap().len() < 300);
        assert_eq!(shown.get_str("b").unwrap(), short);
    }
}
