//! `document` and `undeclared_arrays`.

use super::reader::Reader;
use super::{Policy, Undeclared};
use bson::RawBsonRef;
use error::Result;
use value::Element;
use write::limits::DOCUMENT_BYTES_MAX;

pub fn read(policy: &mut Policy, reader: &Reader<'_>, key: &str) -> Result<()> {
    let Some(bounds) = reader.document(key)? else { return Ok(()) };
    bounds.only(&["max_bytes", "warn_bytes"])?;
    let within = |key: &str| match bounds.bytes(key)? {
        Some(bytes) if bytes > DOCUMENT_BYTES_MAX => {
            Err(bounds.refuse(key, "must not pass 16MB, which no document does"))
        }
        bytes => Ok(bytes),
    };
    policy.document.warn_bytes = within("warn_bytes")?;
    policy.document.max_bytes = within("max_bytes")?;
    if let (Some(warn), Some(max)) = (policy.document.warn_bytes, policy.document.max_bytes)
        && warn > max
    {
        return Err(bounds.refuse("warn_bytes", "must not pass max_bytes"));
    }
    Ok(())
}

pub fn read_undeclared(policy: &mut Policy, reader: &Reader<'_>, key: &str) -> Result<()> {
    let expected = "\"allow\", \"reject\", or a document { max: <number> }";
    let element: Option<Element<'_>> = reader.elements().find(|element| element.key == key);
    let Some(element) = element else { return Ok(()) };
    policy.undeclared = match element.value() {
        RawBsonRef::String("allow") => Undeclared::Allow,
        RawBsonRef::String("reject") => Undeclared::Reject,
        RawBsonRef::String(_) => return Err(reader.wrong_value(element, expected)),
        RawBsonRef::Document(_) => {
            let Some(bounds) = reader.document(key)? else { return Ok(()) };
            bounds.only(&["max"])?;
            match bounds.count("max")? {
                Some(max) => Undeclared::Max(max),
                None => return Err(reader.wrong_value(element, expected)),
            }
        }
        _ => return Err(reader.wrong_type(element, expected)),
    };
    Ok(())
}
